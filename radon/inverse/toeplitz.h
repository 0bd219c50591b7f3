/*
 * Solves Hermitian positive definite Toeplitz systems. The lanes of double vectors hold LANES systems at once:
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
#ifndef RADON_TOEPLITZ_H
#define RADON_TOEPLITZ_H

#include <stddef.h>

struct toeplitz;
struct toeplitz_work;

/*
 * Allocates `blocks` blocks of LANES systems of n unknowns. Returns NULL when there is no memory. The function is not
 * thread-safe, since FFTW's planner is not.
 */
struct toeplitz *toeplitz_new(size_t n, size_t blocks);
void toeplitz_free(struct toeplitz *s); /* accepts NULL */

/* Allocates the work of one thread. Returns NULL when there is no memory. */
struct toeplitz_work *toeplitz_work(const struct toeplitz *s);
void toeplitz_work_free(struct toeplitz_work *w); /* accepts NULL */

/*
 * Factors block b. t is n rows of LANES re and LANES im; t[0] includes the damping. Returns 0 or -ENOMEM. Threads may factor
 * and solve different blocks at once.
 */
int toeplitz_factor(struct toeplitz *s, struct toeplitz_work *w, size_t b, const double *t);

/*
 * Solves block b. x is n rows of LANES complex floats: it holds the right-hand side, and then the solution. Returns the number
 * of steps of conjugate gradients.
 */
size_t toeplitz_solve(const struct toeplitz *s, struct toeplitz_work *w, size_t b, float *x);

/* Do conjugate gradients solve lane l of block b? And a lower bound of the lane's condition number, t[0] / E. */
int toeplitz_unsafe(const struct toeplitz *s, size_t b, size_t l);
double toeplitz_condition(const struct toeplitz *s, size_t b, size_t l);

/* The logarithm of the determinant of lane l in the block that this work factored last. */
double toeplitz_logdet(const struct toeplitz_work *w, size_t l);

#endif
