#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "wconv/plan.h"
#include "wconv/wconv.h"

size_t
wconv_kernel(const struct wconv_plan *p, size_t fx, size_t fy)
{
	if (p->plain && p->q.degree < 0)
		return fy * p->q.gx + fx;
	if (p->q.degree < 0)
		return p->y.node[fy] * p->q.gx + p->x.node[fx];
	const size_t d = (size_t)p->q.degree;
	return fx + fy <= d ? fx + fy * (d + 1) - fy * (fy - 1) / 2 : SIZE_MAX;
}

void
wconv_shape(const struct wconv_plan *p, size_t *w, size_t *h, ptrdiff_t *x0, ptrdiff_t *y0)
{
	*w = (size_t)(p->x.hi - p->x.lo);
	*h = (size_t)(p->y.hi - p->y.lo);
	*x0 = p->x.lo;
	*y0 = p->y.lo;
}

size_t
wconv_count(const struct wconv_plan *p)
{
	return p->bands;
}

struct wconv_step
wconv_steps(const struct wconv_plan *p, size_t i)
{
	const struct wconv_band *b = &p->band[i];
	const ptrdiff_t rows = p->y.tile[b->tile1 - 1].b - p->y.tile[b->tile0].a;

	return (struct wconv_step){b->fed1 - b->fed0, (size_t)rows};
}

struct wconv_step
wconv_next(const struct wconv_plan *p)
{
	return wconv_steps(p, p->now);
}

struct wconv_step
wconv_most(const struct wconv_plan *p)
{
	struct wconv_step most = {0};

	for (size_t i = 0; i < p->bands; i++) {
		const struct wconv_step s = wconv_steps(p, i);
		most.rows_in = s.rows_in > most.rows_in ? s.rows_in : most.rows_in;
		most.rows_out = s.rows_out > most.rows_out ? s.rows_out : most.rows_out;
	}
	return most;
}

size_t
wconv_claim_slots(struct wconv_plan *p, const struct wconv_band *b)
{
	size_t n = 0;

	for (size_t f = b->fun0; f < b->fun1; f++)
		if (p->slot_holds[f % p->slots] != f + 1) {
			p->slot_holds[f % p->slots] = f + 1;
			p->claimed[n++] = f;
		}
	p->nclaimed = n;
	return n;
}

static void *
scratch_of(const struct wconv_plan *p)
{
	return (char *)p->scratch + (size_t)omp_get_thread_num() * p->scratch_bytes;
}

static void
run_kernels(const struct wconv_plan *p)
{
	const size_t n = p->nclaimed;

#pragma omp for schedule(static)
	for (size_t i = 0; i < n * p->x.nfun; i++)
		p->core->kernel(p, i / n, p->claimed[i % n], scratch_of(p));
}

/*
 * Transforms the rows that are new in this step. They are independent tasks. Here and in run_tiles() a thread has
 * the same columns of tiles in each step, so that what it reads and overwrites is in its own cache. With tasks dealt out
 * as threads came, two threads took 1.2 to 1.3 times the time.
 */
static void
run_forward(const struct wconv_plan *p, const struct wconv_band *b)
{
	const size_t lanes = p->core->lanes, columns = p->q.planes * p->x.ntile;
	const size_t group0 = b->row0 / lanes, groups = b->row1 / lanes - group0;

	if (p->direct)
		return;
#pragma omp for schedule(static)
	for (size_t i = 0; i < columns * groups; i++) {
		const size_t column = i / groups;
		p->core->rows(p, column % p->q.planes, column / p->q.planes, group0 + i % groups,
			      scratch_of(p));
	}
}

static void
run_tiles(const struct wconv_plan *p, const struct wconv_band *b)
{
	const size_t columns = p->q.planes * p->x.ntile, rows = b->tile1 - b->tile0,
		     n = columns * rows;

#pragma omp for schedule(static) nowait
	for (size_t i = 0; i < n; i++) {
		const size_t column = i / rows;
		p->core->tile(p, column % p->q.planes, column / p->q.planes, b->tile0 + i % rows,
			      scratch_of(p));
	}
}

