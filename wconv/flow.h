/* An item in steps: samples of later steps are read and results are written while one is computed, where an item is large enough. */
#ifndef WEIR_WCONV_FLOW_H
#define WEIR_WCONV_FLOW_H

#include "common/base/stats.h"
#include "common/stream/raw.h"

/* How many samples of the item a step takes, and how many samples of the result it gives. */
struct wconv_samples {
	size_t in, out;
};

/* An item that is processed in steps, one after the other. */
struct wconv_flow {
	/* the header of the result; it is written just before the first results */
	const struct img *head;
	/* all samples of the item in their mapped file; NULL: they are read */
	const char *mapped;
	/* run() loads the pages of the mapped file on several threads. Else a thread of their own loads those of later steps */
	bool loads;
	/* bytes of a sample of the item, of the result */
	size_t in_size, out_size;
	size_t steps;
	/* tells the samples of step i */
	struct wconv_samples (*samples)(const void *with, size_t i);
	/* the largest in and the largest out of all steps */
	struct wconv_samples most;
	/* does the next step */
	void (*run)(void *with, const void *in, void *out);
	/* NULL, or tell that the samples of a later step are at in; and wait until the results of a step have come to out */
	void (*ahead)(void *with, const void *in, size_t bytes);
	void (*arrive)(void *with, const void *out, size_t bytes);
	void *with;
};

struct wconv_io;

/* in, out and st are borrowed until wconv_io_end(). */
struct wconv_io *wconv_io_start(struct raw_in *in, struct raw_out *out, struct stats *st);

/*
 * Runs all steps of the current item of in, and writes their results. Results leave as soon as they are computed, unless more
 * input is already there. Dies as raw_read() and raw_write() do.
 */
void wconv_io_run(struct wconv_io *io, const struct wconv_flow *f, struct progress *bar);

void wconv_io_end(struct wconv_io *io);

#endif
