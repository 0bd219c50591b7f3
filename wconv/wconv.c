#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/mem.h"
#include "common/par.h"
#include "common/simd.h"
#include "wconv/costs.h"
#include "wconv/plan.h"

/* --- kernels ------------------------------------------------------------------------------------------------------- */

size_t
wconv_kernel(const struct wconv_plan *p, size_t fx, size_t fy)
{
	if (p->q.degree < 0)
		return p->y.node[fy] * p->q.gx + p->x.node[fx];
	const size_t d = (size_t)p->q.degree;
	return fx + fy <= d ? fx + fy * (d + 1) - fy * (fy - 1) / 2 : SIZE_MAX;
}

static size_t
kernel_offset(const struct wconv_problem *q, size_t k)
{
	return k % q->gx * q->step_x + k / q->gx * q->step_y;
}

static double
kernel_sample(const struct wconv_problem *q, size_t at)
{
	return q->in_double ? ((const double *)q->kernels)[at]
			    : (double)((const float *)q->kernels)[at];
}

/* Whether kernels k and l are the same, bit for bit. */
static bool
same_kernels(const struct wconv_problem *q, size_t k, size_t l)
{
	const size_t size = q->in_double ? sizeof(double) : sizeof(float);
	const char *a = (const char *)q->kernels + kernel_offset(q, k) * size;
	const char *b = (const char *)q->kernels + kernel_offset(q, l) * size;

	for (size_t j = 0; j < q->kh; j++)
		if (memcmp(a + j * q->step_row * size, b + j * q->step_row * size, q->kw * size))
			return false;
	return true;
}

/* The sums of kernel k and of its absolute values, unscaled; and which neighbours are like it. */
static void
study_kernel(struct wconv_plan *p, size_t k)
{
	const struct wconv_problem *q = &p->q;
	double sum = 0, weight = 0;

	for (size_t j = 0; j < q->kh; j++)
		for (size_t i = 0; i < q->kw; i++) {
			const double v =
			    kernel_sample(q, kernel_offset(q, k) + j * q->step_row + i);
			sum += v;
			weight += fabs(v);
		}
	p->sum[k] = sum;
	p->weight[k] = weight;
	p->like_right[k] = k % q->gx + 1 < q->gx && same_kernels(q, k, k + 1);
	p->like_below[k] = k / q->gx + 1 < q->gy && same_kernels(q, k, k + q->gx);
}

static int
fail(char err[WCONV_ERR], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, WCONV_ERR, fmt, ap);
	va_end(ap);
	return -1;
}

/* Sums and scales of all kernels, and whether they will do. */
static int
study_kernels(struct wconv_plan *p, char err[WCONV_ERR])
{
	const struct wconv_problem *q = &p->q;
	const size_t n = q->gx * q->gy;

	p->scale = weir_alloc(n, sizeof *p->scale);
	p->sum = weir_alloc(n, sizeof *p->sum);
	p->weight = weir_alloc(n, sizeof *p->weight);
	p->like_right = weir_calloc(n, sizeof *p->like_right);
	p->like_below = weir_calloc(n, sizeof *p->like_below);
	if (!p->scale || !p->sum || !p->weight || !p->like_right || !p->like_below)
		return fail(err, "no memory");
#pragma omp parallel for num_threads(q->threads)
	for (size_t k = 0; k < n; k++)
		study_kernel(p, k);
	for (size_t k = 0; k < n; k++) {
		const size_t i = k % q->gx, j = k / q->gx;
		const double weight = p->weight[k];
		if (!isfinite(weight))
			return fail(err, "kernel %zu,%zu has a sample that is not finite", i, j);
		p->scale[k] = q->normalise ? 1 / p->sum[k] : 1;
		p->weight[k] = weight * fabs(p->scale[k]);
		if (q->normalise && !(p->weight[k] < 1e6)) /* six of seven digits cancel */
			return fail(err, "kernel %zu,%zu cannot be normalised: its sum is %g", i, j,
				    p->sum[k]);
		p->sum[k] *= p->scale[k];
	}
	return 0;
}

