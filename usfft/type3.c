/*
 * Type 3 is type 1 at modes that are not whole numbers. The points are spread as for type 1. Type 1 then takes the Fourier
 * sum of the grid at whole modes, by FFT; type 3 takes it at the targets, by a type 2 transform of the grid's cells:
 *
 *	sum_j c_j exp(2 pi i s x_j) = 1 / hat(f) sum_l b_l exp(2 pi i f l),	f = s P / cells, x = P l / cells
 *
 * The period P has room for the box of the points and the window around it. Both boxes are centred first.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "common/sample.h"
#include "usfft/phase.h"
#include "usfft/type3.h"

/*
 * What the tolerance is divided by, for the transform at the points and for that at the targets, and how much larger the box
 * of the targets is made. Points and targets that lie at the ends of their boxes do not average the errors of a window. Equal
 * values at both ends of a 1-D box, seen at both ends of the other, had errors of .69 of the tolerance at most in 1090 cases.
 * With 5, 5 and 1 the errors were up to 3.2 of it, with 5, 4 and 1.05 up to 2.4.
 */
static const double outer_part = 6, inner_part = 10, margin = 1.05;

static size_t
find_infinite(const double *x, size_t n)
{
	size_t j = 0;

	while (j < n && isfinite(x[j]))
		j++;
	return j;
}

static size_t
block_at(size_t from, size_t m)
{
	return m - from < PHASE_BLOCK ? m - from : PHASE_BLOCK;
}

/* Finds the box of the points. Returns 0, or -EINVAL when point *bad is not finite. */
static int
find_box(const struct usfft_points *pt, int dim, struct box *b, size_t *bad)
{
	double x[PHASE_BLOCK];

	for (int a = 0; a < dim; a++) {
		struct sample_stats s;
		sample_stats_start(&s);
		for (size_t j = 0; j < pt->m; j += PHASE_BLOCK) {
			const size_t n = block_at(j, pt->m);
			phase_load(pt, a, j, n, x);
			sample_stats_add(&s, x, n);
			if (s.nan || s.inf) {
				*bad = j + find_infinite(x, n);
				return -EINVAL;
			}
		}
		b->mid[a] = pt->m ? s.lo / 2 + s.hi / 2 : 0;
		b->half[a] = pt->m ? s.hi / 2 - s.lo / 2 : 0;
	}
	return 0;
}

/* Replaces x by (x - mid) * (scale + scale_rest). rest is what rounding took from it. */
WEIR_CLONES(scale_block,
	    (double *restrict x, size_t n, double mid, double scale, double scale_rest,
	     double *restrict rest),
	    (x, n, mid, scale, scale_rest, rest))
{
	for (size_t i = 0; i < n; i++) {
		const double v = x[i], d = v - mid, t = d - v;
		const double lost = (v - (d - t)) - (mid + t), y = d * scale;
		x[i] = y;
		rest[i] = fma(d, scale, -y) + lost * scale + d * scale_rest;
	}
}

/*
 * Returns the scaled points as doubles [axis][m], and then as many rests. Without the rests, the targets would multiply the
 * rounding of x by their number of turns.
 */
static double *
rescale(const struct usfft_points *pt, int dim, const struct box *b, const double *scale,
	const double *scale_rest, int threads)
{
	const size_t m = pt->m, n = m * (size_t)dim;
	double *x = weir_alloc(n, 2 * sizeof *x);

	if (!x)
		return NULL;
#pragma omp parallel for num_threads(threads) schedule(static)
	for (size_t j = 0; j < m; j += PHASE_BLOCK)
		for (int a = 0; a < dim; a++) {
			double *to = x + (size_t)a * m + j;
			phase_load(pt, a, j, block_at(j, m), to);
			scale_block(to, block_at(j, m), b->mid[a], scale[a], scale_rest[a], to + n);
		}
	return x;
}

static struct usfft_points
as_points(const double *x, size_t m, int dim)
{
	struct usfft_points pt = {.m = m, .stride = 1};

	for (int a = 0; a < dim; a++) {
		pt.x[a] = x + (size_t)a * m;
		pt.rest[a] = x + (size_t)(dim + a) * m;
	}
	return pt;
}

/* turns[j] = s.x_j up to whole turns, for n points from `from` on. */
static void
dot_turns(const struct usfft_points *pt, int dim, const double *s, size_t from, size_t n,
	  double *turns)
{
	double x[PHASE_BLOCK];

	memset(turns, 0, n * sizeof *turns);
	for (int a = 0; a < dim; a++) {
		phase_load(pt, a, from, n, x);
		phase_add(s[a], x, n, turns);
	}
}

