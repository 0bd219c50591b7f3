/* A step of wconv, its tiles, and whole items on the device, for the files of its twin. */
#ifndef WEIR_GPU_WCONV_JOB_H
#define WEIR_GPU_WCONV_JOB_H

#include "gpu/device.h"
#include "gpu/fft.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "gpu/wconv/wconv.h"
#include "wconv/plan.h"
}

enum {
	WC_RING,
	WC_KERNELS,
	WC_TABLES,
	WC_STEP,
	WC_RAW,
	WC_OUT,
	WC_SPECTRA,
	WC_SUMS,
	WC_LIST,
	WC_TILES,
	WC_FOLD,
	WC_WEIGHED,
	WC_PICTURES,
	WC_TOTALS
}; /* the blocks of gpu_hold() that wconv uses */

constexpr unsigned WC_NONE = ~0u, WC_SPAN = 256; /* results of a segment, at most */

/* Results [at, at + n) of a row. They need the functions f .. f + nf - 1 of x. */
struct wc_segment {
	unsigned at, n, f, nf;
};

enum wc_state { KNOWN, UNKNOWN, POISON };

/* What a step needs. All arrays are on the device. */
template <class T> struct wc_work {
	const T *ring;	  /* [depth][w][planes] */
	const T *kernel;  /* [kernels][kh][kw], turned so that tap t meets pixel x + t, scaled */
	unsigned *number; /* [functions of y][functions of x]: the kernel, or WC_NONE */
	/* [kernels]: results are divided by the sum of the local kernel. NULL: they are not divided. */
	double *sum;
	T *wx;		 /* [nwx][width]: weights of the functions of a segment */
	unsigned *fx;	 /* [width]: the first function of x */
	int *column;	 /* [width + kw - 1]: columns of the item, or -1 */
	wc_segment *seg; /* [segments] of a row */
	T *wy;		 /* [nwy][rows] */
	unsigned *fy;	 /* [rows]: the first function of y */
	int *row;	 /* [rows + kh - 1]: rows of the ring, or -1 */
	void *out;	 /* [rows][width][planes] */
	unsigned width, rows, planes, kw, kh, nwx, nwy, nfx, nfy, segments, longest;
	size_t ring_row;    /* samples of a row */
	enum img_type type; /* of out */
	enum wconv_nan nan;
	bool renormalise;
	double top; /* the maxval of out, or 0 */
};

/* Returns the place of the item where pixel x of the window is found, or -1. */
ptrdiff_t wc_place(const struct wconv_axis *a, ptrdiff_t x);

/* Returns what the problem says about a step with so many rows of results; the arrays are missing. */
template <class T> wc_work<T> wc_work_of(const struct wconv_plan *p, size_t rows);

/* Sends the kernels. Call it before the first step of a picture. */
template <class T> int wc_send_kernels(struct gpu *g, const struct wconv_plan *p);

/*
 * wc_send_tables() sends what is the same in all steps, and sets w to it. wc_send_step() sends what rows [first, first + rows) need; the ring holds `depth` rows of the item.
 */
template <class T> int wc_send_tables(struct gpu *g, const struct wconv_plan *p, wc_work<T> *w);
template <class T>
int wc_send_step(struct gpu *g, const struct wconv_plan *p, size_t depth, ptrdiff_t first,
		 size_t rows, wc_work<T> *w);

/* The range [from, to) of tile rows, or of functions of y. */
struct wc_span {
	size_t from, to;
};

/*
 * Write results to w.out: wc_sum(), in direct.cu, launches the sums; wc_transform(), in fft.cu, runs the transforms of some tile
 * rows. fresh: the functions of y whose kernels the ring does not hold yet.
 */
template <class T> int wc_sum(struct gpu *g, const wc_work<T> &w);
template <class T>
int wc_transform(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span tiles,
		 wc_span fresh);

/* --- tiles ---------------------------------------------------------------------------------------------------------- */

constexpr unsigned WC_THREADS = 256; /* of a block */

/* A tile: results [x, x + w) of rows [y, y + h) of the step. They need functions fx .. fx + nfx - 1 and fy .. fy + nfy - 1. */
struct wc_tile {
	unsigned plane, x, y, w, h, fx, nfx, fy, nfy;
};

