/* wconv: deconvolutions of small pictures against dense matrices made of the definition. */
#include <math.h>
#include <string.h>

#include "common/mem.h"
#include "t/check_wconv.h"
#include "wconv/restore/restore.h"

/* y = A x: A [data][estimate]; the item lies at (ox,oy) of the estimate of ew x eh. */
struct dense {
	struct conv_job j; /* the item is the data */
	size_t w, h, ew, eh, ox, oy;
	double *a, *y, *x;
};

/* A, column by column or row by row, from the definition of the convolution that stands for it or for its transpose. */
static void
fill_matrix(struct dense *d, bool scatters)
{
	struct conv_job by = d->j;
	const bool unknown = d->j.q.edge == WCONV_RENORMALISE;
	const size_t bx = by.q.kw - 1 - by.q.cx, ax = by.q.cx, upper = by.q.kh - 1 - by.q.cy;
	const size_t n = d->w * d->h;

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
	d->a = weir_xalloc(n * m, sizeof *d->a);
	/* the convolution takes the estimate and gives the data, or scatters: takes the data and gives the estimate */
	const size_t in = scatters ? n : m, out = scatters ? m : n;
	double *unit = weir_xalloc(in, sizeof *unit), *col = weir_xalloc(out, sizeof *col);
	for (size_t i = 0; i < in; i++) {
		memset(unit, 0, in * sizeof *unit);
		unit[i] = 1;
		wconv_direct(&by.q, unit, col);
		for (size_t k = 0; k < out; k++)
			d->a[scatters ? i * m + k : k * m + i] = col[k];
	}
	weir_free(unit);
	weir_free(col);
}

/* A picture seen through A, with a few samples unknown. */
static void
pose(struct dense *d, struct check_rng *rng, enum wconv_edge edge, bool scatters)
{
	memset(d, 0, sizeof *d);
	d->w = 12;
	d->h = 9;
	conv_pose(&d->j, d->w, d->h, 5, 4, 2, 3);
	d->j.q.in_double = true;
	d->j.q.in = d->j.q.out = IMG_F64;
	d->j.q.edge = edge;
	conv_fill(&d->j, rng);
	fill_matrix(d, scatters);
	const size_t n = d->w * d->h, m = d->ew * d->eh;
	d->y = weir_xalloc(n, sizeof *d->y);
	d->x = weir_xalloc(m, sizeof *d->x);
	for (size_t i = 0; i < m; i++)
		d->x[i] = rng_unit(rng) * (rng_below(rng, 4) == 0 ? 20 : 1);
	for (size_t i = 0; i < n; i++) {
		d->y[i] = 3 + .1 * rng_unit(rng);
		for (size_t k = 0; k < m; k++)
			d->y[i] += d->a[i * m + k] * d->x[k];
	}
	for (size_t i = 5; i < n; i += 37)
		d->y[i] = i % 2 ? NAN : INFINITY;
}

static void
drop(struct dense *d)
{
	conv_drop(&d->j);
	weir_free(d->a);
	weir_free(d->y);
	weir_free(d->x);
}

/* d->x by the same steps with the dense matrix. */
static void
dense_lucy(struct dense *d, size_t steps, double sky)
{
	const size_t n = d->w * d->h, m = d->ew * d->eh;
	double *s = weir_xalloc(m, sizeof *s), *t = weir_xalloc(m, sizeof *t), sum = 0, all = 0,
	       top = 0;

	memset(s, 0, m * sizeof *s);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; isfinite(d->y[i]) && k < m; k++)
			s[k] += d->a[i * m + k];
	for (size_t i = 0; i < n; i++)
		sum += isfinite(d->y[i]) ? d->y[i] - sky : 0;
	for (size_t k = 0; k < m; k++) {
		all += s[k];
		top = fmax(top, s[k]);
	}
	for (size_t k = 0; k < m; k++)
		d->x[k] = sum / all;
	for (size_t step = 0; step < steps; step++) {
		memset(t, 0, m * sizeof *t);
		for (size_t i = 0; i < n; i++) {
			double f = sky;
			for (size_t k = 0; k < m; k++)
				f += d->a[i * m + k] * d->x[k];
			for (size_t k = 0; isfinite(d->y[i]) && k < m; k++)
				t[k] += d->a[i * m + k] * d->y[i] / f;
		}
		for (size_t k = 0; k < m; k++)
			d->x[k] = s[k] > .01 * top ? d->x[k] * t[k] / s[k] : 0;
	}
	for (size_t k = 0; k < m; k++)
		d->x[k] = s[k] > .01 * top ? d->x[k] : NAN;
	weir_free(s);
	weir_free(t);
}

