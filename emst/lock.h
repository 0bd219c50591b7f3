/*
 * The threads of a Boruvka round share the first edge of every tree. They read the squared length without a lock, as a bound, and
 * replace it under one of LOCKS locks. The order of edges is strict, so the edge that stays does not depend on the order
 * in which threads arrive.
 */
#ifndef WEIR_EMST_LOCK_H
#define WEIR_EMST_LOCK_H

#include <sched.h>
#include <stdint.h>

enum { LOCKS = 4096 };

static inline void
lock_take(unsigned char locks[LOCKS], uint32_t i)
{
	while (__atomic_exchange_n(&locks[i % LOCKS], 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline void
lock_give(unsigned char locks[LOCKS], uint32_t i)
{
	__atomic_store_n(&locks[i % LOCKS], 0, __ATOMIC_RELEASE);
}

#endif
