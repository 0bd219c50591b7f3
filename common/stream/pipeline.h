/*
 * Reading, computing and writing at the same time. Pieces of work go one after another through three stages: while piece k is
 * computed, piece k + 1 is read and piece k - 1 is written. Each stage works on one piece at a time, in their order, so what a
 * stage alone uses needs no lock. Between two stages one piece may wait, so what pieces hand on may lie in two buffers in turn.
 *
 * There are two ways to go. pipeline_run() gives each stage a thread, and the caller computes, so that its OpenMP threads serve all
 * pieces. pipeline_items() gives each item a thread that goes with it, so that the code for an item stays in one place. It is for
 * devices, which compute whichever thread calls:
 *
 *	static bool
 *	take_item(void *with)
 *	{
 *		if (!raw_next(in, &x))
 *			return false;
 *		raw_load(in, &x);
 *		pipeline_pass(PIPELINE_COMPUTE);	waits until the item before has left that stage
 *		...
 *		pipeline_pass(PIPELINE_WRITE);
 *		raw_put(out, &y);
 *		pipeline_flush(out);
 *		return true;
 *	}
 *
 * A piece that fails waits until all pieces before it are written. Then it dies with its own number, also where the next item is
 * being read already: raw_die(), raw_name() and raw_item() know the item of their thread, and stats_charge() its time.
 */
#ifndef WEIR_STREAM_PIPELINE_H
#define WEIR_STREAM_PIPELINE_H

#include "common/stream/raw.h"

enum pipeline_stage { PIPELINE_READ, PIPELINE_COMPUTE, PIPELINE_WRITE, PIPELINE_STAGES };

/* What the stages do with the next piece. */
struct pipeline_work {
	bool (*read)(void *with); /* returns false when there are no more pieces */
	void (*compute)(void *with);
	void (*write)(void *with);
	/* Called where reading a piece dies: whether what was read of it is to be computed and written first. NULL: it is not */
	bool (*rescue)(void *with);
	void *with;
	/* What is read is in memory: the caller reads, too, since to hand a piece over takes 10 us. */
	bool at_hand;
	size_t slots; /* how many pieces there may be at a time, 2 to 4 */
};

/* Does w, on threads of their own for reading and writing if `together` and there are such; otherwise one stage after the other. */
void pipeline_run(const struct pipeline_work *w, bool together);

/* For w->read: whether the computing stage has nothing to do until this piece comes. */
bool pipeline_starves(void);

/*
 * Calls item(with) until it returns false. together: on three threads, of which the caller is one, as above; in holds the
 * items. Otherwise the caller takes the items one by one, and pipeline_pass() does nothing. An item may call pipeline_run().
 */
void pipeline_items(struct raw_in *in, bool together, bool (*item)(void *with), void *with);

/* The item of this thread enters that stage. */
void pipeline_pass(enum pipeline_stage stage);

/*
 * Waits until all items before that of this thread have been written. In the first stage, the item then is the only one: what
 * several items share may be changed, and the item may be computed and written without the next one being read.
 */
void pipeline_alone(void);

/* At the end of the last stage: passes on what was written, unless a later piece waits to be written. */
void pipeline_flush(struct raw_out *out);

#endif
