/*
 * Fourier transforms on nonequispaced points in 1, 2 and 3 dimensions.
 *
 *	type 1	F_k = sum_j c_j exp(s 2 pi i k.x_j)	k in -n/2 .. (n-1)/2 per axis	points -> modes
 *	type 2	c_j = sum_k F_k exp(s 2 pi i k.x_j)					modes -> points
 *	type 3	F_l = sum_j c_j exp(s 2 pi i s_l.x_j)	s_l any real numbers		points -> points
 *
 * The points are j = 0..m-1, and s is +1 or -1. x is in cycles: types 1 and 2 depend only on x modulo 1. The reduction
 * modulo 1 is exact and in double precision, also where the values are single. Modes are stored [nz][ny][nx], and n lists
 * the fastest axis first. Mode k lies at k + n/2 (rounded down), or at k modulo n in FFT order. Complex samples are pairs
 * re, im.
 *
 * Method: a window of w cells spreads each point onto a grid that oversamples the modes, 1-D FFTs transform the grid, and
 * the window is divided out. Type 2 takes the same steps in reverse. The relative l2 error stays below the tolerance asked
 * for, down to USFFT_FLOOR_*. The result is the same bytes for any number of threads.
 *
 * Source: Matveev, Nikitin, Duchkov, Romanenko, Vestnik NSU Inf. Tech. 14(4), 2016, 58-67 (Gaussian window, block-coloured
 * spreading); Kaiser-Bessel window: Jackson et al., IEEE Trans. Med. Imag. 10, 1991; type 3: Lee and Greengard, J. Comput.
 * Phys. 206, 2005.
 */
#ifndef WEIR_USFFT_USFFT_H
#define WEIR_USFFT_USFFT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The least tolerances that are reached for all data: by single and by double precision, because of rounding, and by the
 * Gaussian window, because of its number of taps.
 */
#define USFFT_FLOOR_SINGLE 1e-6
#define USFFT_FLOOR_DOUBLE 1e-14
#define USFFT_FLOOR_GAUSS  1e-9

enum { USFFT_MAXPOINTS = 0x7fffffff };

/* Seconds that the stages have taken. */
struct usfft_seconds {
	/* spread includes interpolation. */
	double sort, spread, fft;
	/* modes: moving modes between the grid and the caller's array, and dividing the window out. */
	double modes;
};

struct usfft_options {
	int dim;	/* 1..3 */
	size_t n[3];	/* modes per axis, fastest first, >= 1 */
	double tol;	/* relative l2 error asked for, > 0 */
	bool single;	/* values are float, else double */
	bool fft_order; /* modes stored in FFT order */
	bool gauss;	/* the Gaussian window of the paper */
	double sigma;	/* oversampling: cells per mode, > 1; 0: the plan chooses */
	int threads;	/* >= 1 */
	/* 2: the plan is for type 2, and may be slow for type 1; else it is for both. */
	int type;
	/* The number of points that the choice of the grid assumes; 0: as many as modes. */
	size_t expect;
	/* usfft_many() will run. */
	bool many;
	/* Bytes of a vector register: 16, 32 or 64, at most what the CPU has; 0: what is fastest. */
	int registers;
	/* Borrowed by usfft_plan(): the transform whose modes are the cells of this grid, which has no FFT then. NULL: none. */
	const struct usfft_options *then;
	/* Borrowed: the stages add their time here; NULL: nowhere. */
	struct usfft_seconds *took;
};

/* The number of modes, over all axes. */
static inline size_t
usfft_modes(const struct usfft_options *o)
{
	return o->n[0] * (o->dim > 1 ? o->n[1] : 1) * (o->dim > 2 ? o->n[2] : 1);
}

/* Makes (x - mid) * (factor + rest) of a coordinate x, rounded only once. rest: what rounding took from the factor. */
struct usfft_scale {
	double mid, factor, rest;
};

/*
 * m points: coordinate a of point j is x[a][j * stride]. The arrays are borrowed while the call lasts. rest[a] holds
 * doubles in the same places, which are added to x[a]: what rounding took from it. NULL: x[a] is exact. scale, where it is
 * not NULL, has an entry for each axis, and is for usfft_points() and usfft_add() alone; then rest is NULL.
 */
struct usfft_points {
	size_t m, stride;
	bool single; /* coordinates are float */
	const void *x[3];
	const double *rest[3];
	const struct usfft_scale *scale;
};

