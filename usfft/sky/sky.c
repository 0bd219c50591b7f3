/*
 * Both directions, plane by plane. Type 1 sums the planes by Horner's rule, from the last plane to the first: the sum so far
 * is multiplied by the step from plane to plane. Type 2 multiplies the image by the step from plane to plane.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "usfft/inverse.h"
#include "usfft/plan.h"
#include "usfft/sky/sky.h"
#include "usfft/window.h"

/* One visibility. x: u and v in cycles from pixel to pixel, and what rounding took from them. */
struct visibility {
	double x[2], rest[2];
	double place;	  /* in its cell of w, -1..1 */
	double turn;	  /* w h / 2 modulo 1, in cycles */
	uint32_t index;	  /* in the caller's order */
	int32_t mirrored; /* -1 where it was replaced by its conjugate, else 1 */
};

/* What a plane does to a pixel; symmetric in l and m, so |k| along both axes finds it. */
struct turn {
	double step[2];	 /* exp(2 pi i D nu), nu = n - 1 + h / 2: from plane to plane */
	double first[2]; /* exp(2 pi i w nu) / hat(D nu), w that of plane 0; 0 beyond the horizon */
};

struct usfft_sky {
	struct usfft_sky_options given;
	struct usfft_plan *plan; /* owned: of one plane */
	struct window win;
	double wstep; /* between planes */
	size_t cells, planes, m, modes;
	size_t *start;		/* owned: first visibility of each cell, cells + 1 */
	struct visibility *vis; /* owned: m */
	struct turn *turn;	/* owned: [n[1] / 2 + 1][n[0] / 2 + 1] */

	/* Work. Owned: m values in sorted order, those of one plane, the sum over planes, a row of pixels for each thread. */
	double *value, *some, *sum, *row;
};

/* |k| of pixel i of an axis of n pixels. */
static inline size_t
distance(size_t i, size_t n)
{
	return i < n / 2 ? n / 2 - i : i - n / 2;
}

/* ---- plan ---- */

/*
 * The part of the tolerance that the window of w may take on average over n. Its error is largest for n = 1, the centre of
 * the image, where the brightest source often is: with .23, one source there gave 3.3 times the tolerance.
 */
static const double share_of_w = 0.06;

/* The depth of an image that has none. Its product with any w of an interferometer is no turn at all. */
static const double no_depth = 1e-100;

/* 1 - n at direction cosines l and m, without cancellation; 1 beyond the horizon. */
static double
depth(double l, double m)
{
	const double r2 = l * l + m * m;

	return r2 < 1 ? r2 / (1 + sqrt(1 - r2)) : 1;
}

/*
 * h: 1 - n at the corner of the image. The distance of planes is 1 / (sigma h) wavelengths, so an image of one pixel, which
 * has no depth, gets one that puts all w between two planes.
 */
static double
largest_depth(const struct usfft_sky_options *o)
{
	const double l = (double)(o->o.n[0] / 2) * o->pixel[0];
	const double m = (double)(o->o.n[1] / 2) * o->pixel[1];

	return fmax(depth(l, m), no_depth);
}

/*
 * Chooses taps and the distance of planes, for visibilities over `range` wavelengths. Only the ratio of the costs matters:
 * NS_PIXEL nanoseconds for each pixel of a plane, NS_POINT for each tap of a visibility. They are the mean of both types at
 * 1e-6 on an AMD EPYC with AVX-512 (256^2 to 1024^2 pixels, 20000 to 400000 visibilities); with AVX2 they are 17 and 76.
 */
static void
choose_planes(struct usfft_sky *p, double range, double h, double *sigma)
{
	enum { NS_PIXEL = 13, NS_POINT = 58 };
	const struct usfft_sky_options *given = &p->given;
	const double eps = share_of_w * given->o.tol;
	const struct usfft_options o = {.dim = 1};
	double best = INFINITY, least = INFINITY;
	int taps = 0;

	for (int w = WINDOW_MINW; w <= WINDOW_MAXW; w++) {
		double error;
		const double s = usfft_least_sigma(&o, w, eps, &error);
		const double planes = range * h * s + w;
		const double time =
		    planes * NS_PIXEL * (double)p->modes + (double)p->m * w * NS_POINT;
		if (error > eps ? error >= least : least <= eps && time >= best)
			continue;
		best = time;
		least = fmax(error, eps);
		taps = w;
		*sigma = s;
	}
	p->wstep = 1 / (*sigma * h);
	window_make(&p->win, false, taps, *sigma, given->o.tol);
}

