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
 * Bytes an iteration, N modes in c = 2^d N cells of 16 bytes: 2 (d+1) c + 4.5 c for the product (toeplitz.cu), the vectors 13 N:
 * 16 (2 (d+1) 2^d + 4.5 2^d + 13) N, which is .9 KB a mode in 2-D: .2 ms for 1024^2 at 4.3 TB/s.
 */
#include "gpu/prim.h"
#include "gpu/usfft/toeplitz.h"

extern "C" {
#include "gpu/usfft/usfft.h"
}

namespace
{

typedef cplx<double> sample;

enum { RHO, CURVE, NEXT, SCALARS };

/* --- kernels: thread = any i < n ------------------------------------------------------------------------------------ */

/* Values of the points in tile order: w c, of w alone where c is NULL; no w: ones. */
__global__ void
weigh(const work<double> k, const double *w, const sample *c)
{
	for (size_t i = first_of_all(); i < k.m; i += all_threads()) {
		const unsigned j = k.index[i];
		const double f = w ? w[j] : 1;
		k.value[i] = c ? sample{f * c[j].re, f * c[j].im} : sample{f, 0};
	}
}

/* f += alpha p, r -= alpha q; nothing where p has no curvature left. */
__global__ void
step(double *f, double *r, const double *p, const double *q, size_t n, const double *scalar)
{
	const double alpha = scalar[CURVE] > 0 ? scalar[RHO] / scalar[CURVE] : 0;

	for (size_t i = first_of_all(); i < n; i += all_threads()) {
		f[i] += alpha * p[i];
		r[i] -= alpha * q[i];
	}
}

__global__ void
turn(double *p, const double *r, size_t n, const double *scalar)
{
	const double beta = scalar[NEXT] / scalar[RHO];

	for (size_t i = first_of_all(); i < n; i += all_threads()) {
		p[i] = r[i] + beta * p[i];
	}
}

/* --- the normal equations ------------------------------------------------------------------------------------------- */

/* n numbers at host, to slot; NULL where there are none. */
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

/* Type 1 of w c, with the points of k. */
int
transform_weighted(struct gpu *g, const work<double> &k, int dim, const double *w, const sample *c,
		   int sign, sample *modes)
{
	int err = gpu_begin(g);

	if (err)
		return err;
	if (k.m)
		GPU_LAUNCH(g, weigh, blocks_for_all(k.m), ALL_THREADS, 0, k, w, c);
	if ((err = usfft_spread(g, k, dim)) || (err = usfft_get_modes(g, k, dim, sign, modes)))
		return err;
	return gpu_end(g);
}

/* Type 1 of w c at o's modes, to *modes or where that is NULL to memory that lasts until points come. */
int
sum_weighted(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
	     const double *w, const sample *c, int sign, sample **modes, size_t *bad)
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
	if (!err)
		err = transform_weighted(g, k, o->dim, w, c, sign, *modes);
	usfft_free(p);
	return err;
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

/* The kernels of an iteration. */
int
launch_all(struct gpu *g, const toeplitz &t, const vectors &v)
{
	int err;

	if ((err = toeplitz_apply(g, t, reinterpret_cast<const sample *>(v.p),
				  reinterpret_cast<sample *>(v.q))) ||
	    (err = prim_dot(g, v.p, v.q, v.n, v.scalar + CURVE, v.parts)))
		return err;
	GPU_LAUNCH(g, step, blocks_for_all(v.n), ALL_THREADS, 0, v.f, v.r, v.p, v.q, v.n, v.scalar);
	if ((err = prim_dot(g, v.r, v.r, v.n, v.scalar + NEXT, v.parts)))
		return err;
	GPU_LAUNCH(g, turn, blocks_for_all(v.n), ALL_THREADS, 0, v.p, v.r, v.n, v.scalar);
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

/* One iteration, and its scalars. */
int
iterate(struct gpu *g, const toeplitz &t, const vectors &v, cudaGraphExec_t all,
	double scalar[SCALARS])
{
	int err = gpu_begin(g);

	if (all)
		GPU_TRY(g, cudaGraphLaunch(all, g->stream[0]));
	else if (!err)
		err = launch_all(g, t, v);
	if (err || (err = gpu_end(g)))
		return err;
	return gpu_look(g, scalar, v.scalar, SCALARS * sizeof *scalar);
}

/* Until it has converged. *all becomes the graph that the second iteration makes. */
int
iterate_all(struct gpu *g, const toeplitz &t, const vectors &v, const struct usfft_inverse *how,
	    double first, cudaGraphExec_t *all, struct usfft_outcome *got)
{
	double scalar[SCALARS];
	int err;

	while (got->iterations < how->iter && got->residual > how->rtol) {
		if (got->iterations == 1 && (err = capture(g, t, v, all)))
			return err;
		if ((err = iterate(g, t, v, *all, scalar)))
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

/* From f = 0; v.r holds A* W b. */
int
descend(struct gpu *g, const toeplitz &t, const vectors &v, const struct usfft_inverse *how,
	struct usfft_outcome *got)
{
	const size_t bytes = v.n * sizeof *v.f;
	cudaGraphExec_t all = NULL;
	double first;
	int err;

	GPU_TRY(g, cudaMemsetAsync(v.f, 0, bytes, g->stream[0]));
	GPU_TRY(g, cudaMemcpyAsync(v.p, v.r, bytes, cudaMemcpyDeviceToDevice, g->stream[0]));
	if ((err = prim_dot(g, v.r, v.r, v.n, v.scalar + RHO, v.parts)) ||
	    (err = gpu_look(g, &first, v.scalar + RHO, sizeof first)))
		return err;
	*got = {0, first > 0 ? 1. : 0.};
	err = iterate_all(g, t, v, how, first, &all, got);
	if (all)
		cudaGraphExecDestroy(all);
	return err;
}

} // namespace

int
gpu_usfft_inverse(struct gpu *g, const struct usfft_options *given, const struct usfft_points *pt,
		  const double *w, const double *b, const struct usfft_inverse *how, double *modes,
		  struct usfft_outcome *got, size_t *bad)
{
	struct usfft_options o = *given;
	const double *weights, *values;
	vectors v;
	toeplitz t;
	int err;

	o.single = false;
	if ((err = toeplitz_shape(g, &o, &t)) || (err = hold_vectors(g, t.modes, &v)) ||
	    (err = send(g, HOLD_WEIGHTS, w, pt->m, &weights)) ||
	    (err = send(g, HOLD_VALUES, b, 2 * pt->m, &values)))
		return err;
	sample *r = reinterpret_cast<sample *>(v.r), *column = NULL;
	struct usfft_options twice = o;
	for (int a = 0; a < o.dim; a++)
		twice.n[a] = 2 * o.n[a] - 1;
	twice.fft_order = true;
	if ((err = sum_weighted(g, &o, pt, weights, reinterpret_cast<const sample *>(values),
				-how->sign, &r, bad)) ||
	    (err = sum_weighted(g, &twice, pt, weights, NULL, -how->sign, &column, bad)) ||
	    (err = toeplitz_make(g, &t, column)) || (err = descend(g, t, v, how, got)))
		return err;
	return gpu_down(g, modes, v.f, v.n * sizeof *v.f);
}
