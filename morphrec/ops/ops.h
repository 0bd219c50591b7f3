/* The operators on one image. Most of them are a reconstruction. */
#ifndef MORPHREC_OPS_H
#define MORPHREC_OPS_H

#include "morphrec/problem.h"
#include "morphrec/ops/shape.h"

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
	MORPHREC_HYSTERESIS  /* top where f >= lo is connected to f >= hi over f >= lo, else 0 */
};

struct morphrec_operator {
	enum morphrec_op op;
	double h;      /* HMAX, HMIN, HDOME: > 0; a whole number for integers */
	double lo, hi; /* HYSTERESIS */
	/* OPEN, CLOSE, TOPHAT: shape NULL: a square or cube of side 2 r + 1; else the shape, r times. */
	size_t r;
	const struct shape *shape; /* borrowed */
	uint64_t area;		   /* AREA, AREA_CLOSE: pixels */
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

/* Whether the operator is an area opening or closing, which is no reconstruction. */
static inline bool
morphrec_op_is_area(enum morphrec_op op)
{
	return op == MORPHREC_AREA || op == MORPHREC_AREA_CLOSE;
}

/* Whether its result is no level of the picture but a difference of two, or a yes or no. */
static inline bool
morphrec_op_differs(enum morphrec_op op)
{
	return op == MORPHREC_HDOME || op == MORPHREC_CLEAR_BORDER || op == MORPHREC_TOPHAT ||
	       op == MORPHREC_REGMAX || op == MORPHREC_REGMIN || op == MORPHREC_HYSTERESIS;
}

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
int morphrec_marker_rows(const struct morphrec_problem *what, const struct morphrec_operator *o,
			 void *J, void *f, size_t first, size_t end);
void morphrec_finish_rows(const struct morphrec_problem *what, const struct morphrec_operator *o,
			  void *J, void *f, size_t first, size_t end);

/*
 * What a share of a larger array must know of the rest. morphrec_op_reach() counts the rows (slices of a volume) on each
 * side on which its marker depends. morphrec_all_floor() tells whether all of f, the larger array, is at the lowest value.
 */
size_t morphrec_op_reach(const struct morphrec_problem *what, const struct morphrec_operator *o);
bool morphrec_all_floor(const struct morphrec_problem *what, const struct morphrec_operator *o,
			const void *f);

/*
 * Copies n samples of an integer type to the same values of a floating type. morphrec_widening() returns the function for
 * two types; NULL when `to` is not a floating type that holds every value of the integer type `from` exactly.
 */
typedef void morphrec_widen(void *to, const void *from, size_t n);
morphrec_widen *morphrec_widening(enum img_type to, enum img_type from);

/* Fills *lo and *hi with the range of a type's values, -inf and inf for floats. */
void morphrec_range(enum img_type type, double *lo, double *hi);

#endif
