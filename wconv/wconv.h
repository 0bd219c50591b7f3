/*
 * Convolution with a kernel that varies over the image.
 *
 *	F(x,y) = sum_ij w_ij(x,y) (K_ij * I)(x,y)
 *
 *	I	w x h pixels in 1 or more planes; enum wconv_edge says what lies beyond its edges
 *	K_ij	gx x gy kernels of kw x kh samples, their centre at (cx, cy); (K * I)(x,y) = sum_ab K(a,b) I(x-a+cx, y-b+cy)
 *	w_ij	for a grid: bilinear in the position of the OUTPUT pixel, 1 at the node (X_i, Y_j), 0 at the next nodes.
 *		Beyond the outermost nodes the nearest kernel holds. Positions are in pixels: column c has its centre at c.
 *	w_ij	for a basis: u^i v^j, i + j <= degree, with u = (x - zero_x) / scale_x and v likewise.
 *		The order of the exponents (i,j) is (0,0) (1,0) .. (degree,0) (0,1) (1,1) ..
 *
 * With normalise, each kernel K_ij of a grid is divided by its sum. A basis is normalised at each pixel:
 * F is divided by S(x,y) = sum_ij w_ij(x,y) S_ij, where S_ij is the sum of the plane K_ij.
 *
 * The weights belong to the output pixel, which gathers. A point of the image therefore leaves a blend of kernels in the
 * result: each pixel that it reaches sees it through that pixel's own kernel.
 *
 * Small kernels are summed directly; one kernel that is the product of a column and a row, by these, see plan.c. Large
 * kernels go by FFT, tile by tile; core/tile_body.h explains the scheme.
 * The image streams through the plan: memory does not grow with the height.
 * The result has the same bytes for any number of threads.
 *
 * Error: |error| <= b max|F|, as long as cancellation costs F at most one digit against |K| * |I|.
 *
 *	b = 4e-15				in double
 *	b = 3e-7				in float, direct sums
 *	b = max(3e-7, 1.8e-8 log2(Px Py))	in float, transforms of lengths Px, Py, an image lit all over
 *	b = 3e-8 log2(Px Py)			in float, transforms, an image of points on black
 *
 * The term with the logarithm is the larger one from 256x400 on; b = 4e-7 for 2560x2048. The largest factors of
 * log2(Px Py) found were 1.7e-8 on noise and ramps, 2.6e-8 on points. Filling in divides by the known part of the
 * kernel's weight, known / W with W = sum |K|; there |error| <= 2 b (W / known) W max|I|.
 *
 * Source: J. Kepner, A multi-threaded fast convolver for dynamically parallel image filtering, J. Parallel Distrib.
 * Comput. 63, 2003, equation 8. His equation 6 has the two one-dimensional weights in each other's place; here they are
 * in the right one.
 */
#ifndef WEIR_WCONV_WCONV_H
#define WEIR_WCONV_WCONV_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/why.h"
#include "common/stream/img.h"

/* The pixels beyond the edge of a b c d: */
enum wconv_edge {
	WCONV_ZERO,	  /* 0 0 | a b c d | 0 0 */
	WCONV_REFLECT,	  /* b a | a b c d | d c */
	WCONV_MIRROR,	  /* c b | a b c d | c b */
	WCONV_NEAREST,	  /* a a | a b c d | d d */
	WCONV_WRAP,	  /* c d | a b c d | a b */
	WCONV_RENORMALISE /* unknown; filled in as by WCONV_NAN_INTERPOLATE */
};

/* What pixels that are NaN or infinite do: */
enum wconv_nan {
	WCONV_NAN_PROPAGATE,   /* a result is NaN if and only if its window has such a pixel */
	WCONV_NAN_INTERPOLATE, /* F = (K * I m) (sum K) / (K * m), m = 0 at those pixels, else 1 */
	WCONV_NAN_ZERO	       /* they count as 0 */
};

/*
 * The results: SAME: one for each pixel. VALID: those whose window lies inside the image.
 * FULL: all whose window touches the image.
 */