/* Copies the grid of `outer`, in FFT order, to the modes of `inner`. */
static void
hand_over(const struct usfft_plan *outer, struct usfft_plan *inner, int sign)
{
	const struct grid *g = &outer->grid;
	const size_t cuts = g->n[0] / g->rowlen;

	usfft_clear(inner);
#pragma omp parallel for num_threads(inner->o.threads) schedule(static)
	for (size_t i = 0; i < g->n[1] * g->n[2] * cuts; i++) {
		const size_t row = i / cuts, x = i % cuts * g->rowlen;
		const size_t from = row / g->n[1] * g->plane + row % g->n[1];
		modes_put(&inner->grid, conjugate(sign), row, x, x + g->rowlen,
			  (const char *)g->data + grid_cell(g, from, x) * 2 * outer->real);
	}
}

/* Rounds v > 0 up to 30 bits, so that its product with the cells of a grid is exact. */
static double
round_up(double v)
{
	int e;
	const double part = frexp(v, &e);

	return ldexp(ceil(ldexp(part, 30)), e - 30);
}

/* Sets modes[a] = 4 X S, which the box of the points fills. Returns 0 or -EOVERFLOW. */
static int
fill_boxes(struct usfft_3 *t, double modes[3])
{
	for (int a = 0; a < t->o.dim; a++) {
		double *S = &t->target_box.half[a];
		const double X = t->box.half[a];
		if (4 * X * *S < 1)
			*S = X > 0 ? 1 / (4 * X) : *S > 0 ? *S : 1;
		modes[a] = 4 * X * *S;
		if (!(modes[a] < 1e9))
			return -EOVERFLOW;
	}
	return 0;
}

/*
 * Chooses the period of each axis, in units of 1 / (2 S). Returns whether the grid that o gets has room for the windows of
 * points at the edges of the box. A window errs most at the ends of its modes. A long period brings the targets there, and a
 * short one the points, which are modes of the second transform. So it takes the period at which both fill the same part.
 */
static bool
choose_period(const struct usfft_options *o, const double modes[3], double period[3])
{
	double reach;
	size_t n[3] = {0};
	int w = 0;

	const bool none = usfft_choose(o, &w, n, &reach);
	for (int a = 0; a < o->dim; a++) {
		const double cells = (double)n[a], most = (double)o->n[a], part = w / cells * most;
		period[a] = most;
		if (none)
			continue;
		const double least = modes[a] * cells / (cells - (w + 2));
		if (cells <= w + 2 || least > most)
			return false;
		period[a] = part / 2 + sqrt(part * part / 4 + most * modes[a]);
		period[a] = fmin(fmax(period[a], least), most);
	}
	return true;
}

/* Sets the options of the plan for the points, and the scales, from the boxes. Returns 0 or -EOVERFLOW. */
static int
choose_outer(struct usfft_3 *t, struct usfft_options *o)
{
	double modes[3], period[3] = {1, 1, 1};
	const int err = fill_boxes(t, modes);

	*o = t->o;
	o->tol /= outer_part;
	o->expect = t->m;
	for (size_t room = WINDOW_MINW; !err && room <= 2 * WINDOW_MAXW; room++) {
		for (int a = 0; a < o->dim; a++)
			o->n[a] = (size_t)ceil(margin * modes[a]) + room;
		if (choose_period(o, modes, period))
			break;
	}
	for (int a = 0; !err && a < o->dim; a++) {
		t->scale[a] = round_up(2 * t->target_box.half[a] / period[a]);
		t->period[a] = 1 / t->scale[a];
	}
	return err;
}

/* Makes the plans `outer`, for the points, and `inner`, for the targets. */
static int
plan_both(struct usfft_3 *t)
{
	struct usfft_options o;
	int err = choose_outer(t, &o);

	if (!err)
		err = usfft_plan(&t->outer, &o);
	if (err)
		return err;
	for (int a = 0; a < o.dim; a++)
		o.n[a] = t->outer->grid.n[a];
	o.tol = t->o.tol / inner_part;
	o.fft_order = true;
	o.expect = t->targets;
	o.type = 2;
	return usfft_plan(&t->inner, &o);
}

/* Scales the points, multiplies their values by the phase of the middle of the targets, sorts and spreads them. */
static int
spread_outer(struct usfft_3 *t, const struct usfft_points *pt, const void *c, int sign, size_t *bad)
{
	const size_t real = t->o.single ? sizeof(float) : sizeof(double);
	const double exact[3] = {0}, *mid = t->target_box.mid;
	double middle = 0;
	int err;

	t->x = rescale(pt, t->o.dim, &t->box, t->scale, exact, t->o.threads);
	t->c = weir_alloc(pt->m, 2 * real);
	if (!t->x || !t->c)
		return -ENOMEM;
	for (int a = 0; a < t->o.dim; a++)
		phase_add(-mid[a], &t->box.mid[a], 1, &middle);
#pragma omp parallel for num_threads(t->o.threads) schedule(static)
	for (size_t j = 0; j < pt->m; j += PHASE_BLOCK) {
		const size_t n = block_at(j, pt->m);
		double turns[PHASE_BLOCK], one[PHASE_BLOCK];
		dot_turns(pt, t->o.dim, mid, j, n, turns);
		for (size_t i = 0; i < n; i++) {
			turns[i] += middle;
			one[i] = 1;
		}
		phase_turn(t->c, c, j, n, sign, turns, one, t->o.single);
	}
	const struct usfft_points scaled = as_points(t->x, pt->m, t->o.dim);
	err = usfft_points(t->outer, &scaled, t->c, 2, bad);
	if (err)
		return err;
	double start = clock_now();
	spread_points(t->outer, 1, NULL);
	clock_charge(&start, &t->outer->took->spread);
	return 0;
}

