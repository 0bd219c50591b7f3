/* The input of raw.h: the files, which are read one after the other, and how much of the current payload has been read. */
#ifndef WEIR_STREAM_READ_H
#define WEIR_STREAM_READ_H

#include <stdio.h>
#include <sys/types.h>

#include "common/stream/raw.h"

struct raw_in {
	char *const *path;
	size_t npath, next; /* next: the file to open after this one */
	FILE *f;
	const char *name;
	off_t stdin_start; /* where stdin began, bytes; -1: it has not been opened, or is a pipe */
	bool stdin_again;  /* raw_rewind() was called, and stdin has not been opened since */
	size_t max_bytes;  /* as given to raw_open; 0: the default */
	size_t item, item_of_file;
	uint64_t bytes;
	off_t offset; /* of the payload in its file, bytes; -1: a pipe */

	/* The current item: its samples that are still unread, all its samples, and the bytes of one. */
	size_t left, total, size;
	size_t beyond;	/* samples after those in `left`, which source_narrow() has put aside */
	bool swap;	/* its payload is in the other byte order */
	bool blanks;	/* it was a plain PNM item, which blanks may follow */
	unsigned limit; /* maxval, where the type can hold more; else 0 */
	/* The payload, where it had to be decoded at once; else NULL. The first total - left samples of it have been read. */
	void *whole;
};

/*
 * Reads a raw header up to its empty line; x and swap are as raw_parse() gives them. Returns 0, or -1 where there is none, or the
 * file ends inside it.
 */
int source_head(FILE *f, struct img *x, bool *swap, struct why *why);

/* Makes the next count samples all that is left of the current item, until the next item is read. */
void source_narrow(struct raw_in *in, size_t count);

/*
 * This thread's messages stay with the current item of in, while another thread reads on: raw_die(), raw_name(), raw_item().
 * NULL: they go with what is read. For pipeline.c.
 */
void source_stay(const struct raw_in *in);

#endif
