#include <errno.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/progress.h"
#include "usfft/inverse.h"
#include "usfft/item_io.h"
#include "usfft/spot.h"
#include "usfft/values.h"

enum { PIPE_ROUNDS = 30 };

/* Dies for what usfft_plan, usfft_points or their kin gave. */
static void
judge(const struct job *j, int err, const size_t *bad)
{
	if (err == -EINVAL)
		raw_die(j->in, "point %zu has a coordinate or value that is NaN or infinite", *bad);
	if (err == -ENXIO)
		raw_die(j->in, "%s: target %zu is NaN or infinite", j->a.targets, *bad);
	if (err == -EOVERFLOW && j->a.type == 3)
		raw_die(j->in, "the box of the points times that of the targets is too large");
	if (err == -EOVERFLOW)
		raw_die(j->in, "more than %d points or too many modes", USFFT_MAXPOINTS);
	if (err == -EIO)
		die("-g: %s", gpu_why(j->run.gpu));
	if (err)
		raw_die(j->in, "%s", strerror(-err));
}

static void
sort_points(struct job *j, const struct usfft_points *pt, const void *c, size_t cstride)
{
	size_t bad = 0;

	judge(j, transform_points(&j->run, pt, c, cstride, &bad), &bad);
}

/* Reads an item's points; values are left to the caller. */
void
item_take_points(const struct job *j, const char *name, const struct img *x,
		 struct stream_points *p)
{
	char err[STREAM_ERR];

	if (!stream_points(x, p, err))
		die("%s: %s", name, err);
	if (!j->a.strict || j->a.type == 3)
		return;
	const size_t out = stream_find_outside(&p->pt, p->dim);
	if (out < p->pt.m)
		die("%s: point %zu lies outside [-1/2,1/2)", name, out);
}

/* Refuses, or warns of, what cannot be done as asked; says with -v what will be done. */
static void
check_options(const struct job *j, const struct usfft_options *o)
{
	const double floor = o->single ? USFFT_FLOOR_SINGLE : USFFT_FLOOR_DOUBLE;
	const double least = o->gauss && !o->single ? 1e-8 : floor;
	const size_t bytes = usfft_bytes(o),
		     limit = j->a.common.max_bytes ? j->a.common.max_bytes : weir_ram_bytes() / 2;

	if (o->tol < least && j->a.strict)
		raw_die(j->in, "tolerance %g is below %g, which can be reached", o->tol, least);
	if (o->tol < least)
		warn("tolerance %g cannot be reached: expect %g", o->tol, least);
	if (bytes > limit)
		raw_die(j->in, "%zu bytes for the grid, more than %zu: see --max-bytes", bytes,
			limit);
}

/* A plan for this item, unless the last one fits. Fixed points are sorted into it. */
static void
plan(struct job *j, const struct usfft_options *o)
{
	if (transform_fits(&j->run, o))
		return;
	check_options(j, o);
	judge(j, transform_plan(&j->run, o), NULL);
	if (j->fixed)
		sort_points(j, &j->at.pt, NULL, 0);
	if (j->a.common.verbose)
		warn("%d taps, grid %zu x %zu x %zu, tolerance %g", usfft_taps(j->run.plan),
		     usfft_cells(j->run.plan, 0), usfft_cells(j->run.plan, 1),
		     usfft_cells(j->run.plan, 2), o->tol);
}

/* Points and values of one item, whichever way they came. */
struct input {
	struct stream_points at;
	struct values v;
};

/* Values of fixed points from an item of complex numbers, in memory of their own. */
static struct values
take_values(const struct job *j, const struct img *x, size_t m)
{
	const size_t first = img_is_complex(x) ? 1 : 0;
	struct values v = {.single = stream_single(x->type), .cstride = 2};
	size_t count = 1;

	for (int a = (int)first; a < x->dim; a++)
		count *= x->axis[a].n;
	if (count != m)
		raw_die(j->in, "%zu values for %zu points", count, m);
	v.c = v.owned = stream_complex(x, m, v.single);
	if (!v.c)
		raw_die(j->in, "no memory for %zu values", m);
	const size_t bad = values_find_bad(&v, m);
	if (bad < m)
		judge(j, -EINVAL, &bad);
	return v;
}

