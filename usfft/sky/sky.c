/*
 * Both directions, plane by plane. Type 1 sums the planes by Horner's rule, from the last plane to the first: the sum so far
 * is multiplied by the step from plane to plane. Type 2 multiplies the image by the step from plane to plane.
 */
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "usfft/plan.h"
#include "usfft/sky/planes.h"

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

	return s->turn + sky_distance(y, o->n[1], o->fft_order) * (o->n[0] / 2 + 1);
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
			const struct turn *t = turn + sky_distance(x, o->n[0], o->fft_order);
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
			const struct turn *t = turn + sky_distance(x, o->n[0], o->fft_order);
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
			multiply(sum + 2 * x, sum + 2 * x,
				 turn[sky_distance(x, o->n[0], o->fft_order)].step, sign);
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
			const struct turn *t = turn + sky_distance(x, o->n[0], o->fft_order);
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

size_t
usfft_sky_planes(const struct usfft_sky *s)
{
	return s->planes;
}

double
usfft_sky_wstep(const struct usfft_sky *s)
{
	return s->wstep;
}

int
usfft_sky_taps(const struct usfft_sky *s)
{
	return s->win.w;
}

double
usfft_sky_reach(const struct usfft_sky *s)
{
	return s->reach;
}