/* Reads the coordinates of point j. Those of w < 0 are mirrored. */
static int
read_point(const struct usfft_points *pt, size_t j, double x[3])
{
	for (int a = 0; a < 3; a++)
		x[a] = real_at(pt->x[a], j * pt->stride, pt->single);
	const int sign = x[2] < 0 ? -1 : 1;
	for (int a = 0; a < 3; a++)
		x[a] *= sign;
	return sign;
}

/* Finds the least and the largest |w|. Returns 0, or -EINVAL when point *bad is not finite. */
static int
find_range(const struct usfft_points *pt, double *lo, double *hi, size_t *bad)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t j = 0; j < pt->m; j++) {
		double x[3];
		read_point(pt, j, x);
		*bad = j;
		if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
			return -EINVAL;
		*lo = fmin(*lo, x[2]);
		*hi = fmax(*hi, x[2]);
	}
	if (!pt->m)
		*lo = *hi = 0;
	return 0;
}

/* The cell of a point, and its place in it: see fit_tap() in window.c. */
static size_t
cell_of(const struct usfft_sky *p, double w, double lo, double *place)
{
	const double at = (w - lo) / p->wstep + (p->win.w % 2 ? 0.5 : 0), cell = floor(at);

	*place = 2 * (at - cell) - 1;
	return (size_t)cell;
}

/* Sorts the visibilities by cell; those of a cell stay in the caller's order. */
static void
sort_points(struct usfft_sky *p, const struct usfft_points *pt, double lo, double h)
{
	double x[3], place;

	for (size_t j = 0; j < pt->m; j++) {
		read_point(pt, j, x);
		p->start[cell_of(p, x[2], lo, &place) + 1]++;
	}
	for (size_t c = 0; c < p->cells; c++)
		p->start[c + 1] += p->start[c];
	for (size_t j = 0; j < pt->m; j++) {
		const int sign = read_point(pt, j, x);
		struct visibility *v = &p->vis[p->start[cell_of(p, x[2], lo, &place)]++];
		for (int a = 0; a < 2; a++) {
			v->x[a] = x[a] * p->given.pixel[a];
			v->rest[a] = fma(x[a], p->given.pixel[a], -v->x[a]);
		}
		v->place = place;
		v->turn = x[2] * h / 2 - rint(x[2] * h / 2);
		v->index = (uint32_t)j;
		v->mirrored = sign;
	}
	for (size_t c = p->cells; c > 0; c--)
		p->start[c] = p->start[c - 1];
	p->start[0] = 0;
}

/* Computes p->turn. w: that of plane 0. */
static void
make_turns(struct usfft_sky *p, double w, double h)
{
	const size_t nx = p->given.o.n[0] / 2 + 1, ny = p->given.o.n[1] / 2 + 1;

#pragma omp parallel for num_threads(p->given.o.threads) schedule(static)
	for (size_t y = 0; y < ny; y++)
		for (size_t x = 0; x < nx; x++) {
			const double l = (double)x * p->given.pixel[0];
			const double m = (double)y * p->given.pixel[1];
			const double nu = h / 2 - depth(l, m), at = w * nu - rint(w * nu);
			const double step = 2 * M_PI * p->wstep * nu;
			const bool seen = l * l + m * m <= 1;
			const double f = seen ? 1 / window_hat(&p->win, fabs(p->wstep * nu)) : 0;
			struct turn *t = &p->turn[y * nx + x];
			t->step[0] = cos(step);
			t->step[1] = sin(step);
			t->first[0] = f * cos(2 * M_PI * at);
			t->first[1] = f * sin(2 * M_PI * at);
		}
}

