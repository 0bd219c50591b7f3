/* The normal equations of the fit. */
#ifndef WEIR_WCONV_PSFMATCH_FIT_H
#define WEIR_WCONV_PSFMATCH_FIT_H

#include "wconv/psfmatch/psfmatch.h"

/*
 * A stamp has n functions: the kernels of the basis, and the background's terms. The coefficient of a kernel is a polynomial.
 * Those of kernel 0 and of the background's terms are constants. The terms of function f's coefficient are the unknowns
 * first[f] .. first[f] + terms[f] - 1.
 *
 * The normal equations are sums over stamps of products of two functions, times products of two terms. The latter are
 * the terms of a polynomial of twice the degree. moment[e] is the sum of the stamps' q times term e of that one.
 */
struct psfmatch_normal {
	struct psfmatch *m;
	struct psfmatch_kernels k;
	struct psfmatch_stamp *s;
	size_t stamps, n, unknowns;
	size_t *first, *terms;
	size_t moments, each; /* each: psfmatch_packed(n) */
	double *moment;	      /* [moments][each] */
	/* the stamps that moment holds, and the largest moment[0][0] that it had */
	bool in[PSFMATCH_STAMPS];
	double most;
	/* [unknowns]: right side, then solution; [unknowns][unknowns]: the equations, the lower triangle */
	double *a, *g;
	/* [k.n][k.n], see psfmatch_packed(): products of the kernels' Laplacians; NULL: no penalty */
	double *penalty;
	double *memory, *room; /* of all stamps' sums; for psfmatch_factor() */
	/* [terms][size][size]: see psfmatch_sum_kernels(); then psfmatch_work(), and work of psfmatch_correct() */
	double *planes;
	int threads;
};

/* Counts the unknowns, and allocates memory. m, k, s, stamps and threads are filled in. Returns 0 or -ENOMEM. */
int psfmatch_make_normal(struct psfmatch_normal *f);

/* Frees all but m. */
void psfmatch_free_normal(struct psfmatch_normal *f);

/* Writes the equations of the used stamps to g and a. smooth: weight of the penalty, relative to that of the data. */
void psfmatch_write_normal(struct psfmatch_normal *f, double smooth);

#endif