static struct input
take_input(const struct job *j, const struct img *x, size_t m)
{
	struct input q = {.at = j->at};

	if (j->fixed) {
		q.v = take_values(j, x, m);
		return q;
	}
	item_take_points(j, raw_name(j->in), x, &q.at);
	if (!q.at.c)
		raw_die(j->in, "points without values: no columns re and im");
	q.v = (struct values){.single = q.at.single, .c = q.at.c, .cstride = q.at.cstride};
	return q;
}

static double *
weigh(struct job *j, const struct usfft_points *pt, const struct usfft_options *o)
{
	size_t bad = 0;

	if (j->a.weights == WEIGHTS_NONE || (j->fixed && j->weights))
		return j->weights;
	double *w = weir_xalloc(pt->m, sizeof *w);
	judge(j, transform_pipe(&j->run, o, pt, PIPE_ROUNDS, w, &bad), &bad);
	if (j->fixed)
		j->weights = w;
	return w;
}

static void
start_check(const struct job *j, struct spot *s, size_t outs, const struct values *v, size_t count)
{
	judge(j, spot_start(s, (size_t)j->a.check, outs, j->sign, v, count), NULL);
}

static void
end_check(struct job *j, struct spot *s)
{
	const double error = spot_end(s);

	if (!s->k)
		return;
	j->check_error = error;
	warn("%zu results, relative error %.2g", s->k, error);
}

/* One row of complex results, as asked for. */
static void
write_row(struct job *j, void *row, size_t n, bool single)
{
	if (j->a.part)
		stream_part(row, n, single, j->a.part);
	raw_write(j->out, row, j->a.part ? n : 2 * n);
}

static void
write_head(struct job *j, struct img *y, const struct img *from)
{
	for (size_t i = 0; i < from->nkey; i++)
		if (strcmp(from->key[i].name, "columns") && strcmp(from->key[i].name, "maxval"))
			img_add_key(y, from->key[i].name, from->key[i].value);
	opt_add_history(y, &j->a.common);
	raw_head(j->out, y);
}

static size_t
count_modes(const struct usfft_options *o)
{
	size_t modes = 1;

	for (int a = 0; a < o->dim; a++)
		modes *= o->n[a];
	return modes;
}

/* The modes of type 1 leave row by row, on the CPU straight from the grid. */
static void
write_modes(struct job *j, const struct img *x, const struct usfft_points *pt, struct spot *s)
{
	const struct usfft_options *o = &j->run.o;
	const size_t rows = count_modes(o) / o->n[0];
	void *row = weir_xalloc(o->n[0], 2 * sizeof(double));
	struct img y;

	stream_modes_head(&y, o, !j->a.part);
	write_head(j, &y, x);
	for (size_t r = 0; r < rows; r++) {
		const double t = usfft_now();
		transform_get_row(&j->run, j->sign, r, row);
		j->took.modes += usfft_now() - t;
		spot_row(s, o, pt, r, row);
		write_row(j, row, o->n[0], o->single);
	}
	img_free(&y);
	weir_free(row);
}

/* Frees an item's samples, which were sorted, before the grid is touched; its head is still to come. */
static void
drop_samples(struct img *x)
{
	struct img samples = {.data = x->data, .map = x->map, .mapped = x->mapped};

	img_free(&samples);
	x->data = x->map = NULL;
	x->mapped = 0;
}

