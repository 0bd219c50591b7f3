/*
 * Modes from values at points: usfft/inverse.c, with its vectors and scalars on the device.
 *
 *	weigh		thread = sorted point: its value times its weight
 *	step, turn	thread = number of a vector: the two updates of conjugate gradients, whose scalars lie on the device: the host reads
 *			both once an iteration, to see whether to go on
 *
 * The kernels of an iteration are always the same, so a graph launches them at once from the second iteration on. The first
 * one has loaded all kernels and plans by then, which cannot be done during the capture.
 *
 * The scalars are inner products of prim.cu, so a result is the same in every run.
 *
 * Bytes an iteration, N modes in c = 2^d N cells of 16 bytes: 2 (d+1) c + 4.5 c for the product, the vectors 13 N:
 * 16 (2 (d+1) 2^d + 4.5 2^d + 13) N, which is .9 KB a mode in 2-D: .2 ms for 1024^2 at 4.3 TB/s.
 *
 * Products with the matrix of the normal equations.
 *
 *	pad, crop	thread = cell, mode: modes into an array of twice their length, at its beginning or at both ends, and back.
 *			The matrix's column is padded too; its FFT is the symbol
 *	times_symbol	thread = cell
 *
 * Bytes a product, c cells of 16 bytes: the FFTs read and write 2 (1 + (d-1) / 2) c cells (gpu/fft.h: half of the slices are empty,
 * or not wanted), pad, symbol and crop 4.5 c.
 */
#include "gpu/prim.h"

#include "gpu/usfft/work.h"
#include "gpu/fft.h"

extern "C" {
#include "common/base/fft.h"
#include "gpu/usfft/usfft.h"
}

