/*
 * Gathers in batches: those of one batch share a plan. While a batch runs, one more thread writes the results of the batch
 * before and reads the next. Memory: two batches of up to 2 gathers a thread, or one gather each where gathers are large.
 *
 *	while ((b = batch_read(s))) {
 *		...plan...
 *		batch_begin_io(s);
 *		...run...
 *		batch_end_io(s);
 *		batch_write(s, b);
 *	}
 */
#ifndef RADON_STREAM_BATCH_H
#define RADON_STREAM_BATCH_H

#include "common/raw.h"
#include "common/stats.h"
#include "radon/stream/gathers.h"

enum { BATCH_GPU = 32 }; /* gathers of a batch for the GPU */

struct batch {
	struct gather *g; /* owned by the stream of batches */
	size_t n;	  /* >= 1 */
};

struct batches;

/* in, out, o and st are borrowed until batch_close(). Reading and writing are charged to st. */
struct batches *batch_open(const struct gathers_options *o, struct raw_in *in, struct raw_out *out,
			   struct stats *st);

/* The next batch, valid until batch_write(); NULL at the end of the stream. */
struct batch *batch_read(struct batches *s);

/* Between these two the results of the batch before are written and the next batch is read; with one thread, nothing is. */
void batch_begin_io(struct batches *s);
void batch_end_io(struct batches *s);

/* Hands over the results of b. They are written now, or by the next batch_begin_io(), batch_read() or batch_close(). */
void batch_write(struct batches *s, struct batch *b);

/* Counts go to the stats. */
void batch_close(struct batches *s);

#endif
