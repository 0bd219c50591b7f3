/*
 * Runs batches. The plan of one batch serves the next batch when the gathers are alike. When a batch has at least as many
 * gathers as there are threads, each thread takes whole gathers. Otherwise all threads share the frequencies of each gather.
 */
#ifndef RADON_STREAM_RUNNER_H
#define RADON_STREAM_RUNNER_H

#include "radon/stream/batch.h"

struct runner;

/* o and st are borrowed until runner_close(). Planning and computing are charged to st. */
struct runner *runner_open(const struct gathers_options *o, struct stats *st);

/* Plan for the gathers of b, and run them. Both die when that fails. */
void runner_plan(struct runner *r, struct batch *b);
void runner_run(struct runner *r, struct batch *b);

/* Adds the count of plans to the stats and frees r. */
void runner_close(struct runner *r);

#endif
