/* Pictures for tests and benches, as numbers in 0..1: what build/t/gen makes, and its --help describes. */
#ifndef WEIR_PICTURES_H
#define WEIR_PICTURES_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/rng.h"

/* A picture to be filled: v[h][w], zero at first. */
struct canvas {
	float *v;
	size_t w, h;
	const double *arg; /* the numbers after W and H */
	struct check_rng rng;
};

static inline void
fill_constant(struct canvas *c)
{
	for (size_t i = 0; i < c->w * c->h; i++)
		c->v[i] = (float)c->arg[0];
}

static inline void
fill_ramp(struct canvas *c)
{
	for (size_t i = 0; i < c->w * c->h; i++)
		c->v[i] = (float)(i % c->w) / (float)(c->w > 1 ? c->w - 1 : 1);
}

static inline void
fill_noise(struct canvas *c)
{
	for (size_t i = 0; i < c->w * c->h; i++)
		c->v[i] = (float)rng_unit(&c->rng);
}

/* Running mean over 2r+1 samples of a line of n, `step` apart; the ends are repeated. t[n] is scratch. */
static inline void
average(float *v, size_t n, size_t step, size_t r, float *t)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		t[i] = v[i * step];
	for (size_t i = 0; i < 2 * r + 1; i++)
		sum += (double)t[i < r ? 0 : i - r < n ? i - r : n - 1];
	for (size_t i = 0; i < n; i++) {
		v[i * step] = (float)(sum / (double)(2 * r + 1));
		sum += (double)t[i + r + 1 < n ? i + r + 1 : n - 1] - (double)t[i < r ? 0 : i - r];
	}
}

static inline void
stretch(struct canvas *c)
{
	float lo = FLT_MAX, hi = -FLT_MAX;

	for (size_t i = 0; i < c->w * c->h; i++) {
		lo = c->v[i] < lo ? c->v[i] : lo;
		hi = c->v[i] > hi ? c->v[i] : hi;
	}
	for (size_t i = 0; i < c->w * c->h; i++)
		c->v[i] = hi > lo ? (c->v[i] - lo) / (hi - lo) : 0;
}

static inline void
fill_smooth(struct canvas *c)
{
	const size_t r = (size_t)c->arg[0];
	float *t = weir_xalloc(c->w > c->h ? c->w : c->h, sizeof *t);

	fill_noise(c);
	for (int pass = 0; pass < 3; pass++) {
		for (size_t y = 0; y < c->h; y++)
			average(c->v + y * c->w, c->w, 1, r, t);
		for (size_t x = 0; x < c->w; x++)
			average(c->v + x, c->h, c->w, r, t);
	}
	weir_free(t);
	stretch(c);
}

static inline void
fill_seeds(struct canvas *c)
{
	for (size_t n = (size_t)c->arg[0]; n; n--)
		c->v[rng_below(&c->rng, c->w * c->h)] = 1;
}

static inline void
fill_dot(struct canvas *c)
{
	const double x = c->arg[0], y = c->arg[1];

	if (x >= 0 && x < (double)c->w && y >= 0 && y < (double)c->h)
		c->v[(size_t)y * c->w + (size_t)x] = 1;
}

static inline void
fill_serpentine(struct canvas *c)
{
	for (size_t y = 0; y < c->h; y++)
		for (size_t x = 0; x < c->w; x++)
			if (y % 2 == 0 || x == (y % 4 == 1 ? c->w - 1 : 0))
				c->v[y * c->w + x] = 1;
}

/* Walks inwards; a step is taken while the pixel after the next is not yet part of the corridor. */
static inline void
fill_spiral(struct canvas *c)
{
	static const int dx[] = {1, 0, -1, 0}, dy[] = {0, 1, 0, -1};
	const long w = (long)c->w, h = (long)c->h;
	long x = 0, y = 0;

	c->v[0] = 1;
	for (int turn = 0, blocked = 0; blocked < 2; turn = (turn + 1) % 4, blocked++)
		for (;;) {
			const long x1 = x + dx[turn], y1 = y + dy[turn];
			const long x2 = x1 + dx[turn], y2 = y1 + dy[turn];
			if (x1 < 0 || x1 >= w || y1 < 0 || y1 >= h || c->v[y1 * w + x1] > 0)
				break;
			if (x2 >= 0 && x2 < w && y2 >= 0 && y2 < h && c->v[y2 * w + x2] > 0)
				break;
			x = x1;
			y = y1;
			c->v[y * w + x] = 1;
			blocked = -1;
		}
}

