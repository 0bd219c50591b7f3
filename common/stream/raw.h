/*
 * Streams of items: weir-raw(5). Input is recognised by its first bytes: raw (NRRD with an attached header), PNM and PAM
 * (P1-P7), PFM (Pf, PF) and NumPy (.npy). Output is raw, or PNM where an item came as PNM and nothing is lost.
 *
 * raw_parse() and raw_format() return their failures. Every other function here dies on failure with a line that names the
 * file and the item. What its functions take comes with this header: opt.h, stats.h, why.h and img.h.
 *
 *	struct raw_in *in = raw_open(paths, npaths, max_bytes);
 *	while (raw_next(in, &x)) {	the header of the next item
 *		raw_load(in, &x);	its payload, or raw_read() piece by piece
 *		...
 *	}
 *	raw_close(in);
 */
#ifndef WEIR_STREAM_RAW_H
#define WEIR_STREAM_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/base/why.h"
#include "common/stream/img.h"

#define RAW_MAXHEAD \
	(1 << 26) /* longest header read or written, bytes: the offsets of some 5 million traces */

struct raw_in;
struct raw_out;

/* --- headers: pure, fuzzed ------------------------------------------------------------------------------------- */

/*
 * Parses the header in text[0..n), which begins with the magic and ends before the empty line. *swap becomes true when the
 * payload is in the other byte order. Returns 0, or -1 with x zeroed. Of other NRRD, the sentence
 * names the program that converts it.
 */
#define RAW_CONVERT  "convert it with unu save -f nrrd -e raw"
#define RAW_DETACHED "this is a detached header, without samples; " RAW_CONVERT
int raw_parse(const char *text, size_t n, struct img *x, bool *swap, struct why *why);

/*
 * Returns the header of x as text of *n bytes, padded to a multiple of 64. The empty line is included. The caller frees it.
 * NULL: no memory.
 */
char *raw_format(const struct img *x, size_t *n);

/* --- input ----------------------------------------------------------------------------------------------------- */

/*
 * Opens a list of files, which are read one after the other as one stream. An empty list and the name "-" are stdin, which
 * can be opened once in a process. The list is borrowed until raw_close. max_bytes is the largest payload that is accepted;
 * 0: half of the memory that limits.h grants.
 */
struct raw_in *raw_open(char *const *path, size_t npath, size_t max_bytes);

/*
 * Skips the unread rest of the item before, and reads the header of the next item into x, without the payload. Returns
 * false at the end, and then again.
 */
bool raw_next(struct raw_in *in, struct img *x);

/* As file_flush_when_idle(). raw_next() does this; a program that reads a stack frame by frame calls it before each frame. */
void raw_flush_when_idle(const struct raw_in *in);

/* Whether no input arrives within ms milliseconds. Some may have before when bytes of the next item wait in this process. Never at
   the end of the last file. */
bool raw_idle(const struct raw_in *in, int ms);

/* Reads the next count samples of the current item into buf, in this machine's byte order. */
void raw_read(struct raw_in *in, void *buf, size_t count);

/* Returns how many samples of the current item are still unread. */
size_t raw_left(const struct raw_in *in);

/* Passes over the next count samples of the current item. In a regular file, they are not read. */
void raw_skip(struct raw_in *in, size_t count);

/* Allocates x->data and reads the whole payload into it. x is as raw_next gave it. */
void raw_load(struct raw_in *in, struct img *x);

/*
 * Does the same, without a copy where it can: x->data is a private mapping of the file, to which writing does not change the
 * file. This needs a regular file, this machine's byte order, an aligned payload of 64 KiB or more, and samples that need no
 * check or decoding; otherwise it calls raw_load. A file that shrinks while it is mapped ends the program with a message.
 */
void raw_map(struct raw_in *in, struct img *x);

/* Maps the payload as raw_map does and returns true. Where that is not possible, it reads nothing and returns false. */
bool raw_try_map(struct raw_in *in, struct img *x);

/*
 * Maps the next count samples alone, into an x that has no samples yet. Returns as raw_try_map does. They are still unread
 * then: raw_skip() passes over them.
 */
bool raw_try_view(struct raw_in *in, size_t count, struct img *x);

/*
 * Return the name of the current file in messages ("(stdin)" for stdin), the number of the current item in the stream, from
 * 1, and the bytes of payload that have been read so far.
 */
const char *raw_name(const struct raw_in *in);
size_t raw_item(const struct raw_in *in);
uint64_t raw_bytes_in(const struct raw_in *in);

/* Whether the file has the current item in the other byte order than this machine's. raw_read converts it. */
bool raw_swapped(const struct raw_in *in);

/* Begins again with the first item of the first file. Dies when the last item came from a pipe. */
void raw_rewind(struct raw_in *in);

/* Returns the offset of the payload of the current item in its file, in bytes. Dies on a pipe. */
uint64_t raw_offset(const struct raw_in *in);

/* Writes a line on stderr that says what the current item is, for -v. --quiet silences it. */
void raw_say(const struct raw_in *in, const struct img *x);

/*
 * Finds the volumes of the current item x, or its pictures. Dies where volumes are asked for and channels or frames are in the place
 * of z. Warns, once in a process, where z stands behind these, and nothing was asked for.
 */
