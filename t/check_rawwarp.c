/* rawwarp against its definition: a sum over the kernel at the exact place of each sample, one after the other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/picture/warp.h"
#include "t/check.h"

void check_rawwarp(void);

enum { WAYS = 3, SKY = 2 }; /* positions, a map that is turned and sheared, a sky that SIP bends */

static double
weight(enum warp_kernel kernel, double t)
{
	const double a = fabs(t), p = M_PI * t;

	if (kernel == WARP_LINEAR)
		return fmax(1 - a, 0);
	if (kernel == WARP_CUBIC)
		return a < 1   ? 1 - 2.5 * a * a + 1.5 * a * a * a
		       : a < 2 ? 2 - 4 * a + 2.5 * a * a - .5 * a * a * a
			       : 0;
	return a == 0 ? 1 : a < 3 && a != rint(a) ? 3 * sin(p) * sin(p / 3) / (p * p) : 0;
}

/* Where sample i, j of the grid lies in the picture. */
static void
find(const struct world *from, const struct world *to, double i, double j, double at[2])
{
	const struct img_axis *a = to->x->axis + img_row_axis(to->x),
			      *b = from->x->axis + img_row_axis(from->x);
	double p[2] = {a[0].min + a[0].spacing * i, a[1].min + a[1].spacing * j}, place[2];

	world_place(to, p, 2, place);
	world_find(from, place, p);
	for (int k = 0; k < 2; k++)
		at[k] = (p[k] - b[k].min) / b[k].spacing;
}

/* The value of plane c at x, y. */
static double
value(const struct img *x, size_t c, const double at[2], enum warp_kernel kernel)
{
	const struct img_axis *a = x->axis + 1;
	double sum = 0, all = 0, p[2];

	for (int k = 0; k < 2; k++)
		p[k] = kernel == WARP_NEAREST || fabs(at[k] - rint(at[k])) < 1e-5 ? rint(at[k])
										  : at[k];
	if (!(fabs(p[0]) < 1e9 && fabs(p[1]) < 1e9))
		return NAN;
	for (double l = floor(p[1]) - 3; l <= p[1] + 3; l++)
		for (double k = floor(p[0]) - 3; k <= p[0] + 3; k++) {
			const double w = weight(kernel, p[0] - k) * weight(kernel, p[1] - l);
			const bool in =
			    k >= 0 && l >= 0 && k < (double)a[0].n && l < (double)a[1].n;

			all += w;
			if (w != 0)
				sum +=
				    in ? w * ((float *)x->data)[((size_t)l * a[0].n + (size_t)k) *
								    x->axis[0].n +
								c]
				       : NAN;
		}
	return sum / all;
}

/* An item of c planes of w by h samples that lies somewhere on axes, a map or a sky. */
static struct img
place(struct check_rng *r, size_t c, size_t w, size_t h, size_t way, double scale)
{
	static const char *const sky[][2] = {{"NAXIS", "2"},
					     {"CTYPE1", "'RA---TAN-SIP'"},
					     {"CTYPE2", "'DEC--TAN-SIP'"},
					     {"CRVAL1", "359.99"},
					     {"CRVAL2", "-70.0"},
					     {"CRPIX1", "100.5"},
					     {"CRPIX2", "60.0"},
					     {"A_ORDER", "2"},
					     {"B_ORDER", "2"},
					     {"A_0_2", "1.0E-3"},
					     {"B_1_1", "-2.0E-3"}};
	const double turn = rng_unit(r), step = way == SKY ? 1e-4 * scale : scale;
	struct img x;
	char key[32];

	img_init(&x, IMG_F32, 3, (size_t[]){c, w, h});
	strcpy(x.axis[0].kind, "vector");
	for (int i = 1; i < 3; i++) {
		x.axis[i].min = way ? 0 : 3 * rng_unit(r) - 1;
		x.axis[i].spacing = way ? 1 : scale * (i == 1 ? 1 : -1.25);
	}
	if (way == 1)
		img_set_key(&x, "geotransform", "%g %g %g %g %g %g", 5 + rng_unit(r),
			    step * cos(turn), -step * sin(turn), 9 - rng_unit(r), step * sin(turn),
			    step * cos(turn) + .1);
	for (size_t i = 0; way == SKY && i < sizeof sky / sizeof *sky; i++) {
		snprintf(key, sizeof key, "fits.%s", sky[i][0]);
		img_set_key(&x, key, "%s", sky[i][1]);
	}
	for (int i = 0; way == SKY && i < 4; i++) {
		snprintf(key, sizeof key, "fits.CD%d_%d", i / 2 + 1, i % 2 + 1);
		img_set_key(&x, key, "%.9E",
			    i % 3 ? (i == 1 ? step : -step) * sin(turn) : step * cos(turn));
	}
	return x;
}

