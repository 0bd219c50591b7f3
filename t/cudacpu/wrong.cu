/* Kernels with the faults that t/cudacpu is there to find. */
#include "t/cudacpu/wrong.h"

namespace
{

constexpr unsigned N = 96;

/* Each thread reads its neighbour's word: the one before it, which is stale when the fibers go backward. */
__global__ void
no_barrier(unsigned *stale)
{
	__shared__ unsigned s[N];
	const unsigned t = threadIdx.x;

	s[t] = 0;
	__syncthreads();
	s[t] = 1;
	if (s[(t + N - 1) % N] != 1)
		atomicAdd(stale, 1u);
}

__global__ void
barrier_of_some(unsigned *a)
{
	if (threadIdx.x % 32 < 16)
		__syncthreads();
	else
		__syncwarp();
	a[0] = 1;
}

/* A lane reads what its neighbour wrote; only __syncwarp() lets it. */
template <bool together>
__global__ void
hand_on(unsigned *a)
{
	__shared__ unsigned s[32];
	const unsigned t = threadIdx.x;

	s[t] = t;
	if (together)
		__syncwarp();
	a[t] = __shfl_sync(~0u, t, 0) + s[t ^ 1];
}

/* A block leaves a word, and then a flag, for the other one, whichever comes first. */
template <bool fenced>
__global__ void
leave(unsigned *a)
{
	const unsigned me = blockIdx.x;

	a[me] = 1 + me;
	if (fenced)
		__threadfence();
	if (atomicAdd(&a[2], 1u) == 1) {
		__threadfence();
		a[3] = __ldcg(&a[!me]);
	}
}

/*
 * Thread 1 leaves a word, and thread 0 tells other blocks of it. They see the word for sure if thread 0 calls __threadfence() after
 * the barrier. A plain load shows here what they may see.
 */
template <bool fenced>
__global__ void
tell_of(unsigned *a)
{
	if (threadIdx.x == 1) {
		__stcg(&a[1], 1u);
		if (!fenced)
			__threadfence();
	}
	__syncthreads();
	if (threadIdx.x)
		return;
	if (fenced)
		__threadfence();
	atomicAdd(&a[2], 1u);
	a[0] = *static_cast<volatile unsigned *>(&a[1]);
}

/* All blocks change one word. */
template <bool atomic>
__global__ void
count(unsigned *a)
{
	if (atomic)
		atomicAdd(a, 1u);
	else
		a[0]++;
}

__global__ void
read_unset(unsigned *a)
{
	__shared__ volatile unsigned s[32];

	a[threadIdx.x] = s[threadIdx.x];
}

/* Whether a kernel has races. */
bool
is_racy(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	run(kernel, grid, block);
	return cudacpu_races() > 0;
}

} // namespace

int
wrong_without_barrier(void)
{
	return (int)run(no_barrier, 1, N);
}

int
wrong_fence(int with)
{
	return run(with ? tell_of<false> : tell_of<true>, 1, 2) != 1;
}

void
wrong_barrier_of_some(void)
{
	run(barrier_of_some, 1, N);
}

int
wrong_races(int with)
{
	return with ? is_racy(hand_on<false>, 1, 32) + is_racy(leave<false>, 2, 1) +
			  is_racy(count<false>, 2, 1) + is_racy(read_unset, 1, 32)
		    : is_racy(hand_on<true>, 1, 32) + is_racy(leave<true>, 2, 1) +
			  is_racy(count<true>, 2, 1);
}
