/* Where bytes come from: files one after the other, and how far the payload of the current item is read. */
#ifndef WEIR_SOURCE_H
#define WEIR_SOURCE_H

#include <stdio.h>
#include <sys/types.h>

#include "common/raw.h"

struct raw_in {
	char *const *path;
	size_t npath, next; /* next: the file to open after this one */
	FILE *f;
	const char *name;
	size_t max_bytes; /* as given; 0: the default */
	size_t item, item_of_file;
	uint64_t bytes;
	off_t offset; /* of the payload in its file; -1: a pipe */

	/* The current item: what is left of it, and how to make samples of bytes. */
	size_t left, total, size; /* samples, samples, bytes a sample */
	bool swap;
	bool blanks;	/* a plain item: blanks may follow it */
	unsigned limit; /* maxval, where samples may exceed it; else 0 */
	/* A payload that had to be decoded at once, or NULL. total - left samples of it are used. */
	void *whole;
};

/*
 * The payload of the current item takes that many bytes at least. A regular file that is shorter is refused at once, before
 * any work is done for it.
 */
void source_expect(struct raw_in *in, size_t bytes);

/* Reads past what is left of the current item. */
void source_skip(struct raw_in *in);

/* Opens the next file; false when there is none. */
bool source_next(struct raw_in *in);

#endif