/* Where the place is that of an edge or a NaN but for an error of 2e-3, either is right. */
static bool
is_close(double at, double bound)
{
	return bound > 1e-3 && fabs(at - rint(at)) < 2e-3;
}

static void
one(struct check_many *m, struct check_rng *r, size_t set)
{
	const size_t way = set % WAYS, c = 1 + rng_below(r, 3), big = way == SKY ? 3 : 1,
		     w = 1 + big * rng_below(r, 50), h = 1 + big * rng_below(r, 40),
		     W = 1 + big * rng_below(r, 70), H = 1 + big * rng_below(r, 40);
	const enum warp_kernel kernel = (enum warp_kernel)rng_below(r, 4);
	const bool flux = rng_below(r, 2);
	const double bound = way == SKY ? .02 : 1e-5;
	struct img x = place(r, c, w, h, way, 1),
		   y = place(r, 1, W, H, way, .6 + 1.4 * rng_unit(r));
	float *v = x.data = check_alloc(c * w * h, sizeof *v), *got;
	struct world from, to;

	for (size_t i = 0; i < c * w * h; i++)
		v[i] = way == SKY ? (float)sin((double)(i / c % w) / 9) + (float)(i / c / w) / 9
		       : rng_below(r, 200) ? (float)rng_normal(r)
					   : NAN;
	world_open(&from, NULL, &x, WORLD_MAY);
	world_open(&to, NULL, &y, WORLD_MAY);
	got = check_alloc(W * H * c, sizeof *got);
	struct warp *warp = warp_plan(kernel, flux, IMG_F32, &from, &to, 1 + (int)rng_below(r, 3));
	for (size_t j = 0; j < H; j += 70)
		warp_rows(warp, v, j, H - j < 70 ? H - j : 70, got + j * W * c);
	for (size_t n = 0; n < W * H * c; n++) {
		const double i = (double)(n / c % W), j = (double)(n / c / W);
		double at[2], d[4][2], want;

		find(&from, &to, i, j, at);
		for (int k = 0; k < 4; k++)
			find(&from, &to,
			     i + (k == 0   ? -.5
				  : k == 1 ? .5
					   : 0),
			     j + (k == 2   ? -.5
				  : k == 3 ? .5
					   : 0),
			     d[k]);
		want = value(&x, n % c, at, kernel);
		if (flux)
			want *= fabs((d[1][0] - d[0][0]) * (d[3][1] - d[2][1]) -
				     (d[1][1] - d[0][1]) * (d[3][0] - d[2][0]));
		if (kernel == WARP_NEAREST
			? is_close(at[0] + .5, bound) || is_close(at[1] + .5, bound)
			: (isnan(want) != isnan(got[n])) &&
			      (is_close(at[0], bound) || is_close(at[1], bound)))
			continue;
		check_case(m, isnan(want) ? isnan(got[n]) : fabs(got[n] - want) <= bound,
			   "way %zu, kernel %d, %.9g,%.9g: %.9g, want %.9g", way, kernel, at[0],
			   at[1], (double)got[n], want);
	}
	weir_free(warp);
	world_close(&from);
	world_close(&to);
	x.data = NULL;
	img_free(&x);
	img_free(&y);
}

void
check_rawwarp(void)
{
	check_each("rawwarp: each sample is the sum over the kernel at its exact place", 60, 5,
		   one);
}
