/*
 * Makes gains tile by tile, where lines may read them. A tile fits the second-level cache with all that leads to it.
 *
 *	sizes	N of the tiles around lines, and of those that a square around their cells reaches
 *	gains	of the tiles around lines
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/numbers.h"

#define LEAST .3 /* what is added to the divisor, in means */

enum {
	AROUND = 2,		  /* cells to every side whose sizes count */
	SIDE = 128,		  /* cells of a tile, across and down */
	BOX = 128,		  /* cells to every side whose N are in the mean; at most SIDE */
	WIDE = SIDE + 2 * AROUND, /* of its sizes */
	REACH = 6,		  /* of the kernels, cells, at most: a scale is below 2 cells */
	APRON = WIDE + 2 * REACH  /* of its samples */
};

/* One thread's scratch. Row 0 and column 0 of all arrays belong to the first cell of the tile less what is beside it. */
struct bench {
	float sample[APRON][APRON], along[2][APRON][WIDE];
	float uu[WIDE][WIDE], uv[WIDE][WIDE], vv[WIDE][WIDE];
	float g[2][WIDE];
	double column[SIDE + 2 * BOX];
};

struct job {
	const struct dptrace_image *image;
	const float *plane[2]; /* the first one, and the end of the last */
	struct dptrace_gain to;
	size_t h; /* rows of cells */
	struct kernel k[2];
	float *n;		      /* [h][to.w]: N times 25 */
	size_t across, tiles;	      /* tiles of a row, and of all */
	unsigned char *gains, *sizes; /* [tiles]: which ones are made */
};

/* Turns a row of tensors into sizes of the gradient, in uu. */
WEIR_CLONES(size_row,
	    (float *restrict uu, const float *restrict uv, const float *restrict vv, size_t n),
	    (uu, uv, vv, n))
{
	for (size_t i = 0; i < n; i++) {
		const float mean = .5f * (uu[i] + vv[i]), half = .5f * (uu[i] - vv[i]);
		uu[i] = __builtin_sqrtf(mean + __builtin_sqrtf(half * half + uv[i] * uv[i]));
	}
}

/* out[i] = the sum of the square of sizes that begins at size[i] */
WEIR_CLONES(sum_square, (float *restrict out, float *restrict column, const float *size, size_t n),
	    (out, column, size, n))
{
	for (size_t i = 0; i < n + 2 * AROUND; i++) {
		column[i] = size[i];
		for (size_t k = 1; k <= 2 * AROUND; k++)
			column[i] += size[k * WIDE + i];
	}
	for (size_t i = 0; i < n; i++) {
		out[i] = column[i];
		for (size_t k = 1; k <= 2 * AROUND; k++)
			out[i] += column[i + k];
	}
}

/* Adds the tensor of one plane over h x w cells from cell (x, y) on. */
static void
add_plane(struct bench *b, const struct job *j, const float *plane, ptrdiff_t x, ptrdiff_t y,
	  size_t w, size_t h)
{
	const struct dptrace_image *im = j->image;
	const ptrdiff_t r = j->k[0].r, c = (ptrdiff_t)j->to.cell;

	for (size_t i = 0; i < h + 2 * (size_t)r; i++) {
		rows_cells(b->sample[i], im, plane, (x - r) * c, (y - r + (ptrdiff_t)i) * c,
			   w + 2 * (size_t)r, (size_t)c, plane[im->h / 2 * im->w + im->w / 2]);
		for (int order = 0; order < 2; order++)
			rows_convolve(b->along[order][i], b->sample[i] + r, 1, w, &j->k[order]);
	}
	for (size_t i = 0; i < h; i++) {
		for (int order = 0; order < 2; order++)
			rows_convolve(b->g[order], b->along[1 - order][i + (size_t)r], WIDE, w,
				      &j->k[order]);
		rows_add_tensor(b->uu[i], b->uv[i], b->vv[i], b->g[0], b->g[1], w);
	}
}

