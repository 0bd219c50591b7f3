/*
 * The Radon transform of seismic gathers along curves t = tau + q g(x), and its least-squares and sparse inverses.
 *
 *	adjoint		m(tau, q) = sum_x d(tau + q g(x), x)
 *	modelling	d(t, x)   = sum_q m(t - q g(x), q)
 *	lsq		m minimises |d - A m|^2 + NU nq |m|^2, where A is modelling
 *	sparse		m minimises the same sum with weights on |m|^2, so that m concentrates in few places
 *
 * NU is the energy of the noise divided by the energy of the signal. The least-squares model of the gather is
 * A A^H (A A^H + NU nq)^-1 d. This is a Wiener filter whose prior gives each curve an equal part of the signal's energy.
 * A larger number of curves therefore changes the model little.
 *
 * q is the moveout in seconds at the reference offset X, where g = 1:
 *
 *	parabolic	g = (x / X)^2
 *	linear		g = x / X
 *	Foster-Mosher	g = (sqrt(z^2 + x^2) - z) / (sqrt(z^2 + X^2) - z)
 *
 * Traces in a plane have offsets (x, y), and curves t = tau + q g(x) + r g(y) with two regular axes, q and r. With parabolic
 * curves the moveout at the distance X is q in the direction of x and r in that of y. In other directions it is that of an
 * ellipse, and (q + r) / 2 is its mean. With linear curves q and r are slownesses times X.
 *
 * Hyperbolic curves vary with time: t = sqrt(tau^2 + q g) with g = (x / X)^2, and q = (X / v)^2 in s^2, where v is a velocity.
 * Times count from the shot. radon/core.h defines their operators, and conjugate gradients find their inverses.
 *
 * The discrete Fourier transform shifts by fractions of a sample. At each frequency w = 2 pi k / (nfft dt)
 *
 *	M(q) = sum_x D(x) exp(i w q g(x)),	D(x) = sum_q M(q) exp(-i w q g(x)).
 *
 * The time axis of a panel is longer than that of the gather. It holds every tau from which a curve meets the gather, so
 * that nothing wraps round. It ends with a few more samples, which make ntau = nfft a fast length of the FFT.
 *
 *	gather	[nx][nt]	float, t = first time of the gather + i dt
 *	panel	[nq][ntau]	float, tau = that first time + (i - lead) dt,	q = q0 + i dq
 *
 * The axis q is regular. Each frequency is therefore one 1-D transform of nonequispaced points (usfft/line.h), and A^H A is
 * Toeplitz. The error of adjoint and modelling is at most 2e-6 in relative l2. The error of RADON_TIME is that of linear
 * interpolation, some per cent.
 *
 * Sources: Hampson, J. Can. Soc. Expl. Geoph. 22(1), 1986; Foster and Mosher, Geophysics 57(3), 1992; Sacchi and Ulrych,
 * Geophysics 60(4), 1995; RADON_USFFT2D: Matveev, Nikitin, Duchkov, Romanenko, Vestnik NSU Inf. Tech. 14(4), 2016.
 */
#ifndef WEIR_RADON_RADON_H
#define WEIR_RADON_RADON_H

#include <stdbool.h>
#include <stddef.h>

enum radon_curve { RADON_PARABOLIC, RADON_LINEAR, RADON_FOSTER, RADON_HYPERBOLIC };
enum radon_mode { RADON_ADJOINT, RADON_LSQ, RADON_SPARSE, RADON_MODEL };

enum radon_method {
	/* Chooses one of the next two methods by the size of the problem. */
	RADON_AUTO,
	/* Takes one 1-D transform of nonequispaced points for each frequency. */
	RADON_NUFFT,
	/* Adds the terms of the sum at each frequency; a recurrence in double yields the phases. */
	RADON_RECURRENCE,
	/*
	 * Shifts and adds in time with linear interpolation. It serves adjoint and modelling only, except that it serves all
	 * modes of hyperbolic curves, which no other method serves.
	 */
	RADON_TIME,
	/* Takes one 2-D transform of nonequispaced points. It serves adjoint and modelling only. */
	RADON_USFFT2D
};

enum { RADON_MAXMUTE = 32, RADON_SETS = 3 };

/*
 * The mute keeps the part of the panel with q above Q(tau) and removes the rest. Its weight rises from 0 at Q to 1 at
 * Q + taper as half a cosine. Q is linear between the n points and constant outside them. With n = 0 and no polygons the mute
 * keeps the whole panel.
 */
