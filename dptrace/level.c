/*
 * Responses at whole pixels, computed from the picture itself. A segment needs a few hundred of them, where its strip has
 * a hundred thousand. Beyond the border the pixels of the border are repeated.
 */
#include <math.h>

#include "dptrace/bounds.h"
#include "dptrace/evidence/gain.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/level.h"
#include "dptrace/libm.h"

#define NEAR 2.2 /* px: the Gaussian that weighs responses for the polarity of a point */

/* Half kernels of the derivatives of orders 0, 1 and 2, at steps of a pixel. */
struct taps {
	int r;
	float w[3][MAXTAPS];
};

static void
make_taps(struct taps *t, double sigma, int orders)
{
	struct kernel k;

	t->r = (int)ceil(3 * sigma);
	for (int order = 0; order <= orders; order++) {
		strip_kernel(&k, order, sigma, t->r, 1);
		for (int i = 0; i <= t->r; i++)
			t->w[order][i] = k.w[i];
	}
}

static ptrdiff_t
clamp_to(ptrdiff_t x, size_t n)
{
	return x < 0 ? 0 : x >= (ptrdiff_t)n ? (ptrdiff_t)n - 1 : x;
}

/* The derivatives of orders 0..most of a row at column x. ref is subtracted from every sample. */
static void
derive_row(const struct taps *t, const float *row, size_t w, ptrdiff_t x, int most, double ref,
	   double out[3])
{
	const double mid = (double)row[clamp_to(x, w)] - ref;

	for (int order = 0; order <= most; order++)
		out[order] = order == 1 ? 0 : (double)t->w[order][0] * mid;
	for (int i = 1; i <= t->r; i++) {
		const double a = (double)row[clamp_to(x - i, w)] - ref,
			     b = (double)row[clamp_to(x + i, w)] - ref;
		for (int order = 0; order <= most; order++)
			out[order] += (double)t->w[order][i] * (order == 1 ? b - a : b + a);
	}
}

/* Adds rows y - j (up) and y + j (down) to the derivatives of that order: d[i] is of order i along y. */
static void
add_rows(const struct taps *t, int j, const double up[3], const double down[3], int order,
	 double *d)
{
	for (int i = 0; i <= order; i++)
		d[i] += (double)t->w[i][j] * (i == 1 ? down[order - i] - up[order - i]
						     : down[order - i] + up[order - i]);
}

/* The derivatives at a pixel: g those of order 1, d those of order 2. Element i is of order i along y. */
struct jet {
	double g[2], d[3];
};

/*
 * The derivatives of a plane at the n pixels of column x from row y on. ref is subtracted from every sample. Where most is
 * 1, those of order 2 are left out.
 */
static void
derive(const struct taps *t, const float *plane, size_t w, size_t h, ptrdiff_t x, ptrdiff_t y,
       int n, int most, double ref, struct jet *out)
{
	double row[2 * LEVEL_REACH + 1 + 2 * MAXTAPS][3];

	for (int i = 0; i < n + 2 * t->r; i++)
		derive_row(t, plane + (size_t)clamp_to(y - t->r + i, h) * w, w, x, most, ref,
			   row[i]);
	for (int i = 0; i < n; i++) {
		const double(*mid)[3] = (const double(*)[3])row + t->r + i;
		double *g = out[i].g, *d = out[i].d;
		for (int k = 0; k <= most; k++)
			d[k] = k == 1 ? 0 : (double)t->w[k][0] * mid[0][most - k];
		g[0] = (double)t->w[0][0] * mid[0][1];
		g[1] = 0;
		for (int k = 1; k <= t->r; k++) {
			add_rows(t, k, mid[-k], mid[k], 1, g);
			if (most == 2)
				add_rows(t, k, mid[-k], mid[k], 2, d);
		}
	}
}

static double
less(double a, double b)
{
	return a > b ? a - b : 0;
}

/* The responses at a pixel of those derivatives. Those for the polarity are smaller where there is a gradient. */
static struct level
ridge_level(const double g[2], const double d[3], double sigma)
{
	const double mean = (d[0] + d[2]) / 2, half = (d[0] - d[2]) / 2,
		     root = sqrt(half * half + d[1] * d[1]), square = sigma * sigma,
		     flank = COST_FLANK * sigma * sqrt(g[0] * g[0] + g[1] * g[1]),
		     bright = square * (root - mean), dark = square * (root + mean);

	return (struct level){bright, dark, less(bright, flank), less(dark, flank)};
}

static struct level
edge_level(double xx, double xy, double yy, double sigma)
{
	const double half = (xx - yy) / 2,
		     size = sigma * sqrt((xx + yy) / 2 + sqrt(half * half + xy * xy));

	return (struct level){size, size, size, size};
}

/* The responses at the n pixels of column x from row y on. ref is a value near those of the picture there. */
static void
respond(const struct taps *t, const struct dptrace_image *im, const float *gray,
	const struct dptrace_options *o, double sigma, ptrdiff_t x, ptrdiff_t y, int n, double ref,
	struct level *out)
{
	const bool ridge = o->score == DPTRACE_RIDGE,
		   colour = o->score == DPTRACE_EDGE && im->c > 1 && !o->polarity;
	double sum[2 * LEVEL_REACH + 1][3] = {{0}};
	struct jet jet[2 * LEVEL_REACH + 1];

