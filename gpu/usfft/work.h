/*
 * What the stages of usfft's twin share: the points, sorted by tile, the tables and the grid, all on the device.
 *
 *	grid	[z][y][x], dense; cut into tiles of usfft/grid/grid.h: 512 cells, 16 x 16, 16 x 16 x 16
 *	places	in tile order: for each axis the cell that holds a point and the offset in it; index: the point's number in the input
 */
#ifndef WEIR_GPU_USFFT_WORK_H
#define WEIR_GPU_USFFT_WORK_H

#include "gpu/device.h"

extern "C" {
#include "usfft/plan.h"
}

enum {
	HOLD_RAW,
	HOLD_VALUES,
	HOLD_SORT,
	HOLD_POINTS,
	HOLD_GRID,
	HOLD_TABLES,
	HOLD_HEAVY,
	HOLD_OUTER,
	HOLD_WEIGHTS,
	HOLD_VECTORS
};
enum { SUBPROBLEM = 1024 }; /* points that a block spreads, at most */
enum { CROWD_CELLS = 512 }; /* cells that is_crowded() tells apart */

template <class T> struct alignas(2 * sizeof(T)) cplx {
	T re, im;
};

template <class T> struct work {
	/* heavies: subproblems of tiles that have several or a crowd; in 2-D, parts of tiles that have several */
	unsigned m, ntiles, heavies;
	unsigned n[3], modes[3], tiles[3];
	unsigned w, lead, ncoef, span_log;
	bool fft_order;
	const struct window *win; /* the plan's, on the host: the plan must live as long */
	const T *coef;		  /* [axis][ncoef][WINDOW_MAXW], highest power first */
	const T *undo[3];	  /* [modes / 2 + 1] */
	unsigned *index;	  /* [m] */
	unsigned *start;	  /* [ntiles + 1] */
	unsigned *heavy;	  /* [ntiles + 1]: the first of these of each tile */
	unsigned *cell[3];
	T *rest[3];	/* 2 x - 1, where x in [0,1) is the offset in the cell */
	cplx<T> *value; /* [m], in tile order */
	cplx<T> *grid;
};

/*
 * Points and values as given: coordinate a of point j is x[a][j * stride], its value is c[j * cstride]. A coordinate x becomes
 * (x - mid) scale, in cycles. For types 1 and 2, mid is 0 and scale 1.
 */
template <class T> struct given {
	const void *x[3];
	size_t stride, cstride;
	/* single: coordinates are float. turned: values are multiplied by exp(2 pi i turn.(x - mid)). */
	bool single, turned;
	T *c;
	double shift, turn[3], mid[3], scale[3];
};

template <class T>
__device__ double
raw_coordinate(const given<T> &in, int axis, size_t j)
{
	return in.single ? (double)static_cast<const float *>(in.x[axis])[j * in.stride]
			 : static_cast<const double *>(in.x[axis])[j * in.stride];
}

/* Returns s.x modulo 1. Each product is split into its rounded value and the exact rest: see usfft/type3.c. */
__device__ __forceinline__ double
turns_of(int dim, const double *s, const double *x)
{
	double sum = 0;

#pragma unroll
	for (int a = 0; a < 3; a++)
		if (a < dim) {
			const double p = __dmul_rn(s[a], x[a]);
			sum += p - rint(p) + fma(s[a], x[a], -p);
		}
	return sum;
}

/* Multiplies the complex number c by factor exp(2 pi i turns). */
template <class T>
__device__ void
turn_value(T *c, double turns, double factor)
{
	const double re = (double)c[0], im = (double)c[1];
	double sine, cosine;

	sincospi(2 * (turns - rint(turns)), &sine, &cosine);
	c[0] = (T)(factor * (re * cosine - im * sine));
	c[1] = (T)(factor * (re * sine + im * cosine));
}

