/* The normal equations of the fit. */
#ifndef PSFMATCH_NORMAL_H
#define PSFMATCH_NORMAL_H

#include "wconv/psfmatch/inside.h"

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

/* Computes the products of the kernels' Laplacians. Returns 0 or -ENOMEM. */
int psfmatch_make_penalty(struct psfmatch_normal *f);

/* Writes the equations of the used stamps to g and a. smooth: weight of the penalty, relative to that of the data. */
void psfmatch_write_normal(struct psfmatch_normal *f, double smooth);

/* Adds up the kernels: planes[t] = sum_k a_kt B_k. planes: [terms][size][size]. */
void psfmatch_sum_kernels(const struct psfmatch_normal *f, double *planes);

/* Computes c[n], the coefficients of the functions at the stamp. */
void psfmatch_evaluate(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c);

/* Returns work for one kernel, or for n coefficients. */
static inline double *
psfmatch_work(const struct psfmatch_normal *f)
{
	return f->planes + psfmatch_terms(f->m->degree) * f->m->size * f->m->size;
}

/* Returns the mean over the stamp's pixels of misfit^2 / variance. c: room for n coefficients. */
double psfmatch_misfit(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c);

/*
 * Scales the kernels by what noise in ref has taken from the ratio of fluxes, to first order, unless that would be half of it or
 * more. g has been factored. shared: that of struct psfmatch_field.
 */
void psfmatch_correct(struct psfmatch_normal *f, double shared);

/* Fits the background's terms, with the kernels as they are. Returns false if the stamps do not determine them. */
bool psfmatch_fit_background(struct psfmatch_normal *f);

/* Fills in m->sky. noise: that of struct psfmatch_field. */
void psfmatch_judge_sky(const struct psfmatch_normal *f, double noise);

#endif