/* alike[i]: all kernels of grid column i (row, if y) are like those of the next. */
static void
compare_lines(const struct wconv_plan *p, bool y, bool *alike)
{
	const size_t n = y ? p->q.gy : p->q.gx, m = y ? p->q.gx : p->q.gy;

	for (size_t i = 0; i < n; i++) {
		alike[i] = true;
		for (size_t j = 0; j < m; j++)
			alike[i] &=
			    y ? p->like_below[i * p->q.gx + j] : p->like_right[j * p->q.gx + i];
	}
}

/* --- plan ---------------------------------------------------------------------------------------------------------- */

static int
check_nodes(const double *node, size_t n, const char *what, char err[WCONV_ERR])
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(node[i]) || (i > 0 && !(node[i] > node[i - 1])))
			return fail(err, "the %s of the grid are not increasing: %g at number %zu",
				    what, node[i], i);
	return 0;
}

static int
check_problem(const struct wconv_problem *q, char err[WCONV_ERR])
{
	if (!q->w || !q->h || !q->planes || !q->kw || !q->kh || !q->gx || !q->gy)
		return fail(err, "an empty image or kernel");
	if (q->cx >= q->kw || q->cy >= q->kh)
		return fail(err, "the centre %zu,%zu is outside the kernel of %zux%zu", q->cx,
			    q->cy, q->kw, q->kh);
	if (q->x0 > q->W || q->w > q->W - q->x0 || q->y0 > q->H || q->h > q->H - q->y0)
		return fail(err, "the tile %zux%zu at %zu,%zu is outside the image of %zux%zu",
			    q->w, q->h, q->x0, q->y0, q->W, q->H);
	if (q->degree >= 0)
		return q->gx * q->gy == (size_t)(q->degree + 1) * (size_t)(q->degree + 2) / 2
			   ? 0
			   : fail(err, "a polynomial of degree %d has %d kernels, not %zu",
				  q->degree, (q->degree + 1) * (q->degree + 2) / 2, q->gx * q->gy);
	if (check_nodes(q->node_x, q->gx, "columns", err))
		return -1;
	return check_nodes(q->node_y, q->gy, "rows", err);
}

const struct wconv_core *
wconv_find_core(const char *level, bool in_double)
{
	static const struct wconv_core *const single[] = {&wconv_f32_v4, &wconv_f32_v3, &wconv_f32};
	static const struct wconv_core *const twice[] = {&wconv_f64_v4, &wconv_f64_v3, &wconv_f64};
	const struct wconv_core *const *core = in_double ? twice : single;
	size_t have = 0, asked = 0;

	while (have < 2 && strcmp(core[have]->level, simd_level()))
		have++;
	while (level && asked < 2 && strcmp(core[asked]->level, level))
		asked++;
	return core[have > asked ? have : asked];
}

static int
make_axes(struct wconv_plan *p, char err[WCONV_ERR])
{
	bool *alike = weir_alloc(p->q.gx > p->q.gy ? p->q.gx : p->q.gy, sizeof *alike);
	int e = -ENOMEM;

	if (alike) {
		compare_lines(p, false, alike);
		e = wconv_axis(&p->x, &p->q, false, alike);
		compare_lines(p, true, alike);
		e = e ? e : wconv_axis(&p->y, &p->q, true, alike);
	}
	weir_free(alike);
	if (e == -EDOM)
		return fail(err,
			    "no pixel's window lies inside %zux%zu pixels: the kernel is %zux%zu",
			    p->q.w, p->q.h, p->q.kw, p->q.kh);
	if (e == -ERANGE)
		return fail(err, "a tile of %zux%zu is too small a part of %zux%zu for this edge",
			    p->q.w, p->q.h, p->q.W, p->q.H);
	return e ? fail(err, "no memory") : 0;
}

/* Rows of the item that the windows of tiles t0..t1-1 reach: from *low to *high - 1. */
static void
reach(const struct wconv_plan *p, size_t t0, size_t t1, size_t *low, size_t *high)
{
	const struct wconv_axis *y = &p->y;
	const ptrdiff_t lanes = (ptrdiff_t)p->core->lanes, origin = y->lo - y->before;
	ptrdiff_t end = y->tile[t1 - 1].b + y->after;

	end = origin +
	      (end - origin + lanes - 1) / lanes * lanes; /* rows are transformed by the LANES */
	if (end > y->hi + y->after)
		end = y->hi + y->after;
	*low = SIZE_MAX;
	*high = 0;
	for (ptrdiff_t r = y->tile[t0].a - y->before; r < end; r++) {
		const ptrdiff_t from = wconv_edge(y->edge, r, y->n) - y->have0;
		if (wconv_edge(y->edge, r, y->n) < 0)
			continue;
		*low = (size_t)from < *low ? (size_t)from : *low;
		*high = (size_t)from + 1 > *high ? (size_t)from + 1 : *high;
	}
}