/* Does band b; all threads of a team call this. */
static void
run_band(const struct wconv_plan *p, const struct wconv_band *b, const void *in)
{
	const size_t row_bytes = p->q.w * p->q.planes * img_type_size(p->q.in);
	const size_t results = wconv_steps(p, p->now).rows_out;

	/* nowait: kernels need no rows, and all rows are in the ring when the kernels are done */
#pragma omp for schedule(static) nowait
	for (size_t r = b->fed0; r < b->fed1; r++)
		p->core->feed(p, r, (const char *)in + (r - b->fed0) * row_bytes);
	run_kernels(p);
	if (p->plain)
		run_kernels(p->plain);
	run_forward(p, b);
	run_tiles(p, b);
	if (p->after.row) {
		const size_t first = (size_t)(p->y.tile[b->tile0].a - p->y.lo),
			     bytes = (size_t)(p->x.hi - p->x.lo) * p->core->sample;
#pragma omp barrier
#pragma omp for schedule(static)
		for (size_t r = 0; r < results; r++)
			p->after.row(p->after.with, first + r, (const char *)p->out + r * bytes);
	}
}

bool
wconv_in_doubt(const struct wconv_plan *p)
{
	return memchr(p->doubt, true, p->depth * p->q.planes) != NULL;
}

void
wconv_then(struct wconv_plan *p, struct wconv_after after)
{
	p->after = after;
}

void
wconv_run(struct wconv_plan *p, const void *in, void *out)
{
	const struct wconv_band *b = &p->band[p->now];

	wconv_claim_slots(p, b);
	if (p->plain)
		wconv_claim_slots(p->plain, &p->plain->band[p->now]);
	p->out = out;
	if (!p->begun && p->q.edge == WCONV_RENORMALISE)
		memset(p->outside_mask, WCONV_UNKNOWN, p->pitch);
	p->begun = true;
	p->in = p->in_place && !p->after.row && !*p->odd ? in : NULL;
	for (bool again = true; again;) {
		if (p->q.threads == 1) { /* a team of one would call the system at each barrier */
			run_band(p, b, in);
		} else {
#pragma omp parallel num_threads(p->q.threads)
			run_band(p, b, in);
		}
		again = p->in && *p->odd; /* a sample may not be finite: the ring masks it */
		p->in = NULL;
	}
	*p->odd = wconv_in_doubt(p);
	p->now = (p->now + 1) % p->bands;
}

struct wconv_chosen
wconv_chosen(const struct wconv_plan *p)
{
	return (struct wconv_chosen){.direct = p->direct,
				     .px = p->rows.n,
				     .py = p->columns.n,
				     .tiles_x = p->x.ntile,
				     .tiles_y = p->y.ntile,
				     .level = cpu_name(p->level)};
}

ptrdiff_t
wconv_border(const struct wconv_plan *p, bool y, size_t i)
{
	return (y ? &p->y : &p->x)->tile[i].a;
}

void
wconv_explain(const struct wconv_plan *p, char *text, size_t n)
{
	int used;

	if (p->direct)
		used = snprintf(text, n, "direct sums%s, %zux%zu tiles",
				p->product ? " by column and row" : "", p->x.ntile, p->y.ntile);
	else
		used = snprintf(text, n, "transforms of %zux%zu, %zux%zu tiles of up to %zux%zu",
				p->rows.n, p->columns.n, p->x.ntile, p->y.ntile, p->x.longest,
				p->y.longest);
	if (used > 0 && (size_t)used < n)
		snprintf(text + used, n - (size_t)used,
			 ", %zu steps, %s; predicted: direct %.3g s, transforms %.3g s", p->bands,
			 cpu_name(p->level), p->cost_direct, p->cost_fft);
}

/* out[i] = sum_k c[k] u^k at u = (x + i - zero) / scale; with bound, sum_k c[k] |u|^k. */
WEIR_CLONES(sum_powers,
	    (const double *c, size_t powers, double x, double zero, double scale, bool bound,
	     size_t n, double *restrict out),
	    (c, powers, x, zero, scale, bound, n, out))
{
	for (size_t i = 0; i < n; i++) {
		const double v = (x + (double)i - zero) / scale, u = bound ? fabs(v) : v;
		double s = 0;
		for (size_t k = powers; k-- > 0;)
			s = s * u + c[k];
		out[i] = s;
	}
}

