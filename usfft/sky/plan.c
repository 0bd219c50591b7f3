/* Chooses the planes of w, sorts the visibilities by them, and computes what a plane does to a pixel. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "usfft/plan.h"
#include "usfft/sky/planes.h"

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
static int
choose_planes(struct usfft_sky *p, double range, double h, double *sigma)
{
	enum { NS_PIXEL = 13, NS_POINT = 58 };
	const struct usfft_sky_options *given = &p->given;
	const double eps = share_of_w * given->o.tol;
	struct usfft_options o = {.dim = 1, .sigma = given->wstep > 0 ? 1 / (given->wstep * h) : 0};
	double best = INFINITY, least = INFINITY;
	int taps = 0;

	if (o.sigma > 0 && o.sigma < 1.15)
		return -EDOM;
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
	p->reach = least / share_of_w;
	window_make(&p->win, false, taps, fmin(*sigma, USFFT_SIGMA), given->o.tol);
	return 0;
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
	p->value = weir_alloc(p->m, 2 * sizeof *p->value);
	p->some = weir_alloc(p->m, 2 * sizeof *p->some);
	p->sum = weir_alloc_large(p->modes, 2 * sizeof *p->sum);
	p->row = weir_alloc(threads * n[0], 2 * sizeof *p->row);
	return p->start && p->vis && p->turn && p->value && p->some && p->sum && p->row ? 0
											: -ENOMEM;
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
	if (!err)
		err = choose_planes(p, hi - lo, h, &sigma);
	if (err)
		return err;
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
	err = usfft_plan(&p->plan, &o);
	if (!err)
		p->reach = fmax(p->reach, usfft_reach(p->plan) * sqrt(1.5));
	return err;
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
	void *owned[] = {p->start, p->vis, p->turn, p->value, p->some, p->sum, p->row};

	usfft_free(p->plan);
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		weir_free(owned[i]);
	weir_free(p);
}