static int
allocate(struct usfft_sky *p)
{
	const size_t *n = p->given.o.n, threads = (size_t)p->given.o.threads;

	p->start = weir_calloc(p->cells + 1, sizeof *p->start);
	p->vis = weir_alloc(p->m, sizeof *p->vis);
	p->turn = weir_alloc((n[0] / 2 + 1) * (n[1] / 2 + 1), sizeof *p->turn);
	p->value = weir_alloc(p->m, 4 * sizeof *p->value);
	p->some = p->value ? p->value + 2 * p->m : NULL;
	p->sum = weir_alloc_large(p->modes, 2 * sizeof *p->sum);
	p->row = weir_alloc(threads * n[0], 2 * sizeof *p->row);
	return p->start && p->vis && p->turn && p->value && p->sum && p->row ? 0 : -ENOMEM;
}

static int
make_plan(struct usfft_sky *p, const struct usfft_points *pt, size_t *bad)
{
	struct usfft_options o = p->given.o;
	double lo, hi, sigma = 0;
	const double h = largest_depth(&p->given);
	int err = find_range(pt, &lo, &hi, bad);

	p->m = pt->m;
	if (!err && (p->m > USFFT_MAXPOINTS || !weir_mul(o.n[0], o.n[1], &p->modes)))
		err = -EOVERFLOW;
	if (err)
		return err;
	choose_planes(p, hi - lo, h, &sigma);
	if (!((hi - lo) / p->wstep < 1e7))
		return -EOVERFLOW;
	p->cells = (size_t)((hi - lo) / p->wstep + 0.5) + 1;
	p->planes = p->cells + (size_t)p->win.w - 1;
	err = allocate(p);
	if (err)
		return err;
	sort_points(p, pt, lo, h);
	make_turns(p, lo - tile_lead(p->win.w) * p->wstep, h);
	o.single = false;
	o.tol *= sqrt(2.0 / 3);
	o.expect = p->m * (size_t)p->win.w / p->planes + 1;
	return usfft_plan(&p->plan, &o);
}

int
usfft_sky_plan(struct usfft_sky **sky, const struct usfft_sky_options *o,
	       const struct usfft_points *pt, size_t *bad)
{
	struct usfft_sky *p = weir_calloc(1, sizeof *p);

	*sky = NULL;
	if (!p)
		return -ENOMEM;
	p->given = *o;
	const int err = make_plan(p, pt, bad);
	if (err)
		usfft_sky_free(p);
	else
		*sky = p;
	return err;
}

void
usfft_sky_free(struct usfft_sky *p)
{
	if (!p)
		return;
	usfft_free(p->plan);
	weir_free_all(p->start, p->vis, p->turn, p->value, p->sum, p->row, p);
}

/* ---- sky ---- */

/* The visibilities from..to-1 that plane p touches. */
static void
find_some(const struct usfft_sky *s, size_t p, size_t *from, size_t *to)
{
	const size_t w = (size_t)s->win.w;

	*from = s->start[p < w ? 0 : p - w + 1];
	*to = s->start[p < s->cells ? p + 1 : s->cells];
}

/* f[i] = the weight of tap t for visibility i, n of them. */
WEIR_CLONES(weights_of,
	    (const struct window *win, size_t t, const struct visibility *v, size_t n, double *f),
	    (win, t, v, n, f))
{
	for (size_t i = 0; i < n; i++) {
		double sum = win->coef[win->ncoef - 1][t];
		for (int d = win->ncoef - 2; d >= 0; d--)
			sum = sum * v[i].place + win->coef[d][t];
		f[i] = sum;
	}
}

/*
 * Sets the values s->some of plane p from all values, or adds them to all values, times their weights. The plane's first
 * visibility is `from`.
 */
static void
weigh_plane(const struct usfft_sky *s, size_t p, size_t from, bool to_plane)
{
	enum { BLOCK = 64 };
	const size_t w = (size_t)s->win.w;
	double f[BLOCK];

	for (size_t c = p < w ? 0 : p - w + 1; c <= p && c < s->cells; c++)
		for (size_t at = s->start[c]; at < s->start[c + 1]; at += BLOCK) {
			const size_t left = s->start[c + 1] - at, n = left < BLOCK ? left : BLOCK;
			double *all = s->value + 2 * at, *some = s->some + 2 * (at - from);
			weights_of(&s->win, p - c, s->vis + at, n, f);
			for (size_t i = 0; i < 2 * n; i++)
				if (to_plane)
					some[i] = f[i / 2] * all[i];
				else
					all[i] += f[i / 2] * some[i];
		}
}

