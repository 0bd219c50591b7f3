/* Lloyd's method (1982) over cells of colours: rounds of assigning colours to centres and moving the centres. */
#ifndef EMST_LLOYD_H
#define EMST_LLOYD_H

#include <stdbool.h>

#include "emst/palette/centres.h"
#include "emst/palette/palette.h"

struct lloyd {
	const struct cells *cells;
	size_t k;
	int threads;
	/* The colours are so few that swaps are to be thorough. False after lloyd_init(). */
	bool few;
	struct centre c[PALETTE_MOST];
	struct sum4 sum[PALETTE_MOST]; /* of each class in the last round */
	uint8_t *label;		       /* [cells->n], in the order of the cells; owned */
	struct sum4 *share;	       /* [shares][k]; owned */
	size_t shares; /* the cells are divided into shares, which the threads take in turn */
};

/* Allocates; there are no classes yet. 0 or -ENOMEM; call lloyd_free() in either case. */
int lloyd_init(struct lloyd *l, const struct cells *cells, int threads);
void lloyd_free(struct lloyd *l);

/* Assigns every colour to its nearest centre in label[], and fills sum[]. Returns the SSE of the present centres. */
double lloyd_assign(struct lloyd *l);

/* Moves the centres to the means of their classes. The centre of a class without colours stays, with weight 0. */
void lloyd_update(struct lloyd *l);

/*
 * Runs rounds until one gains less than `gain` dB, or `most` rounds. Except in the last round, each centre moves to the mean
 * of its class and past it by .9 of the distance moved. Returns the SSE.
 */
double lloyd_run(struct lloyd *l, int most, double gain);

#endif
