/*
 * The Radon transform of seismic gathers along curves t = tau + q g(x), and its least-squares and sparse inverses.
 *
 *	adjoint		m(tau, q) = sum_x d(tau + q g(x), x)
 *	modelling	d(t, x)   = sum_q m(t - q g(x), q)
 *	lsq		m minimises |d - A m|^2 + NU nq |m|^2,	A being modelling
 *	sparse		the same with |m|^2 weighted so that m concentrates in few places
 *
 * NU is the energy of noise over that of the signal: the least-squares model of the gather is A A^H (A A^H + NU nq)^-1 d, a
 * Wiener filter whose prior gives each curve an equal part of the signal's energy, so that more curves change little.
 *
 * q is the moveout in seconds at the reference offset X, where g = 1:
 *
 *	parabolic	g = (x / X)^2
 *	linear		g = x / X
 *	Foster-Mosher	g = (sqrt(z^2 + x^2) - z) / (sqrt(z^2 + X^2) - z)
 *
 * Shifts that are no whole samples are those of the discrete Fourier transform: per frequency w = 2 pi k / (nfft dt)
 *
 *	M(q) = sum_x D(x) exp(i w q g(x)),	D(x) = sum_q M(q) exp(-i w q g(x)).
 *
 * The time axis of a panel is longer than that of the gather: it holds every tau from which a curve meets the gather, so
 * that nothing wraps round, and a few more, up to a length that the FFT likes: ntau = nfft.
 *
 *	gather	[nx][nt]	float, t = first time of the gather + i dt
 *	panel	[nq][ntau]	float, tau = that first time + (i - lead) dt,	q = q0 + i dq
 *
 * q being regular, each frequency is one 1-D transform of nonequispaced points (usfft/line.h), and A^H A is Toeplitz. Error
 * of adjoint and modelling: relative l2 <= 2e-6 (RADON_TIME: that of linear interpolation, some per cent).
 *
 * Sources: Hampson, J. Can. Soc. Expl. Geoph. 22(1), 1986; Foster and Mosher, Geophysics 57(3), 1992; Sacchi and Ulrych,
 * Geophysics 60(4), 1995; RADON_USFFT2D: Matveev, Nikitin, Duchkov, Romanenko, Vestnik NSU Inf. Tech. 14(4), 2016.
 */
#ifndef RADON_RADON_H
#define RADON_RADON_H

#include <stdbool.h>
#include <stddef.h>

enum radon_curve { RADON_PARABOLIC, RADON_LINEAR, RADON_FOSTER };
enum radon_mode { RADON_ADJOINT, RADON_LSQ, RADON_SPARSE, RADON_MODEL };

enum radon_method {
	RADON_AUTO,	  /* one of the next two, by size */
	RADON_NUFFT,	  /* per frequency a 1-D transform of nonequispaced points */
	RADON_RECURRENCE, /* per frequency the sum, phases by recurrence in double */
	RADON_TIME,	  /* shift and sum, linear interpolation; adjoint and modelling only */
	RADON_USFFT2D /* one 2-D transform of nonequispaced points; adjoint and modelling only */
};

enum { RADON_MAXMUTE = 32 };

/*
 * What lies beyond q = Q(tau) is kept and the rest removed: the weight rises from 0 at Q to 1 at Q + taper as half a cosine.
 * Q is linear between the n points, constant outside. n = 0 and no polygons: all is kept.
 */
struct radon_mute {
	size_t n;
	double t[RADON_MAXMUTE], q[RADON_MAXMUTE]; /* s; t ascends */
	double taper;				   /* s, >= 0 */
	/*
	 * Instead of a line: polygons. What lies inside one is kept; the weight rises from 0 at its sides to 1 at a distance of
	 * taper along q. Polygon i has the corners (tau, q) number polygon[i - 1] (0: 0) up to and without polygon[i]. Borrowed
	 * as long as a plan lives.
	 */
	const double (*corner)[2];
	const size_t *polygon;
	size_t npolygon;
};

struct radon_options {
	size_t nt, nx, nq; /* samples, traces, curves, >= 1 each */
	double dt, t0;	   /* s; dt > 0; t0: the first time, which only a mute asks for */
	double q0, dq;	   /* s; dq > 0 where nq > 1 */
	const double *g;   /* nx of them, finite; copied */
	/* The panel's time axis serves these g too; 0, 0: none but those above. */
	double glo, ghi;
	/* The least samples of that axis before and after the gather's times. */
	size_t lead, tail;
	/* nx. False: a dead trace, no equation of lsq and sparse. NULL: all live. Copied. */
	const bool *live;
	enum radon_mode mode;
	enum radon_method method;
	double fmin, fmax; /* Hz; frequencies outside are 0; fmax 0: Nyquist */
	double nu;	   /* lsq, sparse: NU, >= 0 */
	int outer, inner;  /* sparse: new weights, steps of conjugate gradients for each */
	/* lsq, sparse: the result is not the panel but gather - modelled (muted) panel, except where a trace is muted. */
	bool subtract;
	bool report; /* find the misfit, which costs a transform */
	/* lsq is not factored: for gpu_radon_run(); radon_run() must not be called. */
	bool unfactored;
	struct radon_mute mute;
	int threads;
};