static struct usfft_points
points_of(const struct usfft_sky *s, size_t from, size_t to)
{
	const struct visibility *v = s->vis + from;

	return (struct usfft_points){.m = to - from,
				     .stride = sizeof *v / sizeof(double),
				     .x = {&v->x[0], &v->x[1]},
				     .rest = {&v->rest[0], &v->rest[1]}};
}

/* to = from times f, or its conjugate where sign is -1. All are complex; to may be from. */
static inline void
multiply(double *to, const double *from, const double *f, int sign)
{
	const double re = from[0], im = from[1], g = sign * f[1];

	to[0] = re * f[0] - im * g;
	to[1] = re * g + im * f[0];
}

/* The turns of row y of the image. */
static const struct turn *
turns_of(const struct usfft_sky *s, size_t y)
{
	const struct usfft_options *o = &s->given.o;

	return s->turn + distance(y, o->n[1]) * (o->n[0] / 2 + 1);
}

/* Sets the values to the caller's visibilities, or those to the values, times exp(-s 2 pi i w h / 2). */
static void
turn_values(const struct usfft_sky *s, int sign, const double *given, double *result)
{
#pragma omp parallel for num_threads(s->given.o.threads) schedule(static)
	for (size_t i = 0; i < s->m; i++) {
		const struct visibility *v = s->vis + i;
		const double f[2] = {cos(2 * M_PI * v->turn), sin(2 * M_PI * v->turn)};
		double *value = s->value + 2 * i, *out = result ? result + 2 * v->index : value;
		const double *in = given ? given + 2 * v->index : value;
		const double z[2] = {in[0], given ? v->mirrored * in[1] : in[1]};
		multiply(out, z, f, -sign);
		if (result)
			out[1] *= v->mirrored;
	}
}

/* sum = sum times the step, plus the plane's modes, if it has visibilities. */
static void
add_plane(struct usfft_sky *s, int sign, bool modes)
{
	const struct usfft_options *o = &s->given.o;

#pragma omp parallel for num_threads(o->threads) schedule(static)
	for (size_t y = 0; y < o->n[1]; y++) {
		double *row = s->row + (size_t)omp_get_thread_num() * 2 * o->n[0];
		double *sum = s->sum + 2 * y * o->n[0];
		const struct turn *turn = turns_of(s, y);
		if (modes)
			usfft_get_row(s->plan, sign, y, row);
		for (size_t x = 0; x < o->n[0]; x++) {
			const struct turn *t = turn + distance(x, o->n[0]);
			multiply(sum + 2 * x, sum + 2 * x, t->step, sign);
			sum[2 * x] += modes ? row[2 * x] : 0;
			sum[2 * x + 1] += modes ? row[2 * x + 1] : 0;
		}
	}
}

int
usfft_sky_type1(struct usfft_sky *s, int sign, const double *vis, double *image)
{
	const struct usfft_options *o = &s->given.o;
	size_t bad;

	turn_values(s, sign, vis, NULL);
	memset(s->sum, 0, s->modes * 2 * sizeof *s->sum);
	for (size_t p = s->planes; p-- > 0;) {
		size_t from, to;
		find_some(s, p, &from, &to);
		if (from < to) {
			const struct usfft_points pt = points_of(s, from, to);
			weigh_plane(s, p, from, true);
			const int err = usfft_points(s->plan, &pt, s->some, 2, &bad);
			if (err)
				return err;
			usfft_gather(s->plan, sign, NULL);
		}
		add_plane(s, sign, from < to);
	}
#pragma omp parallel for num_threads(o->threads) schedule(static)
	for (size_t y = 0; y < o->n[1]; y++) {
		const struct turn *turn = turns_of(s, y);
		for (size_t x = 0; x < o->n[0]; x++) {
			const struct turn *t = turn + distance(x, o->n[0]);
			const double *sum = s->sum + 2 * (y * o->n[0] + x);
			image[y * o->n[0] + x] = sum[0] * t->first[0] - sign * sum[1] * t->first[1];
		}
	}
	return 0;
}

