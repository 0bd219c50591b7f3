/* What fibers.cu tells races.cu, which only `make races` links. */
#ifndef CUDACPU_RACES_H
#define CUDACPU_RACES_H

#include <cuda_runtime.h>

/* launch: from races_launch(); stacks: of the fibers; dynamic: shared memory. */
struct races_block {
	unsigned launch;
	size_t number;
	const char *stacks, *dynamic;
	size_t stack_bytes, dynamic_bytes;
};

/* Returns a number that no earlier launch had. */
unsigned races_launch(void) __attribute__((weak));
/* From now on, this host thread runs that block; a thread of the block, or none if it is -1. */
void races_begin(const races_block &b) __attribute__((weak));
void races_run(int thread) __attribute__((weak));
/* All threads of the block have met; or `lanes` of the warp whose first thread is `first`, in __syncwarp(). */
void races_open_block(void) __attribute__((weak));
void races_open_warp(unsigned first, unsigned lanes) __attribute__((weak));

#endif
