/*
 * All methods of radon/ share these structs: the problem on its axes, and the work arrays of one gather. The files form
 * layers, and each layer calls only those to its left:
 *
 *	curves, loops < core < block < lsq, time < sparse, adapt < radon
 */
#ifndef WEIR_RADON_CORE_H
#define WEIR_RADON_CORE_H

#include <fftw3.h>
#include <stddef.h>

#include "radon/radon.h"
#include "usfft/line.h"

/*
 * The transform of real rows: X[k] = sum_t x[t] exp(-2 pi i k t / n), k = 0 .. n/2, and its inverse without the factor 1/n.
 * FFTW transforms the row as n/2 complex samples z[t] = x[2t] + i x[2t+1], whose spectrum is that of the even samples plus i
 * times that of the odd samples. FFTW's own transform of real rows takes 1.5 times as long, and 4 to 8 times as long to plan
 * (n = 2000).
 */

struct radon_fft {
	size_t n;
	float *turn; /* owned: -i exp(-2 pi i k / n), k < n/4 */
	fftwf_plan forward, backward;
};

/* Plans into p, a zeroed struct. n is even. Returns 0 or -ENOMEM. The caller calls radon_fft_free() after a failure too. */
int radon_fft_plan(struct radon_fft *p, size_t n);
void radon_fft_free(struct radon_fft *p);

/* Row: n floats. Spectrum: n/2 + 1 complex floats. Both are aligned as weir_alloc() aligns. */
void radon_fft_forward(const struct radon_fft *p, float *row, float *spectrum);

/* The imaginary parts of spectrum[0] and spectrum[n/2] are taken for 0. The spectrum is destroyed. */
void radon_fft_backward(const struct radon_fft *p, float *spectrum, float *row);

/*
 * Frequencies are transformed in blocks of USFFT_LINE. Rows of the loops' arrays are USFFT_LINE re and then USFFT_LINE im,
 * aligned to 64 bytes: PAIRS doubles.
 */
enum { PAIRS = 2 * USFFT_LINE };

/* The inner loops, one set for each width of register: loops_simd.c. */
struct radon_loops {
	/*
	 * The Levinson-Durbin recursion for Hermitian positive definite Toeplitz matrices T[i][l] = t[i - l], t[-i] = conj t[i],
	 * i, l < n. It finds the predictor a with T a = e (1, 0 .. 0) and a_0 = 1. t, a: n rows. steps: n rows of USFFT_LINE, the
	 * e of the leading matrices of 1 .. n unknowns; the product of a lane's rows is its determinant. A lane whose e falls to
	 * `least` times t[0] or below stops changing, so that it stays finite, and its element of alive becomes 0. The other
	 * elements of alive are 1. Source: Golub and Van Loan, Matrix Computations, 4.7.
	 */
	void (*levinson)(const double *t, size_t n, double least, double *a, double *e,
			 double *alive, double *steps);

	/* sum[i] = sum_j z[j] e[j]^i, i < nq, j < nx. z is overwritten. */
	void (*turn_and_add)(size_t nx, size_t nq, double *z, const double *e, double *sum);

	/* z[j] = sum_i m[i] e[j]^i by Horner's rule, i < nq, j < nx. */
	void (*add_and_turn)(size_t nx, size_t nq, const double *m, const double *e, double *z);
};

/* The loops for this CPU. */
const struct radon_loops *radon_loops(void);

/*
 * Spectra are [row][ld] complex floats: rows are traces or curves, and frequency k is element k of its row. Frequencies are
 * transformed in blocks of USFFT_LINE. The blocks first .. last - 1 cover the band; what they hold outside the band counts as 0.
 */
