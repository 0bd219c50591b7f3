/* What becomes of an item: inverses, and images of the sky. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/stream/pipeline.h"
#include "usfft/inverse.h"
#include "usfft/job.h"

/* ---- images of the sky ---- */

/* --pixel: visibilities and images of the sky, one item after the other. */

static struct usfft_sky_options
sky_options(const struct job *j, const size_t n[3])
{
	struct usfft_sky_options s = {
	    .o = j->o, .pixel = {j->pixel[0], j->pixel[1]}, .wstep = j->a.wstep};

	s.o.dim = 2;
	s.o.n[0] = n[0];
	s.o.n[1] = n[1];
	s.o.n[2] = 1;
	s.o.single = false;
	return s;
}

/* Returns the plan of --pixel for the points and an image of sizes n; it keeps that of fixed points for the next item. */
static struct usfft_sky *
item_sky_plan(struct job *j, const struct usfft_points *pt, const size_t n[3])
{
	const struct usfft_sky_options s = sky_options(j, n);
	size_t bad;

	if (j->sky && j->fixed && j->sky_n[0] == n[0] && j->sky_n[1] == n[1])
		return j->sky;
	usfft_sky_free(j->sky);
	j->sky = NULL;
	item_check_tolerance(j, &s.o);
	item_check_memory(j, usfft_bytes(&s.o, NULL));
	const int err = usfft_sky_plan(&j->sky, &s, pt, &bad);
	if (err == -EDOM && j->a.wstep > 0)
		raw_die(j->in, "--wstep=%g is too large for this field of view", j->a.wstep);
	item_judge(j, err, &bad);
	memcpy(j->sky_n, n, sizeof j->sky_n);
	if (j->a.wstep > 0)
		item_check_reach(j, "--wstep", j->a.wstep, usfft_sky_reach(j->sky));
	if (j->a.common.verbose)
		warn("%zu planes of w, %.4g wavelengths apart, %d taps, tolerance %g",
		     usfft_sky_planes(j->sky), usfft_sky_wstep(j->sky), usfft_sky_taps(j->sky),
		     j->o.tol);
	return j->sky;
}

/* Returns the weights of visibilities, as item_weigh() does, which sees each with its conjugate at -u, -v. */
static const double *
item_sky_weigh(struct job *j, const struct usfft_points *pt, const size_t n[3])
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

