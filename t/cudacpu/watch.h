/*
 * What fibers.cu tells a watcher of every access of the kernels to memory: races.cu, as make's WATCH says. The kernels are
 * compiled with -fsanitize=thread, and races.cu is their runtime library.
 */
#ifndef CUDACPU_WATCH_H
#define CUDACPU_WATCH_H

#include <cuda_runtime.h>

/* launch: from watch_launch(); stacks: of the fibers; worker: what else the scheduler has; dynamic: shared memory. */
struct watch_block {
	unsigned launch;
	size_t number;
	const char *stacks, *worker, *dynamic;
	size_t stack_bytes, worker_bytes, dynamic_bytes;
};

/* Returns a number that no earlier launch had. */
unsigned watch_launch(void) __attribute__((weak));
/* From now on, this host thread runs that block; a thread of the block, or none if it is -1. */
void watch_begin(const watch_block &b) __attribute__((weak));
void watch_run(int thread) __attribute__((weak));
/* All threads of the block have met or ended; or `lanes` of the warp whose first thread is `first`. orders: in __syncwarp(). */
void watch_open_block(void) __attribute__((weak));
void watch_open_warp(unsigned first, unsigned lanes, bool orders) __attribute__((weak));

#endif
