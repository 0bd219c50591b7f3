/* The parts of the checks of usfft. */
#ifndef WEIR_CHECK_USFFT_H
#define WEIR_CHECK_USFFT_H

void check_usfft_line(void);

#endif
