/*
 * The convolution A of a whole item, and its adjoint A', for data that stay on the device: whole.cu, adjoint.cu.
 *
 *	wc_whole_open(g, p, &o)		sends what A and A' need
 *	wc_convolve(g, &o, x, y)	y = A x		y: [results' rows][results' columns]
 *	wc_scatter_back(g, &o, y, x)	x = A' y	x: [item's rows][item's columns]
 *	wc_whole_close(&o)
 */
#ifndef WEIR_GPU_WCONV_WHOLE_H
#define WEIR_GPU_WCONV_WHOLE_H

#include "gpu/wconv/tiles.h"

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

/* In adjoint.cu: sends the lists of o->a and takes its memory. */
template <class T> int wc_adjoint_open(struct gpu *g, wc_whole<T> *o);

/* Fill in o->a.padded: wc_scatter(), in scatter.cu, by sums; wc_scatter_tiles(), in scatter_fft.cu, by transforms. */
template <class T> int wc_scatter(struct gpu *g, const wc_whole<T> &o);
template <class T> int wc_scatter_tiles(struct gpu *g, wc_whole<T> *o);

/* In fft.cu: computes the results of the tiles of b, which are host[] on the host. */
template <class T>
int wc_run_tiles(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w,
		 const wc_tiles<T> &b, const wc_tile *host);

/*
 * Calls run(b, i) for tiles i .. i + b.n - 1 of o->list, as many at a time as the memory takes, till all are done. The ring has
 * the spectra of their kernels. It holds those of one band of the plan, or of all.
 */
template <class T, class Run>
int
wc_each_tiles(struct gpu *g, wc_whole<T> *o, Run run)
{
	const struct wconv_plan *p = o->p;
	const bool all = p->slots >= p->y.nfun;
	const size_t across = p->x.ntile, bands = all ? 1 : p->bands;
	const wc_tile *const list = o->tiles.list;
	wc_tiles<T> b = o->tiles;
	size_t made = o->kept ? p->y.nfun : 0;
	int err = 0;

	for (size_t i = 0; i < bands && !err; i++) {
		const size_t functions = all ? p->y.nfun : p->band[i].fun1,
			     first = all ? 0 : p->band[i].fun0,
			     end = (all ? p->y.ntile : p->band[i].tile1) * across;
		err = wc_fill_ring<T>(g, p, o->w, {first > made ? first : made, functions}, &b);
		made = functions;
		for (size_t at = (all ? 0 : p->band[i].tile0) * across; at < end && !err;
		     at += b.n) {
			b.n = (unsigned)(end - at < o->most ? end - at : o->most);
			b.list = list + at;
			err = run(b, at);
		}
	}
	o->kept = all && !err;
	return err;
}

#endif
