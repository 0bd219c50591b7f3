/*
 * Missing samples of an item: NaN among floats, and samples with the value that the key nodata:= of a map states. Here alone is
 * that key read, and here alone are samples compared with it: each in its own type, so a float rounds the value. Pure.
 */
#ifndef WEIR_STREAM_NODATA_H
#define WEIR_STREAM_NODATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/img.h"

struct nodata {
	enum img_type type; /* of the samples */
	bool named;	    /* the key is there and states a number */
	double value;	    /* this number; NaN: none, or the key states nan */
	bool any;	    /* a sample can be missing: of floats always */
	/* What a missing sample is, in this machine's byte order: the value, or NaN of floats without one; valid where any. */
	_Alignas(double) char sample[8];
};

/* Reads the key of x. nan_alone: among floats only NaN is missing, and the key says nothing. */
struct nodata nodata_of(const struct img *x, bool nan_alone);

/* Whether both say the same. */
bool nodata_same(const struct nodata *a, const struct nodata *b);

/* is[i] becomes what sample i of v is. v has the type of d. */
enum { NODATA_NOT, NODATA_VALUE, NODATA_NAN };
void nodata_mark(const struct nodata *d, uint8_t *restrict is, const void *restrict v, size_t n);

/* to[i] becomes sample i of v, or NaN where that is missing. */
void nodata_load(const struct nodata *d, double *restrict to, const void *restrict v, size_t n);

/* Counts the missing ones. */
size_t nodata_count(const struct nodata *d, const void *v, size_t n);

/*
 * Of floats, exchange the value and NaN in place. from_nan adds to found[0] the numbers that have the value already, and to found[1]
 * the NaN.
 */
void nodata_to_nan(const struct nodata *d, void *v, size_t n);
void nodata_from_nan(const struct nodata *d, void *v, size_t n, size_t found[2]);

/*
 * Stores the number that the text states as a sample of the type, which a float rounds. Returns false where that is not
 * possible.
 */
bool nodata_store(void *sample, enum img_type type, const char *text);

/* The samples of x are others now: the key becomes nan where they are floats, and is dropped elsewhere. */
void nodata_renew(struct img *x);

#endif
