/* A step of wconv on the device, for the files of its twin. */
#ifndef WEIR_GPU_WCONV_JOB_H
#define WEIR_GPU_WCONV_JOB_H

#include "gpu/block.h"
#include "gpu/device.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "common/base/mem.h"
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

#endif
