/* The operators that are a reconstruction of one picture. */
#ifndef MORPHREC_OPS_H
#define MORPHREC_OPS_H

#include "morphrec/problem.h"
#include "morphrec/shape.h"

/*
 * Operators that are a reconstruction of one image f. morphrec_marker() makes the marker J and, where the mask is not f
 * itself, changes f into the mask; the caller then clips and runs; morphrec_finish() turns the reconstruction J into the
 * result. With h in the units of the samples, top the largest value a pixel may take (maxval; 1 for floats), bottom the
 * smallest of the type (-inf for floats):
 */
enum morphrec_op {
	MORPHREC_NONE,
	MORPHREC_HMAX,	/* R(f - h, f): maxima lower than h vanish */
	MORPHREC_HMIN,	/* by erosion, R(f + h, f) */
	MORPHREC_HDOME, /* f - R(f - h, f) */
	MORPHREC_FILL_HOLES, /* by erosion, marker f on the frame of the picture, else the largest value */
	MORPHREC_CLEAR_BORDER, /* f - R(f on the frame, else the smallest value; f) */
	MORPHREC_REGMAX,       /* top where f is a regional maximum, else 0 */
	MORPHREC_REGMIN,       /* the same of minima */
	MORPHREC_OPEN,	       /* R(f eroded by a shape, f) */
	MORPHREC_CLOSE,	       /* by erosion, R(f dilated by it, f) */
	MORPHREC_TOPHAT,       /* f - R(f eroded by the shape, f) */
	MORPHREC_AREA, /* area opening: no reconstruction; morphrec_marker() makes the result */
	MORPHREC_AREA_CLOSE, /* its dual */
	MORPHREC_HYSTERESIS  /* top where f >= lo is connected to f >= hi over f >= lo, else 0 */
};

struct morphrec_operator {
	enum morphrec_op op;
	double h;      /* HMAX, HMIN, HDOME: > 0; rounded to nothing finer than the type */
	double lo, hi; /* HYSTERESIS */
	/* OPEN, CLOSE, TOPHAT: a square or cube of side 2 r + 1; or the shape, borrowed, r times. */
	size_t r;
	const struct shape *shape;
	uint64_t area; /* AREA, AREA_CLOSE: pixels */
	double
	    top; /* REGMAX, REGMIN, HYSTERESIS: the value of yes; HMIN, FILL_HOLES: where sums saturate */
};

/* Whether the operator is not a reconstruction. */
static inline bool
morphrec_op_is_area(enum morphrec_op op)
{
	return op == MORPHREC_AREA || op == MORPHREC_AREA_CLOSE;
}

/* Whether the operator reconstructs by erosion. */
bool morphrec_op_erodes(enum morphrec_op op);

/* J and f are [d][h][w] of that problem. 0; -ENOMEM, of operators that need room; -E2BIG: area_open(). */
int morphrec_marker(const struct morphrec_problem *what, const struct morphrec_operator *o, void *J,
		    void *f);
void morphrec_finish(const struct morphrec_problem *what, const struct morphrec_operator *o,
		     void *J, void *f);

/*
 * The same of rows [first, end) of the h d of the stack, for operators that can go row by row: all but REGMAX and REGMIN,
 * whose finish looks at a whole slice, and those whose marker looks at the pixels around.
 */
bool morphrec_op_by_rows(enum morphrec_op op);
int morphrec_marker_rows(const struct morphrec_problem *what, const struct morphrec_operator *o,
			 void *J, void *f, size_t first, size_t end);
void morphrec_finish_rows(const struct morphrec_problem *what, const struct morphrec_operator *o,
			  void *J, void *f, size_t first, size_t end);

/*
 * What turns n samples of an integer type into the same values of a floating type; NULL where that type does not hold
 * each of them exactly, or for any other two types.
 */
typedef void morphrec_widen(void *to, const void *from, size_t n);
morphrec_widen *morphrec_widening(enum img_type to, enum img_type from);

/* The range of a type's values: -inf..inf for floats. */
void morphrec_range(enum img_type type, double *lo, double *hi);

#endif
