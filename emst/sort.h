/* What several engines share: the order of edges, and locks. */
#ifndef WEIR_EMST_SORT_H
#define WEIR_EMST_SORT_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

struct sorted {
	uint64_t key;
	uint32_t a, b; /* moved with the key */
};

/*
 * Sorts v[n] by key, with tmp[n] as scratch; equal keys keep their order. This is a radix sort by digits of 11 bits, which
 * skips digits that are equal in all keys.
 */
void emst_sort(struct sorted *v, struct sorted *tmp, size_t n);

/* The bits of a number >= 0; as integers they have the order of the numbers. */
union sort_bits {
	float f;
	double d;
	uint32_t u32;
	uint64_t u64;
};

static inline uint64_t
sort_key_float(float x)
{
	return (union sort_bits){.f = x}.u32;
}

static inline uint64_t
sort_key_double(double x)
{
	return (union sort_bits){.d = x}.u64;
}

static inline float
sort_float(uint64_t key)
{
	return (union sort_bits){.u32 = (uint32_t)key}.f;
}

static inline double
sort_double(uint64_t key)
{
	return (union sort_bits){.u64 = key}.d;
}

/*
 * The threads of a Boruvka round share the first edge of every tree. They read the squared length without a lock, as a bound, and
 * replace it under one of LOCKS locks. The order of edges is strict, so the edge that stays does not depend on the order
 * in which threads arrive.
 */
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
