/*
 * Modes from values at points: usfft/inverse.c, with its vectors and scalars on the device.
 *
 *	weigh		thread = sorted point: its value times its weight
 *	lay_column	thread = cell: the column of the Toeplitz matrix around the end of each axis, or 0; its FFT is the symbol
 *	pad, crop	thread = cell, mode: modes into the corner of the array of twice their length, and back
 *	times_symbol	thread = cell
 *	step, turn	thread = number of a vector: the two updates of conjugate gradients, whose scalars lie on the device: the host reads
 *			both once an iteration, to see whether to go on
 *
 * The scalars are inner products of prim.cu, so a result is the same in every run.
 *
 * Bytes an iteration, N modes in c = 2^d N cells of 16 bytes: the FFTs read and write 2 (1 + (d-1) / 2) c cells (gpu/fft.h: half of
 * the slices are empty, or not wanted), pad, symbol and crop 4.5 c, the vectors 13 N: 16 (2 (d+1) 2^d + 4.5 2^d + 13) N, which is .9 KB a
 * mode in 2-D: .2 ms for 1024^2 at 4.3 TB/s.
 */
#include "gpu/usfft_work.h"

#include "gpu/fft.h"
#include "gpu/prim.h"

extern "C" {
#include "common/fft.h"
#include "gpu/usfft.h"
}

namespace
{

typedef cplx<double> sample;

constexpr unsigned THREADS = 256, BLOCKS = 1u << 16;
enum { RHO, CURVE, NEXT, SCALARS };

unsigned
blocks_of(size_t n)
{
	const size_t blocks = (n + THREADS - 1) / THREADS;

	return (unsigned)(blocks < BLOCKS ? blocks : BLOCKS);
}

/* --- kernels: thread = any i < n ------------------------------------------------------------------------------------ */

struct toeplitz {
	int dim;
	unsigned n[3], len[3]; /* modes; cells, at least 2 n - 1 */
	size_t modes, cells;
	double *symbol;
	sample *work;
};

#define EACH(i, n)                                                                   \
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < (size_t)(n); \
	     i += (size_t)gridDim.x * THREADS)

/* Values of the points in tile order: w c, of w alone where c is NULL; no w: ones. */
__global__ void
weigh(const work<double> k, const double *w, const sample *c)
{
	EACH(i, k.m)
	{
		const unsigned j = k.index[i];
		const double f = w ? w[j] : 1;
		k.value[i] = c ? sample{f * c[j].re, f * c[j].im} : sample{f, 0};
	}
}

/* column: 2 n - 1 modes an axis, in FFT order. */
__global__ void
lay_column(const toeplitz t, const sample *column)
{
	EACH(i, t.cells)
	{
		unsigned rest = (unsigned)i;
		size_t at = 0, step = 1;
		bool here = true;
		for (int a = 0; a < t.dim; a++) {
			const unsigned x = rest % t.len[a], back = t.len[a] - x, n = t.n[a];
			here = here && (x < n || back < n);
			at += step * (x < n ? x : 2 * n - 1 - back);
			rest /= t.len[a];
			step *= 2 * n - 1;
		}
		t.work[i] = here ? column[at] : sample{0, 0};
	}
}

__global__ void
take_symbol(const toeplitz t)
{
	EACH(i, t.cells)
	{
		t.symbol[i] = t.work[i].re / (double)t.cells;
	}
}

__global__ void
pad(const toeplitz t, const sample *in)
{
	EACH(i, t.cells)
	{
		unsigned rest = (unsigned)i;
		size_t at = 0, step = 1;
		bool here = true;
		for (int a = 0; a < t.dim; a++) {
			const unsigned x = rest % t.len[a];
			here = here && x < t.n[a];
			at += step * x;
			rest /= t.len[a];
			step *= t.n[a];
		}
		t.work[i] = here ? in[at] : sample{0, 0};
	}
}

__global__ void
crop(const toeplitz t, sample *out)
{
	EACH(i, t.modes)
	{
		unsigned rest = (unsigned)i;
		size_t at = 0, step = 1;
		for (int a = 0; a < t.dim; a++) {
			at += step * (rest % t.n[a]);
			rest /= t.n[a];
			step *= t.len[a];
		}
		out[i] = t.work[at];
	}
}

__global__ void
times_symbol(const toeplitz t)
{
	EACH(i, t.cells)
	{
		t.work[i] = {t.work[i].re * t.symbol[i], t.work[i].im * t.symbol[i]};
	}
}

