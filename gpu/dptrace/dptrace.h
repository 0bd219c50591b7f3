/* dptrace on the GPU: dptrace/dptrace.h. */
#ifndef WEIR_GPU_DPTRACE_H
#define WEIR_GPU_DPTRACE_H

#include "dptrace/dptrace.h"
#include "gpu/gpu.h"

/*
 * dptrace_run() on the devices of g, which share out the lines. The result has the same bytes. A device takes as many lines
 * at a time as its memory holds; a line that does not fit whole gives -EIO, `out of memory`. Returns 0, -ENOMEM, or -EIO:
 * see gpu_why().
 *
 * *there says whether the run before, on the same g, left the picture of p on all devices; it receives whether this one does.
 * So the tries of a plan and the plan send it once. NULL: it is sent.
 */
int gpu_dptrace_run(struct gpu *g, struct dptrace_plan *p, bool *there);

/* Tells gpu_ahead() what the first gpu_dptrace_run() on this picture will read: the picture. */
void gpu_dptrace_ahead(struct gpu *g, const struct dptrace_plan *p);

/* dptrace_tables() on g, with the same result. Returns 0, 1, -ENOMEM, or -EIO: see gpu_why(). */
int gpu_dptrace_tables(struct gpu *g, const struct dptrace_table *seg, size_t nseg, double phi,
		       enum dptrace_method method, int *at, double *best, double *margin);

#endif
