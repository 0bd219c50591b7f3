/*
 * Reads what the TIFF tag ImageDescription says of a stack: how many pages lie along which axis, and the spacing of samples.
 * Two formats are read: the lines of ImageJ (`ImageJ=...`, slices=5) and the Pixels element of OME-XML. Pure.
 */
#ifndef WEIR_CONVERT_STACKMETA_H
#define WEIR_CONVERT_STACKMETA_H

#include <stdbool.h>
#include <stddef.h>

struct stackmeta {
	bool imagej, ome;
	size_t n; /* pages: the product of size[]; 0: not stated */
	/* Axes of pages, fastest first, such as "czt". An axis of one page is left out. */
	char order[4];
	size_t size[3];	   /* pages along each axis of order */
	double spacing[3]; /* of x, y, z; NaN: not stated */
	char unit[3][16];  /* of x, y, z; "": not stated */
	double interval;   /* of t, in seconds; NaN: not stated */
};

/* planes: samples of a pixel. OME counts them among its channels. */
void stackmeta_read(const char *text, size_t planes, struct stackmeta *m);

/*
 * Returns a copy of the text in which the attribute of OME's first element Pixels has the value, if the element has the
 * attribute. The caller frees it. NULL: there is no memory.
 */
char *stackmeta_set(const char *text, const char *name, const char *value);

/* Writes the text that ImageJ reads into text[0..room). */
void stackmeta_print(const struct stackmeta *m, char *text, size_t room);

#endif
