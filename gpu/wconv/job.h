/* A step of wconv on the device, between the files of its twin. */
#ifndef WEIR_GPU_WCONV_JOB_H
#define WEIR_GPU_WCONV_JOB_H

#include "gpu/block.h"
#include "gpu/device.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "common/mem.h"
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
	WC_TILES
}; /* of gpu_hold() */

constexpr unsigned WC_NONE = ~0u, WC_SPAN = 256; /* results of a segment at most */

/* Results [at, at + n) of a row, which need the functions f .. f + nf - 1 of x. */
struct wc_segment {
	unsigned at, n, f, nf;
};

enum wc_state { KNOWN, UNKNOWN, POISON };

/* What a step needs, all on the device. */
template <class T> struct wc_work {
	const T *ring;	 /* [depth][w][planes] */
	const T *kernel; /* [kernels][kh][kw], turned so that tap t meets pixel x + t, scaled */
	const unsigned *number; /* [functions of y][functions of x]: the kernel, or WC_NONE */
	const double
	    *sum;    /* [kernels]: results are divided by the local kernel's; NULL: they are not */
	const T *wx; /* [nwx][width]: weights of the functions of a segment */
	const unsigned *fx; /* [width]: the first function of x */
	const int *column;  /* [width + kw - 1]: of the item, -1: none */
	const wc_segment *seg;
	const T *wy;	    /* [nwy][rows] */
	const unsigned *fy; /* [rows]: the first function of y */
	const int *row;	    /* [rows + kh - 1]: of the ring, -1: none */
	void *out;	    /* [rows][width][planes] */
	unsigned width, rows, planes, kw, kh, nwx, nwy, nfx, nfy;
	size_t ring_row;    /* samples of a row */
	enum img_type type; /* of out */
	enum wconv_nan nan;
	bool renormalise;
	double outside, top; /* what lies beyond the edges */
};

/* How many weights a position has: those of two neighbouring functions, or of all powers. */
unsigned wc_weights(const struct wconv_axis *a);

/* Where the window's pixel is found: a place of the item, or -1. */
ptrdiff_t wc_place(const struct wconv_axis *a, ptrdiff_t x);

/* A block made by the host, to the device. */
int wc_send(struct gpu *g, int slot, const gpu_block *b, void **device);

/* Before the first step of a picture: the kernels. */
template <class T> int wc_send_kernels(struct gpu *g, const struct wconv_plan *p);

/* What of the plan no step changes, to w, with the segments of a row; and rows from first on. */
template <class T>
int wc_send_tables(struct gpu *g, const struct wconv_plan *p, wc_work<T> *w, unsigned *segments);
template <class T>
int wc_send_step(struct gpu *g, const struct wconv_plan *p, ptrdiff_t first, size_t rows,
		 wc_work<T> *w);

/* Tile rows, or functions of y. */
struct wc_span {
	size_t from, to;
};

/* Results to w.out: direct.cu; of tile rows, fft.cu. fresh: functions whose kernels the ring has not got. */
template <class T> int wc_sum(struct gpu *g, const wc_work<T> &w, unsigned segments);
template <class T>
int wc_transform(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span tiles,
		 wc_span fresh);

#endif
