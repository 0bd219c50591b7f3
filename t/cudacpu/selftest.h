/* Kernels that test what the twins rely on (selftest.cu), and kernels that are wrong (wrong.cu, only under t/cudacpu). */
#ifndef CUDACPU_SELFTEST_H
#define CUDACPU_SELFTEST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of wrong results, or -1: the device failed. */
int selftest_grid(void);
int selftest_barrier(void);
int selftest_shuffle(void);
int selftest_vote(void);
int selftest_atomic(void);
int selftest_fields(void);
int selftest_scan(void);
int selftest_sort(void);
int selftest_dot(void);
int selftest_rates(void);
int selftest_fft(void);
int selftest_plan(void);
int selftest_streams(void);
int selftest_graph(void);
int selftest_copies(void);
int selftest_settle(void);
int selftest_room(void);

/* How many devices there are; NULL on a GPU. */
void cudacpu_devices(int n) __attribute__((weak));

/* The number of wrong results when a stream hands data to another with only these of its three waits. */
enum { SELFTEST_REFILL = 1, SELFTEST_KEPT = 2, SELFTEST_ARRIVED = 4, SELFTEST_WAITS = 7 };
int selftest_waits(unsigned waits);

/* The places, of those in which gpu/fft.cu shall look for cuFFT, where it does not find it. */
int wrong_search(void) __attribute__((weak));

/* What gpu_fft() says when cuFFT cannot be loaded. */
const char *wrong_without_cufft(void) __attribute__((weak));

/* Threads that read what another one has not written yet, since a barrier is missing; with it there are none. */
int wrong_without_barrier(void) __attribute__((weak));

/* Whether other blocks may miss a word of which they are told: by the wrong thread's fence, or by the right one's. */
int wrong_fence(int with) __attribute__((weak));

/*
 * The races found since the last call (races.cu); of three kernels as they should be, or of four with a race each, those
 * where one was.
 */
int cudacpu_races(void) __attribute__((weak));
int wrong_races(int with) __attribute__((weak));

/*
 * What warps asked of memory since the last call (traffic.cu). accesses of warps, and their lanes. sectors of global memory;
 * least: those that the bytes would fill; of_blocks, of_launches: those that a block, a launch had not touched before. turns of
 * shared memory, and the least.
 */
struct cudacpu_traffic {
	size_t accesses, lanes, sectors, least, of_blocks, of_launches, turns, least_turns;
};
struct cudacpu_traffic cudacpu_traffic(void) __attribute__((weak));
/* How many planted kernels were counted wrong; the first of them, 0 if none. */
int wrong_traffic(int *first) __attribute__((weak));

/* Whether these are refused. */
int wrong_stream(void) __attribute__((weak));
int wrong_copy(void) __attribute__((weak));
int wrong_shared(void) __attribute__((weak));
int wrong_capture(void) __attribute__((weak));

/* These abort. */
void wrong_barrier_of_some(void) __attribute__((weak));
void wrong_beyond(void) __attribute__((weak));
void wrong_freed(void) __attribute__((weak));
void wrong_free(void) __attribute__((weak));
void wrong_host_pointer(void) __attribute__((weak));
void wrong_host_touch(void) __attribute__((weak));

/* These too, where all accesses are watched. */
void wrong_hidden_pointer(void) __attribute__((weak));
void wrong_alignment(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
