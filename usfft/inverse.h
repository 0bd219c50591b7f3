/* Modes from values at points, and weights for their density. All in double precision. */
#ifndef WEIR_USFFT_INVERSE_H
#define WEIR_USFFT_INVERSE_H

#include "usfft/usfft.h"

struct usfft_outcome {
	int iterations;
	double residual; /* of the normal equations, relative to their right side */
};

struct usfft_inverse {
	int sign, iter; /* of A, which is type 2; most iterations */
	double rtol;	/* residual at which to stop */

	/* Called after each iteration; NULL: nothing is. */
	void (*step)(void *who, const struct usfft_outcome *got);
	void *who;

	double damp;	     /* mu >= 0 */
	const double *start; /* complex modes to begin from; NULL: zeros */
	size_t coils;	     /* 0: none, and maps is not looked at */
	const double *maps;  /* [coil][modes], complex */
};

/*
 * The F of least
 *
 *	sum_c sum_j w_j |b_cj - sum_k S_ck F_k exp(s 2 pi i k.x_j)|^2 + mu sum_j w_j sum_k |F_k|^2
 *
 * as far as the iterations get, S being the maps of the coils: one image seen by all coils (Pruessmann et al., Magn. Reson.
 * Med. 46, 2001). Without coils there is one b, and S is 1. w: m weights >= 0, or NULL: ones; b: [coil][m] complex
 * values; o->single is ignored. 0, or what usfft_plan and usfft_points give.
 */
int usfft_inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
		  const double *b, const struct usfft_inverse *v, double *modes,
		  struct usfft_outcome *got, size_t *bad);

/*
 * w = the share of the unit box that each point stands for, so that type 1 of w_j c_j approximates the integral: Pipe and
 * Menon's iteration (Magn. Reson. Med. 41, 1999) with the transform's own window. The same returns.
 */
int usfft_pipe(const struct usfft_options *o, const struct usfft_points *pt, int rounds, double *w,
	       size_t *bad);

#endif
