/* Modes from values at points, and weights for their density. All in double precision. */
#ifndef WEIR_USFFT_INVERSE_H
#define WEIR_USFFT_INVERSE_H

#include <stddef.h>

#include "usfft/usfft.h"

struct usfft_outcome {
	int iterations;
	double residual; /* of the normal equations, relative to their right side */
};

struct usfft_inverse {
	/* The sign of type 2, +1 or -1; the largest number of iterations. */
	int sign, iter;
	double rtol; /* the residual at which to stop */

	/* Is called after each iteration with `who`; NULL: no call. */
	void (*step)(void *who, const struct usfft_outcome *got);
	void *who;

	double damp;	    /* mu >= 0 */
	size_t coils;	    /* 0: no coils; maps is not read */
	const double *maps; /* borrowed: [coil][modes], complex */
};

/*
 * Computes, by conjugate gradients, the modes F that minimise
 *
 *	sum_c sum_j w_j |b_cj - sum_k S_ck F_k exp(s 2 pi i k.x_j)|^2 + mu R sum_j w_j sum_k |F_k|^2
 *
 * S holds the maps of the coils, which all see one image (Pruessmann et al., Magn. Reson. Med. 46, 2001). R is the mean of
 * sum_c |S_ck|^2 over the modes where it is not 0: the unit of maps, which is anyone's, does not change what mu means. Without
 * coils there is one b, and S and R are 1. w: m weights >= 0; NULL: ones. b: [coil][m] complex values. modes: the result, complex. *got
 * says how far the iterations came. o->single is ignored. Returns 0, an error of
 * usfft_plan() or usfft_points(), or -ERANGE: the equations have numbers too large for double.
 */
int usfft_inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
		  const double *b, const struct usfft_inverse *v, double *modes,
		  struct usfft_outcome *got, size_t *bad);

/* Bytes of the largest grid of usfft_inverse(), which has twice the modes along each axis. SIZE_MAX: no grid exists. */
size_t usfft_inverse_bytes(const struct usfft_options *o);

/*
 * Sets w_j to the share of the unit box that point j stands for, so that type 1 of w_j c_j approximates the Fourier
 * integral. It runs `rounds` rounds of Pipe and Menon's iteration (Magn. Reson. Med. 41, 1999). The weights depend on
 * o->dim and o->n alone. It returns what usfft_inverse() returns.
 */
int usfft_pipe(const struct usfft_options *o, const struct usfft_points *pt, int rounds, double *w,
	       size_t *bad);

/* The options of the plan that usfft_pipe() makes for o: its window is as wide as the distance of modes. */
struct usfft_options usfft_pipe_options(const struct usfft_options *o);

/* Conjugate gradients for a symmetric, positive matrix. */

/* out = matrix in, for n reals each. It returns 0 or -errno. */
typedef int cg_matrix(void *who, const double *in, double *out);

/*
 * Solves matrix f = r for n reals. r: the right side, which becomes the residual. Returns 0, -ENOMEM, -ERANGE (the numbers are
 * too large for double) or what the matrix returned.
 */
int usfft_cg(cg_matrix *matrix, void *who, size_t n, const struct usfft_inverse *v, double *f,
	     double *r, struct usfft_outcome *got);

#endif