/* The functions of y that the tiles of the band need. */
static void
span_functions(const struct wconv_plan *p, struct wconv_band *b)
{
	b->fun0 = SIZE_MAX;
	b->fun1 = 0;
	for (size_t t = b->tile0; t < b->tile1; t++) {
		const struct wconv_tile *tile = &p->y.tile[t];
		b->fun0 = tile->f0 < b->fun0 ? tile->f0 : b->fun0;
		b->fun1 = tile->f0 + tile->nf > b->fun1 ? tile->f0 + tile->nf : b->fun1;
	}
}

/* Bands of tile rows, enough tiles in each that threads share them evenly. */
static int
make_bands(struct wconv_plan *p)
{
	const struct wconv_axis *y = &p->y;
	const size_t lanes = p->core->lanes, enough = 16 * (size_t)p->q.threads;
	const size_t across = p->x.ntile * p->q.planes;
	const size_t m = across >= enough ? 1 : (enough + across - 1) / across;
	size_t low = SIZE_MAX, high, row = 0, fed = 0;

	p->band = weir_calloc(y->ntile, sizeof *p->band);
	if (!p->band)
		return -ENOMEM;
	for (size_t t = 0; t < y->ntile; t += m) {
		struct wconv_band *b = &p->band[p->bands++];
		const size_t t1 = t + m < y->ntile ? t + m : y->ntile;
		const size_t end = (size_t)(y->tile[t1 - 1].b - y->lo + y->before + y->after);

		*b = (struct wconv_band){.tile0 = t, .tile1 = t1, .row0 = row, .fed0 = fed};
		reach(p, t, t1, &low, &high);
		b->row1 = row = (end + lanes - 1) / lanes * lanes;
		b->fed1 = fed = t1 == y->ntile ? p->q.h : high > fed ? high : fed;
		span_functions(p, b);
	}
	low = SIZE_MAX;
	for (size_t i = p->bands; i-- > 0;) {
		struct wconv_band *b = &p->band[i];
		const size_t start = (size_t)(y->tile[b->tile0].a - y->lo) / lanes * lanes;
		const size_t results = (size_t)(y->tile[b->tile1 - 1].b - y->tile[b->tile0].a);
		size_t from;

		reach(p, b->tile0, b->tile1, &from, &high);
		low = from < low ? from : low;
		if (low != SIZE_MAX && b->fed1 > low + p->depth)
			p->depth = b->fed1 - low;
		if (b->row1 - start > p->spectra_depth)
			p->spectra_depth = b->row1 - start;
		if (results > p->result_rows)
			p->result_rows = results;
		if (b->fun1 - b->fun0 > p->slots)
			p->slots = b->fun1 - b->fun0;
	}
	return 0;
}

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/*
 * a * b * c samples, uninitialised; any factor may be large. All of them will be written, so large pages are asked for:
 * 3 to 5 % less time at M = 4096.
 */
static void *
allocate(size_t a, size_t b, size_t c, size_t size)
{
	const uintptr_t page = 4096;
	size_t n, bytes;

	if (!weir_mul(a, b, &n) || !weir_mul(n, c, &n) || !weir_mul(n, size, &bytes))
		return NULL;
	void *p = weir_alloc(n, size);
	if (p && bytes >= 4 << 20) {
		const uintptr_t start = ((uintptr_t)p + page - 1) / page * page;
		madvise((void *)start, ((uintptr_t)p + bytes - start) / page * page, MADV_HUGEPAGE);
	}
	return p;
}

