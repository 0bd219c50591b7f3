/* Least squares: solves the Toeplitz system (A^H A + damping) m = A^H d at each frequency. */
#ifndef WEIR_RADON_INVERSE_LSQ_H
#define WEIR_RADON_INVERSE_LSQ_H

#include <stddef.h>

#include "radon/core.h"

/*
 * Solves Hermitian positive definite Toeplitz systems. The lanes of double vectors hold SYSTEMS systems at once:
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
struct toeplitz_work;

/*
 * Allocates `blocks` blocks of SYSTEMS systems of n unknowns. Returns NULL when there is no memory. The function is not
 * thread-safe, since FFTW's planner is not.
 */
struct toeplitz *toeplitz_new(size_t n, size_t blocks);
void toeplitz_free(struct toeplitz *s); /* accepts NULL */

/* Allocates the work of one thread. Returns NULL when there is no memory. */
struct toeplitz_work *toeplitz_work(const struct toeplitz *s);
void toeplitz_work_free(struct toeplitz_work *w); /* accepts NULL */

/* Factors A^H A + damping for all blocks of the band, at least one. Returns 0 or -ENOMEM; after an error *to is NULL. */
int radon_lsq_factor(struct toeplitz **to, const struct radon_core *p);

/* Allocates the work of `threads` threads. Returns NULL when there is no memory. */
struct radon_lsq_work;
struct radon_lsq_work *radon_lsq_work(const struct toeplitz *s, int threads);
void radon_lsq_work_free(struct radon_lsq_work *w); /* accepts NULL */

/* Does the work of radon_run() for RADON_LSQ; see radon.h. */
void radon_lsq_run(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
		   struct radon_lsq_work *own, const float *in, float *out, struct radon_report *r);

#endif
