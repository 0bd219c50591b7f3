/*
 * The share of --part=I/N of a program that processes slices of items one by one: gathers, pictures, or whole items. The
 * slices of all items are numbered on, and each share has consecutive ones.
 *
 *	slices_open(&s, &args.common, hash, in, count, NULL);
 *	while (raw_next(in, &x)) {
 *		if (slices_over(&s, in)) break;
 *		if (!slices_of(&s, in, &from, &to)) continue;
 *		raw_skip() what comes before slice `from`, process the slices from .. to - 1
 *		slices_set(&s, in, &y, axis); raw_head(out, &y);
 *	}
 *	slices_close(&s, out);
 *
 * Without the option, the share is the whole, and nothing is read in advance.
 */
#ifndef WEIR_STREAM_SLICES_H
#define WEIR_STREAM_SLICES_H

#include "common/base/opt.h"
#include "common/stream/part.h"
#include "common/stream/raw.h"
#include "common/stream/relay.h"

struct slices {
	const struct opt_common *o; /* borrowed */
	uint64_t hash;
	size_t items, *before; /* [items + 1]: the slices before each item; owned */
	size_t first, end;     /* the slices of the share */
	size_t skipped;	       /* items at the beginning of the input that have no slices */
	size_t piece, pieces;
	struct img empty; /* what a share without slices writes; owned */
	/* what slices_take() notes for slices_keys(): of an item by its number, since items may be in all stages of a relay */
	struct part_place place[RELAY_STAGES];
};

/*
 * Reads all headers of in, of which nothing has been read, and begins again. count() returns how many slices an item has,
 * from 1 on; 0 is allowed for items at the beginning, which are in every share and have no results. with is
 * passed to it. hash: the fingerprint.
 */
void slices_open(struct slices *s, const struct opt_common *o, uint64_t hash, struct raw_in *in,
		 size_t (*count)(const void *with, const struct img *x), const void *with);

/* Whether the share ends before the current item of in. */
bool slices_over(const struct slices *s, const struct raw_in *in);

/*
 * Finds the slices *from .. *to - 1 of the current item that are in the share, and returns whether there are any. n: how many
 * slices the item has.
 */
bool slices_of(const struct slices *s, const struct raw_in *in, size_t n, size_t *from, size_t *to);

/*
 * Sets the keys of y, the header of the result of all slices of the current item, and leaves those of the share along the
 * axis. axis < 0: the item is one slice.
 */
void slices_set(struct slices *s, const struct raw_in *in, struct img *y, int axis);

/*
 * Does all this for a program whose result has the axes of its input. Leaves the slices of the share in x, the header of the
 * current item, of which nothing has been read: raw_load() and raw_try_map() then give these alone. Returns whether there are
 * any. slices_keys() sets the keys of the result y; within a relay, in a later stage of the item.
 */
bool slices_take(struct slices *s, struct raw_in *in, struct img *x, int axis);
void slices_keys(struct slices *s, const struct raw_in *in, struct img *y);

/* Frees what s owns. */
void slices_free(struct slices *s);

/* Writes the pixel of an empty share, and frees what s owns. */
void slices_close(struct slices *s, struct raw_out *out);

#endif
