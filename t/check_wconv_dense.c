/* Deconvolutions of small pictures by dense matrices made of the definition. */
#include "common/base/dense.h"
#include "t/check_wconv.h"

/* y = A x: A [data][estimate]; the item lies at (ox,oy) of the estimate of ew x eh. */
struct dense {
	struct conv_job j; /* the item is the data */
	size_t w, h, ew, eh, ox, oy;
	double *a, *y, *x;
	double *s;    /* A' 1 at known samples over its largest value; for least squares 1 */
	double ratio; /* Richardson-Lucy: the largest A x + sky over the smallest, in any step */
	double cond;  /* least squares: at least the condition of A'A + damp^2 */
};

/* A, column by column or row by row, from the definition of the convolution that stands for it or for its transpose. */
static void
fill_matrix(struct dense *d, bool scatters)
{
	struct conv_job by = d->j;
	const bool unknown = d->j.q.edge == WCONV_RENORMALISE;
	const size_t bx = by.q.kw - 1 - by.q.cx, ax = by.q.cx, upper = by.q.kh - 1 - by.q.cy;
	const size_t n = d->w * d->h;

	by.q.in = IMG_F64; /* the definition takes doubles here */
	d->ew = d->w + (unknown ? by.q.kw - 1 : 0);
	d->eh = d->h + (unknown ? by.q.kh - 1 : 0);
	d->ox = !unknown ? 0 : scatters ? ax : bx;
	d->oy = !unknown ? 0 : scatters ? by.q.cy : upper;
	const size_t m = d->ew * d->eh;
	if (unknown) {
		by.q.edge = WCONV_ZERO;
		by.q.output = scatters ? WCONV_FULL : WCONV_VALID;
	}
	if (unknown && !scatters) {
		by.q.w = by.q.W = d->ew;
		by.q.h = by.q.H = d->eh;
		by.q.node_x = by.node[0];
		by.q.node_y = by.node[1];
		for (size_t i = 0; i < CONV_NODES; i++) {
			by.node[0][i] += (double)bx;
			by.node[1][i] += (double)upper;
		}
	}
	d->a = check_alloc(n * m, sizeof *d->a);
	/* the convolution takes the estimate and gives the data, or scatters: takes the data and gives the estimate */
	const size_t in = scatters ? n : m, out = scatters ? m : n;
	double *unit = check_alloc(in, sizeof *unit), *col = check_alloc(out, sizeof *col);
	for (size_t i = 0; i < in; i++) {
		memset(unit, 0, in * sizeof *unit);
		unit[i] = 1;
		wconv_direct(&by.q, unit, col);
		for (size_t k = 0; k < out; k++)
			d->a[scatters ? i * m + k : k * m + i] = col[k];
	}
}

/* A picture seen through A, with a few samples unknown and a few below 0. */
static void
pose(struct dense *d, struct check_rng *rng, enum wconv_edge edge, bool scatters, bool in_double)
{
	memset(d, 0, sizeof *d);
	d->w = 12;
	d->h = 9;
	conv_pose(&d->j, d->w, d->h, 5, 4, 2, 3);
	d->j.q.in_double = in_double;
	d->j.q.in = d->j.q.out = in_double ? IMG_F64 : IMG_F32;
	d->j.q.edge = edge;
	conv_fill(&d->j, rng);
	fill_matrix(d, scatters);
	const size_t n = d->w * d->h, m = d->ew * d->eh;
	d->y = check_alloc(n, sizeof *d->y);
	d->x = check_alloc(m, sizeof *d->x);
	d->s = check_alloc(m, sizeof *d->s);
	for (size_t i = 0; i < m; i++)
		d->x[i] = rng_unit(rng) * (rng_below(rng, 4) == 0 ? 20 : 1);
	for (size_t i = 0; i < n; i++) {
		d->y[i] = 3 + .1 * rng_unit(rng);
		for (size_t k = 0; k < m; k++)
			d->y[i] += d->a[i * m + k] * d->x[k];
	}
	for (size_t i = 0; i < n; i++)
		d->y[i] = (float)d->y[i]; /* both precisions have the same data */
	for (size_t i = 8; i < n; i += 41)
		d->y[i] = -1; /* counts as 0 to Richardson-Lucy */
	for (size_t i = 5; i < n; i += 37)
		d->y[i] = i % 2 ? NAN : INFINITY;
}

/* One accelerated step: X is in x and becomes the next x. last: X', which becomes X. g: g', which becomes g = X - x before. */
static void
extend(double *x, double *last, double *g, const double *was, size_t m)
{
	double along = 0, before = 0;

	for (size_t k = 0; k < m; k++) {
		along += (x[k] - was[k]) * g[k];
		before += g[k] * g[k];
		g[k] = x[k] - was[k];
	}
	const double a = before > 0 ? fmin(fmax(along / before, 0), 1) : 0;
	for (size_t k = 0; k < m; k++) {
		const double now = x[k];
		x[k] = fmax(now + a * (now - last[k]), now / 10);
		last[k] = now;
	}
}

