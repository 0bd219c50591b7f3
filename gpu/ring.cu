/* See gpu/ring.h. */
#include "gpu/ring.h"

extern "C" {
#include "common/base/limits.h"
#include "common/base/par.h"
}

namespace
{

/* Beside the thread that waits there may be two couriers, a reader and a writer. */
constexpr int FEW_CPUS = 4;

size_t
chunk_at(size_t at, size_t bytes)
{
	return bytes - at < GPU_CHUNK ? bytes - at : GPU_CHUNK;
}

/* The next buffer, after the copy for which it was used has ended. */
cudaError_t
take_buffer(gpu_ring *r, size_t *k)
{
	cudaError_t e = cudaSuccess;

	*k = r->next++ % GPU_RING;
	if (!r->at[*k])
		e = cudaMallocHost(&r->at[*k], GPU_CHUNK);
	return e == cudaSuccess ? cudaEventSynchronize(r->done[*k]) : e;
}

} // namespace

cudaError_t
ring_open(gpu_ring *r)
{
	cudaError_t e = cudaStreamCreate(&r->stream);

	for (int k = 0; k < GPU_RING && e == cudaSuccess; k++)
		e = ring_event(&r->done[k]);
	return e;
}

void
ring_close(gpu_ring *r)
{
	for (int k = 0; k < GPU_RING; k++) {
		if (r->at[k])
			cudaFreeHost(r->at[k]);
		if (r->done[k])
			cudaEventDestroy(r->done[k]);
	}
	if (r->stream)
		cudaStreamDestroy(r->stream);
	*r = {};
}

cudaError_t
ring_up(gpu_ring *r, void *device, const void *host, size_t bytes)
{
	cudaError_t e = cudaSuccess;
	size_t k;

	for (size_t at = 0; at < bytes && e == cudaSuccess; at += GPU_CHUNK) {
		const size_t n = chunk_at(at, bytes);
		if ((e = take_buffer(r, &k)) != cudaSuccess)
			break;
		par_copy(r->at[k], (const char *)host + at, n);
		e = cudaMemcpyAsync((char *)device + at, r->at[k], n, cudaMemcpyHostToDevice,
				    r->stream);
		if (e == cudaSuccess)
			e = cudaEventRecord(r->done[k], r->stream);
	}
	return e;
}

/* Buffer k is emptied while those after it fill. */
cudaError_t
ring_down(gpu_ring *r, void *host, const void *device, size_t bytes)
{
	cudaError_t e = cudaSuccess;
	size_t asked = 0, k[GPU_RING];

	for (size_t at = 0; at < bytes && e == cudaSuccess; at += GPU_CHUNK) {
		for (; asked < bytes && asked < at + GPU_RING * GPU_CHUNK && e == cudaSuccess;
		     asked += GPU_CHUNK) {
			size_t *const to = &k[asked / GPU_CHUNK % GPU_RING];
			if ((e = take_buffer(r, to)) == cudaSuccess &&
			    (e = cudaMemcpyAsync(r->at[*to], (const char *)device + asked,
						 chunk_at(asked, bytes), cudaMemcpyDeviceToHost,
						 r->stream)) == cudaSuccess)
				e = cudaEventRecord(r->done[*to], r->stream);
		}
		const size_t now = k[at / GPU_CHUNK % GPU_RING];
		if (e == cudaSuccess && (e = cudaEventSynchronize(r->done[now])) == cudaSuccess)
			par_copy((char *)host + at, r->at[now], chunk_at(at, bytes));
	}
	return e;
}

unsigned
ring_waiting(void)
{
	return limits_cpus() <= FEW_CPUS ? cudaEventBlockingSync : cudaEventDefault;
}

cudaError_t
ring_event(cudaEvent_t *e)
{
	return cudaEventCreateWithFlags(e, ring_waiting() | cudaEventDisableTiming);
}

cudaError_t
ring_follow(cudaStream_t b, cudaStream_t a, cudaEvent_t by)
{
	const cudaError_t e = cudaEventRecord(by, a);

	return e == cudaSuccess ? cudaStreamWaitEvent(b, by, 0) : e;
}
