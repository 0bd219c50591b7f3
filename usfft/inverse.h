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
	double tv;	    /* nu >= 0: see usfft_solve() */
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

/*
 * Sensitivity maps from the centre of k-space (ESPIRiT: Uecker et al., Magn. Reson. Med. 71, 2014). A window has the values of all
 * coils at some neighbours of a lattice. With y_p, the windows at all its places p, and the covariance C = sum_p y_p y_p*,
 * whose largest eigenvalue is l, W = C^2 (C^2 + t^2)^-1 has t = USFFT_MAPS_KEEP l and keeps what windows have in common. The
 * windows of an image that is 1 at pixel k alone are E s: s holds the sensitivities, and E the factors exp(s 2 pi i k.q/n)
 * for the places q of a window. The map of a pixel is the main eigenvector of E* W E / the number of places, where its
 * eigenvalue, 1 at most, is not below USFFT_MAPS_CROP; elsewhere it is 0. The sum of its squares is 1. Its product
 * with the main component of all windows is real and positive.
 */
#define USFFT_MAPS_KEEP .003
#define USFFT_MAPS_CROP .8

/* Sizes are 1 along the axes beyond the last one. */
struct usfft_centre {
	int sign, threads;
	size_t coils, n[3]; /* n: pixels */
	size_t region[3],
	    window[3]; /* points of the lattice, and of the windows on it; window <= region */
};

/* lattice: [coil][region], from -region / 2 on, complex. maps: [coil][n]. Returns 0, -ENOMEM or -ENODATA: no pixel has a map. */
int usfft_espirit(const struct usfft_centre *c, const double *lattice, double *maps);

/*
 * The same for values at points, which usfft_inverse() takes to a lattice of 24 points at most along an axis, with windows
 * of 6. It returns what usfft_inverse() returns; -ENODATA also when no point lies there.
 */
int usfft_maps(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
	       const double *b, int sign, size_t coils, double *maps, size_t *bad);

/* Bytes of the windows and of the two matrices of usfft_maps(), for coils in the modes of o. SIZE_MAX: too many to count. */
size_t usfft_maps_bytes(const struct usfft_options *o, size_t coils);

/* out = matrix in, for n reals each. It returns 0 or -errno. */
typedef int cg_matrix(void *who, const double *in, double *out);

/*
 * Solves matrix f = r for n reals and a symmetric, positive matrix, by conjugate gradients. r: the right side, which becomes the
 * residual. Returns 0, -ENOMEM, -ERANGE (the numbers are too large for double) or what the matrix returned.
 *
 * With v->tv it does that for the modes of o with total variation: f minimises f* matrix f - 2 Re r* f + v->tv max |r_k| sum_k
 * |D_k f|, by ADMM (solve.c). D_k f holds the differences of mode k and its next neighbour along each axis, in memory, and 0 at
 * the last. unit: the size of the matrix. got->iterations counts products with it. The residual is the larger of |D f - z| / |f|,
 * where z is the shrunk D f, and of what the equations lack with the subgradient at z, over |r|.
 * It falls slowly below 1e-4 or so where there are fewer points than modes and v->tv is small, since many images are then nearly
 * as good. Then v->iter ends the rounds, and *got has the residual that is left.
 */
int usfft_solve(cg_matrix *matrix, void *who, const struct usfft_options *o, size_t n, double unit,
		const struct usfft_inverse *v, double *f, double *r, struct usfft_outcome *got);

#endif
