/*
 * Every access of the kernels to memory, for what watches them: races.cu or traffic.cu, as make's WATCH says. The kernels are
 * compiled with -fsanitize=thread, and watch.cu is their runtime library.
 */
#ifndef CUDACPU_WATCH_H
#define CUDACPU_WATCH_H

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <string>
#include <vector>

/* launch: from watch_launch(); stacks: of the fibers; worker: what else the scheduler has; dynamic: shared memory. */
struct watch_block {
	const void *kernel;
	unsigned launch;
	size_t number;
	const char *stacks, *worker, *dynamic;
	size_t stack_bytes, worker_bytes, dynamic_bytes;
};

/* What an access does. Atomics, __ldcg() and __stcg() are strong. */
enum { READ = 1, WRITE = 2, STRONG_READ = 4, STRONG_WRITE = 8 };

/* code: the place of the instruction, counted from the program's start. */
struct watch_access {
	uintptr_t at;
	unsigned bytes, is, code;
	bool shared;
};

/* --- fibers.cu calls these, where there is a watcher ---------------------------------------------------------------- */

/* Returns a number that no earlier launch had. */
unsigned watch_launch(void) __attribute__((weak));
/* From now on, this host thread runs that block; a thread of the block, or none if it is -1. */
void watch_begin(const watch_block &b) __attribute__((weak));
void watch_run(int thread) __attribute__((weak));
/* All threads of the block have met or ended; or `lanes` of the warp whose first thread is `first`. orders: in __syncwarp(). */
void watch_open_block(void) __attribute__((weak));
void watch_open_warp(unsigned first, unsigned lanes, bool orders) __attribute__((weak));

/* --- the watcher has these, beside the last two --------------------------------------------------------------------- */

void watcher_begin(const watch_block &b);
void watcher_see(const watch_access &a, unsigned thread);
void watcher_fence(unsigned thread);

/* --- for the watcher ------------------------------------------------------------------------------------------------ */

/* "function at file:line" of each code; the line of the kernel, where a function of t/cudacpu is inlined there. */
std::vector<std::string> watch_lines(const std::vector<unsigned> &codes);
unsigned watch_code(const void *function);

/* Returns *slot, which is made of `bytes` zeros when it is first asked for. */
template <class T>
T *
watch_grown(T **slot, size_t bytes)
{
	T *p = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	if (p)
		return p;
	void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED)
		abort();
	if (__atomic_compare_exchange_n(slot, &p, static_cast<T *>(fresh), false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return static_cast<T *>(fresh);
	munmap(fresh, bytes);
	return p;
}

/* What is remembered of each UNIT bytes of memory; zeros at first. */
template <class T, unsigned UNIT> struct shadow {
	static constexpr unsigned ROOTS = 1 << 17, BRANCHES = 1 << 18, PAGE = 4096;
	struct page {
		T unit[PAGE / UNIT];
	};
	page **root[ROOTS];

	T *
	of(uintptr_t at)
	{
		page **const branch =
		    watch_grown(&root[at >> 30 & (ROOTS - 1)], BRANCHES * sizeof(page *));

		return &watch_grown(&branch[at >> 12 & (BRANCHES - 1)], sizeof(page))
			    ->unit[at % PAGE / UNIT];
	}
};

#endif
