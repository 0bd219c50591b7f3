#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/progress.h"
#include "gpu/usfft.h"
#include "usfft/direct.h"
#include "usfft/inverse.h"
#include "usfft/job.h"

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
		die("-g: %s", gpu_why(j->gpu));
	if (err)
		raw_die(j->in, "%s", strerror(-err));
}

/* The transforms, on the CPU or where -g says. */
static void
sort_points(struct job *j, const struct usfft_points *pt, const void *c, size_t cstride)
{
	size_t bad = 0;

	judge(j,
	      j->gpu ? gpu_usfft_points(j->gpu, j->plan, pt, c, cstride, &bad)
		     : usfft_points(j->plan, pt, c, cstride, &bad),
	      &bad);
}

/* All modes, owned by the caller; NULL: the CPU keeps them, and gives them row by row. */
static char *
to_modes(struct job *j, const void *c, size_t modes)
{
	char *all = j->gpu ? weir_xalloc(modes, 2 * sizeof(double)) : NULL;

	if (j->gpu)
		judge(j, gpu_usfft_type1(j->gpu, j->plan, j->sign, c, all), NULL);
	else
		usfft_gather(j->plan, j->sign, c);
	return all;
}

static void
get_row(const struct job *j, const char *all, size_t r, void *row)
{
	const size_t bytes = j->o.n[0] * 2 * (j->o.single ? sizeof(float) : sizeof(double));

	if (all)
		memcpy(row, all + r * bytes, bytes);
	else
		usfft_get_row(j->plan, j->sign, r, row);
}

static void
to_points(struct job *j, const void *modes, void *z)
{
	if (j->gpu)
		judge(j, gpu_usfft_type2(j->gpu, j->plan, j->sign, modes, z), NULL);
	else
		usfft_type2(j->plan, j->sign, modes, z);
}

/* Reads an item's points; values are left to the caller. */
void
job_take_points(const struct job *j, const char *name, const struct img *x, struct stream_points *p)
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
check_options(const struct job *j)
{
	const double floor = j->o.single ? USFFT_FLOOR_SINGLE : USFFT_FLOOR_DOUBLE;
	const double least = j->o.gauss && !j->o.single ? 1e-8 : floor;
	const size_t bytes = usfft_bytes(&j->o),
		     limit = j->a.common.max_bytes ? j->a.common.max_bytes : weir_ram_bytes() / 2;

	if (j->o.tol < least && j->a.strict)
		raw_die(j->in, "tolerance %g is below %g, which can be reached", j->o.tol, least);
	if (j->o.tol < least)
		warn("tolerance %g cannot be reached: expect %g", j->o.tol, least);
	if (bytes > limit)
		raw_die(j->in, "%zu bytes for the grid, more than %zu: see --max-bytes", bytes,
			limit);
}

static bool
same_shape(const struct usfft_options *a, const struct usfft_options *b)
{
	return a->dim == b->dim && a->single == b->single && !memcmp(a->n, b->n, sizeof a->n);
}

/* A plan for this item, unless the last one fits. Fixed points are sorted into it. */
static void
plan(struct job *j, const struct usfft_options *want)
{
	size_t bad = 0;

	if (j->plan && same_shape(want, &j->o))
		return;
	j->o = *want;
	check_options(j);
	usfft_free(j->plan);
	judge(j, usfft_plan(&j->plan, &j->o), &bad);
	if (j->fixed)
		sort_points(j, &j->at.pt, NULL, 0);
	if (j->a.common.verbose)
		warn("%d taps, grid %zu x %zu x %zu, tolerance %g", usfft_taps(j->plan),
		     usfft_cells(j->plan, 0), usfft_cells(j->plan, 1), usfft_cells(j->plan, 2),
		     j->o.tol);
}

/* Values of fixed points from an item of complex numbers. Owned by the caller. */
static void *
take_values(const struct job *j, const struct img *x, size_t m)
{
	const size_t first = img_is_complex(x) ? 1 : 0;
	size_t count = 1;

	for (int a = (int)first; a < x->dim; a++)
		count *= x->axis[a].n;
	if (count != m)
		raw_die(j->in, "%zu values for %zu points", count, m);
	void *z = stream_complex(x, m, stream_single(x->type));
	if (!z)
		raw_die(j->in, "no memory for %zu values", m);
	const size_t bad = stream_find_bad(z, m, stream_single(x->type));
	if (bad < m)
		raw_die(j->in, "point %zu has a coordinate or value that is NaN or infinite", bad);
	return z;
}

/* Points and values of one item, whichever way they came. */
struct input {
	struct stream_points at;
	bool single;
	void *owned; /* values as pairs, where they had to be made so; else NULL */
	const void *c;
	size_t cstride;
};