/* Puts the image of a plane into the plan, and turns it to the next plane. used: the plane has visibilities. */
static void
put_plane(struct usfft_sky *s, int sign, bool used)
{
	const struct usfft_options *o = &s->given.o;

	if (used)
		usfft_clear(s->plan);
#pragma omp parallel for num_threads(o->threads) schedule(static)
	for (size_t y = 0; y < o->n[1]; y++) {
		double *sum = s->sum + 2 * y * o->n[0];
		const struct turn *turn = turns_of(s, y);
		if (used)
			usfft_put_row(s->plan, sign, y, sum);
		for (size_t x = 0; x < o->n[0]; x++)
			multiply(sum + 2 * x, sum + 2 * x, turn[distance(x, o->n[0])].step, sign);
	}
}

int
usfft_sky_type2(struct usfft_sky *s, int sign, const double *image, double *vis)
{
	const struct usfft_options *o = &s->given.o;
	size_t bad;

#pragma omp parallel for num_threads(o->threads) schedule(static)
	for (size_t y = 0; y < o->n[1]; y++) {
		const struct turn *turn = turns_of(s, y);
		for (size_t x = 0; x < o->n[0]; x++) {
			const struct turn *t = turn + distance(x, o->n[0]);
			const size_t at = y * o->n[0] + x;
			s->sum[2 * at] = image[at] * t->first[0];
			s->sum[2 * at + 1] = sign * image[at] * t->first[1];
		}
	}
	memset(s->value, 0, s->m * 2 * sizeof *s->value);
	for (size_t p = 0; p < s->planes; p++) {
		size_t from, to;
		find_some(s, p, &from, &to);
		const struct usfft_points pt = points_of(s, from, to);
		const int err = from < to ? usfft_points(s->plan, &pt, NULL, 0, &bad) : 0;
		if (err)
			return err;
		put_plane(s, sign, from < to);
		if (from == to)
			continue;
		usfft_scatter(s->plan, sign, s->some);
		weigh_plane(s, p, from, false);
	}
	turn_values(s, sign, NULL, vis);
	return 0;
}

struct usfft_sky_choice
usfft_sky_choice(const struct usfft_sky *s)
{
	return (struct usfft_sky_choice){s->planes, s->win.w, s->wstep};
}

/* ---- inverse ---- */

/* The normal equations: A* W A + lambda. */
struct normal {
	struct usfft_sky *sky;
	const double *w; /* NULL: ones */
	double lambda;
	int sign;
	double *vis; /* owned: complex, one for each point */
};

static int
apply(void *who, const double *in, double *out)
{
	const struct normal *a = who;
	int err = usfft_sky_type2(a->sky, a->sign, in, a->vis);

	for (size_t j = 0; !err && a->w && j < a->sky->m; j++) {
		a->vis[2 * j] *= a->w[j];
		a->vis[2 * j + 1] *= a->w[j];
	}
	if (!err)
		err = usfft_sky_type1(a->sky, -a->sign, a->vis, out);
	for (size_t i = 0; !err && i < a->sky->modes; i++)
		out[i] += a->lambda * in[i];
	return err;
}

int
usfft_sky_inverse(struct usfft_sky *p, const double *w, const double *b,
		  const struct usfft_inverse *v, double *image, struct usfft_outcome *got)
{
	struct normal a = {.sky = p, .w = w, .sign = v->sign};
	double *r = weir_alloc(p->modes, sizeof *r), sum = 0;

	a.vis = weir_alloc(p->m, 2 * sizeof *a.vis);
	for (size_t j = 0; a.vis && j < p->m; j++) {
		const double f = w ? w[j] : 1;
		a.vis[2 * j] = f * b[2 * j];
		a.vis[2 * j + 1] = f * b[2 * j + 1];
		sum += f;
	}
	a.lambda = v->damp * sum;
	int err = r && a.vis ? usfft_sky_type1(p, -v->sign, a.vis, r) : -ENOMEM;
	if (!err)
		err = usfft_solve(apply, &a, &p->given.o, p->modes, sum, v, image, r, got);
	weir_free_all(a.vis, r);
	return err;
}