/* Returns the weight of tap t along an axis, at the offset x of work.rest. */
template <class T>
__device__ T
window_tap(const work<T> &k, int axis, unsigned t, T x)
{
	const T *c = k.coef + (size_t)axis * k.ncoef * WINDOW_MAXW + t;
	T v = __ldg(c);

	for (unsigned d = 1; d < k.ncoef; d++)
		v = v * x + __ldg(c += WINDOW_MAXW);
	return v;
}

/* Returns the first i with v[i] >= key, or n. v is in rising order. */
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

/*
 * Whether a cell, in 3-D a column of cells, holds more than CROWD of points from .. to - 1, which lie in one tile, so that equal float
 * values would round in one direction (usfft/grid/grid.h). All threads of a block call it, with CROWD_CELLS words of shared memory.
 */
template <class T>
__device__ bool
is_crowded(const work<T> &k, int dim, unsigned from, unsigned to, unsigned *count)
{
	const unsigned inside = (1u << k.span_log) - 1;
	bool crowd = false;

	if (to - from <= CROWD)
		return false;
	for (unsigned i = threadIdx.x; i < CROWD_CELLS; i += blockDim.x)
		count[i] = 0;
	__syncthreads();
	for (unsigned i = from + threadIdx.x; i < to; i += blockDim.x) {
		unsigned cell = k.cell[0][i] & inside;
		if (dim > 1)
			cell = cell << k.span_log | (k.cell[1][i] & inside);
		crowd |= atomicAdd(&count[cell], 1u) >= CROWD;
	}
	return __syncthreads_or(crowd) && sizeof(T) == sizeof(float);
}

template <class T>
size_t
count_modes(const work<T> &k)
{
	return (size_t)k.modes[0] * k.modes[1] * k.modes[2];
}

template <class T>
size_t
count_cells(const work<T> &k)
{
	return (size_t)k.n[0] * k.n[1] * k.n[2];
}

/* Returns -EIO, and sets the reason, for 2^31 cells or more, because kernels count cells in 32 bits. Else returns 0. */
int usfft_too_large(struct gpu *g, const size_t n[3]);

/*
 * usfft_work() lays out the arrays for p's points, in memory that is kept or newly allocated. heavies is p->nheavy, which usfft_take() sets.
 * usfft_grid() also gets the grid and what its FFT needs.
 */
template <class T> int usfft_work(struct gpu *g, const struct usfft_plan *p, work<T> *k);
template <class T> int usfft_grid(struct gpu *g, const struct usfft_plan *p, work<T> *k);

/* Copies the window and the factors of p to the arrays of work. */
template <class T> int usfft_tables(struct gpu *g, const struct usfft_plan *p, const work<T> &k);

/* gpu_usfft_points() with mid, scale and turn of *in. It fills the rest of *in. The coordinates stay until HOLD_RAW is used again. */
template <class T>
int usfft_take(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt, const T *c,
	       size_t cstride, given<T> *in, size_t *bad);

/*
 * usfft_spread() clears the grid and spreads the points' values to it. usfft_interp() interpolates from the grid to out, in
 * the order in which the points were given.
 */
template <class T> int usfft_spread(struct gpu *g, const work<T> &k, int dim);
template <class T> int usfft_interp(struct gpu *g, const work<T> &k, int dim, cplx<T> *out);

/*
 * Both are for 2-D. usfft_count_plane() sets k.heavy to the number of parts of each tile, and prim_scan() then makes it the number of
 * each tile's first part. usfft_spread_plane() does what usfft_spread() does.
 */
template <class T> int usfft_count_plane(struct gpu *g, const work<T> &k);
template <class T> int usfft_spread_plane(struct gpu *g, const work<T> &k);

/* Transform the grid and take its modes; and back, from modes to the grid. Both lose what the grid held. */
template <class T>
int usfft_get_modes(struct gpu *g, const work<T> &k, int dim, int sign, cplx<T> *modes);
template <class T>
int usfft_put_modes(struct gpu *g, const work<T> &k, int dim, int sign, const cplx<T> *modes);

#endif