struct radon_mute {
	size_t n;
	double t[RADON_MAXMUTE], q[RADON_MAXMUTE]; /* s; t ascends */
	double taper;				   /* s, >= 0 */
	/* With n = 1: each run of sparse with one axis of curves that are no hyperbolas finds q[0] and taper by radon_gap(). */
	bool find;
	/* Curves with two axes have sqrt(q^2 + r^2) for q. Without radial they have (q + r) / 2. */
	bool radial;
	/*
	 * Polygons replace the line when npolygon is above 0. The mute keeps what lies inside a polygon. Its weight rises from
	 * 0 at the sides to 1 at a distance of taper along q. The corners (tau, q) of polygon i are corner[polygon[i - 1]] to
	 * corner[polygon[i] - 1]; those of polygon 0 begin at corner[0]. Both arrays are borrowed as long as a plan lives.
	 */
	const double (*corner)[2];
	const size_t *polygon;
	size_t npolygon;
};

/* Adaptive subtraction; see radon/adapt.c. All 0: none. */
struct radon_adapt_options {
	double
	    window; /* s: the length of a window in time; 0, or twice the traces' length: one window */
	size_t traces; /* the traces of a window; 0: all in one window */
	double filter; /* s: the length of the filter; above 0 with adaptive subtraction */
};

enum { RADON_MAXFILTER = 201 }; /* samples of that filter */

struct radon_options {
	size_t nt, nx, nq; /* samples, traces, curves, >= 1 each */
	double dt, t0;	   /* s; dt > 0; t0: the first time, which only a mute uses */
	double q0, dq;	   /* s; dq > 0 where there is more than one q */
	const double *g;   /* nx of them, finite; copied */
	/*
	 * 0: one axis of curves, q. Otherwise r is a second axis, and nq is a multiple of nr, which counts all curves. Curve i
	 * has q = q0 + (i mod nq / nr) dq and r = r0 + (i / (nq / nr)) dr. The method is the first, second or third.
	 */
	size_t nr;
	double r0, dr;	 /* s; dr > 0 where nr > 1 */
	const double *h; /* g(y) of the traces, nx of them, finite; copied */
	bool hyperbolic; /* q0 >= 0, nt >= 2, and the method is RADON_TIME */
	/* The panel's time axis also holds moveouts from least to most seconds. With 0, 0 it holds those of the traces alone. */
	double least, most;
	/* That axis has at least `lead` samples before the gather's times and at least `tail` samples after them. */
	size_t lead, tail;
	/* [nx], copied. False marks a dead trace: lsq and sparse take no equations from it. NULL: all traces are live. */
	const bool *live;
	enum radon_mode mode;
	enum radon_method method;
	double fmin, fmax; /* Hz; frequencies outside are 0; fmax 0: Nyquist */
	double nu;	   /* lsq, sparse: NU, >= 0 */
	/*
	 * sparse with one axis of curves that are no hyperbolas: each run finds its NU, a tenth of that of radon_noise(). The panel
	 * of sparse has the energy of the signal in few places, where a curve therefore has more than an equal part.
	 */
	bool find_nu;
	/*
	 * sparse: NU suits what the first set of weights leaves of the gather. With f the part of the energy that it leaves, NU
	 * becomes .02 sqrt(f / (1 - f)), but no less than nu and no more than .1 or nu. Gathers of land, of models and of radar
	 * leave .3 to .9; there the figures of t/bench/radon.md are better by this, and the same elsewhere.
	 */
	bool raise_nu;
	/*
	 * Steps of conjugate gradients with the last of RADON_SETS sets of weights of sparse. Each earlier set takes half the steps of the
	 * next one, rounded up. lsq takes `inner` steps when the curves are hyperbolic or have two axes.
	 */
	int inner;
	/*
	 * With lsq and sparse the result is the gather minus what the muted panel models. Zeros that a trace begins or ends with
	 * stay zeros.
	 */
	bool subtract;
	struct radon_adapt_options adapt; /* with subtract */
	bool report; /* lsq: find the misfit too, which takes a transform more */
	/* The plan of lsq leaves out the factors. gpu_radon_run() takes such a plan; radon_run() does not. */
	bool unfactored;
	struct radon_mute mute;
	int threads;
};

struct radon_plan;