/* The sums of sizes around the cells of the tile from cell (x, y) on. */
static void
size_tile(struct bench *b, const struct job *j, size_t x, size_t y)
{
	const size_t w = j->to.w - x < SIDE ? j->to.w - x : SIDE,
		     h = j->h - y < SIDE ? j->h - y : SIDE;
	const size_t n = j->image->w * j->image->h;

	memset(b->uu, 0, sizeof b->uu);
	memset(b->uv, 0, sizeof b->uv);
	memset(b->vv, 0, sizeof b->vv);
	for (const float *plane = j->plane[0]; plane < j->plane[1]; plane += n)
		add_plane(b, j, plane, (ptrdiff_t)x - AROUND, (ptrdiff_t)y - AROUND, w + 2 * AROUND,
			  h + 2 * AROUND);
	for (size_t i = 0; i < h + 2 * AROUND; i++)
		size_row(b->uu[i], b->uv[i], b->vv[i], w + 2 * AROUND);
	for (size_t i = 0; i < h; i++)
		sum_square(j->n + (y + i) * j->to.w + x, b->g[0], b->uu[i], w);
}

/* column[i] += sign x[i] */
WEIR_CLONES(add_to_columns,
	    (double *restrict column, const float *restrict x, size_t n, double sign),
	    (column, x, n, sign))
{
	for (size_t i = 0; i < n; i++)
		column[i] += sign * (double)x[i];
}

/*
 * The gains of w cells from cell x on, where column holds the sums of so many rows of N, from cell x - BOX or 0 on. Where sums
 * are too large for a float, the gain is 1.
 */
static void
divide_row(float *out, const float *n, const double *column, size_t rows, size_t x, size_t w,
	   size_t end)
{
	const size_t x0 = x < BOX ? 0 : x - BOX;
	size_t first = x0, last = x0;
	double sum = 0;

	for (size_t i = x; i < x + w; i++) {
		while (last < end && last <= i + BOX)
			sum += column[last++ - x0];
		if (i > first + BOX)
			sum -= column[first++ - x0];
		const double mean = sum / (double)(rows * (last - first));
		const float gain = mean > 0 ? (float)(1 / ((double)n[i] / mean + LEAST)) : 0;
		out[i] = gain > 0 ? gain : 1;
	}
}

/* Turns the sums of sizes of the tile from cell (x, y) on into gains. */
static void
divide_tile(struct bench *b, const struct job *j, size_t x, size_t y)
{
	const size_t w = j->to.w - x < SIDE ? j->to.w - x : SIDE,
		     h = j->h - y < SIDE ? j->h - y : SIDE;
	const size_t x0 = x < BOX ? 0 : x - BOX,
		     wide = (x + w + BOX < j->to.w ? x + w + BOX : j->to.w) - x0;
	size_t first = y < BOX ? 0 : y - BOX, last = first;

	memset(b->column, 0, sizeof b->column);
	for (size_t i = y; i < y + h; i++) {
		while (last < j->h && last <= i + BOX)
			add_to_columns(b->column, j->n + last++ * j->to.w + x0, wide, 1);
		if (i > first + BOX)
			add_to_columns(b->column, j->n + first++ * j->to.w + x0, wide, -1);
		divide_row((float *)j->to.v + i * j->to.w, j->n + i * j->to.w, b->column,
			   last - first, x, w, j->to.w);
	}
}

/* Makes the gains of j->to, with the benches of a team. */
static void
make_gains(const struct job *j, struct bench *bench, int team)
{
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
	for (size_t t = 0; t < j->tiles; t++)
		if (j->sizes[t])
			size_tile(&bench[omp_get_thread_num()], j, t % j->across * SIDE,
				  t / j->across * SIDE);
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
	for (size_t t = 0; t < j->tiles; t++)
		if (j->gains[t])
			divide_tile(&bench[omp_get_thread_num()], j, t % j->across * SIDE,
				    t / j->across * SIDE);
}

