/* --pixel: visibilities and images of the sky, one item after the other. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "usfft/job.h"
#include "usfft/sky/sky.h"

static struct usfft_sky_options
sky_options(const struct job *j, const size_t n[3])
{
	struct usfft_sky_options s = {.o = j->o, .pixel = {j->pixel[0], j->pixel[1]}};

	s.o.dim = 2;
	s.o.n[0] = n[0];
	s.o.n[1] = n[1];
	s.o.n[2] = 1;
	s.o.single = false;
	return s;
}

/* Returns the plan of --pixel for the points and an image of sizes n; it keeps that of fixed points for the next item. */
static struct usfft_sky *
make_plan(struct job *j, const struct usfft_points *pt, const size_t n[3])
{
	const struct usfft_sky_options s = sky_options(j, n);
	size_t bad;

	if (j->sky && j->fixed && j->sky_n[0] == n[0] && j->sky_n[1] == n[1])
		return j->sky;
	usfft_sky_free(j->sky);
	j->sky = NULL;
	item_check_tolerance(j, &s.o);
	item_check_memory(j, usfft_bytes(&s.o), "the grid");
	const int err = usfft_sky_plan(&j->sky, &s, pt, &bad);
	item_judge(j, err, &bad);
	memcpy(j->sky_n, n, sizeof j->sky_n);
	const struct usfft_sky_choice c = usfft_sky_choice(j->sky);
	if (j->a.common.verbose)
		warn("%zu planes of w, %.4g wavelengths apart, %d taps, tolerance %g", c.planes,
		     c.wstep, c.taps, j->o.tol);
	return j->sky;
}

const double *
sky_weigh(struct job *j, const struct usfft_points *pt, const size_t n[3])
{
	const struct usfft_sky_options s = sky_options(j, n);
	const size_t m = pt->m;
	double *x = weir_xalloc(m, 4 * sizeof *x);

	for (size_t i = 0; i < 2 * m; i++) {
		const double u = real_at(pt->x[i % 2], i / 2 * pt->stride, pt->single);
		x[i] = u * j->pixel[i % 2];
		x[2 * m + i] = -x[i];
	}
	const struct usfft_points both = {.m = 2 * m, .stride = 2, .x = {x, x + 1}};
	const double *w = item_weigh(j, &both, m, &s.o);
	weir_free(x);
	return w;
}

/* --centre: gives an image of the sky the FITS cards of its place there, and pixel numbers on its axes. */
static void
sky_place(const struct job *j, struct img *y)
{
	img_set_key(y, "fits.NAXIS", "2");
	for (int a = 0; a < 2; a++) {
		const double value[] = {(double)(y->axis[a].n / 2 + 1), j->degrees[a],
					j->centre[a]};
		char name[24];
		for (int i = 0; i < 3; i++) {
			snprintf(name, sizeof name, "fits.%.5s%d", &"CRPIXCDELTCRVAL"[5 * i],
				 a + 1);
			img_set_key(y, name, "%.15g", value[i]);
		}
		img_set_key(y, a ? "fits.CTYPE2" : "fits.CTYPE1", a ? "'DEC--SIN'" : "'RA---SIN'");
		img_set_key(y, a ? "fits.CUNIT2" : "fits.CUNIT1", "'deg     '");
		img_set_unit(&y->axis[a], NULL);
		y->axis[a].min = 0;
		y->axis[a].spacing = 1;
	}
}

void
sky_write(struct job *j, const struct img *x, const size_t n[3], const double *image, bool single)
{
	struct usfft_options o = sky_options(j, n).o;
	const size_t count = n[0] * n[1];
	float block[512];
	struct img y;

	o.single = single;
	stream_modes_head(&y, &o, false);
	for (int a = 0; a < 2; a++) {
		y.axis[a].spacing = j->degrees[a];
		y.axis[a].min *= j->degrees[a];
		img_set_unit(&y.axis[a], "deg");
	}
	item_make_head(j, &y, x);
	if (j->a.centre)
		sky_place(j, &y);
	raw_head(j->out, &y);
	if (!single)
		item_write_reals(j, image, count, false);
	for (size_t i = 0; single && i < count; i += 512) {
		const size_t some = count - i < 512 ? count - i : 512;
		for (size_t k = 0; k < some; k++)
			block[k] = (float)image[i + k];
		item_write_reals(j, block, some, true);
	}
	img_free(&y);
}

void
sky_from_points(struct job *j, struct img *x)
{
	const struct item_input q = item_input(j, x, j->at.pt.m, 1);
	const struct usfft_points *pt = &q.at.pt;
	const struct usfft_sky_options o = sky_options(j, j->o.n);
	const size_t bad = values_find_bad(&q.v, pt->m);
	struct values v = q.v;

	if (bad < pt->m)
		item_judge(j, -EINVAL, &bad);
	const double *w = sky_weigh(j, pt, o.o.n);
	double *vis = values_copy(&v, pt->m, w, false);
	double *image = weir_xalloc(o.o.n[0] * o.o.n[1], sizeof *image);
	if (!vis)
		item_judge(j, -ENOMEM, NULL);
	struct usfft_sky *sky = make_plan(j, pt, o.o.n);
	stats_charge(&j->st, STATS_PLAN);
	item_judge(j, usfft_sky_type1(sky, j->sign, vis, image), NULL);
	stats_charge(&j->st, STATS_COMPUTE);
	sky_write(j, x, o.o.n, image, q.v.single);
	weir_free_all(v.owned, vis, image);
}

/* Returns the image of item x as doubles, and its sizes n; it dies when a pixel is not finite. */
static double *
take_image(const struct job *j, const struct img *x, size_t n[3])
{
	struct why why;

	if (img_is_complex(x))
		raw_die(j->in, "an image of the sky is real, and this one is complex");
	if (stream_modes(x, 2, n, &why))
		raw_die(j->in, "--pixel needs an image of two axes");
	double *image = weir_xalloc(n[0] * n[1], sizeof *image);
	sample_load(image, x->data, x->type, n[0] * n[1]);
	for (size_t i = 0; i < n[0] * n[1]; i++)
		if (!isfinite(image[i]))
			raw_die(j->in, "pixel %zu is NaN or infinite", i);
	return image;
}

void
sky_to_points(struct job *j, struct img *x)
{
	const struct usfft_points *pt = &j->at.pt;
	const bool single = stream_single(x->type);
	size_t n[3];
	double *image = take_image(j, x, n);
	double *vis = weir_xalloc(pt->m, 2 * sizeof *vis);
	struct usfft_sky *sky = make_plan(j, pt, n);

	stats_charge(&j->st, STATS_PLAN);
	item_judge(j, usfft_sky_type2(sky, j->sign, image, vis), NULL);
	stats_charge(&j->st, STATS_COMPUTE);
	void *z = weir_xalloc(pt->m, 2 * sizeof *vis);
	for (size_t i = 0; i < 2 * pt->m; i++)
		real_set(z, i, vis[i], single);
	item_write_values(j, x, z, pt->m, single);
	weir_free_all(z, image, vis);
}

int
sky_invert(struct job *j, const struct usfft_points *pt, const double *w, const double *b,
	   const struct usfft_inverse *v, double *image, struct usfft_outcome *got)
{
	return usfft_sky_inverse(make_plan(j, pt, j->o.n), w, b, v, image, got);
}