static double
real_at(const void *v, size_t i, bool single)
{
	return single ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

static struct input
take_input(const struct job *j, const struct img *x, size_t m)
{
	struct input q = {.single = stream_single(x->type), .cstride = 2};

	if (j->fixed) {
		q.at = j->at;
		q.c = q.owned = take_values(j, x, m);
		return q;
	}
	job_take_points(j, raw_name(j->in), x, &q.at);
	if (!q.at.c)
		raw_die(j->in, "points without values: no columns re and im");
	q.c = q.at.c;
	q.cstride = q.at.cstride;
	return q;
}

/* Values as m pairs of doubles, times weights (NULL: ones). */
static double *
as_doubles(const struct input *q, size_t m, const double *weights)
{
	double *c = weir_xalloc(m, 2 * sizeof *c);

	for (size_t i = 0; i < m; i++)
		for (size_t k = 0; k < 2; k++)
			c[2 * i + k] = real_at(q->c, i * q->cstride + k, q->single) *
				       (weights ? weights[i] : 1);
	return c;
}

/* The values as pairs of their type, times weights, in memory of their own. */
static void
make_own(struct input *q, size_t m, const double *weights)
{
	const size_t real = q->single ? sizeof(float) : sizeof(double);
	char *own = weir_xalloc(m, 2 * real);

	for (size_t i = 0; i < 2 * m; i++) {
		const double v = real_at(q->c, i / 2 * q->cstride + i % 2, q->single) *
				 (weights ? weights[i / 2] : 1);
		if (q->single)
			((float *)own)[i] = (float)v;
		else
			((double *)own)[i] = v;
	}
	weir_free(q->owned);
	q->c = q->owned = own;
	q->cstride = 2;
}

static double *
weigh(struct job *j, const struct usfft_points *pt, const struct usfft_options *o)
{
	size_t bad = 0;

	if (j->a.weights == WEIGHTS_NONE || (j->fixed && j->weights))
		return j->weights;
	double *w = weir_xalloc(pt->m, sizeof *w);
	judge(j, usfft_pipe(o, pt, PIPE_ROUNDS, w, &bad), &bad);
	if (j->fixed)
		j->weights = w;
	return w;
}

/* K results picked evenly, their exact sums, and what came out there. */
struct checker {
	size_t k, outs;
	double diff, norm;
};

static size_t
pick(const struct checker *c, size_t i)
{
	return (size_t)(((double)i + 0.5) / (double)c->k * (double)c->outs);
}

static void
compare(struct checker *c, const double want[2], const void *got, size_t i, bool single)
{
	for (size_t q = 0; q < 2; q++) {
		const double e = real_at(got, 2 * i + q, single) - want[q];
		c->diff += e * e;
		c->norm += want[q] * want[q];
	}
}

static void
end_check(struct job *j, const struct checker *c)
{
	if (!c->k)
		return;
	j->check_error = c->norm > 0 ? sqrt(c->diff / c->norm) : sqrt(c->diff);
	warn("%zu results, relative error %.2g", c->k, j->check_error);
}

static struct checker
start_check(const struct job *j, size_t outs)
{
	const size_t k = (size_t)j->a.check;

	return (struct checker){.k = k < outs ? k : outs, .outs = outs};
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

/* Type 1: the modes leave row by row, on the CPU straight from the grid. */
void
job_points_to_modes(struct job *j, struct img *x)
{
	struct input q = take_input(j, x, j->at.pt.m);
	const struct usfft_points *pt = &q.at.pt;
	struct usfft_options o = j->o;
	struct img y;

	if (q.at.dim != o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", q.at.dim, o.dim);
	o.single = q.single;
	o.expect = pt->m;
	double *w = weigh(j, pt, &o);
	if (w)
		make_own(&q, pt->m, w);
	plan(j, &o);
	stats_lap(&j->st, STATS_PLAN);
	if (!j->fixed)
		sort_points(j, pt, q.c, q.cstride);
	double *exact = j->a.check ? as_doubles(&q, pt->m, NULL) : NULL;
	const size_t nx = o.n[0], rows = (o.dim > 1 ? o.n[1] : 1) * (o.dim > 2 ? o.n[2] : 1);
	char *all = to_modes(j, j->fixed ? q.c : NULL, rows * nx);
	stats_lap(&j->st, STATS_COMPUTE);
	stream_modes_head(&y, &o, !j->a.part);
	write_head(j, &y, x);
	struct checker c = start_check(j, rows * nx);
	void *row = weir_xalloc(nx, 2 * sizeof(double));
	for (size_t r = 0, next = 0; r < rows; r++) {
		double want[2];
		const double t = usfft_now();
		get_row(j, all, r, row);
		j->took.modes += usfft_now() - t;
		for (; next < c.k && pick(&c, next) / nx == r; next++) {
			usfft_direct_mode(&o, pt, exact, j->sign, pick(&c, next), want);
			compare(&c, want, row, pick(&c, next) % nx, o.single);
		}
		write_row(j, row, nx, o.single);
	}
	end_check(j, &c);
	img_free(&y);
	weir_free(row);
	weir_free(all);
	weir_free(exact);
	weir_free(q.owned);
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

void
job_modes_to_points(struct job *j, struct img *x)
{
	const size_t m = j->at.pt.m;
	struct usfft_options o = j->o;
	char err[STREAM_ERR];
	size_t modes = 1;

	o.dim = j->at.dim;
	o.single = stream_single(x->type);
	o.expect = m;
	if (!stream_modes(x, o.dim, o.n, err))
		raw_die(j->in, "%s", err);
	for (int a = 0; a < o.dim; a++)
		modes *= o.n[a];
	void *f = stream_complex(x, modes, o.single), *z = weir_xalloc(m, 2 * sizeof(double));
	if (!f)
		raw_die(j->in, "no memory for %zu modes", modes);
	const size_t bad = stream_find_bad(f, modes, o.single);
	if (bad < modes)
		raw_die(j->in, "mode %zu is NaN or infinite", bad);
	plan(j, &o);
	stats_lap(&j->st, STATS_PLAN);
	to_points(j, f, z);
	stats_lap(&j->st, STATS_COMPUTE);
	struct checker c = start_check(j, m);
	const struct input q = {.single = o.single, .c = f, .cstride = 2};
	double *exact = c.k ? as_doubles(&q, modes, NULL) : NULL;
	for (size_t i = 0; i < c.k; i++) {
		double want[2];
		usfft_direct_point(&o, &j->at.pt, exact, j->sign, pick(&c, i), want);
		compare(&c, want, z, pick(&c, i), o.single);
	}
	end_check(j, &c);
	write_values(j, x, z, m, o.single);
	weir_free(exact);
	weir_free(f);
	weir_free(z);
}

void
job_points_to_points(struct job *j, struct img *x)
{
	const bool back = j->a.adjoint;
	struct input q = take_input(j, x, back ? j->to.pt.m : j->at.pt.m);
	const struct usfft_points *from = back ? &j->to.pt : &q.at.pt;
	const struct usfft_points *to = back ? &j->at.pt : &j->to.pt;
	struct usfft_options o = j->o;
	size_t bad = 0;

	if (q.at.dim != j->to.dim)
		raw_die(j->in, "points of %d axes, but targets of %d", q.at.dim, j->to.dim);
	o.dim = q.at.dim;
	o.single = q.single;
	void *z = weir_xalloc(to->m, 2 * sizeof(double));
	if (q.cstride != 2)
		make_own(&q, from->m, NULL);
	double *exact = as_doubles(&q, from->m, NULL);
	for (size_t i = 0; i < from->m; i++)
		if (!isfinite(exact[2 * i]) || !isfinite(exact[2 * i + 1]))
			judge(j, -EINVAL, &i);
	judge(j, usfft_type3(&o, from, q.c, to, j->sign, z, &bad), &bad);
	stats_lap(&j->st, STATS_COMPUTE);
	struct checker c = start_check(j, to->m);
	for (size_t i = 0; i < c.k; i++) {
		double want[2], s[3] = {0};
		for (int a = 0; a < o.dim; a++)
			s[a] = real_at(to->x[a], pick(&c, i) * to->stride, to->single);
		usfft_direct_sum(o.dim, from, exact, j->sign, s, want);
		compare(&c, want, z, pick(&c, i), o.single);
	}
	end_check(j, &c);
	write_values(j, x, z, to->m, o.single);
	weir_free(exact);
	weir_free(q.owned);
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
job_invert(struct job *j, struct img *x)
{
	struct input q = take_input(j, x, j->at.pt.m);
	struct watcher who = {.a = &j->a};
	const struct usfft_inverse v = {j->sign, j->a.iter, j->a.rtol, watch, &who};
	struct usfft_options o = j->o;
	struct usfft_outcome got;
	struct img y;
	size_t bad = 0, modes = 1;

	if (q.at.dim != o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", q.at.dim, o.dim);
	for (int a = 0; a < o.dim; a++)
		modes *= o.n[a];
	double *f = weir_xalloc(modes, 2 * sizeof *f), *b = as_doubles(&q, q.at.pt.m, NULL);
	double *w = weigh(j, &q.at.pt, &o);
	progress_start(&who.bar, j->a.common.quiet);
	judge(j, usfft_inverse(&o, &q.at.pt, w, b, &v, f, &got, &bad), &bad);
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
	weir_free(q.owned);
	if (!j->fixed)
		weir_free(w);
}
