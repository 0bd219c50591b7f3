/*
 * Hermitian positive definite Toeplitz systems, LANES of them at a time in the lanes of double vectors:
 *
 *	T x = y,	T[i][l] = t[i - l],	t[-i] = conj t[i],	i, l < n
 *
 * Factored once by the Levinson-Durbin recursion, n^2 complex multiplications and additions: it finds the predictor a with
 * T a = E (1, 0 .. 0), a_0 = 1. By Gohberg and Semencul the inverse is
 *
 *	T^-1 = (L(a) L(a)^H - L(b) L(b)^H) / E,		b = (0, conj a_{n-1}, .. conj a_1),
 *
 * L(v) being lower triangular Toeplitz with first column v, so that each solution takes six FFTs of length 2n. In double that
 * is good for as long as E stays well above rounding; a lane where it does not (1 - |reflection coefficient|^2 vanishes)
 * is solved by conjugate gradients instead, which need no inverse and stop at the least-squares solution of least norm.
 *
 * Source: Gohberg and Semencul, Mat. Issled. 7(2), 1972; Golub and Van Loan, Matrix Computations, 4.7.
 */
#ifndef RADON_TOEPLITZ_H
#define RADON_TOEPLITZ_H

#include <stddef.h>

struct toeplitz;
struct toeplitz_work;

/* Room for `blocks` blocks of LANES systems of n unknowns. NULL: no memory. Not thread-safe (FFTW's planner is not). */
struct toeplitz *toeplitz_new(size_t n, size_t blocks);
void toeplitz_free(struct toeplitz *s); /* NULL is nothing */

/* Room for a thread. NULL: no memory. */
struct toeplitz_work *toeplitz_work(const struct toeplitz *s);
void toeplitz_work_free(struct toeplitz_work *w);

/*
 * Factors block b: t is n rows of LANES re and LANES im, t[0] with the damping in it. 0 or -ENOMEM. Different blocks may be
 * factored and solved by different threads at once.
 */
int toeplitz_factor(struct toeplitz *s, struct toeplitz_work *w, size_t b, const double *t);

/* x: n rows of LANES complex floats, the right-hand side and then the solution. Returns the steps of conjugate gradients. */
size_t toeplitz_solve(const struct toeplitz *s, struct toeplitz_work *w, size_t b, float *x);

/* Of lane l of block b: is it solved by conjugate gradients; a lower bound of its condition number (t[0] / E). */
int toeplitz_unsafe(const struct toeplitz *s, size_t b, size_t l);
double toeplitz_condition(const struct toeplitz *s, size_t b, size_t l);

/* The logarithm of the determinant of lane l of the block that was factored last with this work. */
double toeplitz_logdet(const struct toeplitz_work *w, size_t l);

#endif
