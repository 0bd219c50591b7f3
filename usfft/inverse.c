/*
 * Modes from values at points: damped weighted least squares by conjugate gradients on the normal equations,
 *
 *	(sum_c S_c* A* W A S_c + lambda) F = sum_c S_c* A* W b_c,	(A F)_j = sum_k F_k exp(s 2 pi i k.x_j)
 *
 * S_c is the map of coil c, a factor for each mode. Without coils there is one map, of ones. A* W A is Toeplitz,
 * T_{k-k'} = sum_j w_j exp(-s 2 pi i (k-k').x_j). One transform of the weights computes it. Each product costs two FFTs of
 * twice the size for each coil, and does not touch the points. Everything is in double precision, but the FFTs of products are in
 * single precision with total variation, where values are and the residual that is asked for is far above their rounding.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/cpu.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/inverse.h"
#include "usfft/plan.h"

struct toeplitz {
	struct grid grid; /* of at least 2 n - 1 cells along each axis */
	/* Owned: the transform of T, real, divided by the number of cells; as the grid is laid out. Floats are 1 at most. */
	void *symbol;
	float *narrow; /* owned: n complex modes; NULL: the grid is in double precision */
	double most;   /* the factor of such a symbol */
	struct usfft_seconds own, *took; /* took: the caller's, or own */
};

/* ---- the matrix ---- */

/*
 * (T F)_k = sum_k' T_{k-k'} F_k'. The FFTs are those of the grid of a transform, which leave out rows and columns without modes.
 * The first one makes the sums with sign -1. The second one has to have the sign +1, so its input and output are conjugated.
 */

/*
 * Makes a grid for the modes of o, of 2 half - 1 cells along each axis or more, which divides no window out. Batches of rows ask
 * for multiples of their lanes, 8 doubles or 16 floats, and a cut 1-D grid for 256.
 */
static int
make_grid(struct grid *g, const struct usfft_options *o, const size_t half[3])
{
	*g = (struct grid){
	    .layers = 1, .copies = 1, .ops = &usfft_loops(o->registers, o->single)->batch};
	const size_t of = o->dim == 1 ? 256 : o->single ? 16 : 8;
	for (int a = 0; a < 3; a++)
		g->n[a] = a < o->dim ? fft_multiple(2 * half[a] - 1, of, false) : 1;
	const int err = grid_make(g, o);
	for (int a = 0; a < o->dim && !err; a++) {
		void *const undo = g->undo[a] = weir_alloc(o->n[a] / 2 + 1, g->real);
		if (!undo)
			return -ENOMEM;
		for (size_t k = 0; k <= o->n[a] / 2; k++)
			if (o->single)
				((float *)undo)[k] = 1;
			else
				((double *)undo)[k] = 1;
	}
	return err;
}

/* Writes all modes to the grid and transforms them. */
static void
to_grid(struct grid *g, const void *modes)
{
	const size_t n = g->modes[0], rows = g->modes[1] * g->modes[2];

	grid_clear(g);
#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < rows; r++)
		modes_move(g, 1, r, 0, n, false, (char *)(uintptr_t)modes + 2 * r * n * g->real);
	grid_transform(g, false);
}

/* Whether a row of the grid holds cells, and is no padding. */
static bool
holds_cells(const struct grid *g, size_t row)
{
	return g->dim < 3 || row % g->plane < g->n[1];
}

/* Returns the options of the transform that computes T. T has an element for each difference of two modes. */
static struct usfft_options
differences(const struct usfft_options *o)
{
	struct usfft_options d = *o;

	for (int a = 0; a < o->dim; a++)
		d.n[a] = 2 * o->n[a] - 1;
	d.single = false;
	d.fft_order = true;
	return d;
}

/* Returns the greatest length of a number among n. */
WEIR_CLONES_OF(double, greatest, (const double *x, size_t n), (x, n))
{
	double most[8] = {0};

	for (size_t i = 0; i + 8 <= n; i += 8)
		for (size_t k = 0; k < 8; k++)
			most[k] = fabs(x[i + k]) > most[k] ? fabs(x[i + k]) : most[k];
	for (size_t i = n / 8 * 8; i < n; i++)
		most[0] = fmax(most[0], fabs(x[i]));
	for (size_t k = 1; k < 8; k++)
		most[0] = fmax(most[0], most[k]);
	return most[0];
}

/* to = x times by, for n numbers. */
WEIR_CLONES(narrow_down, (const double *restrict x, size_t n, double by, float *restrict to),
	    (x, n, by, to))
{
	for (size_t i = 0; i < n; i++)
		to[i] = (float)(x[i] * by);
}

