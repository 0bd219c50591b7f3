/*
 * Files for libraries that open a file by name and seek in it. Input from a pipe is first copied into a scratch file. Output
 * is written into a scratch file and then copied out. Memory therefore stays small whatever the file's size. Scratch files
 * lie in TMPDIR (default /tmp). They lose their names as soon as they are open, so that no file is left behind.
 */
#ifndef TOOLS_DOOR_H
#define TOOLS_DOOR_H

#include <stdint.h>

#include "common/img.h"
#include "common/raw.h"

struct door {
	const char *name; /* for messages: "(stdin)" for stdin; borrowed */
	char *path;	  /* the path for the library to open; owned */
	int fd;		  /* the open file; -1: a scratch file before door_hide() */
	uint64_t bytes;	  /* its size */
};

/* Opens an operand. "-" is stdin and may be given once. Dies when the input cannot be read or is empty. */
struct door door_open(const char *operand);

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