/* The figures of a run of lsq or sparse. */
struct radon_report {
	/* |d - A m|^2 / |d|^2 over the band and the live traces. It is NaN when lsq was not asked for it. */
	double misfit;
	/* lsq: a lower bound of the condition number of A^H A + NU nq, the largest of all frequencies. */
	double condition;
	/* lsq: the number of frequencies where Levinson's recursion is not safe and conjugate gradients solve the system. */
	size_t fallbacks;
	/* The number of steps of conjugate gradients in the whole run. */
	size_t steps;
	/* The NU of the run. NaN: there was no memory to find it, and the result is not written. */
	double nu;
	struct radon_mute mute; /* sparse with mute.find: what the run found */
	/* [nx]: the part of the energy of each trace that the panel explains; NULL without radon_explain(); borrowed */
	float *explained;
	/* The L of adaptive subtraction; infinite: what was subtracted stayed as it was. */
	double adapt;
	/*
	 * [0] is the mean energy of the first two curves divided by the mean energy of all curves; [1] is that of the last two.
	 * Both are NaN when there are fewer than 8 curves or the run does not find them; [0] is NaN when no curve can lie beyond
	 * the first.
	 */
	double edge[2];
};

/*
 * Makes a plan; for lsq it holds the factors of A^H A + NU nq. Returns 0, -EDOM (an option is out of range), -EOVERFLOW or
 * -ENOMEM. After an error *p is NULL. The function is not thread-safe, since FFTW's planner is not.
 */
int radon_plan(struct radon_plan **p, const struct radon_options *o);
void radon_free(struct radon_plan *p); /* accepts NULL */

/* Finds both without a plan. Returns false when the axis is too long. */
bool radon_fits(const struct radon_options *o, size_t *ntau, size_t *lead);

/* Allocates the work of one gather that `threads` threads transform. Returns NULL when there is no memory. */
struct radon_work;
struct radon_work *radon_work(const struct radon_plan *p, int threads);

/* Where the runs of sparse plans leave what report.explained is, [nx]; NULL, as at first: nowhere. */
void radon_explain(struct radon_work *w, float *explained);
void radon_work_free(struct radon_work *w); /* accepts NULL */

/*
 * Transforms one gather. in is the gather, or the panel for RADON_MODEL; its samples are finite. out is the panel, or the
 * gather for RADON_MODEL and `subtract`. in and out do not overlap. report is NULL or receives the figures of lsq and sparse.
 * Several gathers may run at once, each with its own work. The result has the same bytes for any number of threads.
 */
void radon_run(const struct radon_plan *p, struct radon_work *w, const float *in, float *out,
	       struct radon_report *report);

/* Finds g of an offset x. Returns false when g is not finite, as with the reference offset X = 0. */
bool radon_curve(enum radon_curve curve, double x, double reference, double depth, double *g);

/* Returns the weight of the mute at (tau, q), from 0 to 1. */
double radon_mute_weight(const struct radon_mute *m, double tau, double q);

/*
 * Finds the weights of the mute's polygons at one tau and nq ascending q, those of radon_mute_weight(), in a time that grows with
 * the corners and with nq. c: work, nq + 1 of them.
 */
struct radon_crossing {
	double left, right; /* the greatest and the least q of the sides here */
	bool odd;	    /* how many sides */
};
void radon_mute_line(const struct radon_mute *m, double tau, const double *q, size_t nq,
		     struct radon_crossing *c, float *weight);

/*
 * Sets q[0] and taper of a mute to the gap between primaries and multiples. e is the energy of the panel around a curve, summed
 * over three, and p the largest e within 4 curves of q = 0. From 4 curves above 0 on, the gap ends before e exceeds the lowest
 * value so far by 15 % and by .03 p. It lies between the first and last e that exceed this value by at most 20 % or .06 p. The
 * weight is 1/2 in its middle. The taper is as wide, but from 2 curves to what it was. q0 <= 0, and nq > 5 - q0 / dq.
 */
void radon_gap(const struct radon_options *o, const double *energy, struct radon_mute *m);

/* Returns the q that the mute takes for curve i. */
double radon_mute_q(const struct radon_options *o, size_t i);

/* Widens *least .. *most to the moveouts q g + r h of all curves, in seconds. Without a second axis h is of no effect. */
void radon_widen(const struct radon_options *o, double g, double h, double *least, double *most);

/* Returns the largest moveout of all curves and traces, in seconds. */
double radon_moveout(const struct radon_options *o);

/* --- lsq.c: the NU of a gather ----------------------------------------------------------------------------------- */

/*
 * Finds the NU of {.001, .003, .01, .03, .1, .3} that makes the gather most likely. With mu = NU nq this NU minimises
 *
 *	J = sum over f of (E / E_max)^(1/4) [nx ln d^H (A A^H + mu I)^-1 d + ln det (A A^H + mu I)]
 *
 * where nx counts the live traces. f is every 16th frequency of the band; those whose energy E is at most 1e-3 of the strongest
 * there do not count. The factor keeps the many weak frequencies, which are mostly noise, from outvoting those that hold the
 * energy: without it a real gather got .3 instead of .1, and its left-out traces were predicted .4 dB worse. In the 16 scenes of
 * t/check_radon_noise.c the primaries are on average .06 dB worse than by the best NU; with NU = .05 they are .8 dB worse.
 * Returns 0 or -errno. The function is not thread-safe, since FFTW's planner is not.
 */
