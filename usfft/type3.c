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

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "usfft/plan.h"
#include "usfft/usfft.h"

enum { PHASE_BLOCK = 256 }; /* the most points of a call */

/* How many of m points the call has that begins with point `from`. */
static inline size_t
phase_count(size_t from, size_t m)
{
	return m - from < PHASE_BLOCK ? m - from : PHASE_BLOCK;
}

/* The threads for m points: one where waking the others takes longer than the work. */
static inline int
phase_threads(size_t m, int threads)
{
	return m < 16 * PHASE_BLOCK ? 1 : threads;
}

/* ---- phases ---- */

/* Phase factors exp(2 pi i turns) of many points at a time, in loops that vectorise. */

/* Loads axis a of points from..from+n-1 as doubles. */
WEIR_CLONES(phase_load, (const struct usfft_points *pt, int a, size_t from, size_t n, double *x),
	    (pt, a, from, n, x))
{
	const size_t stride = pt->stride;
	const bool single = pt->single;

	for (size_t j = 0; j < n; j++)
		x[j] = real_at(pt->x[a], (from + j) * stride, single);
}

/* turns[j] += s x[j], up to whole turns. The product is split into its rounded value and the exact rest. */
WEIR_CLONES(phase_add, (double s, const double *x, size_t n, double *turns), (s, x, n, turns))
{
	for (size_t j = 0; j < n; j++) {
		const double p = s * x[j];
		turns[j] += p - rint(p) + fma(s, x[j], -p);
	}
}

/*
 * v[j] *= factor[j] exp(2 pi i sign turns[j]). The Taylor series of an eighth of a turn are exact to 1e-16. libm's sincos does
 * not vectorise.
 */
WEIR_CLONES(turn_block,
	    (double *restrict v, size_t n, double sign, const double *turns, const double *factor),
	    (v, n, sign, turns, factor))
{
	for (size_t j = 0; j < n; j++) {
		const double part = turns[j] - rint(turns[j]), q = rint(4 * part);
		const double y = 2 * M_PI * (part - q / 4), z = -y * y;
		double even = 1. / 20922789888000, odd = 1. / 1307674368000;
		even = even * z + 1. / 87178291200;
		even = even * z + 1. / 479001600;
		even = even * z + 1. / 3628800;
		even = even * z + 1. / 40320;
		even = even * z + 1. / 720;
		even = even * z + 1. / 24;
		even = even * z + 1. / 2;
		even = even * z + 1;
		odd = odd * z + 1. / 6227020800;
		odd = odd * z + 1. / 39916800;
		odd = odd * z + 1. / 362880;
		odd = odd * z + 1. / 5040;
		odd = odd * z + 1. / 120;
		odd = odd * z + 1. / 6;
		odd = (odd * z + 1) * y;
		/* q quarters of a turn are left, -2 to 2. */
		const double c = q == 0 ? even : q == 1 ? -odd : q == -1 ? odd : -even;
		const double s = q == 0 ? odd : q == 1 ? even : q == -1 ? -even : -odd;
		const double re = v[2 * j] * factor[j], im = v[2 * j + 1] * factor[j];
		v[2 * j] = re * c - im * sign * s;
		v[2 * j + 1] = re * sign * s + im * c;
	}
}

/*
 * Multiplies values from..from+n-1 by factor[j] exp(2 pi i sign turns[j]). factor and turns count from 0. turns
 * NULL: all are 0. The values are floats (single) or doubles; to and c may be the same array.
 */
static void
phase_turn(void *to, const void *c, size_t from, size_t n, int sign, const double *turns,
	   const double *factor, bool single)
{
	double v[2 * PHASE_BLOCK];

	for (size_t i = 0; i < 2 * n; i++)
		v[i] = real_at(c, 2 * from + i, single);
	if (turns)
		turn_block(v, n, sign, turns, factor);
	for (size_t i = 0; !turns && i < 2 * n; i++)
		v[i] *= factor[i / 2];
	for (size_t i = 0; i < 2 * n; i++)
		real_set(to, 2 * from + i, v[i], single);
}

/* ---- plans ---- */

/*
 * What the tolerance is divided by, for the transform at the points and for that at the targets, and how much larger the box
 * of the targets is made. Points and targets that lie at the ends of their boxes do not average the errors of a window. Equal
 * values at both ends of a 1-D box, seen at both ends of the other, had errors of .69 of the tolerance at most in 1090 cases.
 * With 5, 5 and 1 the errors were up to 3.2 of it, with 5, 4 and 1.05 up to 2.4.
 */
static const double outer_part = 6, inner_part = 10, margin = 1.05;

