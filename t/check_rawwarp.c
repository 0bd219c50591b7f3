/* rawwarp against its definition: a sum over the kernel at the exact place of each sample, one after the other. */
#include "common/picture/warp.h"
#include "t/check.h"

enum { POSITIONS, MAP, SKY, WAYS };

static double
weight(enum warp_kernel kernel, double t)
{
	const double a = fabs(t), p = M_PI * t;

	if (kernel == WARP_LINEAR)
		return fmax(1 - a, 0);
	if (kernel == WARP_CUBIC && a < 1)
		return 1 - 2.5 * a * a + 1.5 * a * a * a;
	if (kernel == WARP_CUBIC)
		return a < 2 ? 2 - 4 * a + 2.5 * a * a - .5 * a * a * a : 0;
	return a == 0 ? 1 : a < 3 && a != rint(a) ? 3 * sin(p) * sin(p / 3) / (p * p) : 0;
}

/* Where sample i, j of the grid lies in the picture. */
static void
find(const struct world *from, const struct world *to, double i, double j, double at[2])
{
	const struct img_axis *a = &to->x->axis[1], *b = &from->x->axis[1];
	double p[2] = {a[0].min + a[0].spacing * i, a[1].min + a[1].spacing * j}, place[2];

	world_place(to, p, 2, place);
	world_find(from, place, p);
	for (int k = 0; k < 2; k++)
		at[k] = (p[k] - b[k].min) / b[k].spacing;
}

/* The value of plane c there. */
static double
value(const struct img *x, size_t c, const double at[2], enum warp_kernel kernel)
{
	const struct img_axis *a = x->axis;
	const double w = (double)a[1].n, h = (double)a[2].n;
	const float *v = x->data;
	double sum = 0, all = 0, p[2];

	for (int k = 0; k < 2; k++)
		p[k] = kernel == WARP_NEAREST || fabs(at[k] - rint(at[k])) < 1e-5 ? rint(at[k])
										  : at[k];
	if (!(fabs(p[0]) < 1e9 && fabs(p[1]) < 1e9))
		return NAN;
	for (double l = floor(p[1]) - 3; l <= p[1] + 3; l++)
		for (double k = floor(p[0]) - 3; k <= p[0] + 3; k++) {
			const double by = weight(kernel, p[0] - k) * weight(kernel, p[1] - l);
			const bool in = k >= 0 && l >= 0 && k < w && l < h;
			all += by;
			if (by != 0)
				sum += in ? by * (double)v[(size_t)(l * w + k) * a[0].n + c] : NAN;
		}
	return sum / all;
}

/* An item of c planes of w by h samples: on axes; on a map, turned and sheared; in a sky that SIP bends. */
static struct img
place(struct check_rng *r, size_t c, size_t w, size_t h, size_t way, double scale)
{
	const double turn = rng_unit(r), cosine = scale * cos(turn), sine = scale * sin(turn),
		     u = rng_unit(r), v = rng_unit(r);
	char text[1024], keys[512] = "";
	struct why why;
	struct img x;
	bool swap;

	if (way == MAP)
		snprintf(keys, sizeof keys, "geotransform:=%g %g %g %g %g %g\n", 5 + u, cosine,
			 -sine, 9 - v, sine, cosine + .1);
	if (way == SKY)
		snprintf(
		    keys, sizeof keys,
		    "fits.NAXIS:=2\nfits.CTYPE1:='RA---TAN-SIP'\nfits.CTYPE2:='DEC--TAN-SIP'\n"
		    "fits.CRVAL1:=359.99\nfits.CRVAL2:=-70.0\nfits.CRPIX1:=100.5\n"
		    "fits.CRPIX2:=60.0\nfits.A_ORDER:=2\nfits.B_ORDER:=2\nfits.A_0_2:=1.0E-3\n"
		    "fits.B_1_1:=-2.0E-3\nfits.CD1_1:=%.9E\nfits.CD1_2:=%.9E\nfits.CD2_1:=%.9E\n"
		    "fits.CD2_2:=%.9E\n",
		    1e-4 * cosine, -1e-4 * sine, 1e-4 * sine, 1e-4 * cosine);
	const int n =
	    snprintf(text, sizeof text,
		     "NRRD0005\ntype: float\ndimension: 3\nsizes: %zu %zu %zu\nkinds: vector "
		     "domain domain\nspacings: nan %g %g\naxis mins: nan %g %g\nencoding: raw\n"
		     "endian: little\n%s",
		     c, w, h, way ? 1 : scale, way ? 1 : -1.25 * scale, way ? 0 : 3 * u - 1,
		     way ? 0 : 3 * v - 1, keys);
	raw_parse(text, (size_t)n, &x, &swap, &why);
	return x;
}

/* Whether a place is that of an edge but for the error that places may have. */
static bool
is_near(double at, double bound)
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
	const double bound = way == SKY ? .02 : 1e-5;
	const bool flux = rng_below(r, 2);
	struct img x = place(r, c, w, h, way, 1), y = place(r, 1, W, H, way, .6 + rng_unit(r));
	float *v = x.data = weir_xalloc(c * w * h, sizeof *v), *got = check_alloc(W * H * c, 4);
	struct world from, to;

	for (size_t i = 0; i < c * w * h; i++)
		v[i] = way == SKY ? (float)(sin((double)(i / c % w) / 9) + (double)(i / c / w) / 9)
		       : rng_below(r, 200) ? (float)rng_normal(r)
					   : NAN;
	world_open(&from, NULL, &x, WORLD_MAY);
	world_open(&to, NULL, &y, WORLD_MAY);
	struct warp *warp = warp_plan(kernel, flux, IMG_F32, &from, &to, 1 + (int)rng_below(r, 3));
	for (size_t j = 0; j < H; j += 70)
		warp_rows(warp, v, j, H - j < 70 ? H - j : 70, got + j * W * c);
	for (size_t n = 0; n < W * H * c; n++) {
		const double i = (double)(n / c % W), j = (double)(n / c / W);
		double at[2], d[4][2];
		find(&from, &to, i, j, at);
		for (int k = 0; k < 4; k++)
			find(&from, &to, i + (k < 2 ? k - .5 : 0), j + (k < 2 ? 0 : k - 2.5), d[k]);
		const double area = fabs((d[1][0] - d[0][0]) * (d[3][1] - d[2][1]) -
					 (d[1][1] - d[0][1]) * (d[3][0] - d[2][0])),
			     want = value(&x, n % c, at, kernel) * (flux ? area : 1),
			     half = kernel == WARP_NEAREST ? .5 : 0;
		if ((half > 0 || isnan(want) != isnan(got[n])) &&
		    (is_near(at[0] + half, bound) || is_near(at[1] + half, bound)))
			continue;
		check_case(m, isnan(want) ? isnan(got[n]) : fabs(got[n] - want) <= bound,
			   "way %zu, kernel %d, %.9g,%.9g: %.9g, want %.9g", way, kernel, at[0],
			   at[1], (double)got[n], want);
	}
	weir_free(warp);
	world_close(&from);
	world_close(&to);
	img_free(&x);
	img_free(&y);
}

void
check_rawwarp(void)
{
	check_each("rawwarp: each sample is the sum over the kernel at its exact place", 60, 5,
		   one);
}
