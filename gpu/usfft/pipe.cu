/*
 * Weights for the density of points: usfft_pipe() of usfft/inverse.c, each round of it on the device.
 *
 *	level	thread = point: w / (K w), which is also its next value
 *
 * K is spreading and interpolation (spread.cu, usfft.cu), so a round takes the bytes and operations of both, and 24 bytes a
 * point.
 */
#include "gpu/usfft/work.h"

extern "C" {
#include "gpu/usfft/usfft.h"
#include "usfft/inverse.h"
}

namespace
{

constexpr unsigned THREADS = 256;

/* v: K w; at first, ones. */
__global__ void
level(double *w, cplx<double> *v, unsigned m, bool first)
{
	const unsigned j = blockIdx.x * THREADS + threadIdx.x;

	if (j >= m)
		return;
	if (first)
		w[j] = 1;
	else if (v[j].re > 0)
		w[j] /= v[j].re;
	v[j] = {w[j], 0};
}

int
run(struct gpu *g, const struct usfft_plan *p, int rounds, double *w)
{
	const int dim = p->o.dim;
	const unsigned m = (unsigned)p->points.m, blocks = (m + THREADS - 1) / THREADS;
	work<double> k = {};
	void *at[3];
	int err;

	if ((err = usfft_work(g, p, &k)) ||
	    (err = gpu_hold(g, HOLD_GRID, (size_t)k.n[0] * k.n[1] * k.n[2] * sizeof *k.grid,
			    &at[0])) ||
	    (err = gpu_hold(g, HOLD_VALUES, m * sizeof *k.value, &at[1])) ||
	    (err = gpu_hold(g, HOLD_WEIGHTS, m * sizeof *w, &at[2])) || (err = gpu_begin(g)))
		return err;
	k.grid = static_cast<cplx<double> *>(at[0]);
	cplx<double> *const v = static_cast<cplx<double> *>(at[1]);
	double *const weights = static_cast<double *>(at[2]);
	GPU_LAUNCH(g, level, blocks, THREADS, 0, weights, v, m, true);
	for (int i = 0; i < rounds; i++) {
		if ((err = usfft_carry(g, k, &v->re, 2)) || (err = usfft_spread(g, k, dim)) ||
		    (err = usfft_interp(g, k, dim, v)))
			return err;
		GPU_LAUNCH(g, level, blocks, THREADS, 0, weights, v, m, false);
	}
	return (err = gpu_end(g)) ? err : gpu_down(g, w, weights, m * sizeof *w);
}

} // namespace

int
gpu_usfft_pipe(struct gpu *g, const struct usfft_options *given, const struct usfft_points *pt,
	       int rounds, double *w, size_t *bad)
{
	const struct usfft_options o = usfft_pipe_options(given);
	struct usfft_plan *p;
	double area = 1;
	int err;

	if ((err = usfft_plan(&p, &o)))
		return err;
	if (!(err = gpu_usfft_points(g, p, pt, NULL, 0, bad)) && pt->m)
		err = run(g, p, rounds, w);
	for (int a = 0; a < o.dim; a++) {
		const double h = window_hat(&p->win[a], 0);
		area *= h * h / (double)p->grid.n[a];
	}
	for (size_t j = 0; j < pt->m && !err; j++)
		w[j] *= area;
	usfft_free(p);
	return err;
}
