/* What in.c (files, payloads) and item.c (headers of each format) share. */
#ifndef WEIR_ITEM_H
#define WEIR_ITEM_H

#include <stdio.h>
#include <sys/types.h>

#include "common/raw.h"

enum { ITEM_MAGIC = 8 }; /* first bytes that tell the format */

struct raw_in {
	char *const *path;
	size_t npath, next; /* next: the file to open after this one */
	FILE *f;
	const char *name;
	size_t max_bytes;
	size_t item, item_of_file;
	uint64_t bytes;
	off_t offset; /* of the payload in its file; -1: a pipe */

	/* The current item: what is left of it, and how to make samples of bytes. */
	size_t left, total, size; /* samples, samples, bytes a sample */
	bool swap;
	unsigned limit; /* maxval, where samples may exceed it; else 0 */
	void *
	    whole; /* a payload that had to be decoded at once; total - left samples of it are used */
	bool blanks; /* a plain item: blanks may follow it */
};

/*
 * Reads the header of the item whose first n bytes are magic, which are still unread, and makes in ready for its payload.
 * Dies on what is no item.
 */
void item_head(struct raw_in *in, struct img *x, const char *magic, size_t n);

#endif