static int
make_rings(struct wconv_plan *p)
{
	const struct wconv_problem *q = &p->q;
	const size_t span = (size_t)(p->x.hi - p->x.lo + p->x.before + p->x.after),
		     size = p->core->sample;

	p->pitch = round_up(span + 5 * p->core->lanes,
			    p->core->lanes); /* vectors read beyond a row's end */
	p->row = allocate(p->depth, q->planes, p->pitch, size);
	p->mask =
	    weir_alloc(p->depth, q->planes * p->pitch); /* touched only where pixels are masked */
	p->flags = weir_calloc(p->depth, q->planes);
	p->outside = weir_calloc(p->pitch, size);
	p->outside_mask = weir_calloc(p->pitch, 1);
	p->slot_holds = weir_calloc(p->slots, sizeof *p->slot_holds);
	p->claimed = weir_calloc(p->slots, sizeof *p->claimed);
	if (!p->row || !p->mask || !p->flags || !p->outside || !p->outside_mask || !p->slot_holds ||
	    !p->claimed)
		return -ENOMEM;
	if (q->edge == WCONV_RENORMALISE)
		memset(p->outside_mask, WCONV_UNKNOWN, p->pitch);
	for (size_t i = 0; q->edge == WCONV_CONSTANT && i < p->pitch; i++)
		if (q->in_double)
			((double *)p->outside)[i] = q->constant;
		else
			((float *)p->outside)[i] = (float)q->constant;
	return 0;
}

static int
make_transforms(struct wconv_plan *p)
{
	const size_t size = p->core->sample, lanes = p->core->lanes;
	int e;

	if (p->direct)
		p->kernel_samples = p->q.kw * p->q.kh;
	else if ((e = wconv_rfft_plan(&p->rows, p->rows.n, size, lanes)) ||
		 (e = wconv_fft_plan(&p->columns, p->columns.n, size)))
		return e;
	else
		p->kernel_samples = p->rows.blocks * p->columns.n * 2 * lanes;
	p->kernel = allocate(p->slots, p->x.nfun, p->kernel_samples, size);
	if (p->direct)
		return p->kernel ? 0 : -ENOMEM;
	p->spectra =
	    allocate(p->q.planes * p->x.ntile, p->rows.blocks * 2 * lanes, p->spectra_depth, size);
	p->mean = allocate(p->q.planes, p->x.ntile, p->spectra_depth, size);
	p->row_sums = allocate(p->slots, p->x.nfun, p->q.kh, sizeof *p->row_sums);
	return p->kernel && p->spectra && p->mean && p->row_sums ? 0 : -ENOMEM;
}

/* Where tiles leave results: the caller's rows, or planes of our own to be converted or interleaved. */
static int
make_results(struct wconv_plan *p)
{
	const enum img_type own = p->q.in_double ? IMG_F64 : IMG_F32;

	p->result_pitch = (size_t)(p->x.hi - p->x.lo);
	if (p->q.planes > 1 || p->q.out != own) {
		p->result = allocate(p->q.planes, p->result_rows, p->result_pitch, p->core->sample);
		if (!p->result)
			return -ENOMEM;
	}
	p->scratch_bytes = p->core->scratch(p, NULL);
	p->scratch = weir_calloc((size_t)p->q.threads, p->scratch_bytes);
	return p->scratch ? 0 : -ENOMEM;
}

int
wconv_plan(struct wconv_plan **to, const struct wconv_problem *q, const struct wconv_costs *costs,
	   char err[WCONV_ERR])
{
	struct wconv_plan *p;
	int e = 0;

	*to = NULL;
	if (check_problem(q, err))
		return -1;
	p = weir_calloc(1, sizeof *p);
	if (!p)
		return fail(err, "no memory");
	p->q = *q;
	p->core = wconv_find_core(q->level, q->in_double);
	if (study_kernels(p, err) || make_axes(p, err)) {
		wconv_free(p);
		return -1;
	}
	e = wconv_choose(p, costs ? costs : wconv_costs_builtin());
	if (!e && (p->direct ? p->cost_direct : p->cost_fft) < 3e-4)
		p->q.threads = 1; /* small work */
	e = e ? e : make_bands(p);
	e = e ? e : make_rings(p);
	e = e ? e : make_transforms(p);
	e = e ? e : make_results(p);
	if (e) {
		wconv_free(p);
		return fail(err, "no memory");
	}
	*to = p;
	return 0;
}

void
wconv_free(struct wconv_plan *p)
{
	if (!p)
		return;
	wconv_axis_free(&p->x);
	wconv_axis_free(&p->y);
	wconv_rfft_free(&p->rows);
	wconv_fft_free(&p->columns);
	void *const owned[] = {p->scale,   p->sum,  p->weight,	 p->like_right, p->like_below,
			       p->row,	   p->mask, p->flags,	 p->outside,	p->outside_mask,
			       p->spectra, p->mean, p->row_sums, p->kernel,	p->slot_holds,
			       p->claimed, p->band, p->scratch,	 p->result};
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		weir_free(owned[i]);
	weir_free(p);
}