namespace
{

struct toeplitz {
	int dim;
	unsigned n[3], len[3]; /* modes; cells, at least 2 n - 1 */
	unsigned tail[3];      /* modes at the end of an axis: the negative ones, in FFT order */
	size_t modes, cells;
	double *symbol;
	cplx<double> *work;
};

typedef cplx<double> sample;

constexpr int AXES =
    3; /* of length 1 beyond t.dim: an index known to the compiler needs no local memory */

__device__ void
take_symbol(size_t i, const toeplitz &t)
{
	t.symbol[i] = t.work[i].re / (double)t.cells;
}

/* What an array has at the beginning and at the end of each axis of the cells: modes, or the column of the matrix. */
struct ends {
	unsigned head[3], tail[3];
};

__device__ void
pad(size_t i, const toeplitz &t, const ends &e, const sample *in)
{
	unsigned rest = (unsigned)i;
	size_t at = 0, step = 1;
	bool here = true;
#pragma unroll
	for (int a = 0; a < AXES; a++) {
		const unsigned x = rest % t.len[a], n = e.head[a] + e.tail[a];
		const bool low = x < e.head[a];
		here = here && (low || x >= t.len[a] - e.tail[a]);
		at += step * (low ? x : x - (t.len[a] - n));
		rest /= t.len[a];
		step *= n;
	}
	t.work[i] = here ? in[at] : sample{0, 0};
}

__device__ void
crop(size_t i, const toeplitz &t, sample *out)
{
	unsigned rest = (unsigned)i;
	size_t at = 0, step = 1;
#pragma unroll
	for (int a = 0; a < AXES; a++) {
		const unsigned x = rest % t.n[a];
		at += step * (x < t.n[a] - t.tail[a] ? x : x + t.len[a] - t.n[a]);
		rest /= t.n[a];
		step *= t.len[a];
	}
	out[i] = t.work[at];
}

__device__ void
times_symbol(size_t i, const toeplitz &t)
{
	t.work[i] = {t.work[i].re * t.symbol[i], t.work[i].im * t.symbol[i]};
}

/* Of an array whose first and last slices along the slowest axis hold something. */
struct gpu_fft_slices
fft_of(const toeplitz &t, unsigned head, unsigned tail)
{
	const size_t len[3] = {t.len[0], t.len[1], t.len[2]};

	return gpu_fft_slices(true, t.dim, len, head, tail);
}

struct gpu_fft_slices
fft_of_modes(const toeplitz &t)
{
	const unsigned tail = t.tail[t.dim - 1];

	return fft_of(t, t.n[t.dim - 1] - tail, tail);
}

int
toeplitz_shape(struct gpu *g, const struct usfft_options *o, toeplitz *t)
{
	size_t len[3] = {1, 1, 1};

	*t = {};
	t->dim = o->dim;
	for (int a = 0; a < o->dim; a++)
		len[a] = fft_size(2 * o->n[a] - 1);
	if (usfft_too_large(g, len))
		return -EIO;
	t->modes = t->cells = 1;
	for (int a = 0; a < 3; a++) {
		t->n[a] = a < o->dim ? (unsigned)o->n[a] : 1;
		t->len[a] = (unsigned)len[a];
		t->tail[a] = o->fft_order ? t->n[a] / 2 : 0;
		t->modes *= t->n[a];
		t->cells *= t->len[a];
	}
	return 0;
}

int
toeplitz_make(struct gpu *g, struct toeplitz *t, const sample *column)
{
	const unsigned last = t->n[t->dim - 1];
	ends all; /* 2 n - 1 modes an axis, in FFT order */
	const struct gpu_fft_slices whole = fft_of(*t, last, last - 1), part = fft_of_modes(*t);

	GPU_DO(gpu_array(g, HOLD_GRID, t->cells, &t->work));
	GPU_DO(gpu_array(g, HOLD_OUTER, t->cells, &t->symbol));
	GPU_DO(gpu_fft_slices_prepare(g, &whole));
	GPU_DO(gpu_fft_slices_prepare(g, &part));
	GPU_DO(gpu_begin(g));
	for (int a = 0; a < AXES; a++) {
		all.head[a] = t->n[a];
		all.tail[a] = t->n[a] - 1;
	}
	GPU_EACH(g, pad, t->cells, *t, all, column);
	GPU_DO(gpu_fft_spread_slices(g, &whole, -1, t->work));
	GPU_EACH(g, take_symbol, t->cells, *t);
	return gpu_end(g);
}

int
toeplitz_apply(struct gpu *g, const toeplitz &t, const sample *in, sample *out)
{
	const struct gpu_fft_slices f = fft_of_modes(t);
	ends modes;

	for (int a = 0; a < AXES; a++) {
		modes.head[a] = t.n[a] - t.tail[a];
		modes.tail[a] = t.tail[a];
	}
	GPU_EACH(g, pad, t.cells, t, modes, in);
	GPU_DO(gpu_fft_spread_slices(g, &f, -1, t.work));
	GPU_EACH(g, times_symbol, t.cells, t);
	GPU_DO(gpu_fft_gather_slices(g, &f, 1, t.work));
	GPU_EACH(g, crop, t.modes, t, out);
	return 0;
}

enum { RHO, CURVE, NEXT, SCALARS };

/* --- kernels: thread = any i < n ------------------------------------------------------------------------------------ */

/* Values of the points in tile order: w c, of w alone where c is NULL; no w: ones. */
__device__ void
weigh(size_t i, const work<double> &k, const double *w, const sample *c)
{
	const unsigned j = k.index[i];
	const double f = w ? w[j] : 1;
	k.value[i] = c ? sample{f * c[j].re, f * c[j].im} : sample{f, 0};
}

/* f += alpha p, r -= alpha q; nothing where p has no curvature left. */
__device__ void
step(size_t i, double *f, double *r, const double *p, const double *q, const double *scalar)
{
	const double alpha = scalar[CURVE] > 0 ? scalar[RHO] / scalar[CURVE] : 0;

	f[i] += alpha * p[i];
	r[i] -= alpha * q[i];
}

__device__ void
turn(size_t i, double *p, const double *r, const double *scalar)
{
	const double beta = scalar[NEXT] / scalar[RHO];

	p[i] = r[i] + beta * p[i];
}

/* --- the normal equations ------------------------------------------------------------------------------------------- */

/* Type 1 of w c at o's modes, to *modes or where that is NULL to memory that lasts until points come. */
int
sum_weighted(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
	     const double *w, const sample *c, int sign, sample **modes, size_t *bad)
{
	struct usfft_plan *p;
	work<double> k = {};

	GPU_DO(usfft_plan(&p, o));
	const gpu_at_end done{[=] { usfft_free(p); }};
	GPU_DO(gpu_usfft_points(g, p, pt, NULL, 0, bad));
	GPU_DO(usfft_grid(g, p, &k));
	if (!*modes)
		GPU_DO(gpu_array(g, HOLD_RAW, count_modes(k), modes));
	GPU_DO(gpu_begin(g));
	GPU_EACH(g, weigh, k.m, k, w, c);
	GPU_DO(usfft_spread(g, k, o->dim));
	GPU_DO(usfft_get_modes(g, k, o->dim, sign, *modes));
	return gpu_end(g);
}

/* --- conjugate gradients -------------------------------------------------------------------------------------------- */

/* Of 2 t.modes numbers each, and the scalars; parts: prim_dot()'s. */
struct vectors {
	double *f, *r, *p, *q, *scalar, *parts;
	size_t n;
};

/* The kernels of an iteration. */
int
launch_all(struct gpu *g, const toeplitz &t, const vectors &v)
{
	GPU_DO(toeplitz_apply(g, t, reinterpret_cast<const sample *>(v.p),
			      reinterpret_cast<sample *>(v.q)));
	GPU_DO(prim_dot(g, v.p, v.q, v.n, v.scalar + CURVE, v.parts));
	GPU_EACH(g, step, v.n, v.f, v.r, v.p, v.q, v.scalar);
	GPU_DO(prim_dot(g, v.r, v.r, v.n, v.scalar + NEXT, v.parts));
	GPU_EACH(g, turn, v.n, v.p, v.r, v.scalar);
	GPU_TRY(g, cudaMemcpyAsync(v.scalar + RHO, v.scalar + NEXT, sizeof *v.scalar,
				   cudaMemcpyDeviceToDevice, g->stream[0]));
	return 0;
}

/* The same as a graph. */
int
capture(struct gpu *g, const toeplitz &t, const vectors &v, cudaGraphExec_t *all)
{
	cudaGraph_t graph = NULL;

	GPU_TRY(g, cudaStreamBeginCapture(g->stream[0], cudaStreamCaptureModeThreadLocal));
	const int err = launch_all(g, t, v);
	cudaError_t e = cudaStreamEndCapture(g->stream[0], &graph);
	if (!err && e == cudaSuccess)
		e = cudaGraphInstantiate(all, graph, 0);
	if (graph)
		cudaGraphDestroy(graph);
	return err ? err : gpu_failed(g, e, "the capture of an iteration") ? -EIO : 0;
}

/* From f = 0 until it has converged; v.r holds A* W b. */
int
descend(struct gpu *g, const toeplitz &t, const vectors &v, const struct usfft_inverse *how,
	struct usfft_outcome *got)
{
	const size_t bytes = v.n * sizeof *v.f;
	cudaGraphExec_t all = NULL; /* of the second iteration and those after it */
	const gpu_at_end done{[&] {
		if (all)
			cudaGraphExecDestroy(all);
	}};
	double first, scalar[SCALARS];

