/* The boxes, periods and plans of type 3: see type3.c. */
#include <errno.h>
#include <math.h>

#include "common/base/par.h"
#include "common/base/sample.h"
#include "usfft/phase.h"
#include "usfft/type3.h"

/*
 * What the tolerance is divided by, for the transform at the points and for that at the targets, and how much larger the box
 * of the targets is made. Points and targets that lie at the ends of their boxes do not average the errors of a window. Equal
 * values at both ends of a 1-D box, seen at both ends of the other, had errors of .69 of the tolerance at most in 1090 cases.
 * With 5, 5 and 1 the errors were up to 3.2 of it, with 5, 4 and 1.05 up to 2.4.
 */
static const double outer_part = 6, inner_part = 10, margin = 1.05;

/* A box whose middle lies within this part of its half width from 0 is made larger, and its middle 0: that saves its phases. */
static const double nearly_centred = 1. / 64;

static size_t
find_infinite(const double *x, size_t n)
{
	size_t j = 0;

	while (j < n && isfinite(x[j]))
		j++;
	return j;
}

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
		if ((s.nan || s.inf) && j < bad)
			bad = j + find_infinite(x, n);
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
		  const struct usfft_points *targets, double *reach)
{
	struct usfft_3 t = {.o = *o, .m = pt->m, .targets = targets->m};
	struct usfft_options outer, inner;
	double first = 0, second = 0;
	size_t bad;
	int w;

	if (find_box(pt, o, &t.box, &bad) || find_box(targets, o, &t.target_box, &bad) ||
	    choose_outer(&t, &outer, &inner))
		return 0;
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
	const int err = find_box(pt, &t->o, &t->box, bad);

	t->m = pt->m;
	t->targets = targets->m;

	if (err)
		return err;
	return find_box(targets, &t->o, &t->target_box, bad) ? -ENXIO : plan_both(t);
}
