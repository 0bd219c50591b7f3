/*
 * The queue of tile.cu: 16 rings of tiles. The next tile comes from the highest ring that holds one. A tile is idle, queued,
 * running, or running and owed more. So it is in one ring at most, and only one block works on it.
 *
 * Atomics order no other access to memory, so there are fences:
 *
 *	owe, finish	before the first atomic: whoever takes the tile sees what this block has written. A barrier comes first, since a
 *			fence holds for what its own thread knows of
 *	push		between the state and the slot: the next block sees what those wrote whose state was found
 *	pop		after the state is RUNNING. If owe() found QUEUED before, nobody else tells of it: then the two fences are in one
 *			order, and this block sees what that one wrote
 */
#ifndef WEIR_GPU_MORPHREC_RINGS_H
#define WEIR_GPU_MORPHREC_RINGS_H

#include "gpu/morphrec/field.h"

namespace
{

constexpr unsigned RINGS = 16, NONE = ~0u;
/* Beside the number of a tile in a ring: no block has visited it yet. */
constexpr unsigned UNSWEPT = 1u << 31;
enum { IDLE, QUEUED, RUNNING, OWED };

/* Blocks that work on different rings do not share a cache line. */
struct alignas(128) counters {
	unsigned head, tail;
};

/*
 * What a block that looks for a tile reads at once. A tile in a ring is there for one claim; count: those not claimed yet, less
 * the claims that have found none and have not been taken back yet.
 */
struct alignas(128) board {
	int count[RINGS];
	unsigned pending; /* tiles that are not idle */
};

struct rings {
	board seen;
	counters ring[RINGS];
	unsigned visits, changed;
};

struct queue {
	rings *r;
	unsigned *slot;	 /* [RINGS][cap]: tile + 1, or 0 */
	unsigned *state; /* [tiles] */
	unsigned *level; /* [tiles]: the highest ring for which it is owed something */
	unsigned cap;	 /* a power of 2, >= tiles */
};

/* Puts a tile into a ring. The slot may still hold a tile that a slower block has won but not taken out yet; then it waits. */
__device__ void
push(const queue &q, unsigned id, unsigned ring)
{
	const unsigned at = atomicAdd(&q.r->ring[ring].tail, 1u) & (q.cap - 1);

	__threadfence();
	while (atomicCAS(&q.slot[(size_t)ring * q.cap + at], 0u, id + 1) != 0)
		__nanosleep(20);
	atomicAdd(&q.r->seen.count[ring], 1);
}

/*
 * Returns the first tile of a ring, or NONE when other blocks have claimed all. No block waits for another that has not
 * been served: a loop of atomicCAS would serve one block per round trip to memory.
 */
__device__ unsigned
pop_ring(const queue &q, unsigned at)
{
	unsigned id;

	if (atomicSub(&q.r->seen.count[at], 1) <= 0) {
		atomicAdd(&q.r->seen.count[at], 1);
		return NONE;
	}
	const unsigned head = atomicAdd(&q.r->ring[at].head, 1u);
	unsigned *slot = &q.slot[(size_t)at * q.cap + (head & (q.cap - 1))];
	while (!(id = atomicExch(slot, 0u)))
		__nanosleep(20);
	return id - 1;
}

/* A tile and the ring that it was in; NONE: all tiles are idle. */
struct popped {
	unsigned id, ring;
	bool unswept;
};

/*
 * Takes the next tile, which is running from now on. By a whole warp: a lane looks at a ring, so that the highest ring with a
 * tile is known after one access to memory.
 */
__device__ popped
pop(const queue &q)
{
	const unsigned lane = threadIdx.x % 32;
	const int *const look =
	    lane < RINGS ? &q.r->seen.count[lane] : reinterpret_cast<int *>(&q.r->seen.pending);

	for (;;) {
		const bool holds = __ldcg(look) > 0;
		const unsigned seen = __ballot_sync(~0u, holds), found = seen & ((1u << RINGS) - 1);
		const unsigned highest = found ? 31 - (unsigned)__clz((int)found) : 0;
		unsigned id = NONE;
		if (lane == 0 && found)
			id = pop_ring(q, highest);
		id = __shfl_sync(~0u, id, 0);
		if (id != NONE) {
			const bool unswept = id & UNSWEPT;
			id &= ~UNSWEPT;
			if (lane == 0)
				atomicExch(&q.state[id], (unsigned)RUNNING);
			__threadfence();
			return {id, highest, unswept};
		}
		if (!seen)
			return {NONE, 0, false};
		__nanosleep(200);
	}
}

/* Notes that tile `id` has something to do in that ring. Only running tiles call this, so pending is not 0. */
__device__ void
owe(const queue &q, unsigned id, unsigned ring)
{
	__threadfence();
	atomicMax(&q.level[id], ring);
	for (;;) {
		const unsigned was = atomicCAS(&q.state[id], (unsigned)IDLE, (unsigned)QUEUED);
		if (was == IDLE) {
			atomicAdd(&q.r->seen.pending, 1u);
			push(q, id, atomicExch(&q.level[id], 0u));
		}
		if (was != RUNNING ||
		    atomicCAS(&q.state[id], (unsigned)RUNNING, (unsigned)OWED) == RUNNING)
			return;
	}
}

/* Ends the visit of a tile. */
__device__ void
finish(const queue &q, unsigned id)
{
	__threadfence();
	if (atomicCAS(&q.state[id], (unsigned)RUNNING, (unsigned)IDLE) == RUNNING) {
		atomicSub(&q.r->seen.pending, 1u);
		return;
	}
	atomicExch(&q.state[id], (unsigned)QUEUED);
	push(q, id, atomicExch(&q.level[id], 0u));
}

__device__ unsigned
ring_of(const field &f, u64 key)
{
	const u64 step = (f.hi - f.lo) / RINGS + 1;

	return key <= f.lo ? 0 : (unsigned)min((key - f.lo) / step, (u64)RINGS - 1);
}

} // namespace

#endif