	GPU_TRY(g, cudaMemsetAsync(v.f, 0, bytes, g->stream[0]));
	GPU_TRY(g, cudaMemcpyAsync(v.p, v.r, bytes, cudaMemcpyDeviceToDevice, g->stream[0]));
	GPU_DO(prim_dot(g, v.r, v.r, v.n, v.scalar + RHO, v.parts));
	GPU_DO(gpu_look(g, &first, v.scalar + RHO, sizeof first));
	*got = {0, first > 0 ? 1. : 0.};
	while (got->iterations < how->iter && got->residual > how->rtol) {
		if (got->iterations == 1)
			GPU_DO(capture(g, t, v, &all));
		GPU_DO(gpu_begin(g));
		if (all)
			GPU_TRY(g, cudaGraphLaunch(all, g->stream[0]));
		else
			GPU_DO(launch_all(g, t, v));
		GPU_DO(gpu_end(g));
		GPU_DO(gpu_look(g, scalar, v.scalar, sizeof scalar));
		if (!(scalar[CURVE] > 0))
			return 0;
		got->iterations++;
		got->residual = sqrt(scalar[NEXT] / first);
		if (how->step)
			how->step(how->who, got);
	}
	return 0;
}

} // namespace

int
gpu_usfft_inverse(struct gpu *g, const struct usfft_options *given, const struct usfft_points *pt,
		  const double *w, const double *b, const struct usfft_inverse *how, double *modes,
		  struct usfft_outcome *got, size_t *bad)
{
	struct usfft_options o = *given;
	double *weights, *values;
	vectors v;
	toeplitz t;

	o.single = false;
	GPU_DO(toeplitz_shape(g, &o, &t));
	v.n = 2 * t.modes;
	GPU_DO(gpu_place(g, HOLD_VECTORS, [&](gpu_block *b) {
		gpu_take_all(b, v.n, &v.f, &v.r, &v.p, &v.q);
		v.scalar = gpu_take<double>(b, SCALARS);
		v.parts = gpu_take<double>(b, PRIM_DOT_PARTS);
	}));
	GPU_DO(gpu_send(g, HOLD_WEIGHTS, w, pt->m, &weights));
	GPU_DO(gpu_send(g, HOLD_VALUES, b, 2 * pt->m, &values));
	sample *r = reinterpret_cast<sample *>(v.r), *column = NULL;
	struct usfft_options twice = o;
	for (int a = 0; a < o.dim; a++)
		twice.n[a] = 2 * o.n[a] - 1;
	twice.fft_order = true;
	GPU_DO(sum_weighted(g, &o, pt, weights, reinterpret_cast<const sample *>(values),
			    -how->sign, &r, bad));
	GPU_DO(sum_weighted(g, &twice, pt, weights, NULL, -how->sign, &column, bad));
	GPU_DO(toeplitz_make(g, &t, column));
	GPU_DO(descend(g, t, v, how, got));
	return gpu_down(g, modes, v.f, v.n * sizeof *v.f);
}
