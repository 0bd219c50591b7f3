/*
 * Files for libraries that open a file by name and seek in it. Input from a pipe is first copied into a scratch file. Output
 * is written into a scratch file and then copied out. Memory therefore stays small whatever the file's size. Scratch files
 * lie in TMPDIR (default /tmp). They lose their names as soon as they are open, so that no file is left behind.
 */
#ifndef WEIR_STREAM_DOOR_H
#define WEIR_STREAM_DOOR_H

#include <stdint.h>
#include <stdio.h>

#include "common/base/stats.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"

struct door {
	const char *name; /* for messages: "(stdin)" for stdin; borrowed */
	char *path;	  /* the path for the library to open or create; NULL: none; owned */
	FILE *file;	  /* what fd belongs to; NULL: a scratch file; owned */
	int fd;		  /* the open file; -1: before door_hide() */
	uint64_t bytes;	  /* its size */
};

/*
 * Does the whole work of a program whose operands are such files: opens its output, calls convert for each operand, which is
 * stdin where there is none, closes all, and writes --stats. context is passed to convert.
 */
void door_each(char *const *path, size_t npath, const struct opt_common *common,
	       void (*convert)(const void *context, const struct door *d, struct raw_out *out,
			       struct stats *st),
	       const void *context);

/*
 * Makes stdin, if it is a pipe and one of the operands, a regular file, which can be read more than once: copies the pipe into
 * a scratch file. Call it before stdin is read.
 */
void door_settle_stdin(char *const *path, size_t npath);

/* Opens a scratch file for output. The library writes to a copy of its descriptor. */
struct door door_scratch(void);

/*
 * Does the same for a library that must create the file itself: chooses its path. door_hide() opens the file when the library
 * has created it, and removes its name. When the process exits before, the name is removed, too.
 */
struct door door_scratch_path(void);
void door_hide(struct door *d);

/* Copies the scratch file to out. */
void door_send(struct door *d, struct raw_out *out);

void door_close(struct door *d);

/* Dies when the first bytes are those of a format that another program converts, and says which. */
void door_refuse_foreign(const struct door *d);

/* Whether the file begins with the text, of up to 16 bytes. */
bool door_begins(const struct door *d, const char *text);

/* Dies when the payload of x exceeds max_bytes, the value of --max-bytes. name: the file, for the message. */
void door_limit(const char *name, const struct img *x, size_t max_bytes);

/* Warns when x, which has been read last from in, lies in a space: NRRD has fields for that, and the format does not. */
void door_warn_space(const struct raw_in *in, const struct img *x, const char *format);

#endif