enum wconv_output { WCONV_SAME, WCONV_VALID, WCONV_FULL };
enum wconv_method { WCONV_AUTO, WCONV_DIRECT, WCONV_FFT };

/* Interpolation gives NaN where less than this part of the kernel's weight falls on known pixels. */
#define WCONV_KNOWN 1e-5

/* bytes: see repeat */
#define WCONV_KEEP ((size_t)1 << 30)

/* The highest degree of polynomials. */
#define WCONV_DEGREE 20

struct wconv_problem {
	/* size of the item in pixels; its planes are interleaved */
	size_t w, h, planes;
	/* type of the item's samples */
	enum img_type in;
	/* type of the results. Integers are rounded and clipped to 0..top; top 0: to the type's own range */
	enum img_type out;
	double top;
	/* the item lies at (x0,y0) of the whole image of W x H. A part gives the results that
	   need no pixel of the whole that the part lacks */
	size_t x0, y0, W, H;
	/* the rows of results that are wanted, of those that the item gives: want0 .. want1 - 1, as positions in the whole.
	   Equal: all of them */
	ptrdiff_t want0, want1;
	/* size of a kernel in samples; columns and rows of the grid */
	size_t kw, kh, gx, gy;
	/* double if in_double, else float; finite; borrowed until wconv_free */
	const void *kernels;
	/* distances in samples: to the kernel's next row, to the kernel on the right, to the kernel below */
	size_t step_row, step_x, step_y;
	/* gx and gy increasing positions; unused for a basis */
	const double *node_x, *node_y;
	/* degree of the basis, which has gx * gy planes of coefficients; -1: the kernels are a grid */
	int degree;
	double zero_x, zero_y, scale_x, scale_y;
	/* the kernels' centre */
	size_t cx, cy;
	/* for one kernel of three axes, see volume/volume.h: slices of a volume, of the kernel, and its centre; else 0 */
	size_t d, kd, cz;
	/* turns the kernels by half a turn, and their centre with them */
	bool correlate;
	/* scales each kernel of a grid, or each local kernel of a basis, to the sum 1 */
	bool normalise;
	/* the image holds variances, and so do the results: sum (sum w K)^2 V. Not for adjoints and GPUs */
	bool variance;
	/* computes in double precision */
	bool in_double;
	enum wconv_edge edge;
	enum wconv_nan nan;
	enum wconv_output output;
	enum wconv_method method;
	/* set it for a plan that runs many times: the transforms of all kernels are kept when they take less than
	   WCONV_KEEP bytes */
	bool repeat;
	/* set it for a plan that runs on a GPU: kernels are not taken apart */
	bool on_device;
	int threads;
	/* the bytes of the widest registers to use: 16, 32 or 64; 0: as wide as the CPU has them */
	int registers;
};

struct wconv_plan;

/* One step of the stream takes rows_in rows of the item and gives rows_out rows of the result. rows_in may be 0. */
struct wconv_step {
	size_t rows_in, rows_out;
};

/* Returns 0, or -1 with a sentence in why and *p NULL. */
int wconv_plan(struct wconv_plan **p, const struct wconv_problem *q, struct why *why);

/* Tells the size of the result, and the position of its first pixel in the whole image. */
void wconv_shape(const struct wconv_plan *p, size_t *w, size_t *h, ptrdiff_t *x0, ptrdiff_t *y0);

/*
 * wconv_count() returns how many steps an item takes, wconv_steps() the rows of step i, counted from 0.
 * wconv_most() returns the largest rows_in and the largest rows_out of all steps.
 */
size_t wconv_count(const struct wconv_plan *p);
struct wconv_step wconv_steps(const struct wconv_plan *p, size_t i);
struct wconv_step wconv_most(const struct wconv_plan *p);

/* Returns the rows of the next step. */
struct wconv_step wconv_next(const struct wconv_plan *p);

/* Returns the absolute value up to which samples cannot make transforms overflow, or be more than the precision holds. */
double wconv_largest(const struct wconv_plan *p);

/*
 * Does the next step. in: [rows_in][w * planes] samples of type q.in. out: rows_out rows of the result.
 * After the last step the plan is ready for another item of the same shape.
 */