WEIR_CLONES(widen, (const float *restrict x, size_t n, double by, double *restrict to),
	    (x, n, by, to))
{
	for (size_t i = 0; i < n; i++)
		to[i] = x[i] * by;
}

/* A power of 2 that is x or more, but for x beyond what a double can divide by: then the nearest such one. */
static double
unit_above(double x)
{
	return ldexp(1, x > 0 ? (int)fmin(fmax(ilogb(x) + 1, -1000), 1000) : 0);
}

/* Transforms column T, n elements, to its symbol by the grid g. T is Hermitian, so the symbol is real. */
static int
make_symbol(struct toeplitz *t, struct grid *g, const double *column, size_t n)
{
	const double scale = 1 / ((double)g->n[0] * (double)g->n[1] * (double)g->n[2]);
	float *down = weir_alloc(t->narrow ? n : 1, 2 * sizeof *down);

	if (!down || !(t->symbol = weir_alloc(g->cells, g->real))) {
		weir_free(down);
		return -ENOMEM;
	}
	if (t->narrow) {
		t->most = unit_above(greatest(column, 2 * n) * (double)n);
		narrow_down(column, 2 * n, 1 / t->most, down);
	}
	to_grid(g, t->narrow ? (const void *)down : column);
	for (size_t r = 0; r < g->rows; r++) {
		const size_t at = r * g->ld, end = at + (holds_cells(g, r) ? g->rowlen : 0);
		for (size_t i = at; i < end; i++)
			if (t->narrow)
				((float *)t->symbol)[i] = ((float *)g->data)[2 * i] * (float)scale;
			else
				((double *)t->symbol)[i] = ((double *)g->data)[2 * i] * scale;
	}
	weir_free(down);
	return 0;
}

#define MULTIPLY(real)                                                         \
	for (size_t i = r * g->ld; i < r * g->ld + g->rowlen; i++) {           \
		((real *)g->data)[2 * i] *= ((const real *)t->symbol)[i];      \
		((real *)g->data)[2 * i + 1] *= -((const real *)t->symbol)[i]; \
	}

/* out = T in. Both hold n complex modes in the order of o. */
static void
toeplitz_apply(struct toeplitz *t, const double *in, double *out)
{
	struct grid *g = &t->grid;
	const size_t n = g->modes[0], rows = g->modes[1] * g->modes[2];
	const double most = t->narrow ? unit_above(greatest(in, 2 * n * rows)) : 1;
	char *to = t->narrow ? (char *)t->narrow : (char *)out;
	double start = clock_now();

	if (t->narrow)
		narrow_down(in, 2 * n * rows, 1 / most, t->narrow);
	to_grid(g, t->narrow ? (const void *)t->narrow : in);
#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < g->rows; r++) {
		if (!holds_cells(g, r))
			continue;
		if (t->narrow)
			MULTIPLY(float)
		else
			MULTIPLY(double)
	}
	grid_transform(g, true);
	clock_charge(&start, &t->took->fft);
#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < rows; r++)
		modes_move(g, -1, r, 0, n, true, to + 2 * r * n * g->real);
	if (t->narrow)
		widen(t->narrow, 2 * n * rows, most * t->most, out);
}

/* ---- weights ---- */

/*
 * Pipe and Menon's weights, without FFTs: the kernel K is the window of a plan, convolved with itself on the grid. K takes points
 * that it covers together for one, so it must not be wider than the distance of modes: the window of a tolerance of 1e-6 made haze
 * and rings of a spiral's centre and end. On a lattice with that distance K w is uneven by what this returns. Less than 1 % makes
 * the kernel needlessly wide.
 */
static double
unevenness(const struct usfft_options *o, int w, const size_t n[3])
{
	struct window win;
	int a = 0;

	for (int i = 1; i < o->dim; i++)
		if (o->n[i] > o->n[a])
			a = i;
	const double f = (double)o->n[a] / (double)n[a];
	window_make(&win, false, w, 1 / f, o->tol);
	const double hat = window_hat(&win, f), alias = window_hat(&win, 1 - f);
	return 2 * fabs(hat) * (fabs(hat) + fabs(alias)) / pow(window_hat(&win, 0), 2);
}

struct usfft_options
usfft_pipe_options(const struct usfft_options *given)
{
	struct usfft_options o = *given;
	size_t n[3];
	int w;

	o.single = o.gauss = false;
	o.sigma = 1.75;
	for (o.tol = .1; o.tol > USFFT_FLOOR_DOUBLE; o.tol /= 10)
		if (usfft_choose(&o, &w, n) || unevenness(&o, w, n) <= .01)
			break;
	return o;
}

