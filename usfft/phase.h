/* Phase factors exp(2 pi i turns) of many points at a time, in loops that vectorise. */
#ifndef WEIR_PHASE_H
#define WEIR_PHASE_H

#include "usfft/usfft.h"

enum { PHASE_BLOCK = 256 }; /* the most points of a call */

/* How many of m points the call has that begins with point `from`. */
static inline size_t
phase_count(size_t from, size_t m)
{
	return m - from < PHASE_BLOCK ? m - from : PHASE_BLOCK;
}

/* The threads for m points: one where waking the others takes longer than the work. */
static inline int
phase_threads(size_t m, int threads)
{
	return m < 16 * PHASE_BLOCK ? 1 : threads;
}

/* Loads axis a of points from..from+n-1 as doubles. */
void phase_load(const struct usfft_points *pt, int a, size_t from, size_t n, double *x);

/* turns[j] += s x[j], up to whole turns. The product is split into its rounded value and the exact rest. */
void phase_add(double s, const double *x, size_t n, double *turns);

/*
 * Multiplies values from..from+n-1 by factor[j] exp(2 pi i sign turns[j]). factor and turns count from 0. turns
 * NULL: all are 0. The values are floats (single) or doubles; to and c may be the same array.
 */
void phase_turn(void *to, const void *c, size_t from, size_t n, int sign, const double *turns,
		const double *factor, bool single);

#endif
