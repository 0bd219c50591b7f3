/*
 * The option --part=I/N: the I-th of N shares of a program's work. The shares in order are the whole, byte by byte.
 *
 * What a share writes carries two keys, from which rawjoin(1) makes the whole again:
 *
 *	part:=I/N FINGERPRINT		the share, and 16 hexadecimal digits that tell the whole from any other
 *	place:=K/ITEMS J/PIECES [pnm] [tile] [empty] A:FIRST/TOTAL[@MIN] ...
 *		This is piece J of PIECES of the share. It is of item K of ITEMS in the whole's stream. Along axis A, the item
 *		holds samples from FIRST on, of TOTAL; MIN is the axis min of the whole. pnm: the whole is PNM. tile: the whole
 *		has the key tile:=.
 *
 * The samples of such an item lie one after the other in the whole. A share that has nothing to do writes one item of one
 * pixel; `empty` says that it is not in the whole. So every filter passes it on.
 */
#ifndef WEIR_STREAM_SHARE_H
#define WEIR_STREAM_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/opt.h"
#include "common/base/why.h"
#include "common/stream/img.h"
#include "common/stream/pipeline.h"
#include "common/stream/raw.h"

/*
 * Share p of `units` units of work has the units *first .. *end - 1. The units of all shares, in order, are 0 .. units - 1.
 * A share has no units where there are fewer units than shares. Without the option, one share has all units.
 */
void share_range(const struct share *p, size_t units, size_t *first, size_t *end);

/* --- fingerprints ------------------------------------------------------------------------------------------------ */

/*
 * The fingerprint is a hash of what all shares have in common. share_begin() takes the program, its version and its own
 * options, as history:= has them. Then share_hash_file() takes each input file: its size, and 64 blocks of 4 KiB that are
 * spread evenly from its first to its last byte.
 */
uint64_t share_begin(const struct opt_common *o);

/* NULL and "-" are stdin, whose position does not change. Dies when the file is not a regular file. */
uint64_t share_hash_file(uint64_t hash, const char *path);

/* Does the same for a list of files. An empty list is stdin. */
uint64_t share_hash_files(uint64_t hash, char *const *path, size_t npath);

/* --- the keys ---------------------------------------------------------------------------------------------------- */

struct share_cut {
	int axis;
	size_t first, total;
	double min; /* of the whole; NaN: none */
};

enum { SHARE_CUTS = 2 };

struct share_place {
	size_t item, items, piece, pieces;
	bool pnm, tile, empty;
	size_t ncut;
	struct share_cut cut[SHARE_CUTS]; /* from the slowest axis on */
};

/* Leaves n samples of an axis of y, from `first` on, and notes this in place. */
void share_cut(struct img *y, struct share_place *place, int axis, size_t first, size_t n);

/* Sets the keys of y. */
void
share_set(struct img *y, const struct share *p, uint64_t hash, const struct share_place *place);

/* Sets the keys of y, and makes it the one pixel that an empty share writes. */
void share_set_empty(struct img *y, const struct share *p, uint64_t hash, size_t items);

/* Whether x carries the key part:= */
bool share_is(const struct img *x);

/* Whether x and y hold the same samples of their wholes: neither is a share, or both have the same cuts. */
bool share_same(const struct img *x, const struct img *y);

/* Reads the keys of x, which are checked against its sizes. Returns 0 or -1. */
int share_of(const struct img *x, struct share *p, uint64_t *hash, struct share_place *place,
	     struct why *why);

/* Makes the description of the share x that of the whole item: its sizes, positions and keys. */
void share_restore(struct img *x, const struct share_place *place);

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

struct slices {
	const struct opt_common *o; /* borrowed */
	uint64_t hash;
	size_t items, *before; /* [items + 1]: the slices before each item; owned */
	size_t first, end;     /* the slices of the share */
	size_t skipped;	       /* items at the beginning of the input that have no slices */
	size_t piece, pieces;
	struct img empty; /* what a share without slices writes; owned */
	/* what slices_take() notes for slices_keys(): of an item by its number, since items may be in all stages of a pipeline */
	struct share_place place[PIPELINE_STAGES];
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

/* The place of the next piece of the share, of which y is the header before anything is cut from it. */
struct share_place slices_place(struct slices *s, const struct raw_in *in, const struct img *y);

/*
 * Sets the keys of y, the header of the result of all slices of the current item, and leaves those of the share along the
 * axis. axis < 0: the item is one slice.
 */
void slices_set(struct slices *s, const struct raw_in *in, struct img *y, int axis);

/*
 * Does all this for a program whose result has the axes of its input. Leaves the slices of the share in x, the header of the
 * current item, of which nothing has been read: raw_load() and raw_try_map() then give these alone. Returns whether there are
 * any. slices_keys() sets the keys of the result y; within a pipeline, in a later stage of the item.
 */
bool slices_take(struct slices *s, struct raw_in *in, struct img *x, int axis);
void slices_keys(struct slices *s, const struct raw_in *in, struct img *y);

/* Frees what s owns. */
void slices_free(struct slices *s);

/* Writes the pixel of an empty share, and frees what s owns. */
void slices_close(struct slices *s, struct raw_out *out);

#endif
