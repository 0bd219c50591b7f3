/*
 * Streams of items: weir-raw(5). Input is recognised by its first bytes: raw (NRRD with an attached header), PNM and PAM
 * (P1-P7), PFM (Pf, PF) and NumPy (.npy). Output is raw, or PNM where an item came as PNM and nothing is lost.
 *
 * Every function here but raw_parse() and raw_format() dies on failure with a line that names the file and the item.
 *
 *	struct raw_in *in = raw_open(paths, npaths, max_bytes);
 *	while (raw_next(in, &x)) {	the header of the next item
 *		raw_load(in, &x);	its payload, or raw_read() piece by piece
 *		...
 *	}
 *	raw_close(in);
 */
#ifndef WEIR_RAW_H
#define WEIR_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/img.h"

#define RAW_MAXHEAD \
	(1 << 26) /* longest header read or written, bytes: the offsets of some 5 million traces */
#define RAW_ERR 256 /* room for a sentence that says what is wrong */

struct raw_in;
struct raw_out;

/* --- headers: pure, fuzzed ------------------------------------------------------------------------------------- */

/*
 * Parses the header in text[0..n), from the magic up to and without the empty line. *swap: the payload is in the other
 * byte order. Returns 0, or -1 with a sentence in err and x zeroed.
 */
int raw_parse(const char *text, size_t n, struct img *x, bool *swap, char err[RAW_ERR]);

/* The header of x as text, the empty line included, padded to a multiple of 64 bytes. Caller frees; NULL: no memory. */
char *raw_format(const struct img *x, size_t *n);

/* --- input ----------------------------------------------------------------------------------------------------- */

/*
 * Opens a list of files, read one after the other as one stream; none: stdin; "-": stdin, at most once in a process.
 * The list is borrowed until raw_close. max_bytes: the largest payload accepted; 0: half of this machine's memory.
 */
struct raw_in *raw_open(char *const *path, size_t npath, size_t max_bytes);

/* The header of the next item, without payload; false at the end. Skips what was not read of the item before. */
bool raw_next(struct raw_in *in, struct img *x);

/* The next count samples of the current item, in this machine's byte order, into buf. */
void raw_read(struct raw_in *in, void *buf, size_t count);

/* The whole payload into x->data, which this allocates. x as raw_next gave it. */
void raw_load(struct raw_in *in, struct img *x);

/*
 * The same without a copy where it can be had: a private mapping of the file (pages written stay ours), when the file is
 * regular, the byte order is this machine's and the payload is aligned; else raw_load. A file that shrinks while it is
 * mapped ends the program with a message.
 */
void raw_map(struct raw_in *in, struct img *x);

/* raw_map where it needs no raw_load; else false, and nothing is read. */
bool raw_try_map(struct raw_in *in, struct img *x);

/* The name for messages, "(stdin)" for stdin; the number of the current item, from 1; payload and header bytes read so far. */
const char *raw_name(const struct raw_in *in);
size_t raw_item(const struct raw_in *in);
uint64_t raw_bytes_in(const struct raw_in *in);

/* Whether the current item is written in the other byte order than this machine's; raw_read turns it. */
bool raw_swapped(const struct raw_in *in);

/* Offset of the payload of the current item in its file; dies on a pipe. */
uint64_t raw_offset(const struct raw_in *in);

/* What the current item is, in a line on stderr: for -v. */
void raw_say(const struct raw_in *in, const struct img *x);

/* Dies `prog: file: item N: reason`. */
_Noreturn void
raw_die(const struct raw_in *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void raw_close(struct raw_in *in);

/* The only item of a file (a kernel, a mask); more than one is an error. map: by raw_map. */
void raw_load_file(const char *path, size_t max_bytes, bool map, struct img *x);

/* --- output ---------------------------------------------------------------------------------------------------- */

enum raw_as { RAW_FOLLOW, RAW_AS_RAW, RAW_AS_PNM };

/*
 * path NULL: stdout (exit 2 if that is a terminal). A regular file is written under a temporary name and renamed by
 * raw_finish, so that a failure leaves no half of it.
 */
struct raw_out *raw_create(const char *path, enum raw_as as);

/* Begins an item: writes its header. The samples of the item before must all have been written. */
void raw_head(struct raw_out *out, const struct img *x);

/* The next count samples of the item, in this machine's byte order. */
void raw_write(struct raw_out *out, const void *buf, size_t count);

/* raw_head and all of x->data. */
void raw_put(struct raw_out *out, const struct img *x);

/* Text output (reports, point lists) through the same checked stream. */
void raw_printf(struct raw_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void raw_text(struct raw_out *out, const char *text, size_t n);

uint64_t raw_bytes_out(const struct raw_out *out);

/* The one checked flush, close and rename; frees out. A full disk is never a success. */
void raw_finish(struct raw_out *out);

/* Declares that only text goes out, so that a terminal is welcome. As raw_create otherwise. */
struct raw_out *raw_create_text(const char *path);

#endif
