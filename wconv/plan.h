/* The inside of the plan: what the stages share. */
#ifndef WEIR_WCONV_PLAN_H
#define WEIR_WCONV_PLAN_H

#include "common/base/cpu.h"
#include "wconv/wconv.h"

/*
 * One direction of the problem, x or y: edges, weight functions, tiles. Positions are those of the whole image. With
 * WCONV_FULL, results lie before its first pixel and after its last one too.
 */

/* The results [a,b). They need the functions f0 .. f0+nf-1. */
struct wconv_tile {
	ptrdiff_t a, b;
	size_t f0, nf;
};

struct wconv_axis {
	ptrdiff_t n;		      /* pixels of the whole image */
	ptrdiff_t have0, have1;	      /* pixels [have0,have1) of the item */
	ptrdiff_t lo, hi;	      /* results [lo,hi) of the item */
	ptrdiff_t whole_lo, whole_hi; /* results of the whole */
	ptrdiff_t before, after;      /* the window of result x is x-before .. x+after */
	enum wconv_edge edge;

	/* Function f is 1 on its plateau [left,right] and falls to 0 at its neighbours' plateaus.
	   It uses the kernels of node[f]. */
	size_t nfun;
	double *left, *right;
	size_t *node;
	/* >= 0: a basis, where function f is ((x - zero) / scale)^f instead */
	int degree;
	double zero, scale;
	/* of variances: the axis whose functions f / 2 and (f + 1) / 2 multiply to function f; left, right and node are NULL */
	const struct wconv_axis *of;

	/* tiles; results in the longest tile; functions in the tile that has most */
	size_t ntile, longest, most;
	struct wconv_tile *tile;
};

/*
 * The edge continues the image endlessly. Returns which pixel, 0..n-1, stands at position x, or -1 if none does
 * (zero, constant, renormalise).
 */
ptrdiff_t wconv_edge(enum wconv_edge edge, ptrdiff_t x, ptrdiff_t n);

/* Returns function f at x. */
double wconv_weight(const struct wconv_axis *a, size_t f, ptrdiff_t x);

/*
 * Fills in everything except the tiles. y: the vertical direction. alike[i]: node i+1 has the same kernels as node i.
 * Returns 0 or -errno: -EDOM when there is no result, -ERANGE when the item is a part smaller than a kernel,
 * -EINVAL when it is a part and the edge wraps, -ENOMEM.
 */
int wconv_axis(struct wconv_axis *a, const struct wconv_problem *q, bool y, const bool *alike);

/* The tables of a complex transform of LANES columns, see core/core_simd.c. twiddle is in the plan's precision. */
struct wconv_fft {
	size_t n, passes, ntwiddle;
	unsigned char radix[32];
	void *twiddle;
};

/* The tables of a real transform of n samples, which runs as a complex transform of n/2 points. */
struct wconv_rfft {
	size_t n;
	size_t blocks; /* the n/2+1 coefficients fill this many blocks of LANES columns */
	struct wconv_fft half;
	size_t *place; /* [k]: where coefficient k of the complex transform stands */
	void *turn;    /* cos and sin of 2 pi k / n, k = 0..n/2 */
};

/* The convolution sees these pixels as 0. UNKNOWN ones are then filled in; POISON ones make the result NaN. */
enum wconv_mask { WCONV_UNKNOWN = 1, WCONV_POISON = 2 };

/* The tile rows that one step of the stream computes. Row numbers count from the first row of the first window. */
struct wconv_band {
	size_t tile0, tile1; /* tile rows */
	size_t row0, row1;   /* image rows whose transforms this band is the first to need */
	size_t fed0, fed1;   /* rows of the item that it reads */
	size_t keep;	     /* the first of these that later bands need, or that no row follows */
	size_t fun0, fun1;   /* functions of y that it needs */
};

struct wconv_plan {
	struct wconv_problem q;
	struct wconv_after after;
	enum cpu_level level;
	const struct wconv_core *core; /* for the level and the precision */
	struct wconv_axis x, y;
	bool direct;
	/* direct sums go by the column and the row whose product the kernel is */
	bool product;
	/* [2][kh + kw]: column and row as windows see them, and both turned by half a turn. NULL: the kernel is no product */
	void *factors;
	/* predicted seconds of one core */
	double cost_fft, cost_direct;
	/* of variances: the plan of the kernels themselves, with the same tiles, and their products; else NULL */
	struct wconv_plan *plain;
	void *squares;
	/* per kernel: the factor of its samples; the sum of the scaled samples; the sum of their absolute values */
	double *scale, *sum, *weight;
	/* per kernel: it has the same samples as the kernel to its right, as the kernel below */
	bool *like_right, *like_below;
	/* sums of transforms are at most this many times as large as the largest pixel; 1 for direct sums */
	double growth;

	/* the ring of input rows, each with its edges: [depth][planes][pitch] */
	size_t depth, pitch;
	void *row;
	/* the same shape: enum wconv_mask of each pixel */
	unsigned char *mask;
	/* [depth][planes]: the OR of all masks of the row; where it is 0, the row's masks are not filled in */
	unsigned char *flags;
	/* the same shape: the row has a sample that is not finite, or larger than wconv_largest() */
	bool *doubt;
	/* the row that stands for all rows outside the image, and its mask. They are zero until the first step fills them in:
	   before that, the item's header may claim more than arrives */
	void *outside;
	unsigned char *outside_mask;
	bool begun;
	/* direct sums can read rows where the caller has them; in: the rows of this step, if they do; odd: a sample of this step or
	   the last is perhaps not finite, so that they do not */
	bool in_place;
	const void *in;
	bool *odd;

