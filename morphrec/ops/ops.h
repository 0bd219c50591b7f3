/* The operators on one image. Most of them are a reconstruction. */
#ifndef WEIR_MORPHREC_OPS_OPS_H
#define WEIR_MORPHREC_OPS_OPS_H

#include <stdint.h>

#include "morphrec/problem.h"

/* Flat shapes for openings and closings, as runs of pixels. */

/* Pixels first..last of row dy of slice dz, all counted from the shape's centre. */
struct shape_run {
	ptrdiff_t dz, dy, first, last;
};

struct shape {
	struct shape_run *run; /* owned */
	size_t n;
};

/*
 * All return 0, -ENOMEM, or shape_picture() -EINVAL for what is no picture and -EDOM where it has no pixel.
 *
 *	solid	a box, |x| <= rx, |y| <= ry, |z| <= rz, or a ball in it, (x / rx)^2 + (y / ry)^2 + (z / rz)^2 <= 1, a disk
 *		where rz is 0. r: radii along x, y, z in pixels, each >= 0
 *	line	the pixels nearest to a line through the centre. The line makes an angle of `degrees` with the x axis,
 *		towards the first row. It has one pixel for each t, |t| <= r cos, along the axis that it is closer to.
 *	picture	the samples of x, a picture or a volume, that are not 0; its centre is at half its sizes, rounded down
 */
int shape_solid(struct shape *s, const double r[3], bool ball);
int shape_line(struct shape *s, size_t r, double degrees);
int shape_picture(struct shape *s, const struct img *x);

/* Frees the runs of s. It accepts a zeroed shape. */
void shape_free(struct shape *s);

/*
 * Erosion by a flat shape. It works on keys, so where the problem erodes the values are dilated.
 *
 * erode_by() erodes f `times` times into J. One erosion gives pixel p the lowest key of f at p + s for all s of the shape. Pixels
 * outside the picture do not count. In images only the slice of the shape that holds its centre is used. Returns 0 or -ENOMEM.
 */
int erode_by(const struct morphrec_problem *a, const struct shape *s, size_t times, void *J,
	     const void *f);

/* Erodes by a square of side 2 r + 1, in a volume by a cube, along one axis after the other. Returns 0 or -ENOMEM. */
int erode_square(const struct morphrec_problem *a, size_t r, void *J, const void *f);

/* Area opening: a peak of fewer than `area` pixels is cut down to the level at which it holds `area` pixels. */

/*
 * J becomes the area opening of f; where the problem erodes, the area closing. For a level k, consider the connected set
 * of pixels >= k that holds a pixel: the pixel gets the highest k <= its own value at which that set has `area` pixels or
 * more. Where no k does, it gets the lowest level of all pixels that are connected to it. A NaN is a wall. Images are
 * opened slice by slice. Returns 0, -ENOMEM, or -E2BIG when a slice or a volume has 2^32 - 1 pixels or more.
 *
 * Meijster, Wilkinson, A comparison of algorithms for connected set openings and closings, IEEE Trans. PAMI 24(4), 2002,
 * 484-494. The pixels are sorted, highest first, and joined by union-find.
 */
int area_open(const struct morphrec_problem *a, size_t area, void *J, const void *f);

/* The pass before a reconstruction: it makes J0 = min(marker, mask) and counts what it clips. */

struct morphrec_clip {
	uint64_t above;	    /* markers beyond the mask, which were clipped */
	uint64_t nan;	    /* pixels where marker or mask is NaN */
	uint64_t first_nan; /* the index of the first of them */
	/* The smallest and the largest key of J0 (keys.h); lo > hi when no sample was seen yet. */
	uint64_t lo, hi;
};

/* Returns the figures before the first sample. */
static inline struct morphrec_clip
clip_nothing(void)
{
	const struct morphrec_clip none = {0, 0, 0, UINT64_MAX, 0};

	return none;
}

/* Replaces J, the whole array, by J0, on what->threads threads. Returns what it met. */
struct morphrec_clip clip_all(const struct morphrec_problem *what, void *J, const void *I);

/* Clips samples [at, at + n) of the array, and adds what it met to *sum. */
void clip_some(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t n,
	       struct morphrec_clip *sum);

/* Adds the figures of another range of samples to *sum. */
void clip_join(struct morphrec_clip *sum, const struct morphrec_clip *part);

/*
 * Operators on one image f. morphrec_marker() makes the marker J; where the mask is not f itself, it changes f into the
 * mask. Then the caller clips and runs. Last, morphrec_finish() turns the reconstruction J into the result. R(J, f) is the
 * reconstruction of J under f by dilation, R*(J, f) by erosion. h is in the units of the samples; top is the largest value
 * that a pixel may take: maxval, or 1 for floats.
 */
