/* A plan and its work: each is the part that all methods share and the parts that one method adds. */
#ifndef WEIR_RADON_PLAN_H
#define WEIR_RADON_PLAN_H

#include "radon/adapt.h"
#include "radon/core.h"

/* --- lsq.c: (A^H A + damping) m = A^H d at each frequency ------------------------------------------------------- */

/*
 * Solves Hermitian positive definite Toeplitz systems. The lanes of double vectors hold USFFT_LINE systems at once:
 *
 *	T x = y,	T[i][l] = t[i - l],	t[-i] = conj t[i],	i, l < n
 *
 * The Levinson-Durbin recursion factors T once. In n^2 complex multiplications and additions it finds the predictor a with
 * T a = E (1, 0 .. 0), a_0 = 1. By Gohberg and Semencul the inverse is
 *
 *	T^-1 = (L(a) L(a)^H - L(b) L(b)^H) / E,		b = (0, conj a_{n-1}, .. conj a_1),
 *
 * where L(v) is the lower triangular Toeplitz matrix with first column v. Each solution takes six FFTs of length 2n
 * or slightly more. This is accurate in double while E stays well above rounding. E does not when 1 - |reflection
 * coefficient|^2 vanishes; conjugate gradients then solve the lane instead. They need no inverse and stop at the least-squares
 * solution of least norm.
 *
 * Source: Gohberg and Semencul, Mat. Issled. 7(2), 1972; Golub and Van Loan, Matrix Computations, 4.7.
 */

struct toeplitz;
void toeplitz_free(struct toeplitz *s); /* accepts NULL */

/* Factors A^H A + damping for all blocks of the band, at least one. Returns 0 or -ENOMEM; after an error *to is NULL. */
int radon_lsq_factor(struct toeplitz **to, const struct radon_core *p);

/* Allocates the work of w's threads in w->solve. Returns false when there is no memory; radon_lsq_give() frees it then too. */
bool radon_lsq_take(struct radon_room *w, const struct toeplitz *s);
void radon_lsq_give(struct radon_room *w);

/* Does the work of radon_run() for RADON_LSQ; see radon.h. */
void radon_lsq_run(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
		   const float *in, float *out, struct radon_report *r);

/* --- sparse.c: inverses by conjugate gradients --------------------------------------------------------------------- */

/* Allocates the arrays of one gather. Returns NULL when there is no memory. */
struct radon_irls;
struct radon_irls *radon_irls(const struct radon_core *p);
void radon_irls_free(struct radon_irls *s); /* accepts NULL */

/* Does the work of radon_run() for RADON_SPARSE, and for the inverses of hyperbolic curves; see radon.h. */
void radon_sparse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
		      struct radon_report *r);

/* --- time.c: RADON_TIME, whole transforms by shifting and adding in time ---------------------------------------- */

void radon_time_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void radon_time_model(const struct radon_core *p, const float *panel, float *gather, int threads);

/*
 * Hyperbolic curves t = sqrt(tau^2 + q g). The shift of a sample depends on its time, so that both operators work in time:
 *
 *	adjoint		m(tau, q) = sum_x d(sqrt(tau^2 + q g(x)), x), by linear interpolation of d
 *	modelling	the exact transpose
 *
 * Samples with tau below 0 are 0. No mute is applied.
 */

void hyperbola_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void hyperbola_model(const struct radon_core *p, const float *panel, float *gather, int threads);

/* --- radon.c ----------------------------------------------------------------------------------------------------- */

struct radon_2d;

struct radon_plan {
	struct radon_core core;
	struct toeplitz *solver; /* owned; RADON_LSQ */
	struct radon_2d *two;	 /* owned; RADON_USFFT2D */
};

struct radon_work {
	struct radon_room room;
	struct radon_evidence *evidence; /* owned; NULL: NU is that of the options */
	struct radon_adapter *adapt;	 /* owned; NULL: no adaptive subtraction */
	struct radon_irls *irls; /* owned; for sparse, and for the inverses of hyperbolic curves */
};

#endif