/* d->x by the same steps with the dense matrix. */
static void
dense_lucy(struct dense *d, size_t steps, double sky, double floor, bool accelerate)
{
	const size_t n = d->w * d->h, m = d->ew * d->eh;
	double *was = check_alloc(m, sizeof *was), *last = check_alloc(m, sizeof *last),
	       *g = check_alloc(m, sizeof *g);
	double *s = d->s, *t = check_alloc(m, sizeof *t), sum = 0, all = 0, top = 0, p = 0;

	memset(s, 0, m * sizeof *s);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; isfinite(d->y[i]) && k < m; k++)
			s[k] += d->a[i * m + k];
	for (size_t i = 0; i < n; i++) {
		sum += isfinite(d->y[i]) ? d->y[i] - sky : 0;
		p += isfinite(d->y[i]) ? floor : 0;
	}
	for (size_t k = 0; k < m; k++) {
		all += s[k];
		top = fmax(top, s[k]);
	}
	p /= all;
	for (size_t k = 0; k < m; k++)
		d->x[k] = last[k] = sum / all + p;
	memset(g, 0, m * sizeof *g);
	d->ratio = 1;
	for (size_t step = 0; step < steps; step++) {
		double most = 0, least = INFINITY;
		memset(t, 0, m * sizeof *t);
		memcpy(was, d->x, m * sizeof *was);
		for (size_t i = 0; i < n; i++) {
			double f = sky, lift = 0;
			for (size_t k = 0; k < m; k++) {
				f += d->a[i * m + k] * d->x[k];
				lift += d->a[i * m + k] * p;
			}
			for (size_t k = 0; isfinite(d->y[i]) && k < m; k++)
				t[k] += d->a[i * m + k] * fmax(d->y[i] + lift, 0) / f;
			most = fmax(most, f);
			least = fmin(least, f);
		}
		d->ratio = fmax(d->ratio, most / least);
		for (size_t k = 0; k < m; k++)
			d->x[k] = s[k] > .01 * top ? d->x[k] * t[k] / s[k] : 0;
		if (accelerate)
			extend(d->x, last, g, was, m);
	}
	for (size_t k = 0; k < m; k++)
		d->x[k] = s[k] > .01 * top ? d->x[k] - p : NAN;
	for (size_t k = 0; k < m; k++)
		s[k] /= top;
}

/* d->x from (A'A + damp^2) x = A'(y - sky). */
static void
dense_least_squares(struct dense *d, double damp, double sky)
{
	const size_t n = d->w * d->h, m = d->ew * d->eh;
	double complex *g = check_alloc(m * m, sizeof *g), *x = check_alloc(m, sizeof *x);
	double norm = 0;

	for (size_t k = 0; k < m; k++) {
		double sum = 0; /* A'A is symmetric: its largest row sum is not below its norm */
		x[k] = 0;
		d->s[k] = 1;
		for (size_t i = 0; i < n; i++)
			x[k] += isfinite(d->y[i]) ? d->a[i * m + k] * (d->y[i] - sky) : 0;
		for (size_t l = 0; l < m; l++) {
			double v = k == l ? damp * damp : 0;
			for (size_t i = 0; i < n; i++)
				v += isfinite(d->y[i]) ? d->a[i * m + k] * d->a[i * m + l] : 0;
			g[k * m + l] = v;
			sum += fabs(v);
		}
		norm = fmax(norm, sum);
	}
	d->cond = norm / (damp * damp);
	dense_solve(g, x, 1, m);
	for (size_t k = 0; k < m; k++)
		d->x[k] = creal(x[k]);
}

/* The root mean square of ours - dense, weighed by s, over that of dense; infinity where only one of them is NaN. */
static double
compare(const struct dense *d, const void *got)
{
	double miss = 0, all = 0;

	for (size_t i = 0; i < d->w * d->h; i++) {
		const size_t k = (i / d->w + d->oy) * d->ew + i % d->w + d->ox;
		const double want = d->x[k], e = real_at(got, i, !d->j.q.in_double) - want;
		if (isnan(want) && isnan(e))
			continue;
		miss += e * e * d->s[k] * d->s[k];
		all += want * want;
	}
	return all > 0 && !isnan(miss) ? sqrt(miss / all) : INFINITY;
}

/* Runs the plan twice in single precision, since a plan serves again. */
static double
find_error(struct dense *d, const struct wconv_restore_options *o, dense_run *run)
{
	const size_t n = d->w * d->h, size = d->j.q.in_double ? sizeof(double) : sizeof(float);
	void *y = check_alloc(n, size), *got = check_alloc(n, size);
	struct wconv_restored done;
	struct wconv_restore *r;
	struct why why;
	bool ran = !wconv_restore_plan(&r, &d->j.q, o, &why);

	for (size_t i = 0; i < n; i++)
		real_set(y, i, d->y[i], size == sizeof(float));
	check_poison(got, n * size);
	for (int again = !d->j.q.in_double; ran && again >= 0; again--)
		ran = !run(r, y, got, &done, &why);
	const double e = ran ? compare(d, got) : INFINITY;
	wconv_restore_free(r);
	return e;
}