/* Marks the tiles of gains that hold the pixels from lo to hi, and those of sizes around them. */
static void
mark_tiles(const struct job *j, const double lo[2], const double hi[2])
{
	const size_t px = SIDE * j->to.cell, down = j->tiles / j->across;
	const size_t x0 = (size_t)larger(lo[0], 0) / px, y0 = (size_t)larger(lo[1], 0) / px;

	for (size_t y = y0; y < down && (double)(y * px) <= hi[1]; y++)
		for (size_t x = x0; x < j->across && (double)(x * px) <= hi[0]; x++) {
			j->gains[y * j->across + x] = 1;
			for (size_t v = y ? y - 1 : 0; v <= y + 1 && v < down; v++)
				for (size_t u = x ? x - 1 : 0; u <= x + 1 && u < j->across; u++)
					j->sizes[v * j->across + u] = 1;
		}
}

/*
 * How far from the box of its points a segment of that length may read gains: half the width of its strip or the cells of its
 * way; 6 scales or 12 px from the way; what later passes add; and some px for the points' levels and the columns at its ends.
 */
static double
reach_of(const struct dptrace_options *o, double sigma, double length)
{
	const double w = o->halfwidth > 0 ? o->halfwidth : clamp(.4 * length, 8, 128);

	return w + larger(12, 6 * sigma) + ((double)o->passes + 2) * larger(3, 1.5 * sigma);
}

/* Marks the tiles around a line. Lines of points outside the picture are refused later. */
static void
mark_line(const struct job *j, const struct dptrace_options *o, double sigma,
	  const struct dptrace_line *l)
{
	const double w = (double)j->image->w, h = (double)j->image->h;

	for (size_t i = 0; l->n > 1 && i < dptrace_segments(l); i++) {
		const double *a = l->xy[i], *b = l->xy[(i + 1) % l->n];
		const double r = reach_of(o, sigma, distance(a, b));
		const double lo[2] = {smaller(a[0], b[0]) - r, smaller(a[1], b[1]) - r},
			     hi[2] = {larger(a[0], b[0]) + r, larger(a[1], b[1]) + r};
		if (lo[0] < w && lo[1] < h && hi[0] >= 0 && hi[1] >= 0)
			mark_tiles(j, lo, hi);
	}
}

int
gain_make(struct dptrace_gain *to, const struct dptrace_image *im, const float *gray,
	  const struct dptrace_options *o, const struct dptrace_line *line, size_t nline)
{
	const bool colour = im->c > 1 && !o->polarity;
	const double sigma = o->sigma > 0 ? o->sigma : 2, c = sigma < 2 ? 1 : floor(sigma);
	/* The mean over a cell has blurred the picture by (c^2 - 1) / 12. */
	const double scale = sqrt(sigma * sigma - (c * c - 1) / 12) / c;
	struct job j = {.image = im,
			.plane = {colour ? im->v : gray,
				  colour ? im->v + im->c * im->w * im->h : gray + im->w * im->h},
			.to = {.cell = (size_t)c, .w = (im->w - 1) / (size_t)c + 1},
			.h = (im->h - 1) / (size_t)c + 1};

	j.across = (j.to.w + SIDE - 1) / SIDE;
	j.tiles = j.across * ((j.h + SIDE - 1) / SIDE);
	const int team = j.tiles < (size_t)o->threads ? (int)j.tiles : o->threads;
	struct bench *bench = weir_alloc((size_t)team, sizeof *bench);
	float *v = weir_calloc(j.to.w * j.h, sizeof *v);

	j.n = weir_alloc(j.to.w * j.h, sizeof *j.n);
	j.gains = weir_calloc(2 * j.tiles, 1);
	const bool ok = bench && v && j.n && j.gains;
	for (int i = 0; i < 2; i++)
		strip_kernel(&j.k[i], i, scale, (int)ceil(3 * scale), c);
	j.to.v = v;
	if (ok) {
		j.sizes = j.gains + j.tiles;
		for (size_t i = 0; i < nline; i++)
			mark_line(&j, o, sigma, &line[i]);
		make_gains(&j, bench, team);
	} else {
		weir_free(v);
	}
	weir_free_all(bench, j.n, j.gains);
	*to = ok ? j.to : (struct dptrace_gain){0};
	return ok ? 0 : -ENOMEM;
}