enum morphrec_op {
	MORPHREC_NONE,
	MORPHREC_HMAX,	     /* R(f - h, f): maxima that rise less than h vanish */
	MORPHREC_HMIN,	     /* R*(f + h, f): the same for minima */
	MORPHREC_HDOME,	     /* f - R(f - h, f) */
	MORPHREC_FILL_HOLES, /* R*(J, f): J is f on the frame of the picture, the largest value inside */
	MORPHREC_CLEAR_BORDER, /* f - R(J, f): J is f on the frame, the smallest value inside */
	MORPHREC_REGMAX,       /* top where f is a regional maximum, else 0 */
	MORPHREC_REGMIN,       /* the same for minima */
	MORPHREC_OPEN,	       /* R(f eroded by a shape, f) */
	MORPHREC_CLOSE,	       /* R*(f dilated by a shape, f) */
	MORPHREC_TOPHAT,       /* f - R(f eroded by a shape, f) */
	MORPHREC_AREA, /* area opening, no reconstruction: morphrec_marker() makes the result */
	MORPHREC_AREA_CLOSE, /* area closing, its dual */
	MORPHREC_ERODE,	     /* f eroded by a shape, no reconstruction either */
	MORPHREC_DILATE,     /* f dilated by a shape */
	MORPHREC_HYSTERESIS  /* top where f >= lo is connected to f >= hi over f >= lo, else 0 */
};

struct morphrec_operator {
	enum morphrec_op op;
	double h;      /* HMAX, HMIN, HDOME: > 0; a whole number for integers */
	double lo, hi; /* HYSTERESIS */
	/* OPEN, CLOSE, TOPHAT, ERODE, DILATE: shape NULL: a square or cube of side 2 r + 1; else the shape, r times. */
	size_t r;
	const struct shape *shape; /* borrowed */
	size_t area;		   /* AREA, AREA_CLOSE: pixels */
	/*
	 * For an array that is a share of a larger one, cut along its slowest axis: whether there is more before its first
	 * and after its last row (slice of a volume), which are then not on the frame. rest: REGMAX, REGMIN: pixels beyond
	 * it are not all at the floor.
	 */
	bool cut[2], rest;
	/* FILL_HOLES, CLEAR_BORDER of floats: pixels beside a NaN are on the frame, too */
	bool open;
	/* REGMAX, REGMIN, HYSTERESIS: the value that stands for yes. HMIN, FILL_HOLES: the largest value. */
	double top;
};

/* Whether the operator is no reconstruction: morphrec_marker() makes its result. */
static inline bool
morphrec_op_is_plain(enum morphrec_op op)
{
	return op >= MORPHREC_AREA && op <= MORPHREC_DILATE;
}

/* Whether its result is no level of the picture but a difference of two, or a yes or no. */
bool morphrec_op_differs(enum morphrec_op op);

/* Whether the operator reconstructs by erosion. */
bool morphrec_op_erodes(enum morphrec_op op);

/*
 * What an operator makes marker, mask and result of, sample by sample. The twin on the GPU makes them by the same words. yes, no,
 * most and fill are samples; the others are keys (keys.h).
 */
enum morphrec_marking {
	MORPHREC_GIVEN,	    /* by what the recipe does not tell */
	MORPHREC_LOWERED,   /* the keys of f less h, down to the floor */
	MORPHREC_SHIFTED,   /* f - shift: floats */
	MORPHREC_THRESHOLD, /* f >= hi; the mask is f >= lo */
	MORPHREC_FRAMED	    /* f on the frame, fill inside */
};

enum morphrec_finishing {
	MORPHREC_LEVEL,	     /* the reconstruction J */
	MORPHREC_DIFFERENCE, /* f - J, at most `most` */
	MORPHREC_BELOW	     /* yes where J < f */
};

struct morphrec_recipe {
	enum morphrec_marking marker;
	enum morphrec_finishing result;
	struct key_map map;
	uint64_t h, floor, lo, hi, yes, no, most, fill;
	double shift;
	bool odd; /* BELOW: a pixel that is not in the array is above the floor */
};
struct morphrec_recipe
morphrec_recipe_of(const struct morphrec_problem *what, const struct morphrec_operator *o);

/* J and f are [d][h][w] of that problem. Returns 0; -ENOMEM from operators that need memory; -E2BIG from area_open(). */
int morphrec_marker(const struct morphrec_problem *what, const struct morphrec_operator *o, void *J,
		    void *f);
void morphrec_finish(const struct morphrec_problem *what, const struct morphrec_operator *o,
		     void *J, void *f);

/*
 * The same for rows [first, end) of the h d rows of the stack. morphrec_op_by_rows() says whether the operator allows it.
 * REGMAX and REGMIN do not, because their finish looks at a whole slice. Nor do operators whose marker depends on the
 * pixels around: openings, closings, top-hats and the area operators.
 */
bool morphrec_op_by_rows(enum morphrec_op op);
typedef void morphrec_rows(const struct morphrec_problem *what, const struct morphrec_operator *o,
			   void *J, void *f, size_t first, size_t end);
morphrec_rows morphrec_marker_rows, morphrec_finish_rows;

/*
 * What a share of a larger array must know of the rest. morphrec_op_reach() counts the rows (slices of a volume) on each
 * side on which its marker depends. morphrec_all_floor() tells whether all of f, the larger array, is at the lowest value.
 */
size_t morphrec_op_reach(const struct morphrec_problem *what, const struct morphrec_operator *o);
bool morphrec_all_floor(const struct morphrec_problem *what, const struct morphrec_operator *o,
			const void *f);

/* Fills *lo and *hi with the range of a type's values, -inf and inf for floats. */
void morphrec_range(enum img_type type, double *lo, double *hi);

#endif
