/*
 * Gathers in batches. While the threads work on one batch, one more writes the batch before and reads the next. The gathers
 * of a batch share a plan. Where a batch has a gather for each thread, each thread takes whole gathers; else all threads
 * share each gather's frequencies. Memory: two batches of up to 2 gathers a thread, or one where gathers are large.
 */
#ifndef RADON_BATCH_H
#define RADON_BATCH_H

#include "common/raw.h"
#include "common/stats.h"
#include "radon/gathers.h"

/* All gathers of in to out. */
void batch_all(const struct gathers_options *o, struct raw_in *in, struct raw_out *out,
	       struct stats *st);

#endif