/* w <- w / (K w), where K spreads and interpolates. At the fixed point K w = 1, where points are dense and where sparse. */
static void
equalise(struct usfft_plan *p, double *w, double *v, size_t m)
{
	for (size_t j = 0; j < m; j++) {
		v[2 * j] = w[j];
		v[2 * j + 1] = 0;
	}
	double start = clock_now();
	spread_points(p, 1, v);
	interp_points(p, 1, v);
	clock_charge(&start, &p->took->spread);
	for (size_t j = 0; j < m; j++)
		w[j] = v[2 * j] > 0 ? w[j] / v[2 * j] : w[j];
}

int
usfft_pipe(const struct usfft_options *given, const struct usfft_points *pt, int rounds, double *w,
	   size_t *bad)
{
	const struct usfft_options o = usfft_pipe_options(given);
	struct usfft_plan *p = NULL;
	double *v = weir_alloc(pt->m, 2 * sizeof *v), area = 1;

	int err = v ? usfft_plan(&p, &o) : -ENOMEM;
	if (!err)
		err = usfft_points(p, pt, NULL, 0, bad);
	for (size_t j = 0; !err && j < pt->m; j++)
		w[j] = 1;
	for (int i = 0; !err && i < rounds; i++)
		equalise(p, w, v, pt->m);
	for (int a = 0; !err && a < o.dim; a++) {
		const double h = window_hat(&p->win[a], 0);
		area *= h * h / (double)p->grid.n[a];
	}
	for (size_t j = 0; !err && j < pt->m; j++)
		w[j] *= area;
	usfft_free(p);
	weir_free(v);
	return err;
}

/* ---- the inverse ---- */

/*
 * With total variation and from this residual on, products of floats are in single precision, which errs by some 1e-6. Without, many
 * steps of conjugate gradients may tell the precisions apart.
 */
#define NARROW 1e-4

/* The matrix of the normal equations. */
struct normal {
	struct toeplitz t;
	size_t n, coils; /* n: modes; coils: 0 without maps */
	const double *maps;
	double lambda, unit; /* unit: R sum_j w_j */
	double *seen, *back; /* owned: n complex modes each, of one coil */
};

/* modes = type 1 of w_j c_j. c NULL: of w_j; w NULL: all weights are one. */
static int
weighted(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
	 const double *c, int sign, double *modes, size_t *bad)
{
	double *v = weir_alloc(pt->m, 2 * sizeof *v);
	struct usfft_plan *p = NULL;
	int err = v ? usfft_plan(&p, o) : -ENOMEM;

	for (size_t j = 0; !err && j < pt->m; j++) {
		const double f = w ? w[j] : 1;
		v[2 * j] = c ? f * c[2 * j] : f;
		v[2 * j + 1] = c ? f * c[2 * j + 1] : 0;
	}
	if (!err)
		err = usfft_points(p, pt, v, 2, bad);
	if (!err)
		usfft_type1(p, sign, NULL, modes);
	usfft_free(p);
	weir_free(v);
	return err;
}

size_t
usfft_inverse_bytes(const struct usfft_options *o)
{
	const struct usfft_options d = differences(o);

	return usfft_bytes(&d);
}

/*
 * Makes T from the weights, by a transform at 2 n - 1 modes per axis. The caller frees t also after a failure. single: products are
 * in single precision.
 */
static int
make_toeplitz(struct toeplitz *t, const struct usfft_options *given, const struct usfft_points *pt,
	      const double *w, int sign, bool single, size_t *bad)
{
	struct usfft_options o = *given, twice = differences(given);
	struct grid g = {0};
	size_t n = 1;

	for (int a = 0; a < o.dim; a++)
		if (!weir_mul(n, twice.n[a], &n))
			return -EOVERFLOW;
	double *column = weir_alloc(n, 2 * sizeof *column);
	int err = column ? weighted(&twice, pt, w, NULL, -sign, column, bad) : -ENOMEM;
	t->took = o.took ? o.took : &t->own;
	if (!err && single && !(t->narrow = weir_alloc(usfft_modes(&o), 2 * sizeof *t->narrow)))
		err = -ENOMEM;
	o.single = twice.single = single;
	if (!err)
		err = make_grid(&g, &twice, o.n);
	if (!err)
		err = make_symbol(t, &g, column, n);
	if (!err)
		err = make_grid(&t->grid, &o, o.n);
	grid_free(&g);
	weir_free(column);
	return err;
}

