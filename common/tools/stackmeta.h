/*
 * What an ImageDescription says of a stack: how many pages belong to which axis, and the distances of samples. ImageJ's
 * lines (`ImageJ=...`, slices=5) and the Pixels element of OME-XML are known. Pure.
 */
#ifndef TOOLS_STACKMETA_H
#define TOOLS_STACKMETA_H

#include <stdbool.h>
#include <stddef.h>

struct stackmeta {
	bool imagej, ome;
	size_t n;	/* pages that the axes below make up; 0: it does not say */
	char order[4];	/* "czt": axes of pages, fastest first; only those of more than one page */
	size_t size[3]; /* of each of them */
	double spacing[3]; /* of x, y, z; NaN: unsaid */
	char unit[3][16];  /* "" when unsaid */
	double interval;   /* of t, seconds; NaN */
};

/* planes: samples of a pixel, which OME counts among its channels. */
void stackmeta_read(const char *text, size_t planes, struct stackmeta *m);

/* The text that ImageJ reads, in text[0..room). */
void stackmeta_print(const struct stackmeta *m, char *text, size_t room);

#endif