/* f += alpha p, r -= alpha q; nothing where p has no curvature left. */
__global__ void
step(double *f, double *r, const double *p, const double *q, size_t n, const double *scalar)
{
	const double alpha = scalar[CURVE] > 0 ? scalar[RHO] / scalar[CURVE] : 0;

	EACH(i, n)
	{
		f[i] += alpha * p[i];
		r[i] -= alpha * q[i];
	}
}

__global__ void
turn(double *p, const double *r, size_t n, const double *scalar)
{
	const double beta = scalar[NEXT] / scalar[RHO];

	EACH(i, n)
	{
		p[i] = r[i] + beta * p[i];
	}
}

/* --- the normal equations ------------------------------------------------------------------------------------------- */

/* What of weights and values is on the device: NULL, ones and none. */
struct data {
	const double *w;
	const sample *b;
};

int
send(struct gpu *g, int slot, const double *host, size_t n, const double **at)
{
	void *room = NULL;
	int err = 0;

	if (host && n && !(err = gpu_hold(g, slot, n * sizeof *host, &room)))
		err = gpu_up(g, room, host, n * sizeof *host);
	*at = static_cast<const double *>(room);
	return err;
}

/* Type 1 of w c at o's modes, to *modes or where that is NULL to memory that lasts until points come. */
int
sum_weighted(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
	     const struct data *d, const sample *c, int sign, sample **modes, size_t *bad)
{
	struct usfft_plan *p;
	work<double> k = {};
	void *room = NULL;
	int err = usfft_plan(&p, o);

	if (err)
		return err;
	if (!(err = gpu_usfft_points(g, p, pt, NULL, 0, bad)) && !(err = usfft_grid(g, p, &k)) &&
	    !*modes && !(err = gpu_hold(g, HOLD_RAW, count_modes(k) * sizeof **modes, &room)))
		*modes = static_cast<sample *>(room);
	usfft_free(p);
	if (err || (err = gpu_begin(g)))
		return err;
	if (k.m)
		GPU_LAUNCH(g, weigh, blocks_of(k.m), THREADS, 0, k, d->w, c);
	if ((err = usfft_spread(g, k, o->dim)) ||
	    (err = usfft_get_modes(g, k, o->dim, sign, *modes)))
		return err;
	return gpu_end(g);
}

/* tail: last slices that hold something besides the first n. */
struct gpu_fft_slices
fft_of(const toeplitz &t, unsigned tail)
{
	const size_t len[3] = {t.len[0], t.len[1], t.len[2]};

	return gpu_fft_slices(true, t.dim, len, t.n[t.dim - 1], tail);
}

int
shape_toeplitz(struct gpu *g, const struct usfft_options *o, toeplitz *t)
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
		t->modes *= t->n[a];
		t->cells *= t->len[a];
	}
	return 0;
}

/* The transform of T's column. The grid of the points is not needed any more: its memory is the work array. */
int
make_toeplitz(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
	      const struct data *d, int sign, toeplitz *t, size_t *bad)
{
	struct usfft_options twice = *o;
	sample *column = NULL;
	void *at;
	int err;

	for (int a = 0; a < o->dim; a++)
		twice.n[a] = 2 * o->n[a] - 1;
	twice.fft_order = true;
	if ((err = sum_weighted(g, &twice, pt, d, NULL, -sign, &column, bad)) ||
	    (err = gpu_hold(g, HOLD_GRID, t->cells * sizeof *t->work, &at)))
		return err;
	t->work = static_cast<sample *>(at);
	if ((err = gpu_hold(g, HOLD_OUTER, t->cells * sizeof *t->symbol, &at)))
		return err;
	t->symbol = static_cast<double *>(at);
	const struct gpu_fft_slices whole = fft_of(*t, t->n[t->dim - 1] - 1), half = fft_of(*t, 0);
	if ((err = gpu_fft_slices_prepare(g, &whole)) || (err = gpu_fft_slices_prepare(g, &half)) ||
	    (err = gpu_begin(g)))
		return err;
	GPU_LAUNCH(g, lay_column, blocks_of(t->cells), THREADS, 0, *t, column);
	if ((err = gpu_fft_spread_slices(g, &whole, -1, t->work)))
		return err;
	GPU_LAUNCH(g, take_symbol, blocks_of(t->cells), THREADS, 0, *t);
	return gpu_end(g);
}

