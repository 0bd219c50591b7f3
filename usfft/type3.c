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

#include "common/mem.h"
#include "common/par.h"
#include "common/real.h"
#include "usfft/type3.h"

static double
at(const struct usfft_points *pt, int a, size_t j)
{
	return real_at(pt->x[a], j * pt->stride, pt->single);
}

/* Finds the box of the points. Returns 0, or -EINVAL when point *bad is not finite. */
static int
find_box(const struct usfft_points *pt, int dim, struct box *b, size_t *bad)
{
	for (int a = 0; a < dim; a++) {
		double lo = INFINITY, hi = -INFINITY;
		for (size_t j = 0; j < pt->m; j++) {
			const double x = at(pt, a, j);
			*bad = j;
			if (!isfinite(x))
				return -EINVAL;
			lo = fmin(lo, x);
			hi = fmax(hi, x);
		}
		b->mid[a] = pt->m ? lo / 2 + hi / 2 : 0;
		b->half[a] = pt->m ? hi / 2 - lo / 2 : 0;
	}
	return 0;
}

/*
 * Returns the points as m x dim doubles, (x - mid) * (scale + scale_rest), and then as many rests, which rounding took from
 * them. Without the rests, the targets would multiply the rounding of x by their number of turns.
 */
static double *
rescale(const struct usfft_points *pt, int dim, const struct box *b, const double *scale,
	const double *scale_rest)
{
	const size_t n = pt->m * (size_t)dim;
	double *x = weir_alloc(n, 2 * sizeof *x);

	for (size_t i = 0; x && i < n; i++) {
		const int a = (int)(i % (size_t)dim);
		const double v = at(pt, a, i / (size_t)dim), mid = b->mid[a];
		const double d = v - mid, t = d - v, lost = (v - (d - t)) - (mid + t);
		x[i] = d * scale[a];
		x[n + i] = fma(d, scale[a], -x[i]) + lost * scale[a] + d * scale_rest[a];
	}
	return x;
}

static struct usfft_points
as_points(const double *x, size_t m, int dim)
{
	struct usfft_points pt = {.m = m, .stride = (size_t)dim};

	for (int a = 0; a < dim; a++) {
		pt.x[a] = x + a;
		pt.rest[a] = x + m * (size_t)dim + a;
	}
	return pt;
}

/* to[j] = from[j] * factor * exp(2 pi i turns). */
static void
turn(void *to, const void *from, size_t j, double turns, double factor, bool single)
{
	const double phase = 2 * M_PI * (turns - rint(turns));
	const double c = factor * cos(phase), s = factor * sin(phase);
	const double re = real_at(from, 2 * j, single), im = real_at(from, 2 * j + 1, single);

	real_set(to, 2 * j, re * c - im * s, single);
	real_set(to, 2 * j + 1, re * s + im * c, single);
}

/* s.x up to whole turns. Each product is split into its rounded value and the exact rest. */
static double
dot_turns(int dim, const double *s, const double *x)
{
	double sum = 0;

	for (int a = 0; a < dim; a++) {
		const double p = s[a] * x[a];
		sum += p - rint(p) + fma(s[a], x[a], -p);
	}
	return sum;
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

/* Sets the options of the plan for the points, and the scales, from the boxes. Returns 0 or -EOVERFLOW. */
static int
choose_outer(struct usfft_3 *t, struct usfft_options *o)
{
	*o = t->o;
	/*
	 * Two transforms share the tolerance. It is divided by 5 because targets that all lie in one place do not average
	 * their errors: in 3-D with 1e-3, a division by 3 gave 1.2e-3.
	 */
	o->tol /= 5;
	for (int a = 0; a < o->dim; a++) {
		double *S = &t->target_box.half[a];
		const double X = t->box.half[a];
		if (4 * X * *S < 1)
			*S = X > 0 ? 1 / (4 * X) : *S > 0 ? *S : 1;
		if (!(4 * X * *S < 1e9))
			return -EOVERFLOW;
		o->n[a] = (size_t)ceil(4 * X * *S) + WINDOW_MAXW;
		t->scale[a] = round_up(2 * *S / (double)o->n[a]);
		t->period[a] = 1 / t->scale[a];
	}
	return 0;
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
	o.fft_order = true;
	return usfft_plan(&t->inner, &o);
}

/* Scales the points, multiplies their values by the phase of the middle of the targets, sorts and spreads them. */
static int
spread_outer(struct usfft_3 *t, const struct usfft_points *pt, const void *c, int sign, size_t *bad)
{
	const size_t dim = (size_t)t->o.dim, real = t->o.single ? sizeof(float) : sizeof(double);
	const double exact[3] = {0}, *mid = t->target_box.mid;
	int err;

	t->x = rescale(pt, t->o.dim, &t->box, t->scale, exact);
	t->c = weir_alloc(pt->m, 2 * real);
	if (!t->x || !t->c)
		return -ENOMEM;
	for (size_t j = 0; j < pt->m; j++) {
		double x[3] = {0};
		for (size_t a = 0; a < dim; a++)
			x[a] = at(pt, (int)a, j);
		const double turns =
		    dot_turns(t->o.dim, mid, x) - dot_turns(t->o.dim, mid, t->box.mid);
		turn(t->c, c, j, sign * turns, 1, t->o.single);
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
finish(const struct usfft_3 *t, const struct usfft_points *targets, int sign, void *out)
{
#pragma omp parallel for num_threads(t->o.threads) schedule(static)
	for (size_t j = 0; j < targets->m; j++) {
		double s[3] = {0}, factor = 1;
		for (int a = 0; a < t->o.dim; a++) {
			s[a] = at(targets, a, j);
			factor /= window_hat(&t->outer->win[a],
					     fabs(t->s[j * (size_t)t->o.dim + (size_t)a]));
		}
		turn(out, out, j, sign * dot_turns(t->o.dim, s, t->box.mid), factor, t->o.single);
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
	t->s = rescale(targets, t->o.dim, &t->target_box, scale, rest);
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
	finish(t, targets, sign, out);
	clock_charge(&start, &t->inner->took->modes);
	return 0;
}

size_t
usfft_type3_bytes(const struct usfft_options *o, const struct usfft_points *pt,
		  const struct usfft_points *targets)
{
	struct usfft_3 t = {.o = *o};
	struct usfft_options outer, inner;
	size_t bad;
	double reach;
	int w;

	if (find_box(pt, o->dim, &t.box, &bad) || find_box(targets, o->dim, &t.target_box, &bad) ||
	    choose_outer(&t, &outer))
		return 0;
	inner = outer;
	if (usfft_choose(&outer, usfft_loops(o->registers, o->single)->tile.lanes, &w, inner.n,
			 &reach))
		return 0;
	const size_t a = usfft_bytes(&outer), b = usfft_bytes(&inner);
	return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

int
type3_plan(struct usfft_3 *t, const struct usfft_points *pt, const struct usfft_points *targets,
	   size_t *bad)
{
	const int err = find_box(pt, t->o.dim, &t->box, bad);

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