	/* transforms; spectra of image rows [planes][tiles in x][blocks][spectra_depth][2 LANES] */
	struct wconv_rfft rows;
	struct wconv_fft columns;
	size_t spectra_depth;
	void *spectra;
	/* [planes][tiles in x][spectra_depth]: the mean that was subtracted from each row before its transform */
	void *mean;
	/* [slots][functions of x][kh]: sums of the kernels' rows */
	double *row_sums;

	/* the ring of kernels, one slot for each function of y. For transforms it holds spectra
	   [slots][functions of x][blocks][n][2 LANES]; for direct sums samples [slots][functions of x][kh][kw],
	   turned by half a turn */
	size_t slots, kernel_samples;
	void *kernel;
	/* per slot: the number of its function + 1; 0: the slot is empty */
	size_t *slot_holds;
	/* the functions of y whose kernels this step transforms */
	size_t *claimed, nclaimed;

	struct wconv_band *band;
	size_t bands, now;
	size_t scratch_bytes;
	/* [threads][scratch_bytes] */
	void *scratch;
	/* results are converted or interleaved; else tiles write them to the caller's array */
	bool converts;
	size_t result_pitch; /* results in a row */
	/* the caller's array for the results of the current step */
	void *out;
};

/* What the tasks of the adjoint share. */
struct wconv_spread {
	const void *in;
	void *out;
	/* what to do with each row; if it is set, out is not written */
	struct wconv_after after;
	/* per result: the factor that it is multiplied by first; NULL: 1 */
	void *gain;
	/* what each tile scatters into its window: a ring of tile rows [ring][tiles in x], each of them spectra
	   [blocks][tile_rows][2 LANES] or samples [tile_rows][tile_pitch] */
	size_t ring;
	void *tiles;
	/* the tile rows [tile0,tile1) are in the ring and may reach the rows that are collected */
	size_t tile0, tile1;
	size_t tile_samples, tile_rows, tile_pitch;
	/* the item with its edges, [rows][pitch]: only the rows that are folded, and those beyond the edges */
	void *picture;
	size_t pitch;
	/* per row of the item: rows beyond the edges are folded into it */
	bool *folded;
};

/* The code for one precision at one level. Each function does one task; tasks of the same kind run in parallel. */
struct wconv_core {
	size_t lanes, sample;
	size_t (*scratch)(const struct wconv_plan *p, void *at);
	void (*feed)(const struct wconv_plan *p, size_t row, const void *samples);
	void (*kernel)(const struct wconv_plan *p, size_t fx, size_t fy, void *scratch);
	void (*rows)(const struct wconv_plan *p, size_t plane, size_t tile, size_t group,
		     void *scratch);
	void (*tile)(const struct wconv_plan *p, size_t plane, size_t tx, size_t ty, void *scratch);

	/* for the adjoint: see core/scatter_body.h */
	size_t (*spread_scratch)(const struct wconv_plan *p);
	void (*spread)(const struct wconv_plan *p, const struct wconv_spread *a, size_t tx,
		       size_t ty, void *scratch);
	void (*collect)(const struct wconv_plan *p, const struct wconv_spread *a, size_t row,
			size_t rows, void *scratch);
	void (*fold)(const struct wconv_plan *p, const struct wconv_spread *a, size_t row,
		     void *scratch);
};

/* Whether results are divided by the sums of the local kernels. It is so for a normalised basis. */
static inline bool
wconv_divides(const struct wconv_problem *q)
{
	return q->normalise && q->degree >= 0;
}

/*
 * For a basis: sum[i] becomes the sum of the local kernel at (x + i, y), i < n, if per_kernel is p->sum, and an upper
 * bound of the local kernel's weight if per_kernel is p->weight.
 */
void wconv_local_sums(const struct wconv_plan *p, const double *per_kernel, ptrdiff_t x,
		      ptrdiff_t y, size_t n, double *sum);

/*
 * Finds the functions of y that the band needs and no slot holds. Takes slots for them, and lists them in p->claimed.
 * Returns how many they are.
 */
size_t wconv_claim_slots(struct wconv_plan *p, const struct wconv_band *b);

/* Returns the least multiple of `to` that is n or more. */
static inline size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Returns the kernel that goes with a pair of functions; SIZE_MAX: none, since the degree fx + fy is too high. */
size_t wconv_kernel(const struct wconv_plan *p, size_t fx, size_t fy);

/*
 * Chooses method, lengths of transforms, and tiles. Fills in the tiles of x and y, direct, the costs, rows.n and columns.n.
 * Returns 0 or -ENOMEM.
 */
int wconv_choose(struct wconv_plan *p);

/* Makes p, so far a problem and a plain plan, the plan of variances as far as wconv_choose() goes. Returns 0 or -ENOMEM. */
int wconv_square(struct wconv_plan *p);

/* Whether core/tile_body.h has code for kernels of that size alone. */
static inline bool
wconv_is_small(const struct wconv_plan *p)
{
	const size_t k = p->q.kw;

	return p->x.nfun == 1 && p->y.nfun == 1 && p->q.kh == k && (k == 3 || k == 5 || k == 7);
}

#endif