/* d->x from (A'A + damp^2) x = A'(y - sky), by Cholesky's factors. */
static void
dense_least_squares(struct dense *d, double damp, double sky)
{
	const size_t n = d->w * d->h, m = d->ew * d->eh;
	double *g = weir_xalloc(m * m, sizeof *g), *x = d->x;

	for (size_t k = 0; k < m; k++) {
		x[k] = 0;
		for (size_t l = 0; l < m; l++)
			g[k * m + l] = k == l ? damp * damp : 0;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; isfinite(d->y[i]) && k < m; k++) {
			x[k] += d->a[i * m + k] * (d->y[i] - sky);
			for (size_t l = 0; l <= k; l++)
				g[k * m + l] += d->a[i * m + k] * d->a[i * m + l];
		}
	for (size_t k = 0; k < m; k++)
		for (size_t l = 0; l <= k; l++) {
			double v = g[k * m + l];
			for (size_t i = 0; i < l; i++)
				v -= g[k * m + i] * g[l * m + i];
			g[k * m + l] = l < k ? v / g[l * m + l] : sqrt(v);
		}
	for (size_t k = 0; k < m; k++) {
		for (size_t l = 0; l < k; l++)
			x[k] -= g[k * m + l] * x[l];
		x[k] /= g[k * m + k];
	}
	for (size_t k = m; k-- > 0;) {
		for (size_t l = k + 1; l < m; l++)
			x[k] -= g[l * m + k] * x[l];
		x[k] /= g[k * m + k];
	}
	weir_free(g);
}

/* max |ours - dense| / max |dense|, after the steps that o says. */
static double
restore_error(struct dense *d, const struct wconv_restore_options *o)
{
	double *got = weir_xalloc(d->w * d->h, sizeof *got), worst = 0, peak = 0;
	struct wconv_restored done;
	struct wconv_restore *r;
	char err[WCONV_ERR];
	bool ran = !wconv_restore_plan(&r, &d->j.q, o, err);

	check_poison(got, d->w * d->h * sizeof *got);
	for (int twice = 0; ran && twice < 2; twice++) /* a plan serves again */
		ran = !wconv_restore_run(r, d->y, got, &done, err);
	for (size_t i = 0; ran && i < d->w * d->h; i++) {
		const double want = d->x[(i / d->w + d->oy) * d->ew + i % d->w + d->ox];
		if (isnan(want) && isnan(got[i]))
			continue;
		const double e = fabs(got[i] - want);
		worst = e <= worst ? worst : e;
		peak = fmax(peak, fabs(want));
	}
	wconv_restore_free(r);
	weir_free(got);
	return ran && peak > 0 ? worst / peak : INFINITY;
}

static const enum wconv_edge edges[] = {WCONV_RENORMALISE, WCONV_ZERO,	  WCONV_REFLECT,
					WCONV_MIRROR,	   WCONV_NEAREST, WCONV_WRAP};

static void
check_lucy(void)
{
	struct check_many m = {0};
	struct check_rng rng = {31};

	for (size_t i = 0; i < 12; i++) {
		const struct wconv_restore_options o = {.steps = 9, .sky = 1.5, .scatters = i % 2};
		struct dense d;
		pose(&d, &rng, edges[i / 2], i % 2);
		dense_lucy(&d, o.steps, o.sky);
		for (int method = WCONV_DIRECT; method <= WCONV_FFT; method++) {
			d.j.q.method = (enum wconv_method)method;
			const double e = restore_error(&d, &o);
			check_case(&m, e < 1e-11, "edge %d, scatters %zu, method %d: error %g",
				   (int)edges[i / 2], i % 2, method, e);
		}
		drop(&d);
	}
	check_end(
	    &m,
	    "wconv: Richardson-Lucy is that of a dense matrix, at all edges, with unknown samples");
}

static void
check_least_squares(void)
{
	struct check_many m = {0};
	struct check_rng rng = {32};

	for (size_t i = 0; i < 12; i++) {
		const struct wconv_restore_options o = {
		    .least_squares = true, .steps = 400, .damp = .3, .sky = 1.5, .scatters = i % 2};
		struct dense d;
		pose(&d, &rng, edges[i / 2], i % 2);
		dense_least_squares(&d, o.damp, o.sky);
		for (int method = WCONV_DIRECT; method <= WCONV_FFT; method++) {
			d.j.q.method = (enum wconv_method)method;
			const double e = restore_error(&d, &o);
			check_case(&m, e < 1e-9, "edge %d, scatters %zu, method %d: error %g",
				   (int)edges[i / 2], i % 2, method, e);
		}
		drop(&d);
	}
	check_end(&m,
		  "wconv: least squares is the dense solution, at all edges, with unknown samples");
}

/* The same bytes for any number of threads; the misfit falls to --noise and no further. */
static void
check_stops(void)
{
	struct check_many m = {0};
	struct check_rng rng = {33};
	struct wconv_restored done;
	struct wconv_restore *r;
	char err[WCONV_ERR];
	struct conv_job j;

	conv_pose(&j, 150, 130, 7, 7, 3, 3);
	conv_fill(&j, &rng);
	j.q.edge = WCONV_RENORMALISE;
	float *x = weir_xalloc(150 * 130, sizeof *x),
	      *first = weir_xalloc(150 * 130, sizeof *first);
	for (int kind = 0; kind < 2; kind++)
		for (int t = 1; t <= 7; t += 3) {
			const struct wconv_restore_options o = {
			    .least_squares = kind, .steps = 500, .noise = .26};
			j.q.threads = t;
			check_case(&m, !wconv_restore_plan(&r, &j.q, &o, err), "%s", err);
			check_case(&m, !wconv_restore_run(r, j.image, x, &done, err), "%s", err);
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
	weir_free(x);
	weir_free(first);
	conv_drop(&j);
}

void
check_wconv_restore(void)
{
	check_lucy();
	check_least_squares();
	check_stops();
}