struct img_volumes raw_volumes(const struct raw_in *in, const struct img *x, enum img_depth how);

/*
 * Returns what --volume and --slices (depth, an enum img_depth) say together with --connectivity: 4 and 8 are for pictures, other
 * numbers for volumes; 0: it is not given. Dies where they contradict.
 */
enum img_depth raw_depth(int depth, int connectivity);

/* Writes what messages call the current item: `file`, or `file: item N`. */
enum { RAW_WHERE = 4352 };
void raw_where(const struct raw_in *in, char where[RAW_WHERE]);

/* Dies with the message `prog: file: item N: reason`. */
_Noreturn void
raw_die(const struct raw_in *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void raw_close(struct raw_in *in);

/* Loads the only item of a file (a kernel, a mask). More than one item is an error. map: use raw_map, else raw_load. */
void raw_load_file(const char *path, size_t max_bytes, bool map, struct img *x);

/* --- output ---------------------------------------------------------------------------------------------------- */

/*
 * Opens an output for items, or for text alone. path NULL is stdout. A terminal is refused (exit 2) unless the output is text.
 * A regular file appears under its name in raw_finish, so that a failure leaves no incomplete file.
 */
struct raw_out *raw_create(const char *path, enum raw_as as);

/* Begins an item by writing its header. All samples of the item before must have been written. */
void raw_head(struct raw_out *out, const struct img *x);

/* Writes the next count samples of the item, which are in this machine's byte order. */
void raw_write(struct raw_out *out, const void *buf, size_t count);

/* Passes on all that has been written so far. */
void raw_flush(struct raw_out *out);

/* Writes the header and all samples of x. */
void raw_put(struct raw_out *out, const struct img *x);

/* Write text (reports, point lists) to the same checked stream. */
void raw_printf(struct raw_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void raw_text(struct raw_out *out, const char *text, size_t n);

/* Writes words of a header: control characters, except tabs, as make_visible() does, so that they command no terminal. */
void raw_words(struct raw_out *out, const char *text, size_t n);

uint64_t raw_bytes_out(const struct raw_out *out);

/* Flushes and closes the output, gives the file its name, and frees out. Every failure, such as a full disk, is fatal. */
void raw_finish(struct raw_out *out);

/* --- from an input to an output -------------------------------------------------------------------------------- */

/* Returns what to write: raw items for a share of the work, else what --raw and --pnm say. */
enum raw_as raw_as_of(const struct opt_common *o);

/* Adds o->history to x as a history:= line. What FITS cards say of the range of other samples is dropped. */
void opt_add_history(struct img *x, const struct opt_common *o);

/*
 * Every program ends with this: it adds the bytes of in and out, closes both, and writes the object. NULL: there is no such
 * stream. A program with more streams adds and closes the others before.
 */
void
stats_close(struct stats *st, struct raw_in *in, struct raw_out *out, const struct opt_common *o);

/*
 * The payload of an item, block by block, with a progress bar unless quiet. The time of reading is charged to st.
 *
 *	struct raw_blocks b = {.x = x, .quiet = args->common.quiet};
 *	while (raw_next_block(&b, in, st))
 *		...b.n samples at b.data, from sample number b.at on...
 */
struct raw_blocks {
	const struct img *x;
	bool quiet;
	size_t unit; /* samples that no block ends among; 0: a block may end anywhere */
	void *data;  /* of raw_next_block() */
	size_t at, n;
	struct progress bar;
};

bool raw_next_block(struct raw_blocks *b, struct raw_in *in, struct stats *st);

/*
 * Writes the header of x, and copies the whole payload of in's current item, one block at a time. Nothing of the payload may
 * have been read before. A progress bar is shown unless quiet. The time of reading and of writing is charged to st.
 */
void
raw_copy(struct raw_in *in, struct raw_out *out, const struct img *x, bool quiet, struct stats *st);

/* A second stream, which an option names: it has an item of the same shape and place for each item x of in. */
struct raw_beside {
	const char *path;  /* the value of the option; NULL: it is not given */
	struct raw_in *in; /* owned; NULL before the first item */
	struct img x;	   /* the item that belongs to x; the caller frees it */
};

/* Goes to the next item. Both functions die where the streams do not fit. */
void raw_beside_next(struct raw_beside *b, const char *option, const struct raw_in *in,
		     const struct img *x, size_t max_bytes);
void raw_beside_close(struct raw_beside *b, const struct raw_in *in);

/* A program that does the same with each item. args is its struct args, which begins with a struct opt_common. */
struct raw_filter {
	const struct opt_program *program;
	void (*check)(
	    void *args); /* of the options that were given; NULL: all of them go together */
	/* x is as raw_next gave it; its payload is still to be read. */
	void (*item)(void *args, struct raw_in *in, struct img *x, struct raw_out *out,
		     struct stats *st);
	/* What is left to do after the last item, before the output is closed. NULL: nothing. */
	void (*end)(void *args, struct raw_in *in, struct raw_out *out, struct stats *st);
};

/*
 * The whole of such a program: parses the options into args, which holds their defaults, opens the operands and the output,
 * calls item for each item, and closes all. The output is what common.as says. Returns 0, the status of the process.
 */
int raw_each(const struct raw_filter *f, int argc, char **argv, void *args);

#endif
