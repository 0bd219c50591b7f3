/*
 * Files for libraries that open them by name and jump about in them. A pipe is copied into a scratch file first, and what
 * goes to a pipe is written into one, so that memory stays small whatever the file's size. Scratch files stand in TMPDIR
 * (default /tmp) without a name, so that nothing is left behind.
 */
#ifndef TOOLS_DOOR_H
#define TOOLS_DOOR_H

#include <stdint.h>

#include "common/img.h"
#include "common/raw.h"

struct door {
	const char *name; /* for messages: "(stdin)" for stdin; borrowed */
	char *path;	  /* what the library opens; owned */
	int fd;		  /* of the file */
	uint64_t bytes;	  /* its size */
};

/* Opens an operand; "-" is stdin, at most once. Dies on what cannot be read and on what is empty. */
struct door door_open(const char *operand);

/* A name at which the library makes a scratch file for output. */
struct door door_scratch(void);

/* The library has made the file: it loses its name, and only open descriptors lead to it. */
void door_hide(struct door *d);

/* What the library wrote goes out. */
void door_send(struct door *d, struct raw_out *out);

void door_close(struct door *d);

/* Dies where the payload of x exceeds --max-bytes. name: the file. */
void door_limit(const char *name, const struct img *x, size_t max_bytes);

#endif