template <class T> struct alignas(2 * sizeof(T)) wc_cx {
	T re, im;
};

/* The tiles that are computed at once. All arrays are on the device. */
template <class T> struct wc_tiles {
	const wc_tile *list;
	unsigned n, nx, ny, columns, high,
	    wide;		   /* tiles; sizes of a transform; results of a tile, at most */
	T *real;		   /* [n][ny][nx], then [n][high][nx] */
	wc_cx<T> *image, *product; /* [columns][n][ny] */
	wc_cx<T> *blend;	   /* [columns][n][high] */
	T *mean, *level;	   /* [n][ny], [n][high] */
	T *result;		   /* [n][high][wide] */
	unsigned char *odd,
	    *seen;	  /* [n][ny][nx]: pixels not known; windows along x with such a pixel */
	unsigned *any;	  /* [n] */
	wc_cx<T> *kernel; /* the ring of spectra */
	double *sums;	  /* [kernels][kh] */
	unsigned slots;
};

/* Returns the weight of function f of x at column `at` of the results. */
template <class T>
static __device__ T
wc_weight_x(const wc_work<T> &w, unsigned f, unsigned at)
{
	const unsigned k = f - w.fx[at];

	return k < w.nwx ? w.wx[(size_t)k * w.width + at] : 0;
}

/* --- whole items --------------------------------------------------------------------------------------------------- */

/*
 * The convolution A of a whole item, and its adjoint A', for data that stay on the device: whole.cu.
 *
 *	wc_whole_open(g, p, &o)		sends what A and A' need
 *	wc_convolve(g, &o, x, y)	y = A x		y: [results' rows][results' columns]
 *	wc_scatter_back(g, &o, y, x)	x = A' y	x: [item's rows][item's columns]
 */

/*
 * The adjoint of a whole item. All arrays are on the device. Padded is the item with its edges: each result's window lies
 * inside it.
 */
template <class T> struct wc_adjoint {
	const T *in; /* [rows][width]: the results, times their factors */
	T *weighed;  /* [rows][width]: room for them; NULL: the factors are 1 */
	T *padded;   /* [high][wide] */
	T *out;	     /* [item_h][item_w] */
	unsigned wide, high, item_w, item_h;
	/* pixel x of the item is the sum of the padded columns column[column0[x]] .. column[column0[x + 1] - 1]; rows likewise */
	unsigned *column0, *column, *row0, *row;
	/* the windows of tiles tile_x[2 Q] .. tile_x[2 Q + 1] - 1 have the padded column Q; rows likewise. Transforms only */
	unsigned *tile_x, *tile_y;
};

/* For a plan of one plane, and of samples and results of its own precision. */
template <class T> struct wc_whole {
	const struct wconv_plan *p;
	wc_work<T> w; /* all rows of results, from all rows of the item */
	wc_adjoint<T> a;
	/* transforms: all tiles, row by row, on the host (owned) and on the device; what at most `most` of them need */
	wc_tile *list;
	wc_tiles<T> tiles;
	size_t most;
	/* the ring holds the spectra of all kernels; the sums of their rows are made */
	bool kept, summed;

	~wc_whole()
	{
		weir_free(list);
	}
};

template <class T> int wc_whole_open(struct gpu *g, const struct wconv_plan *p, wc_whole<T> *o);

/* y may not be x. Only kernels are launched: the caller calls gpu_begin() and gpu_end(). */
template <class T> int wc_convolve(struct gpu *g, wc_whole<T> *o, const T *x, T *y);
template <class T> int wc_scatter_back(struct gpu *g, wc_whole<T> *o, const T *y, T *x);

/* The same by transforms, from a.in to a.padded back: fft.cu. wc_open_tiles() lists all tiles, and gets what they need. */
template <class T> int wc_open_tiles(struct gpu *g, wc_whole<T> *o);
template <class T> int wc_transform_all(struct gpu *g, wc_whole<T> *o);
template <class T> int wc_scatter_tiles(struct gpu *g, wc_whole<T> *o);

#endif
