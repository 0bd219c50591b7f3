/*
 * wconv's tiles on the device: fft.cu. The convolution A of a whole item, and its adjoint A', for data that stay there: whole.cu.
 *
 *	wc_whole_open(g, p, &o)		sends what A and A' need
 *	wc_convolve(g, &o, x, y)	y = A x		y: [results' rows][results' columns]
 *	wc_scatter_back(g, &o, y, x)	x = A' y	x: [item's rows][item's columns]
 *	wc_whole_close(&o)
 */
#ifndef WEIR_GPU_WCONV_WHOLE_H
#define WEIR_GPU_WCONV_WHOLE_H

#include "gpu/fft.h"
#include "gpu/wconv/job.h"

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
};

/* Returns 0, or an error. wc_whole_close() is due in both cases; it accepts a zeroed o. */
template <class T> int wc_whole_open(struct gpu *g, const struct wconv_plan *p, wc_whole<T> *o);
template <class T> void wc_whole_close(wc_whole<T> *o);

/* y may not be x. Only kernels are launched: the caller calls gpu_begin() and gpu_end(). */
template <class T> int wc_convolve(struct gpu *g, wc_whole<T> *o, const T *x, T *y);
template <class T> int wc_scatter_back(struct gpu *g, wc_whole<T> *o, const T *y, T *x);

/* The same by transforms, from a.in to a.padded back: fft.cu. wc_open_tiles() lists all tiles, and gets what they need. */
template <class T> int wc_open_tiles(struct gpu *g, wc_whole<T> *o);
template <class T> int wc_transform_all(struct gpu *g, wc_whole<T> *o);
template <class T> int wc_scatter_tiles(struct gpu *g, wc_whole<T> *o);

#endif
