/* --inverse: reads an item of values at points, and writes an item of modes. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "gpu/usfft/usfft.h"
#include "usfft/job.h"

void
item_load_coils(struct job *j)
{
	const char *path = j->a.coils;
	struct img x;
	size_t n = 1;

	if (j->a.coils_to)
		j->coils_out = raw_create(j->a.coils_to, RAW_AS_RAW);
	if (!path || j->find_coils)
		return;
	raw_load_file(path, j->a.common.max_bytes, true, &x);
	const int first = img_is_complex(&x) ? 1 : 0, axes = x.dim - first;
	bool fits = axes == j->o.dim || axes == j->o.dim + 1;
	for (int a = 0; fits && a < j->o.dim; a++) {
		fits = x.axis[a + first].n == j->o.n[a];
		n *= j->o.n[a];
	}
	if (!fits)
		die("%s: its sizes are not those of -n", path);
	j->coils = axes > j->o.dim ? x.axis[x.dim - 1].n : 1;
	j->maps = stream_complex(&x, n * j->coils, false);
	if (!j->maps)
		die("%s: no memory", path);
	for (size_t i = 0; i < 2 * n * j->coils; i++)
		if (!isfinite(j->maps[i]))
			die("%s: sample %zu is NaN or infinite", path, i / 2);
	img_free(&x);
}

/* Sets j->coils to the number of sets of values for the points that item x holds, and makes room for their maps. */
static void
count_coils(struct job *j, const struct img *x)
{
	size_t count;

	img_count(x, &count);
	if (img_is_complex(x) || img_key(x, "columns"))
		count /= x->axis[0].n;
	j->coils = count < j->at.pt.m ? 1 : count / j->at.pt.m;
	weir_free(j->maps);
	j->maps = NULL;
}

/* Finds the maps that --coils asks for, and writes them to the file of --coils-to. */
static void
map_coils(struct job *j, const struct usfft_options *o, const struct usfft_points *pt,
	  const double *w, const double *b)
{
	const size_t dim = (size_t)o->dim, n = 2 * usfft_modes(o) * j->coils;
	size_t sizes[5] = {2}, bad;
	struct img y;

	if (j->find_coils) {
		j->maps = weir_xalloc(n, sizeof *j->maps);
		item_judge(j, usfft_maps(o, pt, w, b, j->sign, j->coils, j->maps, &bad), &bad);
	}
	if (!j->coils_out)
		return;
	memcpy(sizes + 1, o->n, dim * sizeof *sizes);
	sizes[dim + 1] = j->coils;
	img_init(&y, IMG_F64, o->dim + 2, sizes);
	strcpy(y.axis[0].kind, "complex");
	opt_add_history(&y, &j->a.common);
	raw_head(j->coils_out, &y);
	raw_write(j->coils_out, j->maps, n);
	img_free(&y);
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

/* Checks the options of the transforms against points of dim axes. Without --pixel only, which has checks of its own. */
static void
check_plan(const struct job *j, int dim)
{
	if (dim != j->o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", dim, j->o.dim);
	item_check_tolerance(j, &j->o);
	item_check_memory(j, usfft_inverse_bytes(&j->o), "the grid");
	if (j->find_coils)
		item_check_memory(j, usfft_maps_bytes(&j->o, j->coils),
				  "the matrix of --coils=auto");
}

void
item_invert(struct job *j, struct img *x)
{
	if (j->find_coils)
		count_coils(j, x);
	const size_t sets = j->coils ? j->coils : 1;
	struct item_input q = item_input(j, x, j->at.pt.m, sets);
	struct watcher who = {.a = &j->a};
	struct usfft_options o = j->o;
	struct usfft_outcome got;
	size_t bad = 0;

	if (!j->a.pixel)
		check_plan(j, q.at.dim);
	const size_t modes = usfft_modes(&o);
	double *f = weir_xalloc(modes, 2 * sizeof *f),
	       *b = values_copy(&q.v, q.at.pt.m * sets, NULL, false);
	if (!b)
		item_judge(j, -ENOMEM, NULL);
	item_compute(j);
	const double *w =
	    j->a.pixel ? sky_weigh(j, &q.at.pt, o.n) : item_weigh(j, &q.at.pt, q.at.pt.m, &o);
	map_coils(j, &o, &q.at.pt, w, b);
	const struct usfft_inverse v = {.sign = j->sign,
					.iter = j->a.iter,
					.rtol = j->a.rtol,
					.step = watch,
					.who = &who,
					.damp = j->a.damp,
					.tv = j->a.tv,
					.coils = j->coils,
					.maps = j->maps};
	progress_start(&who.bar, j->a.common.quiet);
	int err;
	if (j->a.pixel)
		err = sky_invert(j, &q.at.pt, w, b, &v, f, &got);
	else if (j->gpu)
		err = gpu_usfft_inverse(j->gpu, &o, &q.at.pt, w, b, &v, f, &got, &bad);
	else {
		o.single = q.v.single;
		err = usfft_inverse(&o, &q.at.pt, w, b, &v, f, &got, &bad);
		o.single = false;
	}
	item_judge(j, err, &bad);
	progress_end(&who.bar);
	stats_charge(&j->st, STATS_COMPUTE);
	pipeline_pass(PIPELINE_WRITE);
	if (got.residual > j->a.rtol)
		warn("residual %.3g after %d iterations", got.residual, got.iterations);
	if (j->a.pixel)
		sky_write(j, x, o.n, f, false);
	else
		item_write_modes(j, x, &o, (char *)f);
	weir_free_all(f, b);
	item_input_free(&q);
}
