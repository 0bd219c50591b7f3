/*
 * Kernels that use all that the twins in gpu/ rely on, with results one can compute by hand: proof that t/cudacpu means the
 * same as CUDA, since on a machine with a GPU they run there. Each function gives the number of wrong results, -1 when
 * the device failed.
 */
#include "gpu/device.h"
#include "t/cudacpu/selftest.h"

namespace
{

/* An array on the device that ends with its scope. */
template <class T> struct array {
	T *at = nullptr;

	explicit array(size_t n)
	{
		if (cudaMalloc(&at, n * sizeof(T)) != cudaSuccess ||
		    cudaMemset(at, 0, n * sizeof(T)) != cudaSuccess)
			at = nullptr;
	}
	~array()
	{
		cudaFree(at);
	}
};

/* Runs the kernel on one array of n zeros and brings it back; false when that failed. */
template <class T, class K>
bool
run(K kernel, dim3 grid, dim3 block, size_t shared, T *host, size_t n)
{
	const array<T> a(n);

	if (!a.at)
		return false;
	WEIR_LAUNCH(kernel, grid, block, shared, (cudaStream_t)0, a.at);
	return cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess &&
	       cudaMemcpy(host, a.at, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess;
}

__global__ void
count_threads(unsigned *a)
{
	const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
	const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;

	atomicAdd(&a[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x],
		  1 + x + 16 * y + 256 * z);
}

__global__ void
reverse_through_shared(unsigned *a)
{
	__shared__ unsigned s[192];
	const unsigned t = threadIdx.x;

	for (unsigned round = 0; round < 3; round++) {
		s[t] = 1000 * round + t;
		__syncthreads();
		a[192 * round + t] = s[191 - t];
		__syncthreads();
	}
}

/* A warp writes, another reads a round later: they meet at different places. */
__global__ void
hand_to_warp(unsigned *a)
{
	constexpr unsigned ROUNDS = 4;
	__shared__ unsigned s[2][32];
	const unsigned lane = threadIdx.x % 32;

	if (threadIdx.x < 32) {
		for (unsigned round = 0; round < ROUNDS; round++) {
			s[round % 2][lane] = 100 * round + lane;
			__barrier_sync_count(1, 64);
		}
		return;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		__barrier_sync_count(1, 64);
		a[32 * round + lane] = s[round % 2][31 - lane];
	}
}

__global__ void
sum_in_dynamic(unsigned *a)
{
	WEIR_SHARED(unsigned, s);

	s[threadIdx.x] = threadIdx.x + blockIdx.x;
	for (unsigned half = blockDim.x / 2; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			s[threadIdx.x] += s[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		a[blockIdx.x] = s[0];
}

__global__ void
shuffles(unsigned *a)
{
	const unsigned t = threadIdx.x, v = 100 + t;
	unsigned *out = a + 8 * t;
	unsigned long long wide = (unsigned long long)t << 40;
	double real = t + .5;

	out[0] = __shfl_up_sync(~0u, v, 1);
	out[1] = __shfl_down_sync(~0u, v, 3, 8);
	out[2] = __shfl_xor_sync(~0u, v, 5);
	out[3] = __shfl_sync(~0u, v, 7);
	wide = __shfl_xor_sync(~0u, wide, 1);
	out[4] = (unsigned)(wide >> 40);
	real = __shfl_down_sync(~0u, real, 2);
	out[5] = (unsigned)(2 * real);
	if (t % 32 < 16) /* a part of the warp by itself */
		out[6] = __shfl_sync(0xffffu, v, 15);
	__syncwarp();
	out[7] = __ballot_sync(~0u, t % 3 == 0);
}

__global__ void
votes(unsigned *a)
{
	const unsigned t = threadIdx.x;
	unsigned *out = a + 6 * t;

	out[0] = (unsigned)__syncthreads_count(t % 5 == 0);
	out[1] = __syncthreads_or(t == 77) != 0;
	out[2] = __syncthreads_and(t != 77) != 0;
	out[3] = __syncthreads_or(t > 500) != 0;
	out[4] = __any_sync(~0u, t == 40) != 0;
	out[5] = __all_sync(~0u, t >= 32) != 0;
}

struct totals {
	unsigned add, most, least, any, all, odd, swapped;
	int low, high;
	unsigned long long wide, wide_most;
	float real;
	double precise;
};

__global__ void
atomics(totals *a)
{
	const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&a->add, t);
	atomicMax(&a->most, t);
	atomicMin(&a->least, t + 5); /* 0 is less */
	atomicOr(&a->any, 1u << t % 32);
	atomicAnd(&a->all, 0u);
	atomicXor(&a->odd, t);
	for (unsigned seen = 0, was = 1; was != seen;) { /* an addition by compare and swap */
		was = seen;
		seen = atomicCAS(&a->swapped, was, was + 1);
	}
	atomicMin(&a->low, -(int)t);
	atomicMax(&a->high, (int)t - 5);
	atomicAdd(&a->wide, (unsigned long long)t << 32);
	atomicMax(&a->wide_most, (unsigned long long)t << 33);
	atomicAdd(&a->real, .5f);
	atomicAdd(&a->precise, .25);
}

__global__ void
fields(unsigned *a)
{
	a[0] = __vmaxu4(0x01ff7f80u, 0x02fe8001u);
	a[1] = __vminu4(0x01ff7f80u, 0x02fe8001u);
	a[2] = __vmaxu2(0x0001ffffu, 0xff000002u);
	a[3] = __vminu2(0x0001ffffu, 0xff000002u);
	a[4] = __funnelshift_l(0x11223344u, 0x55667788u, 8);
	a[5] = __funnelshift_r(0x11223344u, 0x55667788u, 8);
	a[6] = (unsigned)__popc(0xf0f0u) + 100 * (unsigned)__clz(0x00010000) +
	       10000 * (unsigned)__ffs(0x100);
	a[7] = __float_as_uint(1.0f);
	a[8] = __dp4a(0x01020304u, 0xff050607u, 9u);
	a[9] = __byte_perm(0x33221100u, 0x77665544u, 0x7351);
	a[10] = __vimax3_u16x2(0x0001ffffu, 0xff000002u, 0xff010003u);
}

constexpr unsigned SIZE = 192;

} // namespace

extern "C" int
selftest_grid(void)
{
	unsigned a[16 * 12 * 6];
	int wrong = 0;

	if (!run(count_threads, dim3(4, 3, 2), dim3(4, 4, 3), 0, a, 16 * 12 * 6))
		return -1;
	for (unsigned z = 0; z < 6; z++)
		for (unsigned y = 0; y < 12; y++)
			for (unsigned x = 0; x < 16; x++)
				wrong += a[(z * 12 + y) * 16 + x] != 1 + x + 16 * y + 256 * z;
	return wrong;
}

extern "C" int
selftest_barrier(void)
{
	unsigned a[3 * SIZE], sum[3], handed[4 * 32];
	int wrong = 0;

	if (!run(reverse_through_shared, 1, SIZE, 0, a, 3 * SIZE) ||
	    !run(sum_in_dynamic, 3, 256, 256 * sizeof *a, sum, 3) ||
	    !run(hand_to_warp, 1, 64, 0, handed, 4 * 32))
		return -1;
	for (unsigned i = 0; i < 3 * SIZE; i++)
		wrong += a[i] != 1000 * (i / SIZE) + SIZE - 1 - i % SIZE;
	for (unsigned b = 0; b < 3; b++)
		wrong += sum[b] != 255 * 128 + 256 * b;
	for (unsigned i = 0; i < 4 * 32; i++)
		wrong += handed[i] != 100 * (i / 32) + 31 - i % 32;
	return wrong;
}

extern "C" int
selftest_shuffle(void)
{
	unsigned a[8 * 64];
	int wrong = 0;

	if (!run(shuffles, 1, 64, 0, a, 8 * 64))
		return -1;
	for (unsigned t = 0; t < 64; t++) {
		const unsigned *v = a + 8 * t, lane = t % 32, base = t - lane;
		wrong += v[0] != 100 + (lane ? t - 1 : t);
		wrong += v[1] != 100 + (t % 8 + 3 < 8 ? t + 3 : t);
		wrong += v[2] != 100 + (t ^ 5);
		wrong += v[3] != 100 + base + 7;
		wrong += v[4] != (t ^ 1);
		wrong += v[5] != 2 * (lane + 2 < 32 ? t + 2 : t) + 1;
		wrong += v[6] != (lane < 16 ? 100 + base + 15 : 0);
		wrong += v[7] != (t < 32 ? 0x49249249u : 0x92492492u);
	}
	return wrong;
}

extern "C" int
selftest_vote(void)
{
	unsigned a[6 * SIZE];
	int wrong = 0;

	if (!run(votes, 1, SIZE, 0, a, 6 * SIZE))
		return -1;
	for (unsigned t = 0; t < SIZE; t++) {
		const unsigned *v = a + 6 * t;
		wrong += v[0] != 39 || v[1] != 1 || v[2] != 0 || v[3] != 0;
		wrong += v[4] != (t / 32 == 1) || v[5] != (t >= 32);
	}
	return wrong;
}

extern "C" int
selftest_atomic(void)
{
	totals a;

	if (!run(atomics, 10, 100, 0, &a, 1))
		return -1;
	return (a.add != 499500) + (a.most != 999) + (a.least != 0) + (a.any != ~0u) +
	       (a.all != 0) + (a.odd != 0) + (a.swapped != 1000) + (a.low != -999) +
	       (a.high != 994) + (a.wide != 499500ull << 32) + (a.wide_most != 999ull << 33) +
	       (a.real != 500) + (a.precise != 250);
}

extern "C" int
selftest_fields(void)
{
	static const unsigned want[11] = {0x02ff8080u,
					  0x01fe7f01u,
					  0xff00ffffu,
					  0x00010002u,
					  0x66778811u,
					  0x88112233u,
					  8 + 100 * 15 + 10000 * 9,
					  0x3f800000u,
					  320,
					  0x77335511,
					  0xff01ffffu};
	unsigned a[11];
	int wrong = 0;

	if (!run(fields, 1, 1, 0, a, 11))
		return -1;
	for (int i = 0; i < 11; i++)
		wrong += a[i] != want[i];
	return wrong;
}
