/* Atomics, fences, and accesses past the first-level cache; for cuda_runtime.h. */
#ifndef CUDACPU_ATOMIC_H
#define CUDACPU_ATOMIC_H

typedef unsigned long long cudacpu_u64;

/*
 * What __stcg() writes is kept from other blocks for as long as CUDA may keep it. It comes to memory with an atomic of a thread
 * that has called __threadfence() before, and that knew of the store then: it was its own, or a barrier came between. At the
 * latest it comes with the end of its block.
 *
 * late.cu: cudacpu_keep() returns false where a watcher is to see the store. cudacpu_find() gives what this block has written and
 * others may not see; false: nothing. cudacpu_late_*() are for fibers.cu: a block begins, its threads have met, it ends.
 */
void cudacpu_late_begin(void);
void cudacpu_late_meet(void);
void cudacpu_late_end(void);
bool cudacpu_keep(void *p, const void *v, unsigned bytes);
bool cudacpu_find(const void *p, void *v);
void cudacpu_fence(void);
void cudacpu_publish(void);

/* *p = f(*p), as one step; the old value. Through bits, so that floats work too. Only this load acquires: see watch.cu. */
template <class T, class F>
T
cudacpu_atomic(T *p, F f)
{
	T old, fresh;

	cudacpu_publish();
	__atomic_load(p, &old, __ATOMIC_ACQUIRE);
	do
		fresh = f(old);
	while (
	    !__atomic_compare_exchange(p, &old, &fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

#define CUDACPU_ATOMIC(name, T, expression)                                       \
	static inline T name(T *p, T v)                                           \
	{                                                                         \
		return cudacpu_atomic(p, [v](T old) -> T { return expression; }); \
	}
#define CUDACPU_ATOMICS(T)                                                                      \
	CUDACPU_ATOMIC(atomicAdd, T, old + v)                                                   \
	CUDACPU_ATOMIC(atomicMin, T, v < old ? v : old)                                         \
	CUDACPU_ATOMIC(atomicMax, T, v > old ? v : old)                                         \
	CUDACPU_ATOMIC(atomicAnd, T, old &v)                                                    \
	CUDACPU_ATOMIC(atomicOr, T, old | v)                                                    \
	CUDACPU_ATOMIC(atomicXor, T, old ^ v)                                                   \
	CUDACPU_ATOMIC(atomicExch, T, (static_cast<void>(old), v))                              \
	static inline T atomicCAS(T *p, T compare, T v)                                         \
	{                                                                                       \
		return cudacpu_atomic(p, [=](T old) -> T { return old == compare ? v : old; }); \
	}
CUDACPU_ATOMICS(int)
CUDACPU_ATOMICS(unsigned)
CUDACPU_ATOMICS(cudacpu_u64)
CUDACPU_ATOMIC(atomicSub, int, old - v)
CUDACPU_ATOMIC(atomicSub, unsigned, old - v)
CUDACPU_ATOMIC(atomicAdd, float, old + v)
CUDACPU_ATOMIC(atomicAdd, double, old + v)
CUDACPU_ATOMIC(atomicExch, float, (static_cast<void>(old), v))
#undef CUDACPU_ATOMIC
#undef CUDACPU_ATOMICS

static inline void
__threadfence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	cudacpu_fence();
}

static inline void
__threadfence_block(void)
{
	__threadfence();
}

void __nanosleep(unsigned ns);

/* Loads and stores past the first-level cache; atomic here, since other blocks may be at the same place. */
template <class T>
T
__ldcg(const T *p)
{
	T v;

	if (!cudacpu_find(p, &v))
		__atomic_load(const_cast<T *>(p), &v, __ATOMIC_RELAXED);
	return v;
}

template <class T>
void
__stcg(T *p, T v)
{
	if (!cudacpu_keep(p, &v, sizeof v))
		__atomic_store(p, &v, __ATOMIC_RELAXED);
}

template <class T>
T
__ldg(const T *p)
{
	return *p;
}

#endif
