/* A plan and its work: each is the part that all methods share and the parts that one method adds. */
#ifndef WEIR_RADON_PLAN_H
#define WEIR_RADON_PLAN_H

#include "radon/adapt.h"
#include "radon/core.h"

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

/* Allocates the work of `threads` threads. Returns NULL when there is no memory. */
struct radon_lsq_work;
struct radon_lsq_work *radon_lsq_work(const struct toeplitz *s, int threads);
void radon_lsq_work_free(struct radon_lsq_work *w); /* accepts NULL */

/* Does the work of radon_run() for RADON_LSQ; see radon.h. */
void radon_lsq_run(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
		   struct radon_lsq_work *own, const float *in, float *out, struct radon_report *r);

/* --- sparse.c ---------------------------------------------------------------------------------------------------- */

/*
 * The sparse inverse, by the iteration below.
 *
 * The weights are functions of time, which all frequencies share. Weights from low frequencies alone, for the first set or for
 * two sets (Herrmann et al. 2000), gained at most .3 dB of primaries and lost up to 3.8 dB in 12 scenes of 12, 20 and 40 traces
 * whose events alias above 9, 14 and 29 Hz. On a real gather of which each second or fourth trace was kept, they gained at most
 * .2 dB and lost up to 1.9 dB of multiples; weights from frequency to frequency predicted the other traces .7 dB worse.
 *
 * Source: Sacchi and Ulrych, Geophysics 60(4), 1995. The weights are functions of time as in Trad, Ulrych and Sacchi,
 * Geophysics 68(1), 2003.
 */

/*
 * Iteratively reweighted least squares, for sparse.c in spectra and for time.c in samples. W in (0, 1] weights the
 * samples of the panel, and m = W u. For given weights, steps of conjugate gradients from u = 0 minimise
 * |d - A W u|^2 + NU nq |u|^2. Then new weights are found, which grow with the amplitude of m. This is done `outer` times in
 * sparse mode and once in lsq mode, the first time with W = 1. The last time takes `inner` steps, and each earlier time half
 * as many as the next. Dead traces and the zeros that a trace begins or ends with contribute no equations.
 *
 * The weights are relative to the greatest amplitude of the panel. Weights relative to the greatest amplitude within .25 to 1 s
 * were 1 to 4 dB worse on events added to real gathers. So were gathers whose amplitudes were balanced before and after.
 */

struct radon_irls;

/* What differs between the two: the operators, and the form of gathers. */
struct radon_irls_operators {
	void (*load)(struct radon_irls *s); /* s->res = the gather s->in */
	/* Finds s->dir by radon_irls_direction_row(), and s->step = A W s->dir. */
	void (*model)(struct radon_irls *s);
	/* Zeroes what is in no equation, and returns |x|^2. */
	double (*keep)(const struct radon_irls *s, float *x);
	/*
	 * Brings s->res up to date by radon_irls_residual(), and s->u by radon_irls_gradient_row(), which makes
	 * s->grad = W A^H s->res - damping s->u.
	 */
	void (*gradient)(struct radon_irls *s);
};

/* The arrays of one gather. */
struct radon_irls {
	const struct radon_core *p;	/* borrowed */
	float *u, *weight, *dir, *grad; /* [nq][ntau] */
	float *res, *step;		/* [nx][row]: residual, A W x */
	size_t row;			/* floats that a trace takes in them */
	double damping;			/* NU nq of the run */
	/*
	 * A step of conjugate gradients adds length * dir to u and subtracts length * step from res; the next direction is
	 * grad + turn * dir. The operators do this row by row and block by block where they use the results, since threads
	 * that wait for each other cost more than the sums. begin: no step has been taken, u is 0 and dir is grad.
	 */
	double length, turn;
	bool begin;
	double *part;		 /* the sums of rows, which are added in order */
	struct radon_span *span; /* [nx]: the data of each trace; none of a dead trace */
	/* These two are borrowed while a gather runs. */
	struct radon_room *w;
	const float *in;
};

/* Allocates the arrays of one gather. Returns NULL when there is no memory. */
struct radon_irls *radon_irls(const struct radon_core *p);
void radon_irls_free(struct radon_irls *s); /* accepts NULL */

/* Finds u and the weights with the NU of the report. Sets the misfit and the steps of the report. */
void radon_irls_run(struct radon_irls *s, const struct radon_irls_operators *a,
		    struct radon_room *w, const float *in, struct radon_report *r);

/* to = row i of W x */
void radon_irls_weigh_row(const struct radon_irls *s, const float *x, size_t i, float *to);

/* Finds row i of the direction; s->part[i] is its energy, and to is the row of W s->dir. */
void radon_irls_direction_row(struct radon_irls *s, size_t i, float *to);

/* Subtracts the last step from the n samples at `at` of traces first .. end - 1 of s->res. */
void radon_irls_residual(struct radon_irls *s, size_t first, size_t end, size_t at, size_t n);

/*
 * Row i of s->grad holds A^H s->res / scale. Adds the last step to the row of u, and makes that of s->grad the row of the
 * gradient; s->part[i] is its energy.
 */
void radon_irls_gradient_row(struct radon_irls *s, size_t i, float scale);

/* The sum of squares of n samples, and the sum of the first n parts, in order. */
double radon_irls_energy_of_row(const float *v, size_t n);
double radon_irls_add_up(const struct radon_irls *s, size_t n);

/* Finds the edges of a report from s->part, the energies of the rows of a panel. */
void radon_irls_edges(const struct radon_irls *s, double edge[2]);

/* Does the work of radon_run() for RADON_SPARSE; see radon.h. */
void radon_sparse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
		      struct radon_report *r);

/* --- time.c: RADON_TIME, whole transforms by shifting and adding in time ---------------------------------------- */

void radon_time_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void radon_time_model(const struct radon_core *p, const float *panel, float *gather, int threads);

/*
 * Hyperbolic curves t = sqrt(tau^2 + q g). The shift of a sample depends on its time, so that both operators work in time:
 *
 *	adjoint		m(tau, q) = sum_x d(sqrt(tau^2 + q g(x)), x), by linear interpolation of d
 *	modelling	the exact transpose
 *
 * Samples with tau below 0 are 0. No mute is applied.
 */

void hyperbola_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void hyperbola_model(const struct radon_core *p, const float *panel, float *gather, int threads);

/*
 * Least squares and sparse inverses of hyperbolic curves, by radon_irls_run(). Gathers are samples in time. It does the work of
 * radon_run().
 */
void radon_time_inverse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
			    struct radon_report *r);

/* --- radon.c ----------------------------------------------------------------------------------------------------- */

struct radon_2d;

struct radon_plan {
	struct radon_core core;
	struct toeplitz *solver; /* owned; RADON_LSQ */
	struct radon_2d *two;	 /* owned; RADON_USFFT2D */
};

struct radon_work {
	struct radon_room room;
	struct radon_evidence *evidence; /* owned; NULL: NU is that of the options */
	struct radon_lsq_work *lsq;	 /* owned */
	struct radon_adapter *adapt;	 /* owned; NULL: no adaptive subtraction */
	struct radon_irls *irls; /* owned; for sparse, and for the inverses of hyperbolic curves */
};

#endif
