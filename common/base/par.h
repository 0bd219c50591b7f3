/*
 * Threads. This is the only file that includes omp.h. Idle threads wait for some microseconds and then sleep (libgomp's default
 * waiting for 3 ms turned .3 ms of work into 20-70 ms on a busy host): par.c sets OMP_WAIT_POLICY=passive and GOMP_SPINCOUNT
 * before the OpenMP library starts.
 *
 * A stage has one parallel region, on the outermost independent loop, with num_threads(p->threads). Work that is too small
 * to share stays on one thread. The result has the same bytes for any number of threads.
 */
#ifndef WEIR_BASE_PAR_H
#define WEIR_BASE_PAR_H

#if defined _OPENMP && defined __cplusplus
extern "C++" { /* C++ reads this file as C, and omp.h has templates from gcc 15 on */
#include <omp.h>
}
#elif defined _OPENMP
#include <omp.h>
#else
static inline int
omp_get_thread_num(void)
{
	return 0;
}
#endif

#include <stddef.h>

/*
 * Returns the number of threads to use: asked if > 0, else OMP_NUM_THREADS, else the processors that this process is granted
 * (limits.h). It is never more than OMP_THREAD_LIMIT.
 */
int par_threads(int asked);

/*
 * Starts the threads of later regions while this one still has work of its own to do. A kernel may leave a new thread on the
 * processor of its parent for milliseconds; here it has the time to move it.
 */
void par_start(int threads);

/* memcpy() by up to four threads, which is faster than one for megabytes. */
void par_copy(void *to, const void *from, size_t n);

#endif
