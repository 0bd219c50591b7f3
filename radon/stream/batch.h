/*
 * Reads and writes gathers in batches: see common/stream/pipeline.h. The gathers of one batch share a plan. Two batches are in
 * memory. Each has up to 2 gathers a thread, or up to BATCH_GPU gathers for the GPU. Large gathers make smaller batches. The first
 * batch is at most half as long, so that computing begins early. With one thread on the CPU, and when lsq has a NU for each gather,
 * a batch is one gather. When the writer of a pipe pauses, a batch ends, and results are written. Bad input ends the process when
 * the results before it are written.
 */
#ifndef WEIR_RADON_STREAM_BATCH_H
#define WEIR_RADON_STREAM_BATCH_H

#include "common/base/stats.h"
#include "common/stream/raw.h"
#include "radon/stream/gathers.h"

struct batch {
	struct gather *g; /* owned by the stream of batches */
	size_t n;	  /* >= 1 */
};

struct batches;

/* in, out, o and st are borrowed until batch_close(). Reading and writing are charged to st. */
struct batches *batch_open(const struct gathers_options *o, struct raw_in *in, struct raw_out *out,
			   struct stats *st);

/* Whether batches are read and written on threads of their own: not with one thread on the CPU. */
bool batch_threads(const struct batches *s);

/* The three stages: reads the next batch, returns the next one to be computed, writes the next one. false: there are no more. */
bool batch_read(struct batches *s);
struct batch *batch_next(struct batches *s);
void batch_write(struct batches *s);

/* Where the next gather of a batch is bad: whether there are gathers before it, which are a batch then. */
bool batch_rescue(const struct batches *s);

/* Adds the counts to the stats and frees s. */
void batch_close(struct batches *s);

/*
 * Runs batches. The plan of one batch serves the next batch when the gathers are alike. When a batch has at least as many
 * gathers as there are threads, each thread takes whole gathers. Otherwise all threads share the frequencies of each gather.
 */

struct runner;

/* o and st are borrowed until runner_close(). Planning and computing are charged to st. */
struct runner *runner_open(const struct gathers_options *o, struct stats *st);

/* Plan for the gathers of b, and run them. Both die when that fails. */
void runner_plan(struct runner *r, struct batch *b);
void runner_run(struct runner *r, struct batch *b);

/* Adds the count of plans to the stats and frees r. */
void runner_close(struct runner *r);

#endif
