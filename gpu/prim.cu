/*
 * What several twins need: sums of all that came before and a stable sort, by CUB; inner products, whose order depends on n alone,
 * as CUB's does not.
 *
 *	number		thread = entry of an index
 *	dot_parts	block = one of 1024 parts, each block's width of numbers in turn; thread = every 256th of a part: its sum, then
 *			the block's. A last block adds the parts in the same way
 *
 * Bound: a scan reads and writes each number once; a sort of 8 bits a pass reads and writes keys and indices, 16 bytes a key and
 * pass, and reads all keys once before; an inner product reads both vectors once.
 */
#include "gpu/prim.h"

#include "gpu/reduce.h"

/* A header of CUB includes <iostream>, which would bind every program to the C++ library; and CUB would look for a profiler. */
#define _GLIBCXX_IOSTREAM
#define NVTX_DISABLE
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace
{

constexpr unsigned THREADS = 256, WORD = sizeof(unsigned);

/* CUB's own room for n numbers, in words; room NULL: only that. */
cudaError_t
scan(void *room, size_t *words, unsigned *v, size_t n, cudaStream_t s)
{
	size_t bytes = *words * WORD;
	const cudaError_t e = cub::DeviceScan::ExclusiveSum(room, bytes, v, v, (int)n, s);

	*words = gpu_blocks(bytes, WORD);
	return e;
}

cudaError_t
sort(void *room, size_t *words, cub::DoubleBuffer<unsigned> *key,
     cub::DoubleBuffer<unsigned> *index, size_t n, int bits, cudaStream_t s)
{
	size_t bytes = *words * WORD;
	const cudaError_t e =
	    cub::DeviceRadixSort::SortPairs(room, bytes, *key, *index, (int)n, 0, bits, s);

	*words = gpu_blocks(bytes, WORD);
	return e;
}

/* Makes `to` what the buffer holds. */
cudaError_t
bring_back(unsigned *to, cub::DoubleBuffer<unsigned> from, size_t n, cudaStream_t s)
{
	return from.Current() == to
		   ? cudaSuccess
		   : cudaMemcpyAsync(to, from.Current(), n * WORD, cudaMemcpyDeviceToDevice, s);
}

__device__ void
number(size_t i, unsigned *index)
{
	index[i] = (unsigned)i;
}

/* sums[block] = what this block's threads found; b NULL: a is added up. */
__global__ void
dot_parts(const double *a, const double *b, size_t n, double *sums)
{
	double sum = 0;

	for (size_t i = gpu_element(); i < n; i += (size_t)gridDim.x * THREADS)
		sum += b ? a[i] * b[i] : a[i];
	sum = block_sum<THREADS>(sum);
	if (threadIdx.x == 0)
		sums[blockIdx.x] = sum;
}

} // namespace

size_t
prim_scan_words(size_t n)
{
	size_t words = 0;

	scan(NULL, &words, NULL, n, NULL);
	return words;
}

int
prim_scan(struct gpu *g, unsigned *v, size_t n, unsigned *scratch)
{
	size_t words = prim_scan_words(n);

	GPU_TRY(g, scan(scratch, &words, v, n, g->stream[0]));
	return 0;
}

size_t
prim_sort_words(size_t n)
{
	cub::DoubleBuffer<unsigned> none;
	size_t words = 0;

	sort(NULL, &words, &none, &none, n, 32, NULL);
	return 2 * n + words;
}

int
prim_sort(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit, unsigned *work,
	  bool again)
{
	cub::DoubleBuffer<unsigned> keys(key, work), indices(index, work + n);
	size_t words = prim_sort_words(n) - 2 * n;
	int bits = 0;

	while (bits < 32 && (limit - 1) >> bits)
		bits++;
	if (!again)
		GPU_EACH(g, number, n, index);
	if (!n || !bits)
		return 0;
	GPU_TRY(g, sort(work + 2 * n, &words, &keys, &indices, n, bits, g->stream[0]));
	GPU_TRY(g, bring_back(key, keys, n, g->stream[0]));
	GPU_TRY(g, bring_back(index, indices, n, g->stream[0]));
	return 0;
}

int
prim_dot(struct gpu *g, const double *a, const double *b, size_t n, double *sum, double *scratch)
{
	const size_t wanted = gpu_blocks(n, THREADS), most = PRIM_DOT_PARTS;
	const unsigned parts = (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);

	GPU_LAUNCH(g, dot_parts, parts, THREADS, 0, a, b, n, scratch);
	GPU_LAUNCH(g, dot_parts, 1, THREADS, 0, scratch, static_cast<const double *>(NULL), parts,
		   sum);
	return 0;
}
