/*
 * The inner loops of the recurrence and of Levinson's recursion. They process LANES frequencies at a time in double. There is
 * one set of them for each width of register. Rows are LANES re and then LANES im, aligned to 64 bytes. Registers of 4 or 2
 * doubles take the lanes in 2 or 4 groups, since the compiler puts vectors wider than a register on the stack (gcc 12, AVX2:
 * 2.3 times as long).
 */
#ifndef WEIR_RADON_LOOPS_LOOPS_H
#define WEIR_RADON_LOOPS_LOOPS_H

#include <stddef.h>

#include "usfft/line.h"

enum { LOOP_LANES = USFFT_LINE };

struct radon_loops {
	/* levinson(), described in radon/inverse/lsq.h */
	void (*levinson)(const double *t, size_t n, double least, double *a, double *e,
			 double *alive, double *steps);

	/* sum[i] = sum_j z[j] e[j]^i, i < nq, j < nx. z is overwritten. */
	void (*turn_and_add)(size_t nx, size_t nq, double *z, const double *e, double *sum);

	/* z[j] = sum_i m[i] e[j]^i by Horner's rule, i < nq, j < nx. */
	void (*add_and_turn)(size_t nx, size_t nq, const double *m, const double *e, double *z);
};

/* The loops for this CPU. */
const struct radon_loops *radon_loops(void);

#endif
