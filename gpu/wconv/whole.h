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

/* Returns the kernel of functions number i and j of a tile; WC_NONE: it has none. */
template <class T>
static __device__ unsigned
wc_kernel_of(const wc_work<T> &w, const wc_tile &t, unsigned i, unsigned j)
{
	return i < t.nfx && j < t.nfy ? w.number[(t.fy + j) * w.nfx + t.fx + i] : WC_NONE;
}

/* Returns the weight of function number j of the tile at its row y. */
template <class T>
static __device__ T
wc_weight_y(const wc_work<T> &w, const wc_tile &t, unsigned j, unsigned y)
{
	const unsigned r = t.y + y, k = t.fy + j - w.fy[r];

	return j < t.nfy && k < w.nwy ? w.wy[(size_t)k * w.rows + r] : 0;
}

/* Returns the weight of function f of x at column `at` of the results. */
template <class T>
static __device__ T
wc_weight_x(const wc_work<T> &w, unsigned f, unsigned at)
{
	const unsigned k = f - w.fx[at];

	return k < w.nwx ? w.wx[(size_t)k * w.width + at] : 0;
}

/* Whether some of n tiles has the functions number i and j, and a kernel for them. */
bool wc_is_needed(const struct wconv_plan *p, const wc_tile *t, unsigned n, unsigned i, unsigned j);

/* Lists the tiles of those tile rows, of all planes. Their y counts from result `top`. Returns how many they are. */
size_t wc_list_tiles(const struct wconv_plan *p, wc_span rows, ptrdiff_t top, wc_tile *to);

/* Finds how many of all tiles can be worked on at once, *n, and gives b its sizes and the memory for them: fft.cu. */
template <class T>
int wc_lay_out(struct gpu *g, const struct wconv_plan *p, size_t all, wc_tiles<T> *b, size_t *n);

/* Transforms rows b.real, [rows][nx], to columns [columns][rows]. */
template <class T> int wc_rows(struct gpu *g, const wc_tiles<T> &b, size_t rows, wc_cx<T> *to);

/* Transforms columns [columns][n][ny], in place. */
template <class T>
int wc_columns(struct gpu *g, const wc_tiles<T> &b, size_t n, int sign, wc_cx<T> *at);

/* Transforms columns [columns][b.n][high] back to rows b.real, [b.n][high][nx]. It destroys the columns. */
template <class T>
int wc_rows_back(struct gpu *g, const wc_tiles<T> &b, size_t high, wc_cx<T> *from);

/*
 * wc_fill_ring() adds the spectra of the kernels of the fresh functions of y to the ring. wc_sum_kernels() gives b
 * the sums of the kernels' rows, and computes them if they are fresh.
 */
template <class T>
int wc_fill_ring(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span fresh,
		 wc_tiles<T> *b);
template <class T>
int wc_sum_kernels(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, bool fresh,
		   wc_tiles<T> *b);

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
	const unsigned *column0, *column, *row0, *row;
	/* the windows of tiles tile_x[2 Q] .. tile_x[2 Q + 1] - 1 have the padded column Q; rows likewise. Transforms only */
	const unsigned *tile_x, *tile_y;
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

/* In fft.cu: computes the results of the tiles of b, which are host[] on the host. */
template <class T>
int wc_run_tiles(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w,
		 const wc_tiles<T> &b, const wc_tile *host);

#endif