/*
 * The bounds follow from those of A and A': 3e-7 of the largest result, by transforms 1e-6 for A'; in double 1e-14.
 * Richardson-Lucy: a step multiplies by A'(y / f) / s. The error of f is `ratio` times that bound, relative to the smallest f.
 * Those of A' and s are relative to the largest s, hence the weights. Steps add their errors, and amplify none.
 * Accelerated: an error of one step goes on in all later ones.
 * Least squares: the solution's error is that of A'A and A' y times the condition.
 */
static double
bound_of(const struct dense *d, const struct wconv_restore_options *o)
{
	const bool in_double = d->j.q.in_double;
	const double a = in_double ? 1e-14 : 3e-7,
		     t = in_double || d->j.q.method == WCONV_DIRECT ? a : 1e-6;

	if (o->least_squares)
		return d->cond * (a + 2 * t);
	return (double)(o->accelerate ? o->steps * o->steps : o->steps) * (d->ratio * a + 2 * t);
}

static void
hold(struct check_many *m, struct dense *d, const struct wconv_restore_options *o, dense_run *run)
{
	for (int method = WCONV_DIRECT; method <= WCONV_FFT; method++) {
		d->j.q.method = (enum wconv_method)method;
		const double e = find_error(d, o, run), bound = bound_of(d, o);
		check_case(m, e <= bound,
			   "edge %d, scatters %d, double %d, method %d: error %g, bound %g",
			   (int)d->j.q.edge, o->scatters, d->j.q.in_double, method, e, bound);
	}
}

static const enum wconv_edge edges[] = {WCONV_RENORMALISE, WCONV_ZERO,	  WCONV_REFLECT,
					WCONV_MIRROR,	   WCONV_NEAREST, WCONV_WRAP};

void
dense_hold(struct check_many *m, struct wconv_restore_options how, dense_run *run)
{
	struct check_rng rng = {31};

	for (size_t i = 0; i < 24; i++) {
		const struct wconv_restore_options o = {.least_squares = how.least_squares,
							.accelerate = how.accelerate,
							.steps = how.least_squares ? 400 : 9,
							.damp = 2,
							.sky = 1.5,
							.floor = i % 3 ? 4 : 0,
							.scatters = i % 2,
							.on_device = how.on_device};
		struct dense d;
		pose(&d, &rng, edges[i / 4], i % 2, i / 2 % 2);
		if (how.least_squares)
			dense_least_squares(&d, o.damp, o.sky);
		else
			dense_lucy(&d, o.steps, o.sky, o.floor, o.accelerate);
		hold(m, &d, &o, run);
	}
}

/* --- the checks of the CPU --------------------------------------------------------------------------------------------- */

static int
run_on_cpu(struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
	   struct why *why)
{
	return wconv_restore_run(r, y, x, done, why);
}

static void
check_methods(void)
{
	static const struct wconv_restore_options how[] = {
	    {0}, {.accelerate = true}, {.least_squares = true}};
	struct check_many m = {0};

	for (int i = 0; i < 3; i++)
		dense_hold(&m, how[i], run_on_cpu);
	check_end(&m,
		  "wconv: Richardson-Lucy, accelerated or not, and least squares are those of a "
		  "dense matrix, at all edges, with unknown samples");
}

/* The same bytes for any number of threads; the misfit falls to --noise and no further. */
static void
check_stops(void)
{
	struct check_many m = {0};
	struct check_rng rng = {33};
	struct wconv_restored done;
	struct wconv_restore *r;
	struct why why;
	struct conv_job j;

	conv_pose(&j, 150, 130, 7, 7, 3, 3);
	conv_fill(&j, &rng);
	j.q.edge = WCONV_RENORMALISE;
	float *x = check_alloc(150 * 130, sizeof *x),
	      *first = check_alloc(150 * 130, sizeof *first);
	for (int kind = 0; kind < 3; kind++)
		for (int t = 1; t <= 7; t += 3) {
			const struct wconv_restore_options o = {.least_squares = kind == 1,
								.accelerate = kind == 2,
								.steps = 500,
								.noise = .26};
			j.q.threads = t;
			check_case(&m, !wconv_restore_plan(&r, &j.q, &o, &why), "%s", why.text);
			check_case(&m, !wconv_restore_run(r, j.image, x, &done, &why), "%s",
				   why.text);
			check_case(&m,
				   done.rms <= .26 && done.rms > .2 && done.steps > 1 &&
				       done.steps < 500,
				   "kind %d: %zu steps to %g", kind, done.steps, done.rms);
			if (t == 1)
				memcpy(first, x, 150 * 130 * sizeof *x);
			check_case(&m, !memcmp(first, x, 150 * 130 * sizeof *x),
				   "%d threads: other bytes", t);
			wconv_restore_free(r);
		}
	check_end(&m, "wconv: deconvolution stops at the noise, with the same bytes for any number "
		      "of threads");
}

void
check_wconv_restore(void)
{
	check_methods();
	check_stops();
}
