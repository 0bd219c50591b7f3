/*
 * Finds points, values and modes in items: by the names of columns, by axes and by types. It also makes the headers of
 * results. Its only arithmetic is conversion. Failures are sentences.
 */
#ifndef WEIR_USFFT_STREAM_H
#define WEIR_USFFT_STREAM_H

#include "common/stream/img.h"
#include "usfft/usfft.h"

/* Points, and values beside them when the item has columns re and im. Both borrow the item. */
struct stream_points {
	int dim;
	struct usfft_points pt;
	const void *c;	/* NULL: no values */
	size_t cstride; /* reals from one value to the next */
	bool single;	/* the values are float */
};

enum { STREAM_ERR = 160 };

/*
 * Finds the points of x. values: three columns without a key are x re im, not x y z. sky: the columns are u v w, all three.
 * False: err says why.
 */
bool stream_points(const struct img *x, bool values, bool sky, struct stream_points *p,
		   char err[STREAM_ERR]);

/* n = the modes per axis that item x holds. Its samples are complex or real. False: x does not have dim axes; see err. */
bool stream_modes(const struct img *x, int dim, size_t n[3], char err[STREAM_ERR]);

/*
 * Returns the samples of an item as complex floats or doubles; real samples get the imaginary part 0. The caller frees.
 * NULL: no memory.
 */
void *stream_complex(const struct img *x, size_t count, bool single);

/* Whether values of that type are single: float and all integers that it holds exactly. */
bool stream_single(enum img_type type);

/* Fill the header of an item of modes, or of values at m points. complex: axis 0 is that of re and im. */
void stream_modes_head(struct img *x, const struct usfft_options *o, bool complex);
void stream_values_head(struct img *x, size_t m, bool single, bool complex);

/* Replace each complex z[i] by one real, in place: its real (0) or imaginary (1) part, or |z[i]|. */
void stream_take(void *z, size_t count, bool single, int part);
void stream_abs(void *z, size_t count, bool single);

/* Returns the first point with a coordinate, times scale, outside [-1/2, 1/2), or m. */
size_t stream_find_outside(const struct usfft_points *pt, int dim, const double scale[3]);

#endif
