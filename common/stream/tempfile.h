/*
 * Files for libraries that open a file by name and seek in it. Input from a pipe is first copied into a scratch file. Output
 * is written into a scratch file and then copied out. Memory therefore stays small whatever the file's size. Scratch files
 * lie in TMPDIR (default /tmp). They lose their names as soon as they are open, so that no file is left behind.
 */
#ifndef WEIR_STREAM_TEMPFILE_H
#define WEIR_STREAM_TEMPFILE_H

#include <stdint.h>
#include <stdio.h>

#include "common/base/stats.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"

struct tempfile {
	const char *name; /* for messages: "(stdin)" for stdin; borrowed */
	char *path;	  /* the path for the library to open or create; NULL: none; owned */
	FILE *file;	  /* what fd belongs to; NULL: a scratch file; owned */
	int fd;		  /* the open file; -1: before tempfile_hide() */
	uint64_t bytes;	  /* its size */
};

/*
 * Does the whole work of a program whose operands are such files. It parses the options into args, which begins with a struct
 * opt_common, opens the output, calls convert for each operand, or for stdin, closes all, and writes --stats. Without -v,
 * warnings wait for the end. Returns 0, the status of the process.
 */
int tempfile_each(const struct opt_program *program, int argc, char **argv, void *args,
		  void (*convert)(const void *args, const struct tempfile *d, struct raw_out *out,
				  struct stats *st));

/*
 * Makes stdin, if it is a pipe and one of the operands, a regular file, which can be read more than once: copies the pipe into
 * a scratch file. Call it before stdin is read.
 */
void tempfile_settle_stdin(char *const *path, size_t npath);

/* Opens a scratch file for output. The library writes to a copy of its descriptor. */
struct tempfile tempfile_open(void);

/*
 * Does the same for a library that must create the file itself: chooses its path. tempfile_hide() opens the file when the library
 * has created it, and removes its name. When the process exits before, the name is removed, too.
 */
struct tempfile tempfile_path(void);
void tempfile_hide(struct tempfile *d);

/* Dies with the reason when errno says that a scratch file has no room. Call it when a library failed to write. */
void tempfile_insist_on_room(void);

/* Copies the scratch file to out. */
void tempfile_send(struct tempfile *d, struct raw_out *out);

void tempfile_close(struct tempfile *d);

/* Dies when the first bytes are those of a format that another program converts, and says which. */
void tempfile_refuse_foreign(const struct tempfile *d);

/* Whether the file begins with the text, of up to 16 bytes. */
bool tempfile_begins(const struct tempfile *d, const char *text);

/* Warns when x, which has been read last from in, lies in a space: NRRD has fields for that, and the format does not. */
void tempfile_warn_space(const struct raw_in *in, const struct img *x, const char *format);

#endif
