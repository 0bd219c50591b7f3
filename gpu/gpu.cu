/* The choice of a device, its memory, copies, and what failed. */
#include "gpu/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/fft.h"

namespace
{

constexpr size_t CHUNK = (size_t)4 << 20;

double
now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A device's number: all of text, or 0 when it is empty. */
bool
device_number(const char *text, int *number)
{
	char *end;
	const long v = strtol(text, &end, 10);

	*number = (int)v;
	return !*end && v >= 0 && v < 1024;
}

int
prepare(struct gpu *g, int number)
{
	GPU_TRY(g, cudaSetDevice(number));
	GPU_TRY(g, cudaGetDeviceProperties(&g->prop, number));
	for (int i = 0; i < 2; i++) {
		GPU_TRY(g, cudaStreamCreate(&g->stream[i]));
		GPU_TRY(g, cudaMallocHost(&g->pinned[i], CHUNK));
	}
	GPU_TRY(g, cudaEventCreate(&g->from));
	GPU_TRY(g, cudaEventCreate(&g->to));
	return 0;
}

const char *
no_device(int count, cudaError_t e)
{
	return e != cudaSuccess ? cudaGetErrorString(e) : count ? "" : "there is none";
}

} // namespace

bool
gpu_failed(struct gpu *g, cudaError_t e, const char *call)
{
	const char *open = strncmp(call, "cuda", 4) ? NULL : strchr(call, '(');

	if (e == cudaSuccess)
		return false;
	snprintf(g->why, sizeof g->why, "%.*s: %s", open ? (int)(open - call) : (int)strlen(call),
		 call, cudaGetErrorString(e));
	return true;
}

struct gpu *
gpu_open(const char *number, char why[GPU_WHY])
{
	int n, count = 0;
	const cudaError_t e = cudaGetDeviceCount(&count);
	struct gpu *g;

	if (e != cudaSuccess || !count) {
		snprintf(why, GPU_WHY, "no GPU: %s", no_device(count, e));
		return NULL;
	}
	if (!device_number(number, &n) || n >= count) {
		snprintf(why, GPU_WHY, "'%.100s' is not the number of one GPU in 0..%d", number,
			 count - 1);
		return NULL;
	}
	if (!(g = static_cast<struct gpu *>(calloc(1, sizeof *g)))) {
		snprintf(why, GPU_WHY, "no memory");
		return NULL;
	}
	if (!prepare(g, n))
		return g;
	snprintf(why, GPU_WHY, "%s", g->why);
	gpu_close(g);
	return NULL;
}

void
gpu_close(struct gpu *g)
{
	if (!g)
		return;
	gpu_release(g);
	for (int i = 0; i < 2; i++) {
		cudaFreeHost(g->pinned[i]);
		if (g->stream[i])
			cudaStreamDestroy(g->stream[i]);
	}
	if (g->from)
		cudaEventDestroy(g->from);
	if (g->to)
		cudaEventDestroy(g->to);
	free(g);
}

const char *
gpu_why(const struct gpu *g)
{
	return g->why;
}

const char *
gpu_name(const struct gpu *g)
{
	return g->prop.name;
}

double
gpu_kernel_seconds(const struct gpu *g)
{
	return g->kernel;
}

double
gpu_copy_seconds(const struct gpu *g)
{
	return g->copy;
}

const char *
gpu_state(void)
{
	static char text[GPU_WHY + 64];
	cudaDeviceProp prop;
	int version = 0, count = 0;
	const cudaError_t e = cudaGetDeviceCount(&count);

	cudaRuntimeGetVersion(&version);
	if (e != cudaSuccess || !count)
		snprintf(text, sizeof text, "CUDA %d.%d, no GPU: %s", version / 1000,
			 version % 1000 / 10, no_device(count, e));
	else if (cudaGetDeviceProperties(&prop, 0) == cudaSuccess)
		snprintf(text, sizeof text, "CUDA %d.%d, %s", version / 1000, version % 1000 / 10,
			 prop.name);
	return text;
}

int
gpu_hold(struct gpu *g, int slot, size_t bytes, void **at)
{
	if (g->bytes[slot] < bytes || !g->held[slot]) {
		GPU_TRY(g, cudaFree(g->held[slot]));
		g->held[slot] = NULL;
		g->bytes[slot] = 0;
		GPU_TRY(g, cudaMalloc(&g->held[slot], bytes));
		g->bytes[slot] = bytes;
	}
	*at = g->held[slot];
	return 0;
}

void
gpu_release(struct gpu *g)
{
	gpu_fft_release(g);
	for (int i = 0; i < GPU_SLOTS; i++) {
		cudaFree(g->held[i]);
		g->held[i] = NULL;
		g->bytes[i] = 0;
	}
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

	for (size_t at = 0, k = 0; at < bytes; at += CHUNK, k ^= 1) {
		const size_t n = bytes - at < CHUNK ? bytes - at : CHUNK;
		GPU_TRY(g, cudaStreamSynchronize(g->stream[k]));
		memcpy(g->pinned[k], (const char *)host + at, n);
		GPU_TRY(g, cudaMemcpyAsync((char *)device + at, g->pinned[k], n,
					   cudaMemcpyHostToDevice, g->stream[k]));
	}
	for (int k = 0; k < 2; k++)
		GPU_TRY(g, cudaStreamSynchronize(g->stream[k]));
	g->copy += now() - t0;
	return 0;
}

/* Chunk k is on the bus while chunk k-1 goes from pinned memory to its place. */
int
gpu_down(struct gpu *g, void *host, const void *device, size_t bytes)
{
	const double t0 = now();
	const size_t chunks = (bytes + CHUNK - 1) / CHUNK;

	for (size_t k = 0; k <= chunks; k++) {
		const size_t at = k * CHUNK;
		if (k < chunks)
			GPU_TRY(g, cudaMemcpyAsync(g->pinned[k & 1], (const char *)device + at,
						   bytes - at < CHUNK ? bytes - at : CHUNK,
						   cudaMemcpyDeviceToHost, g->stream[k & 1]));
		if (k == 0)
			continue;
		GPU_TRY(g, cudaStreamSynchronize(g->stream[(k - 1) & 1]));
		memcpy((char *)host + (at - CHUNK), g->pinned[(k - 1) & 1],
		       bytes - (at - CHUNK) < CHUNK ? bytes - (at - CHUNK) : CHUNK);
	}
	g->copy += now() - t0;
	return 0;
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
	float ms;

	GPU_TRY(g, cudaEventRecord(g->to, g->stream[0]));
	GPU_TRY(g, cudaEventSynchronize(g->to));
	GPU_TRY(g, cudaEventElapsedTime(&ms, g->from, g->to));
	g->kernel += 1e-3 * ms;
	return 0;
}