/* A box whose middle lies within this part of its half width from 0 is made larger, and its middle 0: that saves its phases. */
static const double nearly_centred = 1. / 64;

/* Finds the box of the points along axis a. Returns the index of the first point that is not finite, or m. */
static size_t
find_range(const struct usfft_points *pt, int a, int threads, struct box *b)
{
	double lo = INFINITY, hi = -INFINITY;
	size_t bad = pt->m;

#pragma omp parallel for num_threads(threads) schedule(static) reduction(min        \
									 : lo, bad) \
    reduction(max                                                                   \
	      : hi)
	for (size_t j = 0; j < pt->m; j += PHASE_BLOCK) {
		const size_t n = phase_count(j, pt->m);
		double x[PHASE_BLOCK];
		struct sample_stats s;
		sample_stats_start(&s);
		phase_load(pt, a, j, n, x);
		sample_stats_add(&s, x, n);
		lo = s.lo < lo ? s.lo : lo;
		hi = s.hi > hi ? s.hi : hi;
		for (size_t i = 0; (s.nan || s.inf) && i < n && j + i < bad; i++)
			bad = isfinite(x[i]) ? bad : j + i;
	}
	b->mid[a] = pt->m ? lo / 2 + hi / 2 : 0;
	/* The middle is rounded, which counts where the box is a few times wider than its last bit. */
	b->half[a] = pt->m ? fmax(hi - b->mid[a], b->mid[a] - lo) : 0;
	if (fabs(b->mid[a]) <= nearly_centred * b->half[a]) {
		b->half[a] += fabs(b->mid[a]);
		b->mid[a] = 0;
	}
	return bad;
}

