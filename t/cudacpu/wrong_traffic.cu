/* Kernels whose accesses to memory one can count by hand, for traffic.cu. */
#include <cuda_runtime.h>

#include "t/cudacpu/selftest.h"

namespace
{

constexpr unsigned WARP = 32, WORDS = 4096;

/* Writes a[t], a sector for 8 lanes: 4 in all. */
template <unsigned stride>
__global__ void
read_strided(unsigned *a)
{
	a[threadIdx.x] = a[WORDS / 2 + stride * threadIdx.x];
}

__global__ void
read_vectors(uint4 *a)
{
	const uint4 v = a[WARP + threadIdx.x];

	a[threadIdx.x] = make_uint4(v.w, v.z, v.y, v.x);
}

/* The lanes go round a loop as often as their number says: 32, 31, ..., 1 lanes read a word. */
__global__ void
read_unequally(unsigned *a)
{
	unsigned sum = 0;

	for (unsigned i = 0; i <= threadIdx.x; i++)
		sum += reinterpret_cast<volatile unsigned *>(a)[WORDS / 2 + i];
	a[threadIdx.x] = sum;
}

/* Both warps of a block read the same sectors. */
__global__ void
read_again(unsigned *a)
{
	a[threadIdx.x] = a[WORDS / 2 + threadIdx.x % WARP];
}

__global__ void
add_to_one(unsigned *a)
{
	atomicAdd(a, 1u);
}

/* Writes 32 words of as many banks in a turn, and reads them; which of them only the device knows. */
template <unsigned stride>
__global__ void
share(unsigned *a)
{
	__shared__ unsigned s[WARP * WARP];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	a[threadIdx.x] = reinterpret_cast<volatile unsigned *>(s)[stride * threadIdx.x];
}

__global__ void
share_vectors(unsigned *a)
{
	__shared__ uint4 s[WARP];

	s[threadIdx.x] = make_uint4(1, 2, 3, 4);
	__syncthreads();
	a[threadIdx.x] = s[WARP - 1 - threadIdx.x].x;
}

__global__ void
share_atomic(unsigned *a)
{
	__shared__ unsigned s[2];

	if (threadIdx.x < 2)
		s[threadIdx.x] = 0;
	__syncthreads();
	atomicAdd(&s[threadIdx.x % 2], 1u);
	__syncthreads();
	a[threadIdx.x] = s[0];
}

} // namespace

/* Each row: a kernel, its threads, and what it asks for. */
int
wrong_traffic(int *first)
{
	const struct {
		void (*run)(unsigned *);
		unsigned threads;
		struct cudacpu_traffic is;
	} rows[] = {
	    {read_strided<1>, WARP, {2, 64, 8, 8, 8, 8, 0, 0}},
	    {read_strided<8>, WARP, {2, 64, 36, 8, 36, 36, 0, 0}},
	    {read_strided<0>, WARP, {2, 64, 5, 5, 5, 5, 0, 0}},
	    {read_unequally, WARP, {33, 560, 36, 36, 8, 8, 0, 0}},
	    {read_again, 2 * WARP, {4, 128, 16, 16, 12, 12, 0, 0}},
	    {add_to_one, WARP, {1, 32, 1, 1, 1, 1, 0, 0}},
	    {share<0>, WARP, {3, 96, 4, 4, 4, 4, 2, 2}},
	    {share<1>, WARP, {3, 96, 4, 4, 4, 4, 2, 2}},
	    {share<2>, WARP, {3, 96, 4, 4, 4, 4, 3, 2}},
	    {share<32>, WARP, {3, 96, 4, 4, 4, 4, 33, 2}},
	    {share_vectors, WARP, {3, 96, 4, 4, 4, 4, 8, 5}},
	    {share_atomic, WARP, {4, 98, 4, 4, 4, 4, 18, 3}},
	};
	const struct cudacpu_traffic vectors = {2, 64, 32, 32, 32, 32, 0, 0};
	const size_t n = sizeof rows / sizeof *rows;
	unsigned *a = nullptr;
	int wrong = 0;

	*first = 0;
	cudaMalloc(&a, WORDS * sizeof *a);
	cudacpu_traffic();
	for (size_t i = 0; i <= n; i++) {
		if (i < n)
			WEIR_LAUNCH(rows[i].run, 1, rows[i].threads, 0, (cudaStream_t)0, a);
		else
			WEIR_LAUNCH(read_vectors, 1, WARP, 0, (cudaStream_t)0,
				    reinterpret_cast<uint4 *>(a));
		const struct cudacpu_traffic t = cudacpu_traffic();
		if (memcmp(&t, i < n ? &rows[i].is : &vectors, sizeof t) && !wrong++)
			*first = (int)i + 1;
	}
	cudaFree(a);
	return wrong;
}
