/* What the files of radon/ share. */
#ifndef RADON_PLAN_H
#define RADON_PLAN_H

#include <fftw3.h>

#include "radon/radon.h"
#include "usfft/line.h"

enum { LANES = USFFT_LINE }; /* frequencies done together */

/*
 * Spectra are [row][ld] complex floats, frequency k at k of each row; rows are traces or curves. Frequencies are done in
 * blocks of LANES: k0 = first * LANES up to and without last * LANES, all that is outside the band being 0.
 */
struct radon_plan {
	struct radon_options o; /* g and live: owned */
	bool *live;
	double *g;
	double *a, *c; /* cycles per frequency: q0 g / (nfft dt), dq g / (nfft dt) */
	size_t ntau, lead;
	size_t nfft, nw, ld; /* nw = nfft / 2 + 1 frequencies */
	size_t kmin, kmax;   /* the band, kmax included */
	size_t first, last;  /* its blocks */
	bool nufft;	     /* else recurrence */
	/*
	 * lsq magnifies an error of its right-hand side by up to 1 / (2 sqrt(eps)): unless the user asks for the NUFFT, the
	 * recurrence in double finds it, 3.1 ms where the NUFFT takes 1.9 and the solution 8 (1751x92x180).
	 */
	bool exact_rhs;
	bool q_mute;	 /* the mute depends on q alone: q_weight */
	float *q_weight; /* owned: nq */
	size_t nlive;
	fftwf_plan forward, backward; /* one row */
	struct usfft_line line;
	struct toeplitz *solver; /* owned; lsq and sparse */
	struct radon_2d *two;	 /* owned; RADON_USFFT2D */
};

/* What one thread needs. */
struct radon_lane_work {
	float *row; /* nfft + 2 floats */
	float *m;   /* nq x LANES complex: a block of the panel */
	float *d;   /* nx x LANES complex: a block of the gather */
	double *z,
	    *e; /* recurrence: the larger of nx and nq rows of LANES complex, as LANES re and LANES im */
	double *sum; /* recurrence: nq such rows */
	struct usfft_line_work line;
	struct toeplitz_work *solve;
};

struct radon_work {
	int threads;
	struct radon_lane_work *lane; /* one a thread */
	/*
	 * Spectra: gather [nx][ld], panel [nq][ld] complex. But for sparse they are one array, since a block is read before it
	 * is written and the other blocks are not touched: a quarter of the page faults less (512^3: 10.0 -> 9.2 ms in all).
	 */
	float *d, *m;
	double *part; /* sums of rows or blocks, to be added in order */
	struct radon_sparse *sparse;
};

/* spectra.c: rows of samples to spectra and back */
void radon_forward(const struct radon_plan *p, struct radon_work *w, const float *x, size_t rows,
		   size_t n, size_t at, float *spectra);
void radon_panel_out(const struct radon_plan *p, struct radon_work *w, float *panel);
void radon_gather_out(const struct radon_plan *p, struct radon_work *w, const float *minus_from,
		      float *gather);
void radon_backward(const struct radon_plan *p, float *spectrum, float *row);
void radon_mute_panel(const struct radon_plan *p, struct radon_work *w);

/* The weight of the mute at sample t of curve i. */
float radon_time_weight(const struct radon_plan *p, size_t i, size_t t);

/* radon.c: one block of frequencies from k on */
void radon_block_adjoint(const struct radon_plan *p, struct radon_lane_work *w, size_t k,
			 const float *d, size_t ldd, float *m, size_t ldm);
void radon_block_model(const struct radon_plan *p, struct radon_lane_work *w, size_t k,
		       const float *m, size_t ldm, float *d, size_t ldd);
void radon_model_all(const struct radon_plan *p, struct radon_work *w);	  /* w->m to w->d */
void radon_weigh_panel(const struct radon_plan *p, struct radon_work *w); /* by q_weight */

/* recurrence.c */
void recurrence_adjoint(const struct radon_plan *p, struct radon_lane_work *w, size_t k,
			const float *d, size_t ldd, float *m, size_t ldm);
void recurrence_model(const struct radon_plan *p, struct radon_lane_work *w, size_t k,
		      const float *m, size_t ldm, float *d, size_t ldd);
/* t[i] = sum over live traces of exp(2 pi i k i c), i < nq, as rows of LANES re, LANES im. */
void recurrence_column(const struct radon_plan *p, struct radon_lane_work *w, size_t k, double *t);

/* time.c, usfft2d.c: whole transforms */
void radon_time_adjoint(const struct radon_plan *p, const float *gather, float *panel, int threads);
void radon_time_model(const struct radon_plan *p, const float *panel, float *gather, int threads);

#endif
