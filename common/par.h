/*
 * Threads. This is the only file that includes omp.h. Idle threads sleep instead of spinning (libgomp's default spinning turned
 * .3 ms of work into 20-70 ms on a busy host): par.c sets OMP_WAIT_POLICY=passive before the OpenMP library starts.
 *
 * The house rule: one parallel region per stage, on the outermost independent loop, num_threads(p->threads); work too
 * small to share stays on one thread; the same bytes for any number of threads.
 */
#ifndef WEIR_PAR_H
#define WEIR_PAR_H

#ifdef _OPENMP
#include <omp.h>
#else
static inline int
omp_get_thread_num(void)
{
	return 0;
}
#endif

/*
 * Threads to use: asked if > 0, else OMP_NUM_THREADS, else the processors that this process is granted (limits.h); never
 * more than OMP_THREAD_LIMIT.
 */
int par_threads(int asked);

#endif
