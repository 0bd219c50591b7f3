/*
 * Grayscale morphological reconstruction. Of a marker J under a mask I, by dilation, it is the fixpoint of
 *
 *	J <- min(I, dilate(J)),		J0 = min(marker, mask)
 *
 * where dilate takes the largest value of a pixel and its neighbours. In words: a pixel takes the highest level at which
 * it can be reached from the marker over pixels of the mask that are at least as high. By erosion: the dual, min and max
 * exchanged, J0 = max(marker, mask).
 *
 * Arrays are [d][h][w], w fastest. An image (d slices of connectivity 4 or 8) is reconstructed slice by slice; with
 * connectivity 6, 18 or 26 the d slices are one volume. Types: 8, 16 and 32-bit integers, float and double. Every method
 * and every number of threads gives the same bytes: the fixpoint is unique, and all computing is comparing. A result of
 * a floating type never holds -0.
 *
 * Vincent, Morphological grayscale reconstruction in image analysis, IEEE Trans. Image Processing 2(2), 1993, 176-201.
 * He, Wu, Di, Chen, A parallel heap cluster for morphological reconstruction on the GPU.
 */
#ifndef MORPHREC_H
#define MORPHREC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/img.h"
#include "morphrec/keys.h"

enum morphrec_method {
	MORPHREC_TILE,	/* the tile engine: tile.h */
	MORPHREC_QUEUE, /* Vincent's hybrid: two scans, then a queue of pixels */
	MORPHREC_HEAP,	/* He et al.: a cluster of parallel heaps, highest values first */
	MORPHREC_SCAN	/* raster and anti-raster scans until nothing changes */
};

struct morphrec_problem {
	enum img_type type;
	size_t w, h, d; /* all >= 1 */
	int conn;	/* 4, 8 (images); 6, 18, 26 (volumes) */
	bool erode;
	enum morphrec_method method;
	int threads; /* >= 1; tile and heap use them */
	/* tile: bytes of marker and mask that all threads together may have in hand; 0: no limit. */
	size_t max_mem;
	/* Called, by any thread, when the bytes [at, at + n) of J and I are not needed for a while; or NULL. */
	void (*done)(void *with, size_t at, size_t n);
	void *done_with;
	/* tile: called now and then, by one thread at a time, with the share of the tiles that were visited once; or NULL. */
	void (*step)(void *with, double share);
	void *step_with;
};

/* Whether neighbours lie in other slices too. */
static inline bool
morphrec_is_volume(int conn)
{
	return conn != 4 && conn != 8;
}

/* The map of that problem's samples to keys. */
struct key_map morphrec_keys(const struct morphrec_problem *what);

/* What morphrec_clip() saw. */
struct morphrec_clip {
	uint64_t above;	      /* markers beyond the mask: clipped */
	uint64_t first_above; /* the index of the first of them */
	uint64_t nan;	      /* pixels where marker or mask is NaN */
	uint64_t first_nan;
	uint64_t lo, hi;  /* smallest and largest key of J0: keys.h */
	bool two;	  /* J0 and I hold two values only: */
	uint64_t off, on; /* their keys */
};

/* How the tile engine went: for --stats. */
struct morphrec_figures {
	size_t tiles, visits, rounds, floods, phases;
};

struct morphrec_plan {
	struct morphrec_problem what;
	struct morphrec_clip clip;
	struct morphrec_figures figures;
	struct engine *engine; /* owned: method tile */
	struct serial *serial; /* owned: the others */
};

/*
 * Makes *p for that problem: NULL, or a sentence that says why not (then p is zeroed). Allocates all that the run needs:
 * tile, 32 bytes for each 62 x 62 pixels; queue, scan and heap, a copy of the mask and their queues.
 */
const char *morphrec_plan(struct morphrec_plan *p, const struct morphrec_problem *what);

/* A line on how the plan goes about it, for -v: tiles, units that run side by side, bytes of its own, kernels. */
void morphrec_explain(const struct morphrec_plan *p, char *text, size_t size);

/*
 * Writes J0 into J, and says in p->clip what it met. A NaN of the mask is a wall: it raises nothing, and is NaN in the
 * result. A NaN of the marker marks nothing.
 */
void morphrec_clip(struct morphrec_plan *p, void *J, const void *I);

/*
 * J, as morphrec_clip() left it, becomes the reconstruction under I. J and I do not overlap. 0, or -ENOMEM from the
 * methods queue and heap, whose queues grow with the data.
 */
int morphrec_run(struct morphrec_plan *p, void *J, const void *I);

/*
 * Both at once: p->clip says what was met only when all is done, but the tile engine clips an image as it first comes by,
 * a pass over memory less.
 */
int morphrec_clip_and_run(struct morphrec_plan *p, void *J, const void *I);

/* Frees what the plan owns; a zeroed one is fine. */
void morphrec_free(struct morphrec_plan *p);

/* The definition, iterated: what all else is held to. J and I as for morphrec_run, J unclipped, NaN as in morphrec_clip. 0 or -ENOMEM. */
int morphrec_direct(const struct morphrec_problem *what, void *J, const void *I);

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
	MORPHREC_OPEN,	       /* R(f eroded by a square of side 2r + 1, f) */
	MORPHREC_CLOSE,	       /* by erosion, R(f dilated by that square, f) */
	MORPHREC_HYSTERESIS    /* top where f >= lo is connected to f >= hi over f >= lo, else 0 */
};

struct morphrec_operator {
	enum morphrec_op op;
	double h;      /* HMAX, HMIN, HDOME: > 0; rounded to nothing finer than the type */
	double lo, hi; /* HYSTERESIS */
	size_t r;      /* OPEN, CLOSE: pixels */
	double
	    top; /* REGMAX, REGMIN, HYSTERESIS: the value of yes; HMIN, FILL_HOLES: where sums saturate */
};

/* Whether the operator reconstructs by erosion. */
bool morphrec_op_erodes(enum morphrec_op op);

/* J and f are [d][h][w] of that problem. 0 or -ENOMEM (open, close: a few rows). */
int morphrec_marker(const struct morphrec_problem *what, const struct morphrec_operator *o, void *J,
		    void *f);
void morphrec_finish(const struct morphrec_problem *what, const struct morphrec_operator *o,
		     void *J, void *f);

/*
 * The same of rows [first, end) of the h d of the stack, for operators that can go row by row: all but REGMAX and REGMIN,
 * whose finish looks at a whole slice, and OPEN and CLOSE, whose marker looks at the rows around.
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
