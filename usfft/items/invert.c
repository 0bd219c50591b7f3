/* --inverse: reads an item of values at points, and writes an item of modes. */
#include <errno.h>
#include <math.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/stream/relay.h"
#include "usfft/inverse.h"
#include "usfft/items/item_in.h"

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