struct radon_plan;

/* Figures of a run of lsq or sparse. */
struct radon_report {
	/* |d - A m|^2 / |d|^2 over the band and the live traces; NaN: not asked for. */
	double misfit;
	/* A lower bound of the condition of A^H A + NU nq, the worst of all frequencies. */
	double condition;
	/* Frequencies solved by conjugate gradients, since Levinson's recursion is not safe there. */
	size_t fallbacks;
	/* Steps of conjugate gradients, all in all. */
	size_t steps;
	/* Mean energy of the two first and of the two last curves over that of all curves; NaN: fewer than 8, or not found. */
	double edge[2];
};

/*
 * Plans, and factors A^H A + NU nq for lsq. 0, -EDOM (an option out of range), -EOVERFLOW or -ENOMEM; *p is then NULL. Not
 * thread-safe (FFTW's planner is not).
 */
int radon_plan(struct radon_plan **p, const struct radon_options *o);
void radon_free(struct radon_plan *p); /* NULL is nothing */

/* The panel's time axis: ntau samples, of which lead come before the gather's first time. */
size_t radon_ntau(const struct radon_plan *p);
size_t radon_lead(const struct radon_plan *p);
bool radon_fits(const struct radon_options *o, size_t *ntau,
		size_t *lead); /* the same without a plan; false: too large */

/* Room for one gather under way on `threads` threads. NULL: no memory. */
struct radon_work;
struct radon_work *radon_work(const struct radon_plan *p, int threads);
void radon_work_free(struct radon_work *w);

/*
 * in: gather, or panel for RADON_MODEL; out: panel, or gather for RADON_MODEL and subtract. They do not overlap; finite.
 * Several gathers may run at once, each with its own work. report: NULL or where figures of lsq and sparse go. The same bytes
 * for any number of threads.
 */
void radon_run(const struct radon_plan *p, struct radon_work *w, const float *in, float *out,
	       struct radon_report *report);

/* g of an offset x; false where X (or, for Foster-Mosher, X with depth z) gives no curve, as X = 0. */
bool radon_curve(enum radon_curve curve, double x, double reference, double depth, double *g);

/* The weight of the mute at (tau, q), 0..1. */
double radon_mute_weight(const struct radon_mute *m, double tau, double q);

/* The largest |q g| of all curves and traces, s. */
double radon_moveout(const struct radon_options *o);

/* --- inverse/evidence.c ------------------------------------------------------------------------------------------ */

/*
 * The NU of {.001, .003, .01, .03, .1, .3} that makes the gather most likely, with mu = NU nq: the least of
 *
 *	J = sum over f of [nx ln d^H (A A^H + mu I)^-1 d + ln det (A A^H + mu I)]
 *
 * over the nx live traces at every 16th frequency whose energy is above 1e-3 of the strongest. 0 or -errno. Not thread-safe
 * (FFTW's planner is not).
 */
int radon_noise(const struct radon_options *o, const float *gather, double *nu);

/* --- guards.c: do the options suit the gather? ------------------------------------------------------------------- */

/*
 * <m, d> / <m, m> for m = gather - left, what was subtracted: near 1 where m is a part of the gather, below .5 where
 * subtracting it has added energy; 1 where nothing was subtracted.
 */
double radon_alpha(const struct radon_options *o, const float *gather, const float *left);

/* The lowest frequency at which neighbouring curves come a whole period apart across the traces, Hz; inf: none. */
double radon_alias(const struct radon_options *o);

/* The frequency below which 99 % of the gather's energy lies, Hz; inf: no memory. Not thread-safe (FFTW's planner is not). */
double radon_top_frequency(const struct radon_options *o, const float *gather);

/* The samples first .. end - 1 of a trace are data. The zeros before and after them are not: there it was muted. */
struct radon_span {
	size_t first, end;
};
struct radon_span radon_span(const float *x, size_t n); /* of zeros alone: n, n */

/* Copies those zeros of the gather to left. */
void radon_keep_muted(const struct radon_options *o, const float *gather, float *left);

/* --- direct.c: the definition, in double ------------------------------------------------------------------------ */

/* radon_fits(), by looking at every curve and trace. */
void radon_direct_axis(const struct radon_options *o, size_t *ntau, size_t *lead);

/* Adjoint and modelling on the same axes, by the sums above; 0 or -ENOMEM. */
int radon_direct_adjoint(const struct radon_options *o, const float *gather, double *panel);
int radon_direct_model(const struct radon_options *o, const double *panel, double *gather);

/* lsq by a dense Cholesky factorisation per frequency. 0 or -ENOMEM. */
int radon_direct_lsq(const struct radon_options *o, const float *gather, double *panel);

/* radon_noise() by a dense Cholesky factorisation of A A^H + mu I. 0 or -ENOMEM. */
int radon_direct_noise(const struct radon_options *o, const float *gather, double *nu);

/* sparse: the same iteration. 0 or -ENOMEM. */
int radon_direct_sparse(const struct radon_options *o, const float *gather, double *panel);

#endif