struct radon_core {
	struct radon_options o; /* g and live: owned */
	bool *live;
	double *g;     /* owned, with h, a, c, b and e */
	double *h;     /* NULL: one axis of curves */
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

/* Is the panel found by the iteration of sparse.c? */
bool radon_iterates(const struct radon_options *o);

/* The damping NU nq, which lsq and sparse add to the diagonal of A^H A. */
double radon_damping(const struct radon_core *p);

/* Plans into p, a zeroed struct. Returns 0 or -errno. The caller calls radon_core_free() after a failure too. */
int radon_core_plan(struct radon_core *p, const struct radon_options *o);
void radon_core_free(struct radon_core *p);

/* The arrays of one worker for a block of USFFT_LINE frequencies and for a row. */
struct radon_worker {
	float *row; /* nfft + 2 floats */
	float *m;   /* nq x USFFT_LINE complex: a block of the panel */
	float *d;   /* nx x USFFT_LINE complex: a block of the gather */
	double
	    *z; /* recurrence: nx rows of USFFT_LINE complex, as USFFT_LINE re and USFFT_LINE im */
	double *e; /* the same */
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
	struct toeplitz_work **solve; /* of lsq.c: one a thread; NULL: none */
};

/* Allocates into r, a zeroed struct. Returns false when there is no memory; the caller calls radon_room_free() then too. */
bool radon_room_take(struct radon_room *r, const struct radon_core *p, int threads);
void radon_room_free(struct radon_room *r);

/* Transforms rows of samples to spectra and back. The threads share out the rows. */

/* Finds the spectra of rows x[r][n]. The samples are placed at sample `at` of rows of nfft zeros. */
void radon_forward(const struct radon_core *p, struct radon_room *w, const float *x, size_t rows,
		   size_t n, size_t at, float *spectra);

/* Turns the band of a spectrum into samples, times nfft. The spectrum is destroyed. */
void radon_backward(const struct radon_core *p, float *spectrum, float *row);

/* Turns the spectra in w->m into panel [nq][ntau]. A mute that depends on time is applied. */
void radon_panel_out(const struct radon_core *p, struct radon_room *w, float *panel);

/*
 * Turns the spectra in w->d into gather [nx][nt]. When minus_from is a gather, the result is minus_from minus that in live
 * traces, and minus_from itself in dead ones.
 */
void radon_gather_out(const struct radon_core *p, struct radon_room *w, const float *minus_from,
		      float *gather);

/* Weights a panel of samples [nq][ntau] by the mute. */
void radon_mute_rows(const struct radon_core *p, float *panel, int threads);

/* Weights the panel in w->m by a mute that depends on time. */
void radon_mute_panel(const struct radon_core *p, struct radon_room *w);

/* Finds the edges of a report from three sums: the energy of the first two curves, of the last two and of all. */
void radon_edges(const struct radon_core *p, const double sum[3], double edge[2]);

/*
 * Adjoint and modelling of the USFFT_LINE frequencies from k on: by recurrence, term by term in double, or as the plan chooses. d has
 * nx rows of stride ldd, and m has nq rows of stride ldm, both in complex samples.
 */
void recurrence_adjoint(const struct radon_core *p, struct radon_worker *w, size_t k,
			const float *d, size_t ldd, float *m, size_t ldm);

/* The first column of A^H A: t[n] = sum over live traces j of exp(2 pi i k n c_j), n < p->nq, in rows of USFFT_LINE re and USFFT_LINE im. */
void recurrence_column(const struct radon_core *p, struct radon_worker *w, size_t k, double *t);

void radon_block_adjoint(const struct radon_core *p, struct radon_worker *w, size_t k,
			 const float *d, size_t ldd, float *m, size_t ldm);
void radon_block_model(const struct radon_core *p, struct radon_worker *w, size_t k, const float *m,
		       size_t ldm, float *d, size_t ldd);

/* Transform all blocks of the band: the adjoint from w->d to w->m, weighted by q_weight; modelling from w->m to w->d. */
void radon_adjoint_all(const struct radon_core *p, struct radon_room *w);
void radon_model_all(const struct radon_core *p, struct radon_room *w);

/* Copies m, nq rows of USFFT_LINE complex, to rows of stride ld, weighted by a mute that depends on q alone. */
void radon_weigh_rows(const struct radon_core *p, const float *m, float *to, size_t ld);

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

/* --- time.c: RADON_TIME ------------------------------------------------------------------------------------------- */

/*
 * Whole transforms by shifting and adding in time; modelling is the exact transpose of the adjoint. On hyperbolic curves
 * t = sqrt(tau^2 + q g) the shift of a sample depends on its time, and samples with tau below 0 are 0. No mute is applied.
 */
void radon_time_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void radon_time_model(const struct radon_core *p, const float *panel, float *gather, int threads);

/* --- adapt.c: adaptive subtraction ------------------------------------------------------------------------------- */

struct radon_adapter;

/* Allocates the arrays of one gather. o is borrowed. Returns NULL when there is no memory. */
struct radon_adapter *radon_adapter(const struct radon_options *o, int threads);
void radon_adapter_free(struct radon_adapter *a); /* accepts NULL */

/* Changes left, and returns L; infinite: left stays as it was. */
double radon_adapt(struct radon_adapter *a, const float *gather, float *left);

/* --- radon.c: a plan and its work, the part that all methods share and the parts that one method adds -------------- */

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
	float *explained;	 /* of radon_explain() */
};

#endif
