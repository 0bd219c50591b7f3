/* dptrace on the GPU: dptrace/dptrace.h. */
#ifndef WEIR_GPU_DPTRACE_H
#define WEIR_GPU_DPTRACE_H

#include "dptrace/dptrace.h"
#include "gpu/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the maximum over the links before a link is taken: O(d^2) by window, or by the paper's O(d^3). */
enum gpu_dptrace_method { GPU_DPTRACE_WINDOW, GPU_DPTRACE_D3 };

/*
 * dptrace_run() on g, shared out, as many lines at a time as its memory holds: the same bytes. A line is held whole, or it is -EIO,
 * `out of memory`. 0, -ENOMEM, or -EIO: gpu_why().
 */
int gpu_dptrace_run(struct gpu *g, struct dptrace_plan *p, enum gpu_dptrace_method method);

/* dptrace_tables() on g: the same. 0, 1, -ENOMEM, or -EIO: gpu_why(). */
int gpu_dptrace_tables(struct gpu *g, const struct dptrace_table *seg, size_t nseg, bool closed,
		       double phi, enum gpu_dptrace_method method, int *at, double *best,
		       double *margin);

#ifdef __cplusplus
}
#endif

#endif
