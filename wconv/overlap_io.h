/* Convolves one picture. While the plan runs, one thread reads the rows of later steps, and another writes results. */
#ifndef WCONV_OVERLAP_IO_H
#define WCONV_OVERLAP_IO_H

#include "common/progress.h"
#include "common/raw.h"
#include "common/stats.h"
#include "gpu/gpu.h"
#include "wconv/wconv.h"

/*
 * Reads one picture of the current item, convolves it and writes the result. mapped: the picture's samples in its mapped
 * file; NULL: the samples are read. g: the GPU; NULL: the CPU computes. Dies as raw_read() and raw_write() do.
 * st gets the seconds of computing, and the seconds that computing waited for reading and for writing.
 */
void wconv_overlap_io(struct wconv_plan *p, const struct wconv_problem *q, struct gpu *g,
		      struct raw_in *in, const void *mapped, struct raw_out *out,
		      struct progress *bar, struct stats *st);

#endif