/* Writes an image of the sky as an item of float (single) or double, with degrees on its axes. x: as in item_write_head(). */
static void
item_sky_write(struct job *j, const struct img *x, const size_t n[3], const double *image,
	       bool single)
{
	struct usfft_options o = sky_options(j, n).o;
	const size_t count = n[0] * n[1];
	float block[512];
	struct img y;

	o.single = single;
	stream_modes_head(&y, &o, false);
	for (int a = 0; a < 2 && !o.fft_order; a++) {
		const double degrees = j->pixel[a] * 180 / M_PI;
		y.axis[a].spacing = degrees;
		y.axis[a].min *= degrees;
		img_set_unit(&y.axis[a], "deg");
	}
	item_write_head(j, &y, x);
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
item_to_sky(struct job *j, struct img *x)
{
	const struct item_input q = item_input(j, x, j->at.pt.m, 1);
	const struct usfft_points *pt = &q.at.pt;
	const struct usfft_sky_options o = sky_options(j, j->o.n);
	const size_t bad = values_find_bad(&q.v, pt->m);
	struct values v = q.v;

	if (bad < pt->m)
		item_judge(j, -EINVAL, &bad);
	const double *w = item_sky_weigh(j, pt, o.o.n);
	double *vis = values_as_doubles(&v, pt->m, w);
	double *image = weir_xalloc(o.o.n[0] * o.o.n[1], sizeof *image);
	if (!vis)
		item_judge(j, -ENOMEM, NULL);
	struct usfft_sky *sky = item_sky_plan(j, pt, o.o.n);
	stats_charge(&j->st, STATS_PLAN);
	item_judge(j, usfft_sky_type1(sky, j->sign, vis, image), NULL);
	stats_charge(&j->st, STATS_COMPUTE);
	item_sky_write(j, x, o.o.n, image, q.v.single);
	values_free(&v);
	weir_free(vis);
	weir_free(image);
}

/* Returns the image of item x as doubles, and its sizes n; it dies when a pixel is not finite. */
static double *
take_image(const struct job *j, const struct img *x, size_t n[3])
{
	char err[STREAM_ERR];

	if (img_is_complex(x))
		raw_die(j->in, "an image of the sky is real, and this one is complex");
	if (!stream_modes(x, 2, n, err))
		raw_die(j->in, "--pixel needs an image of two axes");
	double *image = weir_xalloc(n[0] * n[1], sizeof *image);
	sample_load(image, x->data, x->type, n[0] * n[1]);
	for (size_t i = 0; i < n[0] * n[1]; i++)
		if (!isfinite(image[i]))
			raw_die(j->in, "pixel %zu is NaN or infinite", i);
	return image;
}

void
item_from_sky(struct job *j, struct img *x)
{
	const struct usfft_points *pt = &j->at.pt;
	const bool single = stream_single(x->type);
	size_t n[3];
	double *image = take_image(j, x, n);
	double *vis = weir_xalloc(pt->m, 2 * sizeof *vis);
	struct usfft_sky *sky = item_sky_plan(j, pt, n);

	stats_charge(&j->st, STATS_PLAN);
	item_judge(j, usfft_sky_type2(sky, j->sign, image, vis), NULL);
	stats_charge(&j->st, STATS_COMPUTE);
	void *z = weir_xalloc(pt->m, 2 * sizeof *vis);
	for (size_t i = 0; i < 2 * pt->m; i++)
		real_set(z, i, vis[i], single);
	item_write_values(j, x, z, pt->m, single);
	weir_free(z);
	weir_free(image);
	weir_free(vis);
}

/* ---- inverses ---- */

/* --inverse: reads an item of values at points, and writes an item of modes. */

/*
 * Returns the images of a file as complex doubles, each of the sizes -n. *sets: how many there are, along one axis more.
 * Images of the sky have to be real.
 */
static double *
read_images(const struct job *j, const char *path, size_t *sets)
{
	struct img x;
	size_t n = 1;

	raw_load_file(path, j->a.common.max_bytes, true, &x);
	if (j->a.pixel && img_is_complex(&x))
		die("%s: an image of the sky is real, and this one is complex", path);
	const int first = img_is_complex(&x) ? 1 : 0, axes = x.dim - first;
	bool fits = axes == j->o.dim || axes == j->o.dim + 1;
	for (int a = 0; fits && a < j->o.dim; a++) {
		fits = x.axis[a + first].n == j->o.n[a];
		n *= j->o.n[a];
	}
	if (!fits)
		die("%s: its sizes are not those of -n", path);
	*sets = axes > j->o.dim ? x.axis[x.dim - 1].n : 1;
	double *z = stream_complex(&x, n * *sets, false);
	if (!z)
		die("%s: no memory", path);
	for (size_t i = 0; i < 2 * n * *sets; i++)
		if (!isfinite(z[i]))
			die("%s: sample %zu is NaN or infinite", path, i / 2);
	img_free(&x);
	return z;
}

void
item_load_inverse(struct job *j)
{
	size_t one = 1;

	if (j->a.coils)
		j->maps = read_images(j, j->a.coils, &j->coils);
	if (j->a.start)
		j->start = read_images(j, j->a.start, &one);
	for (size_t i = 0; j->start && j->a.pixel && i < transform_modes(&j->o); i++)
		j->start[i] = j->start[2 * i];
	if (one != 1)
		die("%s: holds %zu images, and one is needed", j->a.start, one);
}

struct watcher {
	struct progress bar;
	const struct args *a;
};

static void
watch(void *who, const struct usfft_outcome *got)
{
	struct watcher *w = who;

	progress_step(&w->bar, (double)got->iterations / w->a->iter);
	if (w->a->common.verbose)
		warn("iteration %d, residual %.3g", got->iterations, got->residual);
}

static void
write_modes(struct job *j, const struct img *x, const struct usfft_options *o, double *f,
	    size_t modes)
{
	struct img y;

	stream_modes_head(&y, o, !j->a.output);
	item_write_head(j, &y, x);
	item_write_row(j, f, modes, false);
	img_free(&y);
}

/* Checks the options of the transforms against points of dim axes. Without --pixel only, which has checks of its own. */
static void
check_plan(const struct job *j, int dim)
{
	double reach = 0;

	if (dim != j->o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", dim, j->o.dim);
	item_check_tolerance(j, &j->o);
	item_check_memory(j, usfft_inverse_bytes(&j->o, &reach));
	if (j->o.sigma > 0)
		item_check_reach(j, "--sigma", j->o.sigma, reach);
}

void
item_invert(struct job *j, struct img *x)
{
	const size_t sets = j->coils ? j->coils : 1;
	struct item_input q = item_input(j, x, j->at.pt.m, sets);
	struct watcher who = {.a = &j->a};
	const struct usfft_inverse v = {.sign = j->sign,
					.iter = j->a.iter,
					.rtol = j->a.rtol,
					.step = watch,
					.who = &who,
					.damp = j->a.damp,
					.start = j->start,
					.coils = j->coils,
					.maps = j->maps};
	struct usfft_options o = j->o;
	struct usfft_outcome got;
	size_t bad = 0;

	if (!j->a.pixel)
		check_plan(j, q.at.dim);
	const size_t modes = transform_modes(&o);
	double *f = weir_xalloc(modes, 2 * sizeof *f),
	       *b = values_as_doubles(&q.v, q.at.pt.m * sets, NULL);
	if (!b)
		item_judge(j, -ENOMEM, NULL);
	item_compute(j);
	const double *w =
	    j->a.pixel ? item_sky_weigh(j, &q.at.pt, o.n) : item_weigh(j, &q.at.pt, q.at.pt.m, &o);
	progress_start(&who.bar, j->a.common.quiet);
	const int err = j->a.pixel
			    ? usfft_sky_inverse(item_sky_plan(j, &q.at.pt, o.n), w, b, &v, f, &got)
			    : transform_inverse(&j->run, &o, &q.at.pt, w, b, &v, f, &got, &bad);
	item_judge(j, err, &bad);
	progress_end(&who.bar);
	stats_charge(&j->st, STATS_COMPUTE);
	relay_pass(RELAY_WRITE);
	if (got.residual > j->a.rtol)
		warn("residual %.3g after %d iterations", got.residual, got.iterations);
	if (j->a.pixel)
		item_sky_write(j, x, o.n, f, false);
	else
		write_modes(j, x, &o, f, modes);
	weir_free(f);
	weir_free(b);
	values_free(&q.v);
}
