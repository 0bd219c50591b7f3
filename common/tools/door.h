/*
 * Files for libraries that open a file by name and seek in it. Input from a pipe is first copied into a scratch file. Output
 * is written into a scratch file and then copied out. Memory therefore stays small whatever the file's size. Scratch files
 * lie in TMPDIR (default /tmp). They lose their names as soon as they are open, so that no file is left behind.
 */
#ifndef TOOLS_DOOR_H
#define TOOLS_DOOR_H

#include <stdint.h>
#include <stdio.h>

#include "common/img.h"
#include "common/raw.h"
#include "common/stats.h"

struct door {
	const char *name; /* for messages: "(stdin)" for stdin; borrowed */
	char *path;	  /* the path for the library to open; owned */
	FILE *file;	  /* what fd belongs to; NULL: a scratch file; owned */
	int fd;		  /* the open file; -1: a scratch file before door_hide() */
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

/* Chooses a path at which the library is to create a scratch file for output. */
struct door door_scratch(void);

/* Opens the scratch file and removes its name. Call it when the library has created the file. */
void door_hide(struct door *d);

/* Copies the scratch file to out. */
void door_send(struct door *d, struct raw_out *out);

void door_close(struct door *d);

/* Dies when the payload of x exceeds max_bytes, the value of --max-bytes. name: the file, for the message. */
void door_limit(const char *name, const struct img *x, size_t max_bytes);

#endif
