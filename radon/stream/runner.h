/*
 * Runs batches. The plan of one batch serves the next while gathers are alike. Where a batch has a gather for each thread,
 * each thread takes whole gathers; else all threads share each gather's frequencies.
 */
#ifndef RADON_STREAM_RUNNER_H
#define RADON_STREAM_RUNNER_H

#include "radon/stream/batch.h"

struct runner;

/* o and st are borrowed until runner_close(). Planning and computing are charged to st. */
struct runner *runner_open(const struct gathers_options *o, struct stats *st);

/* Plans for the gathers of b, and then runs them; both die where that fails. */
void runner_plan(struct runner *r, struct batch *b);
void runner_run(struct runner *r, struct batch *b);

/* Counts go to the stats. */
void runner_close(struct runner *r);

#endif
