/* wconv's tiles on the device, for fft.cu, window.cu and ring.cu. */
#ifndef WEIR_GPU_WCONV_TILES_H
#define WEIR_GPU_WCONV_TILES_H

#include "gpu/fft.h"
#include "gpu/wconv/job.h"

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

/* wc_rows() transforms rows [n][ny][nx] of b.real to columns [columns][n][ny]; wc_columns() transforms these in place. */
template <class T> int wc_rows(struct gpu *g, const wc_tiles<T> &b, size_t n, wc_cx<T> *to);
template <class T>
int wc_columns(struct gpu *g, const wc_tiles<T> &b, size_t n, int sign, wc_cx<T> *at);

/* Copies the windows of all tiles to b.real and subtracts its mean from each row: window.cu. */
template <class T> int wc_windows(struct gpu *g, const wc_work<T> &w, const wc_tiles<T> &b);

/* Adds the spectra of the kernels of the fresh functions of y to the ring, and sets the sums of the kernels' rows: ring.cu. */
template <class T>
int wc_fill_ring(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span fresh,
		 wc_tiles<T> *b);

#endif
