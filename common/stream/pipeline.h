/*
 * Items one after another through three stages: while item k is computed, item k + 1 is read and item k - 1 is written. A
 * thread takes an item through all stages, so the code for an item stays in one place:
 *
 *	static bool
 *	take_item(void *with)
 *	{
 *		if (!raw_next(in, &x))
 *			return false;
 *		raw_load(in, &x);
 *		relay_pass(RELAY_COMPUTE);	waits until the item before has left that stage
 *		...
 *		relay_pass(RELAY_WRITE);
 *		raw_put(out, &y);
 *		relay_flush(out);
 *		return true;
 *	}
 *
 * Each stage holds one item at a time, in the order of the stream. An item leaves a stage when it enters the next one. What a
 * stage alone uses needs no lock. What an item hands from stage to stage must be its own.
 *
 * An item that fails waits until all items before it are written. Then it dies with its own number, also where the next item
 * is being read already. raw_die(), raw_name(), raw_item() and stats_charge() know the item of their thread.
 */
#ifndef WEIR_STREAM_PIPELINE_H
#define WEIR_STREAM_PIPELINE_H

#include "common/stream/raw.h"

enum relay_stage { RELAY_READ, RELAY_COMPUTE, RELAY_WRITE, RELAY_STAGES };

/*
 * Calls item(with) until it returns false. together: on three threads, of which the caller is one, as above; in holds the
 * items. Otherwise the caller takes the items one by one, and relay_pass() does nothing. There is one relay at a time.
 */
void relay_run(struct raw_in *in, bool together, bool (*item)(void *with), void *with);

/* The item of this thread enters that stage. */
void relay_pass(enum relay_stage stage);

/*
 * Waits until all items before that of this thread have been written. In the first stage, the item then is the only one: what
 * several items share may be changed, and the item may be computed and written without the next one being read.
 */
void relay_alone(void);

/* At the end of its last stage: passes on what was written, unless a later item is at work already. */
void relay_flush(struct raw_out *out);

#endif
