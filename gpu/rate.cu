/*
 * What a device does at most, for benches.
 *
 *	copy		cudaMemcpyAsync() within the device, up and down, TIMES in a row
 *	multiply_add	thread = LANES numbers, each multiplied and added to STEPS times; 8 blocks of 256 a multiprocessor
 */
#include "gpu/device.h"

namespace
{

constexpr unsigned THREADS = 256, BLOCKS = 8, LANES = 8, STEPS = 2048, TIMES = 8;

/* Numbers stay finite: |by| < 1. */
template <class T>
__global__ void
multiply_add(T *to, T by, T plus)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	T v[LANES], sum = 0;

#pragma unroll
	for (unsigned k = 0; k < LANES; k++)
		v[k] = (T)(i + k);
#pragma unroll 8
	for (unsigned step = 0; step < STEPS; step++)
#pragma unroll
		for (unsigned k = 0; k < LANES; k++)
			v[k] = v[k] * by + plus;
#pragma unroll
	for (unsigned k = 0; k < LANES; k++)
		sum += v[k];
	to[i] = sum;
}

/* Sets *rate to what `amount` is per second when do_it() does it. It does it once before. */
template <class F>
int
measure(struct gpu *g, double amount, double *rate, F do_it)
{
	const double before = g->kernel;

	GPU_DO(do_it());
	GPU_DO(gpu_begin(g));
	for (unsigned i = 0; i < TIMES; i++)
		GPU_DO(do_it());
	GPU_DO(gpu_end(g));
	*rate = amount * TIMES / (g->kernel - before);
	g->kernel = before;
	return 0;
}

int
measure_copies(struct gpu *g, char *at, size_t bytes, cudaMemcpyKind kind, char *from, double *rate)
{
	const double moved = (double)bytes * (kind == cudaMemcpyDeviceToDevice ? 2 : 1);

	return measure(g, moved, rate, [=] {
		GPU_TRY(g, cudaMemcpyAsync(at, from, bytes, kind, g->stream[0]));
		return 0;
	});
}

template <class T>
int
measure_ops(struct gpu *g, void *at, double *rate)
{
	const unsigned blocks = BLOCKS * (unsigned)g->prop.multiProcessorCount;
	const double ops = 2. * STEPS * LANES * THREADS * blocks;

	return measure(g, ops, rate, [=] {
		GPU_LAUNCH(g, multiply_add<T>, blocks, THREADS, 0, static_cast<T *>(at), (T).5,
			   (T)1);
		return 0;
	});
}

} // namespace

int
gpu_measure(struct gpu *g, size_t bytes, struct gpu_rates *r)
{
	const size_t results =
	    sizeof(double) * THREADS * BLOCKS * (size_t)g->prop.multiProcessorCount;
	char *at, *host;

	GPU_DO(gpu_array(g, 0, 2 * bytes < results ? results : 2 * bytes, &at));
	GPU_TRY(g, cudaMallocHost(&host, bytes));
	const gpu_at_end done{[=] { cudaFreeHost(host); }};
	unsigned *const words = reinterpret_cast<unsigned *>(host);
	for (size_t i = 0; i < bytes / sizeof *words; i++)
		words[i] = (unsigned)i * 2654435761u;
	GPU_DO(measure_copies(g, at, bytes, cudaMemcpyHostToDevice, host, &r->up));
	GPU_DO(measure_copies(g, host, bytes, cudaMemcpyDeviceToHost, at, &r->down));
	GPU_DO(measure_copies(g, at + bytes, bytes, cudaMemcpyDeviceToDevice, at, &r->within));
	GPU_DO(measure_ops<float>(g, at, &r->single_ops));
	return measure_ops<double>(g, at, &r->double_ops);
}