void
item_points_to_modes(struct job *j, struct img *x)
{
	struct input q = take_input(j, x, j->at.pt.m);
	const struct usfft_points *pt = &q.at.pt;
	struct usfft_options o = j->o;
	struct spot s;

	if (q.at.dim != o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", q.at.dim, o.dim);
	o.single = q.v.single;
	o.expect = pt->m;
	double *w = weigh(j, pt, &o);
	if (w)
		judge(j, values_make_own(&q.v, pt->m, w), NULL);
	plan(j, &o);
	stats_lap(&j->st, STATS_PLAN);
	if (!j->fixed)
		sort_points(j, pt, q.v.c, q.v.cstride);
	if (!j->a.check)
		drop_samples(x);
	judge(j, transform_gather(&j->run, j->sign, j->fixed ? q.v.c : NULL), NULL);
	stats_lap(&j->st, STATS_COMPUTE);
	start_check(j, &s, count_modes(&o), &q.v, pt->m);
	write_modes(j, x, pt, &s);
	end_check(j, &s);
	values_free(&q.v);
	if (!j->fixed)
		weir_free(w);
}

/* Results at points: written as one item. */
static void
write_values(struct job *j, const struct img *x, void *z, size_t m, bool single)
{
	struct img y;

	stream_values_head(&y, m, single, !j->a.part);
	write_head(j, &y, x);
	write_row(j, z, m, single);
	img_free(&y);
}

/* Modes, in memory of their own. */
static struct values
take_modes(const struct job *j, const struct img *x, size_t modes, bool single)
{
	void *f = stream_complex(x, modes, single);
	const struct values v = {.single = single, .c = f, .cstride = 2, .owned = f};

	if (!f)
		raw_die(j->in, "no memory for %zu modes", modes);
	const size_t bad = values_find_bad(&v, modes);
	if (bad < modes)
		raw_die(j->in, "mode %zu is NaN or infinite", bad);
	return v;
}

void
item_modes_to_points(struct job *j, struct img *x)
{
	const size_t m = j->at.pt.m;
	struct usfft_options o = j->o;
	char err[STREAM_ERR];
	struct spot s;

	o.dim = j->at.dim;
	o.single = stream_single(x->type);
	o.expect = m;
	if (!stream_modes(x, o.dim, o.n, err))
		raw_die(j->in, "%s", err);
	const size_t modes = count_modes(&o);
	struct values f = take_modes(j, x, modes, o.single);
	void *z = weir_xalloc(m, 2 * sizeof(double));
	plan(j, &o);
	stats_lap(&j->st, STATS_PLAN);
	judge(j, transform_type2(&j->run, j->sign, f.c, z), NULL);
	stats_lap(&j->st, STATS_COMPUTE);
	start_check(j, &s, m, &f, modes);
	spot_points(&s, &o, &j->at.pt, z);
	end_check(j, &s);
	write_values(j, x, z, m, o.single);
	values_free(&f);
	weir_free(z);
}

void
item_points_to_points(struct job *j, struct img *x)
{
	const bool back = j->a.adjoint;
	struct input q = take_input(j, x, back ? j->to.pt.m : j->at.pt.m);
	const struct usfft_points *from = back ? &j->to.pt : &q.at.pt;
	const struct usfft_points *to = back ? &j->at.pt : &j->to.pt;
	struct usfft_options o = j->o;
	size_t bad = values_find_bad(&q.v, from->m);
	struct spot s;

	if (q.at.dim != j->to.dim)
		raw_die(j->in, "points of %d axes, but targets of %d", q.at.dim, j->to.dim);
	if (bad < from->m)
		judge(j, -EINVAL, &bad);
	o.dim = q.at.dim;
	o.single = q.v.single;
	void *z = weir_xalloc(to->m, 2 * sizeof(double));
	if (q.v.cstride != 2)
		judge(j, values_make_own(&q.v, from->m, NULL), NULL);
	judge(j, transform_type3(&j->run, &o, from, q.v.c, to, j->sign, z, &bad), &bad);
	stats_lap(&j->st, STATS_COMPUTE);
	start_check(j, &s, to->m, &q.v, from->m);
	spot_targets(&s, &o, from, to, z);
	end_check(j, &s);
	write_values(j, x, z, to->m, o.single);
	values_free(&q.v);
	weir_free(z);
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

void
item_invert(struct job *j, struct img *x)
{
	struct input q = take_input(j, x, j->at.pt.m);
	struct watcher who = {.a = &j->a};
	const struct usfft_inverse v = {j->sign, j->a.iter, j->a.rtol, watch, &who};
	struct usfft_options o = j->o;
	struct usfft_outcome got;
	struct img y;
	size_t bad = 0;

	if (q.at.dim != o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", q.at.dim, o.dim);
	const size_t modes = count_modes(&o);
	double *f = weir_xalloc(modes, 2 * sizeof *f),
	       *b = values_as_doubles(&q.v, q.at.pt.m, NULL);
	if (!b)
		judge(j, -ENOMEM, NULL);
	double *w = weigh(j, &q.at.pt, &o);
	progress_start(&who.bar, j->a.common.quiet);
	judge(j, transform_inverse(&j->run, &o, &q.at.pt, w, b, &v, f, &got, &bad), &bad);
	progress_end(&who.bar);
	stats_lap(&j->st, STATS_COMPUTE);
	if (got.residual > j->a.rtol)
		warn("residual %.3g after %d iterations", got.residual, got.iterations);
	stream_modes_head(&y, &o, !j->a.part);
	write_head(j, &y, x);
	write_row(j, f, modes, false);
	img_free(&y);
	weir_free(f);
	weir_free(b);
	values_free(&q.v);
	if (!j->fixed)
		weir_free(w);
}
