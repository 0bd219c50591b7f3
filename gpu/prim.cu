/*
 * Sums of all that came before.
 *
 *	scan_parts	block = 1024 numbers, thread = 4 of them: sums within a warp by shuffles, of 8 warps in shared memory
 *	add_before	thread = number: what the parts before it amount to, themselves scanned in the same way
 *
 * Bound: 16 bytes a number, in and out twice.
 */
#include "gpu/prim.h"

namespace
{

constexpr unsigned THREADS = 256, PER = 4, PART = THREADS * PER, WARPS = THREADS / 32;

size_t
parts_of(size_t n)
{
	return (n + PART - 1) / PART;
}

/* The sum over the lanes up to this one. */
__device__ unsigned
sum_of_lanes(unsigned v)
{
	for (unsigned d = 1; d < 32; d *= 2) {
		const unsigned before = __shfl_up_sync(~0u, v, d);
		v += threadIdx.x % 32 >= d ? before : 0;
	}
	return v;
}

__global__ void
scan_parts(unsigned *v, size_t n, unsigned *sums)
{
	__shared__ unsigned warps[WARPS];
	const unsigned t = threadIdx.x;
	const size_t at = (size_t)blockIdx.x * PART + t * PER;
	unsigned own[PER], sum = 0;

	for (unsigned i = 0; i < PER; i++) {
		own[i] = at + i < n ? v[at + i] : 0;
		sum += own[i];
	}
	const unsigned upto = sum_of_lanes(sum);
	if (t % 32 == 31)
		warps[t / 32] = upto;
	__syncthreads();
	unsigned before = upto - sum, all = 0;
	for (unsigned w = 0; w < WARPS; w++) {
		before += w < t / 32 ? warps[w] : 0;
		all += warps[w];
	}
	if (t == 0)
		sums[blockIdx.x] = all;
	for (unsigned i = 0; i < PER; i++) {
		if (at + i < n)
			v[at + i] = before;
		before += own[i];
	}
}

__global__ void
add_before(unsigned *v, size_t n, const unsigned *sums)
{
	const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		v[i] += sums[i / PART];
}

} // namespace

size_t
prim_scan_words(size_t n)
{
	size_t words = 1;

	for (n = parts_of(n); n > 1; n = parts_of(n))
		words += n;
	return words;
}

int
prim_scan(struct gpu *g, unsigned *v, size_t n, unsigned *scratch)
{
	const size_t parts = parts_of(n);
	int err;

	if (!n)
		return 0;
	GPU_LAUNCH(g, scan_parts, (unsigned)parts, THREADS, 0, v, n, scratch);
	if (parts == 1)
		return 0;
	if ((err = prim_scan(g, scratch, parts, scratch + parts)))
		return err;
	GPU_LAUNCH(g, add_before, (unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, v, n,
		   scratch);
	return 0;
}
