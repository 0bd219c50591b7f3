/* The parts of the checks of emst. */
#ifndef WEIR_CHECK_EMST_H
#define WEIR_CHECK_EMST_H

#include "emst/emst.h"
#include "emst/lattice/lattice.h"
#include "t/check.h"

void check_emst(void);
void check_emst_classes(void);	/* classes of trees of any shape, against their definitions */
void check_emst_pictures(void); /* colours and regions of pictures */
void check_emst_palette(void);
void check_emst_seen(void); /* palettes of gray pictures and of those with alpha */
void check_emst_many(void); /* large sets; and equal points */

/* Vertices with their memory. */
struct emst_sample {
	struct emst_set s;
	struct lattice l;
	float *f;
	double *d;
	uint32_t *code;
};

/* Makes the set of the distinct colours of code[n]. */
void emst_sample_codes(struct emst_sample *m, const uint32_t *code, size_t n);
void emst_sample_free(struct emst_sample *m);

/* Holds a tree to the one that is wanted, and frees it. err is what the run returned. */
void emst_same_tree(struct check_many *c, const struct emst_tree *want, struct emst_tree *got,
		    int err, const char *what, size_t set);

#endif