/* Finds the box of the points. Returns 0, or -EINVAL when point *bad is not finite. */
static int
find_box(const struct usfft_points *pt, const struct usfft_options *o, struct box *b, size_t *bad)
{
	const int threads = phase_threads(pt->m, o->threads);

	*bad = pt->m;
	for (int a = 0; a < o->dim; a++) {
		const size_t first = find_range(pt, a, threads, b);
		*bad = first < *bad ? first : *bad;
	}
	return *bad < pt->m ? -EINVAL : 0;
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
	size_t n[3] = {0};
	int w = 0;
	const bool none = usfft_choose(o, &w, n);

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

/*
 * Sets the options of the plan for the points, and the scales, from the boxes; and those of the plan for the targets, except
 * for its modes. Returns 0 or -EOVERFLOW.
 */
static int
choose_outer(struct usfft_3 *t, struct usfft_options *o, struct usfft_options *inner)
{
	double modes[3], period[3] = {1, 1, 1};
	const int err = fill_boxes(t, modes);

	*o = *inner = t->o;
	o->tol /= outer_part;
	o->expect = t->m;
	/* In one and two dimensions that gains nothing. */
	o->then = o->dim == 3 ? inner : NULL;
	inner->tol /= inner_part;
	inner->expect = t->targets;
	inner->type = 2;
	inner->fft_order = true;
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
	struct usfft_options o, inner;
	int err = choose_outer(t, &o, &inner);

	if (!err)
		err = usfft_plan(&t->outer, &o);
	if (err)
		return err;
	for (int a = 0; a < o.dim; a++)
		inner.n[a] = t->outer->grid.n[a];
	return usfft_plan(&t->inner, &inner);
}

size_t
usfft_type3_bytes(const struct usfft_options *o, const struct usfft_points *pt,
		  const struct usfft_points *targets)
{
	struct usfft_3 t = {.o = *o, .m = pt->m, .targets = targets->m};
	struct usfft_options outer, inner;
	size_t bad;
	int w;

	if (find_box(pt, o, &t.box, &bad) || find_box(targets, o, &t.target_box, &bad) ||
	    choose_outer(&t, &outer, &inner))
		return 0;
	if (usfft_choose(&outer, &w, inner.n))
		return 0;
	const size_t a = usfft_bytes(&outer), b = usfft_bytes(&inner);
	return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

int
type3_plan(struct usfft_3 *t, const struct usfft_points *pt, const struct usfft_points *targets,
	   size_t *bad)
{
	const int err = find_box(pt, &t->o, &t->box, bad);

	t->m = pt->m;
	t->targets = targets->m;
	if (err)
		return err;
	return find_box(targets, &t->o, &t->target_box, bad) ? -ENXIO : plan_both(t);
}

/* ---- the transform ---- */

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

static bool
is_zero(const double *v, int dim)
{
	return v[0] == 0 && (dim < 2 || v[1] == 0) && (dim < 3 || v[2] == 0);
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
		modes_move(&inner->grid, conjugate(sign), row, x, x + g->rowlen, false,
			   (char *)g->data + grid_cell(g, from, x) * 2 * outer->real);
	}
}

/* Multiplies the values by the phase of the middle of the targets. Returns them, or NULL: there is no memory. */
static void *
turn_values(const struct usfft_3 *t, const struct usfft_points *pt, const void *c, int sign)
{
	const double *mid = t->target_box.mid;
	void *turned = weir_alloc(pt->m, 2 * t->outer->real);
	double middle = 0;

	if (!turned)
		return NULL;
	for (int a = 0; a < t->o.dim; a++)
		phase_add(-mid[a], &t->box.mid[a], 1, &middle);
#pragma omp parallel for num_threads(phase_threads(pt->m, t->o.threads)) schedule(static)
	for (size_t j = 0; j < pt->m; j += PHASE_BLOCK) {
		const size_t n = phase_count(j, pt->m);
		double turns[PHASE_BLOCK], one[PHASE_BLOCK];
		dot_turns(pt, t->o.dim, mid, j, n, turns);
		for (size_t i = 0; i < n; i++) {
			turns[i] += middle;
			one[i] = 1;
		}
		phase_turn(turned, c, j, n, sign, turns, one, t->o.single);
	}
	return turned;
}

/* Sorts and spreads the points, in units of the period. */
static int
spread_outer(struct usfft_3 *t, const struct usfft_points *pt, const void *c, int sign, size_t *bad)
{
	const bool turn = !is_zero(t->target_box.mid, t->o.dim);
	struct usfft_points scaled = *pt;
	struct usfft_scale scale[3];
	void *turned = turn ? turn_values(t, pt, c, sign) : NULL;
	int err = turn && !turned ? -ENOMEM : 0;

	for (int a = 0; a < t->o.dim; a++)
		scale[a] = (struct usfft_scale){t->box.mid[a], t->scale[a], 0};
	scaled.scale = scale;
	if (!err)
		err = usfft_points(t->outer, &scaled, turn ? turned : c, 2, bad);
	weir_free(turned);
	if (err)
		return err;
	double start = clock_now();
	spread_points(t->outer, 1, NULL);
	clock_charge(&start, &t->outer->took->spread);
	return 0;
}

/* factor[i] = 1 / the transform of the window of `outer` at target j + i, for n targets. */
static void
undo_window(const struct window_series *undo, const struct usfft_points *targets,
	    const struct usfft_scale *scale, int dim, size_t j, size_t n, double *factor)
{
	double f[PHASE_BLOCK];

	for (int a = 0; a < dim; a++) {
		phase_load(targets, a, j, n, f);
		for (size_t i = 0; i < n; i++)
			f[i] = (f[i] - scale[a].mid) * scale[a].factor;
		window_series_at(&undo[a], f, n, a ? f : factor);
		for (size_t i = 0; a && i < n; i++)
			factor[i] *= f[i];
	}
}

/* At each target, divides the window out and multiplies by the phase of the middle of the points. */
static void
finish(const struct usfft_3 *t, const struct usfft_points *targets, const struct usfft_scale *scale,
       int sign, void *out)
{
	const bool turn = !is_zero(t->box.mid, t->o.dim);
	const size_t m = targets->m;
	struct window_series undo[3];

	for (int a = 0; a < t->o.dim; a++)
		window_series(&t->outer->win[a], t->target_box.half[a] * scale[a].factor, &undo[a]);
#pragma omp parallel for num_threads(phase_threads(m, t->o.threads)) schedule(static)
	for (size_t j = 0; j < m; j += PHASE_BLOCK) {
		const size_t n = phase_count(j, m);
		double turns[PHASE_BLOCK], factor[PHASE_BLOCK];
		undo_window(undo, targets, scale, t->o.dim, j, n, factor);
		if (turn)
			dot_turns(targets, t->o.dim, t->box.mid, j, n, turns);
		phase_turn(out, out, j, n, sign, turn ? turns : NULL, factor, t->o.single);
	}
}

static int
transform(struct usfft_3 *t, const struct usfft_points *pt, const void *c,
	  const struct usfft_points *targets, int sign, void *out, size_t *bad)
{
	struct usfft_points scaled = *targets;
	struct usfft_scale scale[3];
	int err = spread_outer(t, pt, c, sign, bad);

	for (int a = 0; a < t->o.dim; a++) {
		const double cells = t->scale[a] * (double)t->outer->grid.n[a], f = 1 / cells;
		scale[a] =
		    (struct usfft_scale){t->target_box.mid[a], f, -fma(f, cells, -1) / cells};
	}
	scaled.scale = scale;
	if (!err)
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

void
type3_free(struct usfft_3 *t)
{
	usfft_free(t->outer);
	usfft_free(t->inner);
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
