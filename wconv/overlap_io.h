/* A picture through a plan: rows are read ahead by one thread and written behind by another while the plan runs. */
#ifndef WCONV_OVERLAP_IO_H
#define WCONV_OVERLAP_IO_H

#include "common/progress.h"
#include "common/raw.h"
#include "common/stats.h"
#include "gpu/gpu.h"
#include "wconv/wconv.h"

/*
 * Reads one picture of the current item, or takes it from where its file is mapped, if that is not NULL; writes its result.
 * g NULL: on the CPU. Dies as raw_read and raw_write do. st gets the seconds that computing took, and those that it waited
 * for rows or for room.
 */
void wconv_overlap_io(struct wconv_plan *p, const struct wconv_problem *q, struct gpu *g,
		      struct raw_in *in, const void *mapped, struct raw_out *out,
		      struct progress *bar, struct stats *st);

#endif
