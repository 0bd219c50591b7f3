/*
 * All methods of radon/ share these structs: the problem on its axes, and the work arrays of one gather. The files form
 * layers, and each layer calls only those to its left:
 *
 *	curves, fft, loops < core, spectra < recurrence, block < irls < lsq, sparse, usfft2d, time, adapt < plan < radon
 */
#ifndef RADON_CORE_H
#define RADON_CORE_H

#include "radon/fft.h"
#include "radon/loops/loops.h"
#include "radon/radon.h"
#include "usfft/line.h"

enum { LANES = USFFT_LINE }; /* frequencies done together */

/*
 * Spectra are [row][ld] complex floats: rows are traces or curves, and frequency k is element k of its row. Frequencies are
 * transformed in blocks of LANES. The blocks first .. last - 1 cover the band; what they hold outside the band counts as 0.
 */
struct radon_core {
	struct radon_options o; /* g and live: owned */
	bool *live;
	double *g;
	double *h;     /* owned; NULL: one axis of curves */
	size_t nq;     /* curves of the axis q */
	double *a, *c; /* cycles per frequency: q0 g / (nfft dt), dq g / (nfft dt) */
	double *b, *e; /* those of the second axis: r0 h / (nfft dt), dr h / (nfft dt); or NULL */
	size_t ntau, lead;
	size_t nfft, nw, ld; /* nw = nfft / 2 + 1 frequencies */
	size_t kmin, kmax;   /* the band, kmax included */
	size_t first, last;  /* its blocks */
	bool nufft;	     /* else recurrence */
	/*
	 * lsq magnifies an error of its right-hand side by up to sqrt(nx / (4 NU nq)). With RADON_AUTO the recurrence in double
	 * therefore computes the right-hand side. It takes 3.1 ms, the NUFFT 1.9 ms and the solution 8 ms (1751x92x180).
	 */
	bool exact_rhs;
	bool q_mute;	 /* the mute depends on q alone, and q_weight holds it */
	float *q_weight; /* owned: nq */
	float *weight;	 /* owned: the mute's weights [nq][ntau]; NULL when q_weight holds them */
	size_t nlive;
	struct radon_fft fft; /* one row */
	struct usfft_line line;
	const struct radon_loops *loops; /* for this CPU */
};

/* Is the panel found by the iteration of inverse/irls.h? */
bool radon_iterates(const struct radon_options *o);

/* The damping NU nq, which lsq and sparse add to the diagonal of A^H A. */
double radon_damping(const struct radon_core *p);

/* Plans into p, a zeroed struct. Returns 0 or -errno. The caller calls radon_core_free() after a failure too. */
int radon_core_plan(struct radon_core *p, const struct radon_options *o);
void radon_core_free(struct radon_core *p);

/* The arrays of one worker for a block of LANES frequencies and for a row. */
struct radon_worker {
	float *row; /* nfft + 2 floats */
	float *m;   /* nq x LANES complex: a block of the panel */
	float *d;   /* nx x LANES complex: a block of the gather */
	double *z;  /* recurrence: nx rows of LANES complex, as LANES re and LANES im */
	double *e;  /* the same */
	/* With a second axis: phases and their steps, as z and e; and a turned block of the gather, as d. */
	double *turn, *by;
	float *turned;
	double *sum; /* recurrence: nq such rows */
	struct usfft_line_work line;
};

/* The work arrays of one gather. */
struct radon_room {
	int threads;
	struct radon_worker *worker; /* owned: one a thread */
	/*
	 * The spectra of the gather, [nx][ld] complex, and of the panel, [nq][ld] complex; owned. d and m are the same array.
	 * This is safe, since each block is read before it is written and no other block is touched. It saves a quarter of the
	 * page faults (512^3: 10.0 -> 9.2 ms in all).
	 */
	float *d, *m;
	double (*part)[5]; /* owned; lsq: the sums of each block, which are added in order */
};

/* Allocates into r, a zeroed struct. Returns false when there is no memory; the caller calls radon_room_free() then too. */
bool radon_room_take(struct radon_room *r, const struct radon_core *p, int threads);
void radon_room_free(struct radon_room *r);

#endif
