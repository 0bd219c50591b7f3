/*
 * Puts together what the shares of --part=I/N have written: the bytes of the whole. common/stream/part.h describes the keys by which
 * a share says what it has.
 */
#ifndef WEIR_SHARES_H
#define WEIR_SHARES_H

#include "common/base/stats.h"
#include "common/stream/part.h"
#include "common/stream/raw.h"

/* A file that holds one share. */
struct share_file {
	const char *path;
	struct part part;
	uint64_t hash;
};

/*
 * Reads the headers of a file that should hold one share, and nothing else of it. Returns NULL if all pieces of the share are
 * there in full length; else words with the reason. f is filled in as far as the keys tell; f->part.n is 0 when they tell
 * nothing.
 */
enum { SHARE_ERR = RAW_ERR + 64 };
const char *shares_look(const char *path, struct share_file *f, char words[SHARE_ERR]);

/*
 * Looks at the files, and sorts the list of paths by share. Dies when a share is incomplete, missing, there twice, or of
 * another run; the message names the files.
 */
void shares_sort(char **path, size_t npath);

/*
 * Prints the numbers of the shares that no file holds in full length, as `sbatch -a` takes them: `0,4-7`, or nothing. n: how
 * many shares there are; 0: as the files say. A file that does not exist holds none. Dies when files are of different runs.
 */
void shares_print_missing(char *const *path, size_t npath, size_t n, struct raw_out *out);

/*
 * Joins shares that come in their order, and writes their items. x is the header of the first item of in. Dies where
 * something is missing. Memory does not grow with the items.
 */
void shares_join(struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st);

#endif