/* At each target, divides the window out and multiplies by the phase of the middle of the points. */
static void
finish(const struct usfft_3 *t, const struct usfft_points *targets, const double *scale, int sign,
       void *out)
{
	const size_t m = targets->m;
	struct window_series undo[3];

	for (int a = 0; a < t->o.dim; a++)
		window_series(&t->outer->win[a], t->target_box.half[a] * scale[a], &undo[a]);
#pragma omp parallel for num_threads(t->o.threads) schedule(static)
	for (size_t j = 0; j < m; j += PHASE_BLOCK) {
		const size_t n = block_at(j, m);
		double turns[PHASE_BLOCK], factor[PHASE_BLOCK], one[PHASE_BLOCK];
		dot_turns(targets, t->o.dim, t->box.mid, j, n, turns);
		for (int a = 0; a < t->o.dim; a++) {
			window_series_at(&undo[a], t->s + (size_t)a * m + j, n, one);
			for (size_t i = 0; i < n; i++)
				factor[i] = (a ? factor[i] : 1) * one[i];
		}
		phase_turn(out, out, j, n, sign, turns, factor, t->o.single);
	}
}

static int
transform(struct usfft_3 *t, const struct usfft_points *pt, const void *c,
	  const struct usfft_points *targets, int sign, void *out, size_t *bad)
{
	double scale[3], rest[3];
	int err = spread_outer(t, pt, c, sign, bad);

	if (err)
		return err;
	for (int a = 0; a < t->o.dim; a++) {
		const double cells = t->scale[a] * (double)t->outer->grid.n[a];
		scale[a] = 1 / cells;
		rest[a] = -fma(scale[a], cells, -1) / cells;
	}
	t->s = rescale(targets, t->o.dim, &t->target_box, scale, rest, t->o.threads);
	if (!t->s)
		return -ENOMEM;
	const struct usfft_points scaled = as_points(t->s, targets->m, t->o.dim);
	err = usfft_points(t->inner, &scaled, NULL, 0, bad);
	if (err)
		return err;
	double start = clock_now();
	hand_over(t->outer, t->inner, sign);
	clock_charge(&start, &t->inner->took->modes);
	usfft_scatter(t->inner, sign, out);
	start = clock_now();
	finish(t, targets, scale, sign, out);
	clock_charge(&start, &t->inner->took->modes);
	return 0;
}

size_t
usfft_type3_bytes(const struct usfft_options *o, const struct usfft_points *pt,
		  const struct usfft_points *targets, double *reach)
{
	struct usfft_3 t = {.o = *o, .m = pt->m};
	struct usfft_options outer, inner;
	double first = 0, second = 0;
	size_t bad;
	int w;

	if (find_box(pt, o->dim, &t.box, &bad) || find_box(targets, o->dim, &t.target_box, &bad) ||
	    choose_outer(&t, &outer))
		return 0;
	inner = outer;
	inner.tol = o->tol / inner_part;
	inner.expect = targets->m;
	inner.type = 2;
	if (usfft_choose(&outer, &w, inner.n, &first))
		return 0;
	const size_t a = usfft_bytes(&outer, &first), b = usfft_bytes(&inner, &second);
	*reach = fmax(first * outer_part, second * inner_part);
	return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

int
type3_plan(struct usfft_3 *t, const struct usfft_points *pt, const struct usfft_points *targets,
	   size_t *bad)
{
	const int err = find_box(pt, t->o.dim, &t->box, bad);

	t->m = pt->m;
	t->targets = targets->m;

	if (err)
		return err;
	return find_box(targets, t->o.dim, &t->target_box, bad) ? -ENXIO : plan_both(t);
}

void
type3_free(struct usfft_3 *t)
{
	usfft_free(t->outer);
	usfft_free(t->inner);
	weir_free(t->x);
	weir_free(t->s);
	weir_free(t->c);
}

int
usfft_type3(const struct usfft_options *o, const struct usfft_points *pt, const void *c,
	    const struct usfft_points *targets, int sign, void *out, size_t *bad)
{
	struct usfft_3 t = {.o = *o};
	int err = type3_plan(&t, pt, targets, bad);

	if (!err)
		err = transform(&t, pt, c, targets, sign, out, bad);
	type3_free(&t);
	return err;
}
