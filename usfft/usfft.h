/*
 * Fourier transforms on nonequispaced points in 1, 2 and 3 dimensions.
 *
 *	type 1	F_k = sum_j c_j exp(s 2 pi i k.x_j)	k in -n/2 .. (n-1)/2 per axis	points -> modes
 *	type 2	c_j = sum_k F_k exp(s 2 pi i k.x_j)					modes -> points
 *	type 3	F_l = sum_j c_j exp(s 2 pi i s_l.x_j)	s_l any real numbers		points -> points
 *
 * j = 0..m-1. x in cycles: in types 1 and 2 only x modulo 1 counts, and it is reduced in double precision, exactly, also
 * where the values are single. s = +1 or -1. Modes are stored [nz][ny][nx], n is listed fastest axis first; a mode k lies
 * at k + n/2 (rounded down), or at k modulo n in FFT order. Complex samples are pairs re, im.
 *
 * Method: each point is spread by a window of w cells onto a grid that oversamples the modes, the grid is transformed by
 * 1-D FFTs, and the window is divided out (type 2: the steps in reverse). The relative l2 error stays below the tolerance
 * asked for, down to USFFT_FLOOR_*; same bytes for any number of threads.
 *
 * Source: Matveev, Nikitin, Duchkov, Romanenko, Vestnik NSU Inf. Tech. 14(4), 2016, 58-67 (Gaussian window, block-coloured
 * spreading); Kaiser-Bessel window: Jackson et al., IEEE Trans. Med. Imag. 10, 1991; type 3: Lee and Greengard, J. Comput.
 * Phys. 206, 2005.
 */
#ifndef WEIR_USFFT_H
#define WEIR_USFFT_H

#include <stdbool.h>
#include <stddef.h>

/* Smaller tolerances are not reached for all data: rounding prevails, and the Gaussian window has too few taps. */
#define USFFT_FLOOR_SINGLE 1e-6
#define USFFT_FLOOR_DOUBLE 1e-14
#define USFFT_FLOOR_GAUSS  1e-9

enum { USFFT_MAXPOINTS = 0x7fffffff };

/* Seconds that the stages have taken. */
struct usfft_seconds {
	double sort, spread, fft; /* spread: interpolation too */
	double modes; /* the window divided out, modes taken from the grid or put there */
};

struct usfft_options {
	int dim;	/* 1..3 */
	size_t n[3];	/* modes per axis, fastest first, >= 1 */
	double tol;	/* relative l2 error asked for, > 0 */
	bool single;	/* values are float, else double */
	bool fft_order; /* modes stored in FFT order */
	bool gauss;	/* the Gaussian window of the paper */
	double sigma;	/* oversampling: cells per mode, > 1; 0: chosen */
	int threads;	/* >= 1 */
	size_t expect;	/* points expected, for the choice of the grid; 0: as many as modes */
	bool measure;	/* measure FFT plans (seconds, unless wisdom was loaded), no guess */
	int registers;	/* bytes of a register: 16, 32 or 64, at most what the CPU has; 0: that */
	struct usfft_seconds *took; /* borrowed: where the stages add their time; or NULL */
};

/*
 * m points: coordinate a of point j is x[a][j * stride]. Borrowed while the call lasts. rest[a], doubles in the same places,
 * is what x[a] lost to rounding; NULL: nothing.
 */
struct usfft_points {
	size_t m, stride;
	bool single; /* coordinates are float */
	const void *x[3];
	const double *rest[3];
};

struct usfft_plan;

/*
 * *p: all that depends on shapes and options only. 0; -EDOM (dim, n or tol out of range), -EOVERFLOW or -ENOMEM, and *p is NULL.
 * Not thread-safe (FFTW's planner is not).
 */
int usfft_plan(struct usfft_plan **p, const struct usfft_options *o);
void usfft_free(struct usfft_plan *p); /* NULL is nothing */

/* Bytes of the grid that a plan would take, about all it takes before points come; SIZE_MAX: it cannot be planned. */
size_t usfft_bytes(const struct usfft_options *o);

/* What was chosen: taps of the window, cells of the grid per axis. */
int usfft_taps(const struct usfft_plan *p);
size_t usfft_cells(const struct usfft_plan *p, int axis);

/* The tolerance that its window and the rounding keep: above o->tol where that is out of reach. */
double usfft_reach(const struct usfft_plan *p);

/*
 * Sorts the points. c != NULL: their m values, carried along, for one run of type 1 (fastest); value j is the pair at
 * c + j * cstride. The grid is lost. 0, -EOVERFLOW (more than USFFT_MAXPOINTS), -ENOMEM, or -EINVAL: a coordinate or value
 * is not finite; *bad is its point.
 */
int usfft_points(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
		 size_t *bad);

/*
 * The same for points that arrive in pieces: expect m of them, with values or without; add the next ones, any number of
 * times; sort when there are m.
 */
int usfft_expect(struct usfft_plan *p, size_t m, bool values);
int usfft_add(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
	      size_t *bad);
void usfft_sort(struct usfft_plan *p);

/* Points -> modes. c: m values, or NULL for those that usfft_points carried, whose points are gone then. */
void usfft_type1(struct usfft_plan *p, int sign, const void *c, void *modes);

/* Modes -> points, in the caller's order. */
void usfft_type2(struct usfft_plan *p, int sign, const void *modes, void *c);

/*
 * The halves of the above, for those who read and write modes row by row (row = iy + ny * iz, of nx modes): type 1 is
 * usfft_gather and then usfft_get_row for each row; type 2 is usfft_clear, usfft_put_row for all rows, then usfft_scatter.
 * Rows are independent: any thread may do any row.
 */
void usfft_gather(struct usfft_plan *p, int sign, const void *c);
void usfft_get_row(const struct usfft_plan *p, int sign, size_t row, void *modes);
void usfft_clear(struct usfft_plan *p); /* the grid, of what rows do not write */
void usfft_put_row(struct usfft_plan *p, int sign, size_t row, const void *modes);
void usfft_scatter(struct usfft_plan *p, int sign, void *c);

/*
 * Type 3 at once: out[l] = sum_j c_j exp(sign 2 pi i s_l.x_j), targets holding s. o->n is ignored; c and out of o->single's
 * precision. Besides what the above return: -ENXIO, target *bad is not finite; -EOVERFLOW, the box of the points times
 * that of the targets is too large.
 */
int usfft_type3(const struct usfft_options *o, const struct usfft_points *pt, const void *c,
		const struct usfft_points *targets, int sign, void *out, size_t *bad);

#endif