	for (size_t c = 0; c < (colour ? im->c : 1); c++) {
		derive(t, colour ? im->v + c * im->w * im->h : gray, im->w, im->h, x, y, n,
		       ridge ? 2 : 1, ref, jet);
		for (int i = 0; i < n; i++) {
			sum[i][0] += jet[i].g[0] * jet[i].g[0];
			sum[i][1] += jet[i].g[0] * jet[i].g[1];
			sum[i][2] += jet[i].g[1] * jet[i].g[1];
		}
	}
	for (int i = 0; i < n; i++)
		out[i] = ridge ? ridge_level(jet[i].g, jet[i].d, sigma)
			       : edge_level(sum[i][0], sum[i][1], sum[i][2], sigma);
}

struct level
level_at(const struct dptrace_image *im, const float *gray, const struct dptrace_options *o,
	 double sigma, double reach, const double p[2])
{
	const ptrdiff_t r = (ptrdiff_t)ceil(reach), px = lround(p[0]), py = lround(p[1]),
			y0 = clamp_to(py - r, im->h), y1 = clamp_to(py + r, im->h);
	const double ref =
	    (double)gray[(size_t)clamp_to(py, im->h) * im->w + (size_t)clamp_to(px, im->w)];
	struct level at[2 * LEVEL_REACH + 1], most = {0, 0, 0, 0};
	struct taps t;

	make_taps(&t, sigma, 2);
	for (ptrdiff_t x = px - r; x <= px + r; x++) {
		if (x < 0 || x >= (ptrdiff_t)im->w)
			continue;
		respond(&t, im, gray, o, sigma, x, y0, (int)(y1 - y0) + 1, ref, at);
		for (ptrdiff_t y = y0; y <= y1; y++) {
			if (im->mask && !im->mask[(size_t)y * im->w + (size_t)x])
				continue;
			const struct level l = at[y - y0];
			const double gain = (double)gain_at(&im->gain, (size_t)x, (size_t)y);
			const double near =
			    gain *
			    libm_exp_minus((double)((x - px) * (x - px) + (y - py) * (y - py)) /
					   (2 * NEAR * NEAR));
			most.bright = larger(most.bright, gain * l.bright);
			most.dark = larger(most.dark, gain * l.dark);
			most.near_bright = larger(most.near_bright, near * l.near_bright);
			most.near_dark = larger(most.near_dark, near * l.near_dark);
		}
	}
	return most;
}

/* The size of the second difference at p, along a row (step 1) or along a column (step w). */
static double
second_difference(const float *p, size_t step)
{
	return fabs((double)p[0] - (double)p[-(ptrdiff_t)step] - ((double)p[step] - (double)p[0]));
}

void
level_add_noise(struct noise *to, const struct dptrace_image *im, const float *gray,
		const double a[2], const double b[2], double halfwidth)
{
	enum { PLACES = 128, ACROSS = 8 };
	const double dx = b[0] - a[0], dy = b[1] - a[1], length = sqrt(dx * dx + dy * dy);

	for (int i = 0; i < PLACES; i++) {
		const double u = (i + .5) / PLACES,
			     v = halfwidth * ((i % ACROSS + .5) / ACROSS * 2 - 1) / length;
		const ptrdiff_t x = lround(a[0] + u * dx - v * dy),
				y = lround(a[1] + u * dy + v * dx);
		const float *p = gray + y * (ptrdiff_t)im->w + x;
		if (x < 1 || y < 1 || x + 1 >= (ptrdiff_t)im->w || y + 1 >= (ptrdiff_t)im->h)
			continue;
		if (im->mask && !im->mask[p - gray])
			continue;
		to->sum += (double)gain_at(&im->gain, (size_t)x, (size_t)y) *
			   (second_difference(p, 1) + second_difference(p, im->w));
		to->n += 2;
	}
}

double
level_of_noise(const struct noise *n, double sigma)
{
	/* White noise of deviation s has E|d2| = sqrt(6) sqrt(2/pi) s, and responses of size .3 s / sigma. */
	return n->n ? n->sum / (double)n->n * 1.2533 / sqrt(6) * .3 / sigma : 0;
}

/* The integral of n'g along the link from a to b: above 0 where the picture is brighter on the right of a walker. */
static double
side_of(const struct taps *t, const struct dptrace_image *im, const float *gray, double step,
	const struct dptrace_vertex *a, const struct dptrace_vertex *b)
{
	const double dx = b->x - a->x, dy = b->y - a->y;
	const int n = (int)ceil(sqrt(dx * dx + dy * dy) / step);
	double sum = 0;
	struct jet jet;

	for (int i = 0; i < n; i++) {
		const double u = (i + .5) / n;
		const ptrdiff_t x = clamp_to(lround(a->x + u * dx), im->w),
				y = clamp_to(lround(a->y + u * dy), im->h);
		derive(t, gray, im->w, im->h, x, y, 1, 1,
		       (double)gray[(size_t)y * im->w + (size_t)x], &jet);
		sum += (dx * jet.g[1] - dy * jet.g[0]) / n;
	}
	return sum;
}

double
level_turned(const struct dptrace_trace *t, const struct dptrace_image *im, const float *gray,
	     double sigma)
{
	double run[2] = {0, 0}, most[2] = {0, 0}, sum[2] = {0, 0};
	struct taps taps;

	make_taps(&taps, sigma, 1);
	for (size_t i = 1; i < t->n; i++) {
		const struct dptrace_vertex *a = &t->v[i - 1], *b = &t->v[i];
		const double e = side_of(&taps, im, gray, larger(1, sigma), a, b), dx = b->x - a->x,
			     dy = b->y - a->y;
		const int side = e > 0;
		run[side] += sqrt(dx * dx + dy * dy);
		run[!side] = 0;
		sum[side] += fabs(e);
		most[side] = larger(run[side], most[side]);
	}
	return most[sum[1] < sum[0]];
}