/* The mean of sum_c |S_c|^2 over the n modes where it is not 0; 1 without maps. */
static double
maps_power(const double *maps, size_t coils, size_t n)
{
	double sum = 0;
	size_t seen = 0;

	for (size_t k = 0; k < n; k++) {
		double here = 0;
		for (size_t c = 0; c < coils; c++) {
			const double *s = maps + 2 * (c * n + k);
			here += s[0] * s[0] + s[1] * s[1];
		}
		sum += here;
		seen += here > 0;
	}
	return seen ? sum / (double)seen : 1;
}

static int
make_normal(struct normal *a, const struct usfft_options *o, const struct usfft_points *pt,
	    const double *w, const struct usfft_inverse *v, bool single, size_t *bad)
{
	double sum = 0;

	for (size_t j = 0; j < pt->m; j++)
		sum += w ? w[j] : 1;
	a->coils = v->coils;
	a->maps = v->maps;
	a->n = usfft_modes(o);
	a->unit = sum * maps_power(v->maps, v->coils, a->n);
	a->lambda = v->damp * a->unit;
	a->seen = weir_alloc(a->coils ? a->n : 1, 2 * sizeof *a->seen);
	a->back = weir_alloc(a->coils ? a->n : 1, 2 * sizeof *a->back);
	if (!a->seen || !a->back)
		return -ENOMEM;
	return make_toeplitz(&a->t, o, pt, w, v->sign, single, bad);
}

/* to = map x, for n complex modes. */
WEIR_CLONES(see,
	    (const double *restrict map, const double *restrict x, size_t n, double *restrict to),
	    (map, x, n, to))
{
	for (size_t i = 0; i < 2 * n; i += 2) {
		to[i] = map[i] * x[i] - map[i + 1] * x[i + 1];
		to[i + 1] = map[i] * x[i + 1] + map[i + 1] * x[i];
	}
}

/* to += conj(map) x */
WEIR_CLONES(add_back,
	    (const double *restrict map, const double *restrict x, size_t n, double *restrict to),
	    (map, x, n, to))
{
	for (size_t i = 0; i < 2 * n; i += 2) {
		to[i] += map[i] * x[i] + map[i + 1] * x[i + 1];
		to[i + 1] += map[i] * x[i + 1] - map[i + 1] * x[i];
	}
}

/* A cg_matrix. */
static int
apply(void *who, const double *in, double *out)
{
	struct normal *a = who;

	if (!a->coils)
		toeplitz_apply(&a->t, in, out);
	else
		memset(out, 0, 2 * a->n * sizeof *out);
	for (size_t c = 0; c < a->coils; c++) {
		const double *map = a->maps + 2 * c * a->n;
		see(map, in, a->n, a->seen);
		toeplitz_apply(&a->t, a->seen, a->back);
		add_back(map, a->back, a->n, out);
	}
	for (size_t i = 0; a->lambda > 0 && i < 2 * a->n; i++)
		out[i] += a->lambda * in[i];
	return 0;
}

/* r = sum_c S_c* A* W b_c */
static int
right_side(const struct normal *a, const struct usfft_options *o, const struct usfft_points *pt,
	   const double *w, const double *b, int sign, double *r, size_t *bad)
{
	int err = 0;

	if (!a->coils)
		return weighted(o, pt, w, b, -sign, r, bad);
	memset(r, 0, 2 * a->n * sizeof *r);
	for (size_t c = 0; c < a->coils && !err; c++) {
		err = weighted(o, pt, w, b + 2 * c * pt->m, -sign, a->back, bad);
		if (!err)
			add_back(a->maps + 2 * c * a->n, a->back, a->n, r);
	}
	return err;
}

int
usfft_inverse(const struct usfft_options *given, const struct usfft_points *pt, const double *w,
	      const double *b, const struct usfft_inverse *v, double *modes,
	      struct usfft_outcome *got, size_t *bad)
{
	struct usfft_options o = *given;
	struct normal a = {0};
	double *r = NULL;

	o.single = false;
	int err =
	    make_normal(&a, &o, pt, w, v, given->single && v->tv > 0 && v->rtol >= NARROW, bad);
	if (!err) {
		r = weir_alloc(a.n, 2 * sizeof *r);
		err = r ? right_side(&a, &o, pt, w, b, v->sign, r, bad) : -ENOMEM;
	}
	if (!err)
		err = usfft_solve(apply, &a, &o, 2 * a.n, a.unit, v, modes, r, got);
	grid_free(&a.t.grid);
	weir_free_all(a.t.symbol, a.t.narrow, a.seen, a.back, r);
	return err;
}