void
wconv_local_sums(const struct wconv_plan *p, const double *per_kernel, ptrdiff_t x, ptrdiff_t y,
		 size_t n, double *sum)
{
	const bool bound = per_kernel == p->weight;
	const size_t powers = p->x.nfun;
	double c[WCONV_DEGREE + 1] = {0};

	for (size_t fy = 0; fy < p->y.nfun; fy++) {
		const double v = wconv_weight(&p->y, fy, y), w = bound ? fabs(v) : v;
		for (size_t fx = 0; fx < powers; fx++) {
			const size_t k = wconv_kernel(p, fx, fy);
			c[fx] += k == SIZE_MAX ? 0 : w * per_kernel[k];
		}
	}
	sum_powers(c, powers, (double)x, p->x.zero, p->x.scale, bound, n, sum);
}

double
wconv_largest(const struct wconv_plan *p)
{
	return (p->q.in_double ? DBL_MAX : (double)FLT_MAX) / p->growth;
}

/* ---- variances ---- */

/*
 * The variance of a result whose kernel is sum_f w_f K_f is sum_fg w_f w_g (K_f K_g * V). The plan of variances has these products
 * for functions and kernels. Along an axis, its function F stands for the pairs f + g = F: all of a basis, and of a grid, where only
 * neighbours meet, F / 2 and (F + 1) / 2.
 */
static int
square_axis(struct wconv_axis *a, const struct wconv_axis *of)
{
	*a = *of;
	a->of = of;
	a->left = a->right = NULL;
	a->node = NULL;
	a->nfun = 2 * of->nfun - 1;
	a->most = 2 * of->most - 1;
	a->tile = weir_alloc(of->ntile, sizeof *a->tile);
	for (size_t t = 0; a->tile && t < a->ntile; t++) {
		const struct wconv_tile *o = &of->tile[t];
		a->tile[t] = (struct wconv_tile){o->a, o->b, 2 * o->f0, 2 * o->nf - 1};
	}
	return a->tile ? 0 : -ENOMEM;
}

/* Returns sample `at` of the kernel of a pair of functions, scaled. */
static double
scaled(const struct wconv_plan *p, size_t fx, size_t fy, size_t at)
{
	const struct wconv_problem *q = &p->q;
	const size_t k = wconv_kernel(p, fx, fy);
	const size_t i =
	    k % q->gx * q->step_x + k / q->gx * q->step_y + at / q->kw * q->step_row + at % q->kw;

	return k == SIZE_MAX ? 0 : p->scale[k] * real_at(q->kernels, i, !q->in_double);
}

static void
square_kernel(const struct wconv_plan *p, size_t X, size_t Y)
{
	const struct wconv_plan *o = p->plain;
	const size_t k = wconv_kernel(p, X, Y), nx = o->x.nfun, ny = o->y.nfun;
	const bool grid = p->q.degree < 0;
	const size_t x0 = grid ? X / 2 : X < nx ? 0 : X - nx + 1;
	const size_t y0 = grid ? Y / 2 : Y < ny ? 0 : Y - ny + 1;

	for (size_t at = 0; k != SIZE_MAX && at < p->q.step_x; at++) {
		double sum = 0;
		for (size_t y = y0; y <= Y - y0; y++)
			for (size_t x = x0; x <= X - x0; x++)
				sum += scaled(o, x, y, at) * scaled(o, X - x, Y - y, at);
		real_set(p->squares, k * p->q.step_x + at, sum, !p->q.in_double);
	}
}

int
wconv_square(struct wconv_plan *p)
{
	const struct wconv_plan *o = p->plain;
	struct wconv_problem *q = &p->q;

	if (square_axis(&p->x, &o->x) || square_axis(&p->y, &o->y))
		return -ENOMEM;
	p->direct = o->direct;
	p->rows.n = o->rows.n;
	p->columns.n = o->columns.n;
	p->cost_direct = o->cost_direct;
	p->cost_fft = o->cost_fft;
	q->normalise = false;
	q->degree *= q->degree > 0 ? 2 : 1;
	q->gx = q->degree < 0 ? p->x.nfun : p->x.nfun * (p->x.nfun + 1) / 2;
	q->gy = q->degree < 0 ? p->y.nfun : 1;
	q->step_row = q->kw;
	q->step_x = q->kw * q->kh;
	q->step_y = q->step_x * q->gx;
	q->kernels = p->squares = weir_alloc(q->gx * q->gy, q->step_x * p->core->sample);
	if (!p->squares)
		return -ENOMEM;
#pragma omp parallel for num_threads(q->threads)
	for (size_t f = 0; f < p->x.nfun * p->y.nfun; f++)
		square_kernel(p, f % p->x.nfun, f / p->x.nfun);
	return 0;
}
