/* Barriers, shuffles and votes; for cuda_runtime.h. */
#ifndef CUDACPU_WARP_H
#define CUDACPU_WARP_H

/* The calls that may meet: of __syncthreads() those of a line, of a named barrier all of that name. */
constexpr unsigned CUDACPU_NAMED = 1u << 31;
/* The barrier of the block; the number of threads that came with a true. counts: somebody asks; then all must. */
unsigned cudacpu_barrier(unsigned where, bool counts, bool vote);
/* Ends the program unless there is such a barrier of such a number of threads. */
void cudacpu_check_named(unsigned id, unsigned count);
/* Why lanes meet. What they did to memory before is seen by the others after CUDACPU_SYNC alone. */
enum cudacpu_meeting { CUDACPU_SYNC, CUDACPU_SHUFFLE, CUDACPU_VOTE };
unsigned cudacpu_lane(void);
/*
 * The barrier of the lanes in mask, all of which must be there for the same; what each of the 32 lanes brought. from: the lane
 * of which the caller takes it, in mask too.
 */
const uint64_t *
cudacpu_exchange(unsigned mask, uint64_t v, cudacpu_meeting why, unsigned from = cudacpu_lane());

static inline void
__syncthreads(unsigned line = __builtin_LINE())
{
	cudacpu_barrier(line, false, false);
}

static inline int
__syncthreads_count(int p, unsigned line = __builtin_LINE())
{
	return (int)cudacpu_barrier(line, true, p != 0);
}

static inline int
__syncthreads_or(int p, unsigned line = __builtin_LINE())
{
	return cudacpu_barrier(line, true, p != 0) > 0;
}

static inline int
__syncthreads_and(int p, unsigned line = __builtin_LINE())
{
	return cudacpu_barrier(line, true, p == 0) == 0;
}

/* Barrier `id`, which threads may reach at different places of the code. */
static inline void
__barrier_sync_count(unsigned id, unsigned count)
{
	cudacpu_check_named(id, count);
	cudacpu_barrier(CUDACPU_NAMED | id, false, false);
}

static inline void
__syncwarp(unsigned mask = ~0u)
{
	cudacpu_exchange(mask, 0, CUDACPU_SYNC);
}

static inline unsigned
__ballot_sync(unsigned mask, int p)
{
	const uint64_t *v = cudacpu_exchange(mask, p != 0, CUDACPU_VOTE);
	unsigned r = 0;

	for (unsigned i = 0; i < 32; i++)
		r |= (mask >> i & 1 & (unsigned)v[i]) << i;
	return r;
}

static inline int
__any_sync(unsigned mask, int p)
{
	return __ballot_sync(mask, p) != 0;
}

static inline int
__all_sync(unsigned mask, int p)
{
	return __ballot_sync(mask, !p) == 0;
}

template <class T>
T
cudacpu_from(unsigned mask, T v, unsigned lane)
{
	static_assert(sizeof v <= 8, "a shuffle moves at most 8 bytes");
	uint64_t bits = 0;

	memcpy(&bits, &v, sizeof v);
	memcpy(&v, cudacpu_exchange(mask, bits, CUDACPU_SHUFFLE, lane) + lane, sizeof v);
	return v;
}

/* Lanes in groups of width, a power of two; a source beyond the group is the lane itself. */
template <class T>
T
__shfl_sync(unsigned mask, T v, int lane, int width = 32)
{
	const unsigned me = cudacpu_lane(), w = (unsigned)width;

	return cudacpu_from(mask, v, (me & ~(w - 1)) | ((unsigned)lane & (w - 1)));
}

template <class T>
T
__shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	const unsigned me = cudacpu_lane(), at = me & ((unsigned)width - 1);

	return cudacpu_from(mask, v, at >= delta ? me - delta : me);
}

template <class T>
T
__shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	const unsigned me = cudacpu_lane(), at = me & ((unsigned)width - 1);

	return cudacpu_from(mask, v, at + delta < (unsigned)width ? me + delta : me);
}

template <class T>
T
__shfl_xor_sync(unsigned mask, T v, int bits, int width = 32)
{
	const unsigned me = cudacpu_lane(), w = (unsigned)width, to = me ^ (unsigned)bits;

	return cudacpu_from(mask, v, (to & ~(w - 1)) > (me & ~(w - 1)) ? me : to);
}

#endif
