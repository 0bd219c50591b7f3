/*
 * Convolution with a kernel that varies over the image.
 *
 *	F(x,y) = sum_ij w_ij(x,y) (K_ij * I)(x,y)
 *
 *	I	w x h pixels in 1 or more planes; beyond its edges as enum wconv_edge says
 *	K_ij	gx x gy kernels of kw x kh samples, their centre at (cx, cy); (K * I)(x,y) = sum_ab K(a,b) I(x-a+cx, y-b+cy)
 *	w_ij	bilinear in the position of the OUTPUT pixel between the nodes (X_i, Y_j): 1 at its own node, 0 at the next;
 *		beyond the outermost nodes the nearest kernel holds. Positions are in pixels: column c has its centre at c.
 *	or	w_ij = u^i v^j, u = (x - zero_x) / scale_x, v likewise: kernels as polynomials of degree i + j <= degree, in the
 *		order of their exponents (0,0) (1,0) .. (degree,0) (0,1) (1,1) ..
 *
 * normalise divides each K_ij of a grid by its sum. Planes of a basis have no sums of their own to go by: there the local
 * kernel is what is normalised, F is divided by S(x,y) = sum_ij w_ij(x,y) S_ij with S_ij the sum of plane K_ij.
 *
 * The weights belong to the output pixel: what a point at (x,y) leaves in the result is gathered, not scattered, and is a
 * blend of kernels taken at the pixels it falls on.
 *
 * Small kernels are summed directly; large ones go by FFT, tile by tile, streaming: memory does not grow with the
 * height. See core/tile_body.h for the scheme. The same bytes for any number of threads.
 *
 * |error| <= b max|F|, as long as F has not lost more than a digit to cancellation against |K| * |I|: b = 4e-15 in double;
 * in float 3e-7 for sums, and for transforms, which lose as the logarithm of their length, 3e-7 or 1.8e-8 log2(Px Py), which is
 * more from 256x400 on (4e-7 for 2560x2048), where the image is lit all over, 3e-8 log2(Px Py) where it is points on
 * black. Found: 1.7e-8 on noise and ramps, 2.6e-8 on points. Filling in divides by the known part of the kernel's weight,
 * known / W: there |error| <= 2 b (W / known) W max|I|, with W = sum |K|.
 *
 * J. Kepner, A multi-threaded fast convolver for dynamically parallel image filtering, J. Parallel Distrib. Comput. 63,
 * 2003; equation 8, with the two one-dimensional weights of equation 6 put right.
 */
#ifndef WCONV_H
#define WCONV_H

#include <stdbool.h>
#include <stddef.h>

#include "common/img.h"

#define WCONV_ERR 256

/* The pixels beyond the edge of a b c d: */
enum wconv_edge {
	WCONV_ZERO,	  /* 0 0 | a b c d | 0 0 */
	WCONV_REFLECT,	  /* b a | a b c d | d c */
	WCONV_MIRROR,	  /* c b | a b c d | c b */
	WCONV_NEAREST,	  /* a a | a b c d | d d */
	WCONV_WRAP,	  /* c d | a b c d | a b */
	WCONV_CONSTANT,	  /* v v | a b c d | v v */
	WCONV_RENORMALISE /* unknown, filled in as WCONV_NAN_INTERPOLATE does */
};

/* Pixels that are NaN or infinite: */
enum wconv_nan {
	WCONV_NAN_PROPAGATE,   /* every result whose window has one is NaN, no other */
	WCONV_NAN_INTERPOLATE, /* F = (K * I m) (sum K) / (K * m), m = 0 at those pixels, else 1 */
	WCONV_NAN_ZERO	       /* are 0 */
};

enum wconv_output { WCONV_SAME, WCONV_VALID, WCONV_FULL };
enum wconv_method { WCONV_AUTO, WCONV_DIRECT, WCONV_FFT };

/* Where less than this part of the kernel's weight falls on known pixels, interpolation gives NaN. */
#define WCONV_KNOWN 1e-5

#define WCONV_KEEP ((size_t)1 << 30)

/* The highest degree of polynomials. */
#define WCONV_DEGREE 20