/* --- run ----------------------------------------------------------------------------------------------------------- */

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
wconv_most(const struct wconv_plan *p)
{
	struct wconv_step most = {0, p->result_rows};

	for (size_t i = 0; i < p->bands; i++) {
		const struct wconv_step s = wconv_steps(p, i);
		most.rows_in = s.rows_in > most.rows_in ? s.rows_in : most.rows_in;
	}
	return most;
}

/* The functions of y whose kernels the band lacks, to p->claimed; their slots are taken. */
static size_t
claim_slots(struct wconv_plan *p, const struct wconv_band *b)
{
	size_t n = 0;

	for (size_t f = b->fun0; f < b->fun1; f++)
		if (p->slot_holds[f % p->slots] != f + 1) {
			p->slot_holds[f % p->slots] = f + 1;
			p->claimed[n++] = f;
		}
	return n;
}

static void *
scratch_of(const struct wconv_plan *p)
{
	return (char *)p->scratch + (size_t)omp_get_thread_num() * p->scratch_bytes;
}

/* The transforms of new kernels and of new rows: independent tasks. */
static void
run_forward(const struct wconv_plan *p, const struct wconv_band *b, size_t nfy)
{
	const size_t lanes = p->core->lanes, kernels = nfy * p->x.nfun,
		     columns = p->q.planes * p->x.ntile;
	const size_t group0 = b->row0 / lanes, groups = p->direct ? 0 : b->row1 / lanes - group0;

#pragma omp for schedule(dynamic)
	for (size_t i = 0; i < kernels; i++)
		p->core->kernel(p, i % p->x.nfun, p->claimed[i / p->x.nfun], scratch_of(p));
#pragma omp for schedule(dynamic, 4)
	for (size_t i = 0; i < columns * groups; i++) {
		const size_t column = i % columns;
		p->core->rows(p, column / p->x.ntile, column % p->x.ntile, group0 + i / columns,
			      scratch_of(p));
	}
}

static void
run_tiles(const struct wconv_plan *p, const struct wconv_band *b)
{
	const size_t columns = p->q.planes * p->x.ntile, n = columns * (b->tile1 - b->tile0);

#pragma omp for schedule(dynamic)
	for (size_t i = 0; i < n; i++) {
		const size_t column = i % columns;
		p->core->tile(p, column / p->x.ntile, column % p->x.ntile, b->tile0 + i / columns,
			      scratch_of(p));
	}
}

void
wconv_run(struct wconv_plan *p, const void *in, void *out)
{
	const struct wconv_band *b = &p->band[p->now];
	const size_t row_bytes = p->q.w * p->q.planes * img_type_size(p->q.in);
	const size_t results = wconv_steps(p, p->now).rows_out, nfy = claim_slots(p, b);

	p->out = out;
#pragma omp parallel num_threads(p->q.threads)
	{
#pragma omp for schedule(static)
		for (size_t r = b->fed0; r < b->fed1; r++)
			p->core->feed(p, r, (const char *)in + (r - b->fed0) * row_bytes);
		run_forward(p, b, nfy);
		run_tiles(p, b);
		if (p->result) {
#pragma omp for schedule(static)
			for (size_t r = 0; r < results; r++)
				p->core->finish(p, r);
		}
	}
	p->now = (p->now + 1) % p->bands;
}

void
wconv_explain(const struct wconv_plan *p, char *text, size_t n)
{
	int used;

	if (p->direct)
		used = snprintf(text, n, "direct sums, %zux%zu tiles", p->x.ntile, p->y.ntile);
	else
		used = snprintf(text, n, "transforms of %zux%zu, %zux%zu tiles of up to %zux%zu",
				p->rows.n, p->columns.n, p->x.ntile, p->y.ntile, p->x.longest,
				p->y.longest);
	if (used > 0 && (size_t)used < n)
		snprintf(text + used, n - (size_t)used,
			 ", %zu steps, %s; predicted: direct %.3g s, transforms %.3g s", p->bands,
			 p->core->level, p->cost_direct, p->cost_fft);
}
