/* A device's memory, copies to and from it, and the time of kernels. */
#include "gpu/ahead.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gpu/fft.h"
#include "gpu/start.h"

namespace
{

double
now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A block of that many bytes, or how many are wanted and free. */
int
allocate(struct gpu *g, size_t bytes, void **at)
{
	size_t room = 0, total = 0;
	cudaError_t e = cudaMalloc(at, bytes);

	while (e == cudaErrorMemoryAllocation && ahead_yield(g)) {
		cudaGetLastError();
		e = cudaMalloc(at, bytes);
	}
	if (e != cudaErrorMemoryAllocation)
		return gpu_failed(g, e, "cudaMalloc") ? -EIO : 0;
	cudaGetLastError();
	cudaMemGetInfo(&room, &total);
	snprintf(g->why, sizeof g->why,
		 "out of memory: %zu bytes more are needed, %zu of %zu are free on the GPU", bytes,
		 room, total);
	return -EIO;
}

} // namespace

int
gpu_hold(struct gpu *g, int slot, size_t bytes, void **at)
{
	int err;

	if (g->bytes[slot] < bytes || !g->held[slot]) {
		GPU_TRY(g, cudaFree(g->held[slot]));
		g->held[slot] = NULL;
		g->bytes[slot] = 0;
		if ((err = allocate(g, bytes, &g->held[slot])))
			return err;
		g->bytes[slot] = bytes;
	}
	*at = g->held[slot];
	return 0;
}

void
gpu_release(struct gpu *g)
{
	const struct gpu *const first = g;

	start_await(g);
	for (; g; g = g->next) {
		cudaSetDevice(g->number); /* plans of cuFFT are their device's */
		gpu_fft_release(g);
		ahead_yield(g);
		for (int i = 0; i < GPU_SLOTS; i++) {
			cudaFree(g->held[i]);
			g->held[i] = NULL;
			g->bytes[i] = 0;
		}
	}
	if (first)
		cudaSetDevice(first->number);
}

int
gpu_room(struct gpu *g, size_t *bytes)
{
	GPU_TRY(g, ahead_room(g, bytes));
	for (int i = 0; i < GPU_SLOTS; i++)
		*bytes += g->bytes[i];
	return 0;
}

int
gpu_up(struct gpu *g, void *device, const void *host, size_t bytes)
{
	const double t0 = now();
	bool done;
	int err;

	if (!bytes)
		return 0;
	if ((err = ahead_take(g, device, host, bytes, &done)) || done ||
	    (err = ahead_settle(g, host, bytes)))
		return err;
	GPU_TRY(g, ring_follow(g->ring.stream, g->stream[0], g->order));
	GPU_TRY(g, ring_up(&g->ring, device, host, bytes));
	GPU_TRY(g, ring_follow(g->stream[0], g->ring.stream, g->order));
	g->copy += now() - t0;
	return 0;
}

int
gpu_down(struct gpu *g, void *host, const void *device, size_t bytes)
{
	const double t0 = now();
	const int err = ahead_settle(g, host, bytes);

	if (err)
		return err;
	GPU_TRY(g, ring_follow(g->ring.stream, g->stream[0], g->order));
	GPU_TRY(g, ring_down(&g->ring, host, device, bytes));
	g->copy += now() - t0;
	return 0;
}

int
gpu_look(struct gpu *g, void *host, const void *device, size_t bytes)
{
	GPU_TRY(g, cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, g->stream[0]));
	GPU_TRY(g, cudaStreamSynchronize(g->stream[0]));
	return 0;
}

int
gpu_begin(struct gpu *g)
{
	GPU_TRY(g, cudaEventRecord(g->from, g->stream[0]));
	g->timed = true;
	return 0;
}

int
gpu_end(struct gpu *g)
{
	float ms;

	g->timed = false;
	GPU_TRY(g, cudaEventRecord(g->to, g->stream[0]));
	GPU_TRY(g, cudaEventSynchronize(g->to));
	GPU_TRY(g, cudaEventElapsedTime(&ms, g->from, g->to));
	g->kernel += 1e-3 * ms;
	return 0;
}