int radon_noise(const struct radon_options *o, const float *gather, double *nu);

/*
 * The same in parts, for many gathers of one plan. radon_evidence() is not thread-safe, since FFTW's planner is not; several
 * radon_evidence_run() may run at once, each with an object of its own. Both return 0 or -errno; after an error of the first *e
 * is NULL.
 */
struct radon_evidence;
int radon_evidence(struct radon_evidence **e, const struct radon_options *o, int threads);
int radon_evidence_run(struct radon_evidence *e, const float *gather, double *nu);
void radon_evidence_free(struct radon_evidence *e); /* accepts NULL */

/* --- core.c: do the options suit the gather? ------------------------------------------------------------------- */

/*
 * Returns alpha = <m, d> / <m, m>, where d is the gather and m = d - left is what was subtracted. Alpha is near 1 when m is a
 * part of the gather, and below .5 when the subtraction has added energy. It is 1 when nothing was subtracted.
 */
double radon_alpha(const struct radon_options *o, const float *gather, const float *left);

/* The sum of the squares of n samples, and their largest magnitude: infinity or NaN, if any is. */
double radon_energy(const float *v, size_t n);
float radon_peak(const float *v, size_t n);

/*
 * Counts the different places of live traces, up to `most`. Two traces are at the same place when no two curves differ by more
 * than a quarter of a sample between them; with hyperbolic curves when they have the same g.
 */
size_t radon_different(const struct radon_options *o, size_t most);

/*
 * The lowest frequency at which neighbouring curves move a whole period apart across the traces, in Hz; inf: none, or the
 * curves are hyperbolic. *apart is the distance of these curves, in s.
 */
double radon_alias(const struct radon_options *o, double *apart);

/*
 * The frequency below which 99 % of the energy of at most 16 traces of the gather lies, in Hz; inf: no memory. The function
 * is not thread-safe, since FFTW's planner is not.
 */
double radon_top_frequency(const struct radon_options *o, const float *gather);

/* The samples first .. end - 1 of a trace are data. The trace was muted before and after them, where it holds zeros. */
struct radon_span {
	size_t first, end;
};
struct radon_span radon_span(const float *x, size_t n); /* n, n when all are zeros */

/* Copies the zeros that a trace of the gather begins or ends with to `left`, whose shape is the gather's. */
void radon_keep_muted(const struct radon_options *o, const float *gather, float *left);

/* --- direct.c: the definition, in double ------------------------------------------------------------------------ */

/* Finds the same axis as radon_fits() from every curve and trace. */
void radon_direct_axis(const struct radon_options *o, size_t *ntau, size_t *lead);

/* Adjoint and modelling on the same axes by the sums at the head of this file. Both return 0 or -ENOMEM. */
int radon_direct_adjoint(const struct radon_options *o, const float *gather, double *panel);
int radon_direct_model(const struct radon_options *o, const double *panel, double *gather);

/* The same for hyperbolic curves, by their sums in time. */
void
radon_direct_hyperbola_adjoint(const struct radon_options *o, const double *gather, double *panel);
void
radon_direct_hyperbola_model(const struct radon_options *o, const double *panel, double *gather);

/* lsq by elimination of the dense equations at each frequency. Returns 0 or -ENOMEM. */
int radon_direct_lsq(const struct radon_options *o, const float *gather, double *panel);

/* Finds the NU of radon_noise() by elimination of A A^H + mu I. Returns 0 or -ENOMEM. */
int radon_direct_noise(const struct radon_options *o, const float *gather, double *nu);

/*
 * Adaptive subtraction as radon/adapt.c defines it, with a filter of at most 31 samples. out has the shape of the gather.
 * Returns 0 or -ENOMEM.
 */
int radon_direct_adapt(const struct radon_options *o, const float *gather, const float *left,
		       double *out, double *ratio);

/*
 * sparse by the iteration of radon/sparse.c, in double; by o->mode also lsq with two axes or hyperbolic curves. It takes as many
 * steps of conjugate gradients as radon_run(). Returns 0 or -ENOMEM.
 */
int radon_direct_sparse(const struct radon_options *o, const float *gather, double *panel);

#endif
