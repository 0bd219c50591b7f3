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
#ifndef WEIR_STREAM_PART_H
#define WEIR_STREAM_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/img.h"

struct opt_common;

/* Share i of n, 0 <= i < n. n == 0: the option is not given. */
struct part {
	size_t i, n;
};

enum { PART_MOST = 1000000 }; /* the largest n */

/* Reads text, "I/N". Returns false when it is anything else, or I is not below N. Pure. */
bool part_parse(const char *text, struct part *p);

/*
 * Share p of `units` units of work has the units *first .. *end - 1. The units of all shares, in order, are 0 .. units - 1.
 * A share has no units where there are fewer units than shares. Without the option, one share has all units.
 */
void part_range(const struct part *p, size_t units, size_t *first, size_t *end);

/* --- fingerprints ------------------------------------------------------------------------------------------------ */

/*
 * The fingerprint is a hash of what all shares have in common. part_begin() takes the program, its version and its own
 * options, as history:= has them. Then part_hash_file() takes each input file: its size, and 64 blocks of 4 KiB that are
 * spread evenly from its first to its last byte.
 */
uint64_t part_begin(const struct opt_common *o);

/* NULL and "-" are stdin, whose position does not change. Dies when the file is not a regular file. */
uint64_t part_hash_file(uint64_t hash, const char *path);

/* Does the same for a list of files. An empty list is stdin. */
uint64_t part_hash_files(uint64_t hash, char *const *path, size_t npath);

/* --- the keys ---------------------------------------------------------------------------------------------------- */

struct part_cut {
	int axis;
	size_t first, total;
	double min; /* of the whole; NaN: none */
};

enum { PART_CUTS = 2 };

struct part_place {
	size_t item, items, piece, pieces;
	bool pnm, tile, empty;
	size_t ncut;
	struct part_cut cut[PART_CUTS]; /* from the slowest axis on */
};

/* Leaves n samples of an axis of y, from `first` on, and notes this in place. */
void part_cut(struct img *y, struct part_place *place, int axis, size_t first, size_t n);

/* Sets the keys of y. */
void part_set(struct img *y, const struct part *p, uint64_t hash, const struct part_place *place);

/* Sets the keys of y, and makes it the one pixel that an empty share writes. */
void part_set_empty(struct img *y, const struct part *p, uint64_t hash, size_t items);

/* Whether x carries the key part:= */
bool part_is(const struct img *x);

/* Whether x and y hold the same samples of their wholes: neither is a share, or both have the same cuts. */
bool part_same(const struct img *x, const struct img *y);

/*
 * Reads the keys of x. Returns NULL, or words with a sentence that says what is wrong with them. They are checked against the
 * sizes of x.
 */
enum { PART_ERR = 200 };
const char *part_of(const struct img *x, struct part *p, uint64_t *hash, struct part_place *place,
		    char words[PART_ERR]);

/* Makes the description of the share x that of the whole item: its sizes, positions and keys. */
void part_restore(struct img *x, const struct part_place *place);

#endif