/* Corridors that go right and down in turn, four pixels apart. */
static inline void
fill_stairs(struct canvas *c)
{
	for (size_t y = 0; y < c->h; y++)
		for (size_t x = 0; x < c->w; x++) {
			const size_t d = (x + 4 * c->h - y) % 4;
			if (d <= 1)
				c->v[y * c->w + x] = 1;
		}
}

/*
 * The point response at (x,y), both 0..1 over the field: a Moffat profile of exponent 2.5, round and narrow in the centre
 * of the field, wider and drawn out along the radius towards its corners, as lenses do. (u,v): pixels from the star.
 */
static inline double
response(double u, double v, double x, double y)
{
	const double X = x - .5, Y = y - .5, r = hypot(X, Y);
	const double c = r > 0 ? X / r : 1, s = r > 0 ? Y / r : 0;
	const double along = (c * u + s * v) / (2 + 6 * r), across = (c * v - s * u) / (2 + r);

	return pow(1 + along * along + across * across, -2.5);
}

static inline void
add_star(struct canvas *c, double x, double y, double peak)
{
	enum { REACH = 20 };

	for (long v = -REACH; v <= REACH; v++)
		for (long u = -REACH; u <= REACH; u++) {
			const long px = lround(x) + u, py = lround(y) + v;
			if (px < 0 || px >= (long)c->w || py < 0 || py >= (long)c->h)
				continue;
			c->v[(size_t)py * c->w + (size_t)px] +=
			    (float)(peak * response((double)px - x, (double)py - y,
						    x / (double)c->w, y / (double)c->h));
		}
}

/* A cosmic ray lights one to four pixels in a line, and knows no optics. */
static inline void
add_ray(struct canvas *c)
{
	const size_t step = rng_below(&c->rng, 2) ? 1 : c->w, n = c->w * c->h;
	size_t at = rng_below(&c->rng, n);

	for (size_t k = 1 + rng_below(&c->rng, 4); k && at < n; k--, at += step)
		c->v[at] += (float)(.2 + .7 * rng_unit(&c->rng));
}

static inline void
add_stars(struct canvas *c)
{
	for (size_t i = 0; i < (size_t)c->arg[0]; i++) {
		const double x = rng_unit(&c->rng) * (double)c->w,
			     y = rng_unit(&c->rng) * (double)c->h;
		add_star(c, x, y, .02 / (.02 + rng_unit(&c->rng)));
	}
}

static inline void
fill_stars(struct canvas *c)
{
	add_stars(c);
	for (size_t i = 0; i < (size_t)c->arg[0] / 2; i++)
		add_ray(c);
	for (size_t i = 0; i < c->w * c->h; i++)
		c->v[i] += (float)(.03 + .004 * rng_normal(&c->rng));
}

/* The stars' shapes at the centres of gx x gy cells: sizes k k gx gy. */
static inline void
fill_kernels(float *v, size_t k, size_t gx, size_t gy)
{
	for (size_t cell = 0; cell < gx * gy; cell++, v += k * k) {
		const double x = ((double)(cell % gx) + .5) / (double)gx;
		const double y = ((double)(cell / gx) + .5) / (double)gy;
		double sum = 0;
		for (size_t i = 0; i < k * k; i++) {
			const double p = response((double)(i % k) - (double)(k / 2),
						  (double)(i / k) - (double)(k / 2), x, y);
			v[i] = (float)p;
			sum += p;
		}
		for (size_t i = 0; i < k * k; i++)
			v[i] = (float)((double)v[i] / sum);
	}
}

#endif
