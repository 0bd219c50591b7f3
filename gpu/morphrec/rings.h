/*
 * The queue of tile.cu: 16 rings of tiles. The next tile comes from the highest ring that holds one. A tile is idle, queued,
 * running, or running and owed more. So it is in one ring at most, and only one block works on it.
 */
#ifndef WEIR_GPU_MORPHREC_RINGS_H
#define WEIR_GPU_MORPHREC_RINGS_H

#include "gpu/morphrec/field.h"

namespace
{

constexpr unsigned RINGS = 16, NONE = ~0u;
enum { IDLE, QUEUED, RUNNING, OWED };

struct rings {
	unsigned head[RINGS], tail[RINGS];
	unsigned pending; /* tiles that are not idle */
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
	const unsigned at = atomicAdd(&q.r->tail[ring], 1u) & (q.cap - 1);

	while (atomicCAS(&q.slot[(size_t)ring * q.cap + at], 0u, id + 1) != 0)
		__nanosleep(20);
}

__device__ unsigned
pop_ring(const queue &q, unsigned ring)
{
	for (;;) {
		const unsigned head = __ldcg(&q.r->head[ring]), tail = __ldcg(&q.r->tail[ring]);
		unsigned id;
		if ((int)(tail - head) <= 0)
			return NONE;
		if (atomicCAS(&q.r->head[ring], head, head + 1) != head)
			continue;
		unsigned *slot = &q.slot[(size_t)ring * q.cap + (head & (q.cap - 1))];
		while (!(id = atomicExch(slot, 0u)))
			__nanosleep(20);
		return id - 1;
	}
}

/* Takes the next tile, which is running from now on. Returns NONE when all tiles are idle. */
__device__ unsigned
pop(const queue &q, unsigned *ring)
{
	for (;;) {
		for (unsigned k = RINGS; k--;) {
			const unsigned id = pop_ring(q, k);
			if (id == NONE)
				continue;
			*ring = k;
			atomicExch(&q.state[id], (unsigned)RUNNING);
			__threadfence();
			return id;
		}
		if (__ldcg(&q.r->pending) == 0)
			return NONE;
		__nanosleep(200);
	}
}

/* Notes that tile `id` has something to do in that ring. Only running tiles call this, so pending is not 0. */
__device__ void
owe(const queue &q, unsigned id, unsigned ring)
{
	atomicMax(&q.level[id], ring);
	for (;;) {
		const unsigned was = atomicCAS(&q.state[id], (unsigned)IDLE, (unsigned)QUEUED);
		if (was == IDLE) {
			atomicAdd(&q.r->pending, 1u);
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
	if (atomicCAS(&q.state[id], (unsigned)RUNNING, (unsigned)IDLE) == RUNNING) {
		atomicSub(&q.r->pending, 1u);
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
