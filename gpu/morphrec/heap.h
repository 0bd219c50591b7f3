/*
 * The parallel heap of a thread block, for heap.cu. The children of node i are 2i + 1 and 2i + 2. A node holds NODE pixels in
 * descending order. Each pixel of a node has a thread.
 */
#ifndef WEIR_GPU_MORPHREC_HEAP_H
#define WEIR_GPU_MORPHREC_HEAP_H

#include "gpu/morphrec/field.h"

namespace
{

constexpr unsigned NODE = 256;

/* at: the place of the key in the field, counted in keys. Both are moved at once. */
struct alignas(16) pixel {
	u64 key, at;
};

/* --- sorted nodes -------------------------------------------------------------------------------------------------- */

/* Puts the higher of two pixels first, or last. */
__device__ void
order_pair(pixel *first, pixel *last, bool down)
{
	const pixel a = *first, b = *last;

	if ((a.key < b.key) == down) {
		*first = b;
		*last = a;
	}
}

/* Sorts s[0..n), which is bitonic, into descending order. n <= 2 NODE. */
__device__ void
order_bitonic(pixel *s, unsigned n)
{
	for (unsigned half = n / 2; half; half /= 2) {
		__syncthreads();
		const unsigned t = threadIdx.x, i = 2 * t - (t & (half - 1));
		if (t < n / 2)
			order_pair(s + i, s + i + half, true);
	}
	__syncthreads();
}

/* Sorts s[0..NODE) into descending order: sorted runs, every other one reversed, are merged in pairs. */
__device__ void
sort_node(pixel *s)
{
	for (unsigned run = 2; run <= NODE; run *= 2)
		for (unsigned half = run / 2; half; half /= 2) {
			__syncthreads();
			const unsigned t = threadIdx.x, i = 2 * t - (t & (half - 1));
			const bool down = !(i & run) || run == NODE;
			if (t < NODE / 2)
				order_pair(s + i, s + i + half, down);
		}
	__syncthreads();
}

/* Merges s[0..NODE) and s[NODE..2 NODE), each descending: the first then holds the higher half, the second the lower. */
__device__ void
merge_nodes(pixel *s)
{
	const unsigned t = threadIdx.x;

	__syncthreads();
	const pixel p = s[2 * NODE - 1 - t];
	__syncthreads();
	s[NODE + t] = p;
	order_bitonic(s, 2 * NODE);
}

/* --- the heap; s: room for two nodes, s[t] is this thread's ---------------------------------------------------------- */

struct heap {
	pixel (*node)[NODE];
	unsigned n, cap;
};

/* Inserts the NODE descending pixels in s[0..NODE). Returns false when the heap is full. */
__device__ bool
insert(heap &h, pixel *s)
{
	const unsigned t = threadIdx.x, place = h.n + 1;

	if (h.n == h.cap)
		return false;
	for (int level = 31 - __clz((int)place); level > 0; level--) {
		pixel *node = h.node[(place >> level) - 1];
		s[NODE + t] = node[t];
		merge_nodes(s);
		node[t] = s[t];
		s[t] = s[NODE + t]; /* the lower half goes on */
	}
	__syncthreads();
	h.node[h.n][t] = s[t];
	h.n++;
	__syncthreads();
	return true;
}

/*
 * Shares out the pixels in s[0..NODE) and those of both children of node i, which must exist. Returns the child to go on
 * with; s[0..NODE) then holds the pixels for it.
 */
__device__ unsigned
share_out(heap &h, pixel *s, unsigned i)
{
	const unsigned t = threadIdx.x, a = 2 * i + 1, b = a + 1;
	const bool a_lower = h.node[a][NODE - 1].key <= h.node[b][NODE - 1].key;
	const unsigned low = a_lower ? a : b, high = a_lower ? b : a;
	const pixel x = s[t];

	__syncthreads();
	s[t] = h.node[a][t];
	s[NODE + t] = h.node[b][t];
	merge_nodes(s);
	h.node[low][t] = s[NODE + t];
	s[NODE + t] = s[t];
	__syncthreads();
	s[t] = x;
	merge_nodes(s);
	h.node[i][t] = s[t];
	s[t] = s[NODE + t];
	__syncthreads();
	return high;
}

/* Removes the highest NODE pixels. Each thread gets one of them. */
__device__ pixel
delete_root(heap &h, pixel *s)
{
	const unsigned t = threadIdx.x;
	const pixel root = h.node[0][t];
	unsigned i = 0;

	h.n--;
	if (!h.n)
		return root;
	s[t] = h.node[h.n][t];
	__syncthreads();
	while (2 * i + 2 < h.n)
		i = share_out(h, s, i);
	if (2 * i + 1 < h.n) {
		s[NODE + t] = h.node[2 * i + 1][t];
		merge_nodes(s);
		h.node[2 * i + 1][t] = s[NODE + t];
	}
	h.node[i][t] = s[t];
	__syncthreads();
	return root;
}

} // namespace

#endif
