/* A device's memory, copies to and from it, and the time of kernels. */
#include "gpu/device.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gpu/fft.h"

namespace
{

double
now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

constexpr size_t COPIED = (size_t)256 << 20;

int
copy_within(struct gpu *g, char *at, int times)
{
	const int err = gpu_begin(g);

	for (int i = 0; i < times && !err; i++)
		GPU_TRY(g, cudaMemcpyAsync(at + COPIED, at, COPIED, cudaMemcpyDeviceToDevice,
					   g->stream[0]));
	return err ? err : gpu_end(g);
}

/* A block of that many bytes, or how many are wanted and free. */
int
allocate(struct gpu *g, size_t bytes, void **at)
{
	size_t room = 0, total = 0;
	const cudaError_t e = cudaMalloc(at, bytes);

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

	for (; g; g = g->next) {
		cudaSetDevice(g->number); /* plans of cuFFT are their device's */
		gpu_fft_release(g);
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
	size_t total;

	GPU_TRY(g, cudaMemGetInfo(bytes, &total));
	for (int i = 0; i < GPU_SLOTS; i++)
		*bytes += g->bytes[i];
	return 0;
}

int
gpu_up(struct gpu *g, void *device, const void *host, size_t bytes)
{
	const double t0 = now();

	if (!g->overlapping)
		GPU_TRY(g, cudaStreamSynchronize(g->stream[0]));
	for (size_t at = 0, k = 0; at < bytes; at += GPU_CHUNK, k ^= 1) {
		const size_t n = bytes - at < GPU_CHUNK ? bytes - at : GPU_CHUNK;
		GPU_TRY(g, cudaStreamSynchronize(g->stream[1 + k]));
		memcpy(g->pinned[k], (const char *)host + at, n);
		GPU_TRY(g, cudaMemcpyAsync((char *)device + at, g->pinned[k], n,
					   cudaMemcpyHostToDevice, g->stream[1 + k]));
	}
	for (int k = 0; k < 2; k++)
		GPU_TRY(g, cudaStreamSynchronize(g->stream[1 + k]));
	g->copy += now() - t0;
	return 0;
}

/* Chunk k is on the bus while chunk k-1 goes from pinned memory to its place. */
int
gpu_down(struct gpu *g, void *host, const void *device, size_t bytes)
{
	const double t0 = now();
	const size_t chunks = (bytes + GPU_CHUNK - 1) / GPU_CHUNK;

	if (!g->overlapping)
		GPU_TRY(g, cudaStreamSynchronize(g->stream[0]));
	for (size_t k = 0; k <= chunks; k++) {
		const size_t at = k * GPU_CHUNK;
		if (k < chunks)
			GPU_TRY(g, cudaMemcpyAsync(g->pinned[k & 1], (const char *)device + at,
						   bytes - at < GPU_CHUNK ? bytes - at : GPU_CHUNK,
						   cudaMemcpyDeviceToHost, g->stream[1 + (k & 1)]));
		if (k == 0)
			continue;
		GPU_TRY(g, cudaStreamSynchronize(g->stream[1 + ((k - 1) & 1)]));
		memcpy((char *)host + (at - GPU_CHUNK), g->pinned[(k - 1) & 1],
		       bytes - (at - GPU_CHUNK) < GPU_CHUNK ? bytes - (at - GPU_CHUNK) : GPU_CHUNK);
	}
	g->copy += now() - t0;
	return 0;
}

void
gpu_meanwhile(struct gpu *g, int (*copies)(void *with), void *with)
{
	g->meanwhile = copies;
	g->with = with;
}

int
gpu_begin(struct gpu *g)
{
	GPU_TRY(g, cudaEventRecord(g->from, g->stream[0]));
	return 0;
}

int
gpu_end(struct gpu *g)
{
	int (*const copies)(void *) = g->meanwhile;
	int err = 0;
	float ms;

	GPU_TRY(g, cudaEventRecord(g->to, g->stream[0]));
	g->meanwhile = NULL;
	if (copies) {
		g->overlapping = true;
		err = copies(g->with);
		g->overlapping = false;
	}
	GPU_TRY(g, cudaEventSynchronize(g->to));
	GPU_TRY(g, cudaEventElapsedTime(&ms, g->from, g->to));
	g->kernel += 1e-3 * ms;
	return err;
}

/* One copy is not counted. */
double
gpu_copy_rate(struct gpu *g)
{
	constexpr int times = 16;
	const double before = g->kernel;
	double seconds;
	void *at;

	if (gpu_hold(g, 0, 2 * COPIED, &at) || copy_within(g, static_cast<char *>(at), 1))
		return 0;
	seconds = g->kernel;
	if (copy_within(g, static_cast<char *>(at), times))
		return 0;
	seconds = g->kernel - seconds;
	g->kernel = before;
	return 2. * COPIED * times / seconds;
}
