/*
 * Items as problems of usfft and back: what the columns of points are called, where modes lie, in what types values come.
 * No arithmetic but conversions; failures are sentences.
 */
#ifndef WEIR_USFFT_STREAM_H
#define WEIR_USFFT_STREAM_H

#include "common/img.h"
#include "usfft/usfft.h"

/* Points, and values beside them when the item has columns re and im. Both borrow the item. */
struct stream_points {
	int dim;
	struct usfft_points pt;
	const void *c;	/* NULL: no values */
	size_t cstride; /* reals from one value to the next */
	bool single;	/* of the values */
};

enum { STREAM_ERR = 160 };

/* values: points that should have some. False: the sentence is in err. */
bool stream_points(const struct img *x, bool values, struct stream_points *p, char err[STREAM_ERR]);

/* How many complex samples an item of modes holds per axis. Items that are not complex are pictures or volumes. */
bool stream_modes(const struct img *x, int dim, size_t n[3], char err[STREAM_ERR]);

/* Complex samples of an item, as floats or doubles; what is not complex gets imaginary part 0. NULL: no memory. */
void *stream_complex(const struct img *x, size_t count, bool single);

/* Whether values of that type are single: float and all integers that it holds exactly. */
bool stream_single(enum img_type type);

/* The head of an item of modes, centred or in FFT order, or of values at m points. part: axis 0 of 2, or none. */
void stream_modes_head(struct img *x, const struct usfft_options *o, bool complex);
void stream_values_head(struct img *x, size_t m, bool single, bool complex);

/* v[i] = the real part, the imaginary part or the absolute value of z[i], in place: 1, 2, 3. */
void stream_part(void *z, size_t count, bool single, int part);

/* The first point with a coordinate outside [-1/2, 1/2), or m. */
size_t stream_find_outside(const struct usfft_points *pt, int dim);

#endif
