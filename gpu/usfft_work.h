/*
 * What the stages of gpu/usfft*.cu share: points sorted by tile, tables and grid, all on the device.
 *
 *	grid	[z][y][x], dense; cut into tiles of usfft/tile.h: 512 cells, 16 x 16, 8 x 8 x 8
 *	places	per axis the cell that holds a point and its offset there, in tile order; index: where it came from
 */
#ifndef WEIR_GPU_USFFT_WORK_H
#define WEIR_GPU_USFFT_WORK_H

#include "gpu/device.h"

extern "C" {
#include "usfft/plan.h"
}

enum { HOLD_RAW, HOLD_VALUES, HOLD_SORT, HOLD_POINTS, HOLD_GRID, HOLD_TABLES, HOLD_HEAVY };
enum { SUBPROBLEM = 1024 }; /* points that a block spreads */

template <class T> struct alignas(2 * sizeof(T)) cplx {
	T re, im;
};

template <class T> struct work {
	unsigned m, ntiles, heavies; /* heavies: subproblems of tiles that have several */
	unsigned n[3], modes[3], tiles[3];
	unsigned w, lead, ncoef, span_log;
	bool fft_order;
	const T *coef;	  /* [axis][ncoef][WINDOW_MAXW], highest power first */
	const T *undo[3]; /* [modes / 2 + 1] */
	unsigned *index;  /* [m] */
	unsigned *start;  /* [ntiles + 1] */
	unsigned *heavy;  /* [ntiles + 1]: first of those subproblems */
	unsigned *cell[3];
	T *rest[3];	/* 2 x - 1 of the offset x in [0,1) */
	cplx<T> *value; /* [m], in tile order */
	cplx<T> *grid;
};

/* The weight of tap t along an axis. */
template <class T>
__device__ T
window_tap(const work<T> &k, int axis, unsigned t, T x)
{
	const T *c = k.coef + (size_t)axis * k.ncoef * WINDOW_MAXW + t;
	T v = __ldg(c);

	for (unsigned d = 1; d < k.ncoef; d++)
		v = v * x + __ldg(c + d * WINDOW_MAXW);
	return v;
}

/* The first i in [0, n] with v[i] >= key; v rises. */
template <class K>
__device__ unsigned
lower_bound(const K *v, unsigned n, K key)
{
	unsigned lo = 0;

	for (unsigned hi = n; lo < hi;) {
		const unsigned mid = lo + (hi - lo) / 2;
		if (v[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

template <class T>
size_t
count_modes(const work<T> &k)
{
	return (size_t)k.modes[0] * k.modes[1] * k.modes[2];
}

/*
 * Where everything lies for p's points, in memory that is got or kept; heavies is not known. usfft_grid(): and the grid, and what
 * its FFT needs.
 */
template <class T> int usfft_work(struct gpu *g, const struct usfft_plan *p, work<T> *k);
template <class T> int usfft_grid(struct gpu *g, const struct usfft_plan *p, work<T> *k);

/* The values c[j * stride] of the points to tile order. */
template <class T> int usfft_carry(struct gpu *g, const work<T> &k, const T *c, size_t stride);

/* The points' values to the grid, which is cleared before; and from the grid to out, in the points' own order. */
template <class T> int usfft_spread(struct gpu *g, work<T> k, int dim);
template <class T> int usfft_interp(struct gpu *g, const work<T> &k, int dim, cplx<T> *out);

/* The transformed grid's modes, and back, on the device; the grid is lost. */
template <class T>
int usfft_get_modes(struct gpu *g, const work<T> &k, int dim, int sign, cplx<T> *modes);
template <class T>
int usfft_put_modes(struct gpu *g, const work<T> &k, int dim, int sign, const cplx<T> *modes);

#endif
