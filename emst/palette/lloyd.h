/* Lloyd's rounds over cells of colours. */
#ifndef EMST_LLOYD_H
#define EMST_LLOYD_H

#include "emst/palette/centres.h"
#include "emst/palette/palette.h"

/* The sum of w x_a x_b over a class: rr rg rb gg gb bb. */
struct square {
	int64_t v[6];
};

struct lloyd {
	const struct cells *cells;
	size_t k;
	int threads;
	struct centre c[PALETTE_MOST];
	struct sum4 sum[PALETTE_MOST]; /* of the classes of the last round */
	uint8_t *label;		       /* [cells->n], in the order of the cells; owned */
	struct sum4 *share;	       /* [shares][k]; owned */
	struct square *square;	       /* [shares][k], see swaps.c; owned */
};

enum { SHARES = 64 }; /* parts of the cells that threads take in turn */

/* No classes yet. 0 or -ENOMEM; lloyd_free() in either case. */
int lloyd_init(struct lloyd *l, const struct cells *cells, int threads);
void lloyd_free(struct lloyd *l);

/* Every colour to its nearest centre: label[] and sum[]. Returns the SSE of the centres as they are. */
double lloyd_assign(struct lloyd *l);

/* The centres become the means of the last round; classes without colours stay where they are, at weight 0. */
void lloyd_update(struct lloyd *l);

/*
 * Rounds until one gains less than gain dB, or `most` of them. Centres move past the means, by .9 of the way that they
 * moved, except in the last round. Returns the SSE.
 */
double lloyd_run(struct lloyd *l, int most, double gain);

#endif
