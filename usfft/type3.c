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

#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/phase.h"
#include "usfft/type3.h"

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
		modes_put(&inner->grid, conjugate(sign), row, x, x + g->rowlen,
			  (const char *)g->data + grid_cell(g, from, x) * 2 * outer->real);
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
