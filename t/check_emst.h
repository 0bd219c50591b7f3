/* The parts of the checks of emst. */
#ifndef WEIR_CHECK_EMST_H
#define WEIR_CHECK_EMST_H

void check_emst(void);
void check_emst_classes(void);	/* classes of trees of any shape, against their definitions */
void check_emst_pictures(void); /* colours, palettes and regions of pictures */

#endif
