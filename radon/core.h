/*
 * What all methods of radon/ share: the problem on its axes, and room for the spectra of one gather. Layers, each of which
 * knows only those to its left:
 *
 *	curves, loops < core, spectra < recurrence, block < lsq, sparse, usfft2d, time < plan < radon
 */
#ifndef RADON_CORE_H
#define RADON_CORE_H

#include <fftw3.h>

#include "radon/loops/loops.h"
#include "radon/radon.h"
#include "usfft/line.h"

enum { LANES = USFFT_LINE }; /* frequencies done together */

/*
 * Spectra are [row][ld] complex floats, frequency k at k of each row; rows are traces or curves. Frequencies are done in
 * blocks of LANES: k0 = first * LANES up to and without last * LANES, all that is outside the band being 0.
 */
struct radon_core {
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
	 * lsq magnifies an error of its right-hand side by up to sqrt(nx / (4 NU nq)). Unless the user asks for the NUFFT, the
	 * recurrence in double finds it: 3.1 ms where the NUFFT takes 1.9 and the solution 8 (1751x92x180).
	 */
	bool exact_rhs;
	bool q_mute;	 /* the mute depends on q alone: q_weight */
	float *q_weight; /* owned: nq */
	size_t nlive;
	fftwf_plan forward, backward; /* one row */
	struct usfft_line line;
	const struct radon_loops *loops; /* for this CPU */
};

/* The damping of lsq and sparse: what is added to the diagonal of A^H A. */
double radon_damping(const struct radon_core *p);

/* p: zeroed. 0 or -errno; after a failure radon_core_free() is still due. */
int radon_core_plan(struct radon_core *p, const struct radon_options *o);
void radon_core_free(struct radon_core *p);

/* What one thread needs for a block of LANES frequencies, and for a row. */
struct radon_lane {
	float *row;  /* nfft + 2 floats */
	float *m;    /* nq x LANES complex: a block of the panel */
	float *d;    /* nx x LANES complex: a block of the gather */
	double *z;   /* recurrence: nx rows of LANES complex, as LANES re and LANES im */
	double *e;   /* the same */
	double *sum; /* recurrence: nq such rows */
	struct usfft_line_work line;
};

/* Room for the spectra of one gather under way. */
struct radon_room {
	int threads;
	struct radon_lane *lane; /* owned: one a thread */
	/*
	 * Owned spectra: gather [nx][ld], panel [nq][ld] complex. Except in sparse mode, d and m are the same array, since a
	 * block is read before it is written and the other blocks are not touched: a quarter of the page faults less (512^3:
	 * 10.0 -> 9.2 ms in all).
	 */
	float *d, *m;
	double (*part)[5]; /* owned: sums of rows or blocks, to be added in order */
};

/* r: zeroed. False: no memory; radon_room_free() is then still due. */
bool radon_room_take(struct radon_room *r, const struct radon_core *p, int threads);
void radon_room_free(struct radon_room *r);

#endif