/* out = T in. */
int
apply(struct gpu *g, const toeplitz &t, const sample *in, sample *out)
{
	const struct gpu_fft_slices f = fft_of(t, 0);
	int err;

	GPU_LAUNCH(g, pad, blocks_of(t.cells), THREADS, 0, t, in);
	if ((err = gpu_fft_spread_slices(g, &f, -1, t.work)))
		return err;
	GPU_LAUNCH(g, times_symbol, blocks_of(t.cells), THREADS, 0, t);
	if ((err = gpu_fft_gather_slices(g, &f, 1, t.work)))
		return err;
	GPU_LAUNCH(g, crop, blocks_of(t.modes), THREADS, 0, t, out);
	return 0;
}

/* --- conjugate gradients -------------------------------------------------------------------------------------------- */

/* Of 2 t.modes numbers each, and the scalars; parts: prim_dot()'s. */
struct vectors {
	double *f, *r, *p, *q, *scalar, *parts;
	size_t n;
};

int
hold_vectors(struct gpu *g, size_t modes, vectors *v)
{
	void *at;
	const int err =
	    gpu_hold(g, HOLD_VECTORS, (8 * modes + SCALARS + PRIM_DOT_PARTS) * sizeof(double), &at);

	if (err)
		return err;
	v->n = 2 * modes;
	v->f = static_cast<double *>(at);
	v->r = v->f + v->n;
	v->p = v->r + v->n;
	v->q = v->p + v->n;
	v->scalar = v->q + v->n;
	v->parts = v->scalar + SCALARS;
	return 0;
}

/* One iteration; its scalars. */
int
iterate(struct gpu *g, const toeplitz &t, const vectors &v, double scalar[SCALARS])
{
	int err;

	if ((err = gpu_begin(g)) ||
	    (err = apply(g, t, reinterpret_cast<const sample *>(v.p),
			 reinterpret_cast<sample *>(v.q))) ||
	    (err = prim_dot(g, v.p, v.q, v.n, v.scalar + CURVE, v.parts)))
		return err;
	GPU_LAUNCH(g, step, blocks_of(v.n), THREADS, 0, v.f, v.r, v.p, v.q, v.n, v.scalar);
	if ((err = prim_dot(g, v.r, v.r, v.n, v.scalar + NEXT, v.parts)))
		return err;
	GPU_LAUNCH(g, turn, blocks_of(v.n), THREADS, 0, v.p, v.r, v.n, v.scalar);
	if ((err = gpu_end(g)) || (err = gpu_down(g, scalar, v.scalar, SCALARS * sizeof *scalar)))
		return err;
	GPU_TRY(g, cudaMemcpyAsync(v.scalar + RHO, v.scalar + NEXT, sizeof *v.scalar,
				   cudaMemcpyDeviceToDevice, g->stream[0]));
	return 0;
}

/* From f = 0; v.r holds A* W b. */
int
descend(struct gpu *g, const toeplitz &t, const vectors &v, const struct usfft_inverse *how,
	struct usfft_outcome *got)
{
	const size_t bytes = v.n * sizeof *v.f;
	double scalar[SCALARS], first;
	int err;

	GPU_TRY(g, cudaMemsetAsync(v.f, 0, bytes, g->stream[0]));
	GPU_TRY(g, cudaMemcpyAsync(v.p, v.r, bytes, cudaMemcpyDeviceToDevice, g->stream[0]));
	if ((err = prim_dot(g, v.r, v.r, v.n, v.scalar + RHO, v.parts)) ||
	    (err = gpu_down(g, &first, v.scalar + RHO, sizeof first)))
		return err;
	*got = {0, first > 0 ? 1. : 0.};
	while (got->iterations < how->iter && got->residual > how->rtol) {
		if ((err = iterate(g, t, v, scalar)))
			return err;
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
	const double *values;
	struct data d = {};
	vectors v;
	toeplitz t;
	int err;

	o.single = false;
	if ((err = shape_toeplitz(g, &o, &t)) || (err = hold_vectors(g, t.modes, &v)) ||
	    (err = send(g, HOLD_WEIGHTS, w, pt->m, &d.w)) ||
	    (err = send(g, HOLD_VALUES, b, 2 * pt->m, &values)))
		return err;
	sample *r = reinterpret_cast<sample *>(v.r);
	if ((err = sum_weighted(g, &o, pt, &d, reinterpret_cast<const sample *>(values), -how->sign,
				&r, bad)) ||
	    (err = make_toeplitz(g, &o, pt, &d, how->sign, &t, bad)) ||
	    (err = descend(g, t, v, how, got)))
		return err;
	return gpu_down(g, modes, v.f, v.n * sizeof *v.f);
}