struct wconv_problem {
	/* the item: its planes are interleaved */
	size_t w, h, planes;
	/* type of its samples */
	enum img_type in;
	/* type of the results; integers are rounded and clipped to 0..top; top 0: the type's own range */
	enum img_type out;
	double top;
	/* the item lies at (x0,y0) of the whole image of W x H; a part gives the results that need no other pixels */
	size_t x0, y0, W, H;
	/* size of a kernel; columns and rows of the grid */
	size_t kw, kh, gx, gy;
	/* double if in_double, else float; finite; borrowed until wconv_free */
	const void *kernels;
	/* samples from a kernel's row to its next, from a kernel to its right and to its lower neighbour */
	size_t step_row, step_x, step_y;
	/* gx and gy increasing positions; unused for polynomials */
	const double *node_x, *node_y;
	/* of the polynomials, which have gx * gy coefficient kernels; -1: a grid */
	int degree;
	double zero_x, zero_y, scale_x, scale_y;
	/* the kernels' centre */
	size_t cx, cy;
	/* flips the kernels, and the centre with them */
	bool correlate;
	/* each kernel, of a basis each local kernel, is scaled to the sum 1 */
	bool normalise;
	/* compute in double precision */
	bool in_double;
	enum wconv_edge edge;
	double constant;
	enum wconv_nan nan;
	enum wconv_output output;
	enum wconv_method method;
	/* the plan will run many times: the transforms of all kernels are kept when they take less than WCONV_KEEP bytes */
	bool repeat;
	int threads;
	/* the highest level of instructions: "avx512", "avx2", "generic"; NULL: the CPU's */
	const char *level;
};

struct wconv_plan;

/* A step of the stream takes rows of the item and gives rows of the result. */
struct wconv_step {
	size_t rows_in, rows_out;
};

/* 0, or -1 with a sentence in err and *p NULL. */
int wconv_plan(struct wconv_plan **p, const struct wconv_problem *q, char err[WCONV_ERR]);

/* Size of the result, and the position of its first pixel in the whole image. */
void wconv_shape(const struct wconv_plan *p, size_t *w, size_t *h, ptrdiff_t *x0, ptrdiff_t *y0);

/* How many steps an item takes; what step i, from 0, takes and gives; the most that any does. */
size_t wconv_count(const struct wconv_plan *p);
struct wconv_step wconv_steps(const struct wconv_plan *p, size_t i);
struct wconv_step wconv_most(const struct wconv_plan *p);

/*
 * The next step: in has rows_in rows of w * planes samples, out gets rows_out of the result's. After the last step the
 * plan stands before the first again, ready for another item of the same shape.
 */
void wconv_run(struct wconv_plan *p, const void *in, void *out);

/* What was chosen. */
struct wconv_chosen {
	bool direct;   /* sums; else by transforms: */
	size_t px, py; /* their lengths; 0 for sums */
	size_t tiles_x, tiles_y;
	const char *level; /* of the CPU's instructions */
};
struct wconv_chosen wconv_chosen(const struct wconv_plan *p);

/*
 * The first result of tile i along x, or along y, as a position in the whole image. Tiles are laid over the whole: a part
 * that has all the results of a tile has the same bytes there as the whole. For direct sums it has them everywhere.
 */
ptrdiff_t wconv_border(const struct wconv_plan *p, bool y, size_t i);

/* What was chosen and why, a line. */
void wconv_explain(const struct wconv_plan *p, char *text, size_t n);

/* p may be NULL. */
void wconv_free(struct wconv_plan *p);

/* --- the adjoint ------------------------------------------------------------------------------------------------ */

/*
 * With F = A I + (what does not depend on I), out = A' in: sum_x in(x) F(x) = sum_q out(q) I(q) for every I. Each result
 * scatters along its own kernel. With correlate, that is what a point spread function does to light: a point at p
 * leaves I(p) K_p(q - p) at q.
 *
 * The plan has one plane, and its samples and results are those of its precision. in: all results, out: all of the item;
 * all are finite. Where the edge renormalises, results that are NaN count as 0. |error| as for F, twice that by transforms.
 * The whole item is held, with its edges.
 */
struct wconv_adjoint;

/* p is borrowed until wconv_adjoint_free. 0, or -1 with a sentence in err and *a NULL. */
int wconv_adjoint_plan(struct wconv_adjoint **a, struct wconv_plan *p, char err[WCONV_ERR]);
void wconv_adjoint_run(struct wconv_adjoint *a, const void *in, void *out);

/* a may be NULL. */
void wconv_adjoint_free(struct wconv_adjoint *a);

/* --- direct.c: the definition ---------------------------------------------------------------------------------- */

/*
 * The whole item at once, in double, one thread, no tricks. in: w*h*planes samples of q->in; out: the result as doubles,
 * in the size that wconv_shape tells.
 */
void wconv_direct(const struct wconv_problem *q, const void *in, double *out);

/* Its adjoint: in holds doubles of the results' size, out gets w*h*planes doubles. */
void wconv_direct_adjoint(const struct wconv_problem *q, const double *in, double *out);

#endif