struct usfft_plan;

/*
 * Makes *p: all that depends on shapes and options only. Returns 0; or -EDOM (dim, n or tol out of range), -EOVERFLOW or
 * -ENOMEM, and then *p is NULL. One thread at a time may call it, since FFTW's planner is not thread-safe.
 */
int usfft_plan(struct usfft_plan **p, const struct usfft_options *o);

/* Frees a plan and what it owns. It accepts NULL. */
void usfft_free(struct usfft_plan *p);

/*
 * Bytes of the grid of a plan for o. Before points arrive, a plan takes little more memory than that. SIZE_MAX: no plan for
 * o exists.
 */
size_t usfft_bytes(const struct usfft_options *o);

/* What the plan chose: the taps of the window, and the cells of the grid along an axis. */
int usfft_taps(const struct usfft_plan *p);
size_t usfft_cells(const struct usfft_plan *p, int axis);

/*
 * Sorts the points into the plan, and overwrites the grid. c, where it is not NULL, holds their m values, which are sorted
 * with them and serve one run of type 1: that is the fastest way. Value j is the pair at c + j * cstride. Returns 0,
 * -EOVERFLOW (more than USFFT_MAXPOINTS), -ENOMEM, or -EINVAL: point *bad has a coordinate or value that is not finite.
 */
int usfft_points(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
		 size_t *bad);

/*
 * usfft_points() for points that arrive in pieces. usfft_expect() announces m points, with values or without; usfft_add()
 * takes the next points and is called until there are m; then usfft_sort() sorts them. The errors are those of
 * usfft_points(), and *bad counts from the first point of all.
 */
int usfft_expect(struct usfft_plan *p, size_t m, bool values);
int usfft_add(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
	      size_t *bad);
void usfft_sort(struct usfft_plan *p);

/*
 * Points -> modes. c: m values in the caller's order. c NULL: the values given to usfft_points(); the plan forgets the
 * points afterwards.
 */
void usfft_type1(struct usfft_plan *p, int sign, const void *c, void *modes);

/* Modes -> points. c: room for m values, which are written in the caller's order. */
void usfft_type2(struct usfft_plan *p, int sign, const void *modes, void *c);

/* How many vectors the plan transforms at once; 1: o->many was not set, or the grid is large. */
size_t usfft_together(const struct usfft_plan *p);

/*
 * The transform of type 1 or 2 for `count` vectors: in[i] and out[i] are what usfft_type1() and usfft_type2() take. The points came
 * without values, and o->many was set. Small transforms are several times as fast as one by one. The result for a
 * vector is the same bytes, whatever other vectors there are; it may differ by rounding from that of usfft_type1().
 */
void usfft_many(struct usfft_plan *p, int type, int sign, size_t count, const void *const *in,
		void *const *out);

/*
 * The two transforms in halves, for callers that read and write modes row by row. Row iy + ny * iz has nx modes. Type 1 is
 * usfft_gather(), then usfft_get_row() for each row. Type 2 is usfft_clear(), then usfft_put_row() for each row, then
 * usfft_scatter(). Rows are independent: any thread may take any row.
 */
void usfft_gather(struct usfft_plan *p, int sign, const void *c);
void usfft_get_row(const struct usfft_plan *p, int sign, size_t row, void *modes);
/* Zeroes the cells of the grid that usfft_put_row() does not write. */
void usfft_clear(struct usfft_plan *p);
void usfft_put_row(struct usfft_plan *p, int sign, size_t row, const void *modes);
void usfft_scatter(struct usfft_plan *p, int sign, void *c);

/*
 * Type 3, plan and run in one call: out[l] = sum_j c_j exp(sign 2 pi i s_l.x_j), where targets holds s. o->n is ignored. c
 * and out have the precision that o->single says. Returns what usfft_plan() and usfft_points() return; -ENXIO: target *bad
 * is not finite; -EOVERFLOW also when the box of the points times that of the targets is too large.
 */
int usfft_type3(const struct usfft_options *o, const struct usfft_points *pt, const void *c,
		const struct usfft_points *targets, int sign, void *out, size_t *bad);

/* Bytes of the two grids of usfft_type3(). 0: usfft_type3() refuses these points or targets. SIZE_MAX: no grid exists. */
size_t usfft_type3_bytes(const struct usfft_options *o, const struct usfft_points *pt,
			 const struct usfft_points *targets);

#endif
