/* wconv's tiles on the device, between fft.cu, window.cu and ring.cu. */
#ifndef WEIR_GPU_WCONV_TILES_H
#define WEIR_GPU_WCONV_TILES_H

#include "gpu/fft.h"
#include "gpu/wconv/job.h"

/* Results [x, x + w) of rows [y, y + h) of the step, by the functions fx .. fx + nfx - 1 and fy .. fy + nfy - 1. */
struct wc_tile {
	unsigned plane, x, y, w, h, fx, nfx, fy, nfy;
};

template <class T> struct alignas(2 * sizeof(T)) wc_cx {
	T re, im;
};

/* Tiles worked on at once, on the device. */
template <class T> struct wc_tiles {
	const wc_tile *list;
	unsigned n, nx, ny, columns, high, wide; /* tiles; a transform; results of a tile at most */
	T *real;				 /* [n][ny][nx], then [n][high][nx] */
	wc_cx<T> *image, *product;		 /* [columns][n][ny] */
	wc_cx<T> *blend;			 /* [columns][n][high] */
	T *mean, *level;			 /* [n][ny], [n][high] */
	T *result;				 /* [n][high][wide] */
	unsigned char *odd, *seen; /* [n][ny][nx]: pixels, windows along x, with one not known */
	unsigned *any;		   /* [n] */
	wc_cx<T> *kernel;	   /* the ring */
	double *sums;		   /* [kernels][kh] */
	unsigned slots;
};

/* Rows [n][ny][nx] of b.real to columns [columns][n][ny]; transforms of those, in place. */
template <class T> int wc_rows(struct gpu *g, const wc_tiles<T> &b, size_t n, wc_cx<T> *to);
template <class T>
int wc_columns(struct gpu *g, const wc_tiles<T> &b, size_t n, int sign, wc_cx<T> *at);

/* The windows of all tiles to b.real, each row less its mean: window.cu. */
template <class T> int wc_windows(struct gpu *g, const wc_work<T> &w, const wc_tiles<T> &b);

/* The ring, in it also the spectra of the kernels of fresh functions of y, and the sums of kernels' rows: ring.cu. */
template <class T>
int wc_fill_ring(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span fresh,
		 wc_tiles<T> *b);

#endif