void wconv_run(struct wconv_plan *p, const void *in, void *out);

/*
 * Whether rows of the last step may have a finite sample larger than wconv_largest(). It is so for each such sample of the
 * plan's precision, and for rows with a sample that is not finite.
 */
bool wconv_in_doubt(const struct wconv_plan *p);

/*
 * What to do with each row of results as soon as it is done, while it is in the cache. samples: the row.
 * Any thread may call it, for the rows in any order. row NULL: nothing.
 */
struct wconv_after {
	void (*row)(void *with, size_t row, const void *samples);
	void *with;
};
/* The plan must have one plane, and results of its own precision. */
void wconv_then(struct wconv_plan *p, struct wconv_after after);

/* What the plan has chosen. */
struct wconv_chosen {
	bool direct;   /* direct sums; else transforms */
	size_t px, py; /* lengths of the transforms; 0 for direct sums */
	size_t tiles_x, tiles_y;
	const char *level; /* of the CPU */
};
struct wconv_chosen wconv_chosen(const struct wconv_plan *p);

/*
 * Returns the first result of tile i along x, or along y, as a position in the whole image. Tiles are laid over the
 * whole: where a part has all results of a tile, they have the same bytes as in the whole. With direct sums, all results
 * of a part have the bytes of the whole.
 */
ptrdiff_t wconv_border(const struct wconv_plan *p, bool y, size_t i);

/*
 * The rows of tiles t0 .. t1-1 along y have the results want0 .. want1-1. A problem that wants these, and has `rows` rows of
 * the item from row `first` on, gives them with the same bytes.
 */
struct wconv_rows {
	ptrdiff_t want0, want1;
	size_t first, rows;
};
struct wconv_rows wconv_need(const struct wconv_plan *p, size_t t0, size_t t1);

/* Writes one line to text[n]: what was chosen, and why. */
void wconv_explain(const struct wconv_plan *p, char *text, size_t n);

/* p may be NULL. */
void wconv_free(struct wconv_plan *p);

/* --- the adjoint ------------------------------------------------------------------------------------------------ */

/*
 * Let A be the linear part of the convolution: F = A I + (terms that do not depend on I). The adjoint gives out = A' in:
 * sum_x in(x) (A I)(x) = sum_q out(q) I(q) for every I. Each result scatters along its own kernel. With correlate,
 * that is what a point spread function does to light: a point at p leaves I(p) K_p(q - p) at q.
 *
 * The plan must have one plane, and samples and results of its own precision. in holds all results, out all pixels of the
 * item; all are finite. Where the edge renormalises, results that are NaN count as 0.
 * The bound of |error| is that of F for direct sums, and 2.5 times that for transforms. With WCONV_NEAREST a pixel of the border
 * also sums the errors of all that lies beyond it: in float up to 3.2e-6 by transforms of Gaussians of 31x31 to 65x65.
 * The whole item is held in memory, with its edges.
 */
struct wconv_adjoint;

/* p is borrowed until wconv_adjoint_free. Returns 0, or -1 with a sentence in why and *a NULL. */
int wconv_adjoint_plan(struct wconv_adjoint **a, struct wconv_plan *p, struct why *why);
void wconv_adjoint_run(struct wconv_adjoint *a, const void *in, void *out);
/* With `after`, wconv_adjoint_run() stores nothing in out, which may be NULL. */
void wconv_adjoint_then(struct wconv_adjoint *a, struct wconv_after after);

/* a may be NULL. */
void wconv_adjoint_free(struct wconv_adjoint *a);

/* --- direct.c: the definition ---------------------------------------------------------------------------------- */

/*
 * Convolves the whole item at once, in double, on one thread, without tricks. in: w*h*planes samples of type q->in.
 * out: the result as doubles, of the size that wconv_shape() tells.
 */
void wconv_direct(const struct wconv_problem *q, const void *in, double *out);

/* The adjoint of wconv_direct(). in: doubles, of the results' size; out: w*h*planes doubles. */
void wconv_direct_adjoint(const struct wconv_problem *q, const double *in, double *out);

#endif
