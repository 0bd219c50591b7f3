/* Makes gains tile by tile. A tile fits the second-level cache with all that leads to it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "dptrace/evidence/gain.h"
#include "dptrace/evidence/rows.h"
#include "dptrace/evidence/strip.h"

#define LEAST .3f /* what is added to the divisor, in means of the picture */

enum {
	AROUND = 2,		  /* cells to every side whose sizes count */
	SIDE = 128,		  /* cells of a tile, across and down */
	WIDE = SIDE + 2 * AROUND, /* of its sizes */
	REACH = 6,		  /* of the kernels, cells, at most: a scale is below 2 cells */
	APRON = WIDE + 2 * REACH  /* of its samples */
};

/* One thread's scratch. Row 0 and column 0 of all arrays belong to the first cell of the tile less what is beside it. */
struct bench {
	float sample[APRON][APRON], along[2][APRON][WIDE];
	float uu[WIDE][WIDE], uv[WIDE][WIDE], vv[WIDE][WIDE];
	float g[2][WIDE];
};

struct job {
	const struct dptrace_image *image;
	const float *plane[2]; /* the first one, and the end of the last */
	struct dptrace_gain to;
	size_t h; /* rows of cells */
	struct kernel k[2];
};

/* out[i] += the c pixels of cell i of a row of the picture, less ref each. */
CPU_INLINE void
add_cells(float *restrict out, const float *restrict row, size_t n, size_t c, float ref)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c; j++)
			out[i] += row[i * c + j] - ref;
}

WEIR_CLONES(add_row,
	    (float *restrict out, const float *restrict row, size_t n, size_t c, float ref),
	    (out, row, n, c, ref))
{
	if (c == 2)
		add_cells(out, row, n, 2, ref);
	else
		add_cells(out, row, n, c, ref);
}

/* Adds the c pixels of cell x of a row of w pixels, less ref each. Beyond the row its last pixel is repeated. */
static void
add_cell(float *out, const float *row, ptrdiff_t x, size_t c, size_t w, float ref)
{
	for (size_t k = 0; k < c; k++)
		*out += row[rows_clamp(x * (ptrdiff_t)c + (ptrdiff_t)k, w)] - ref;
}

/* Row y of the samples of a tile: n cells from cell x0 on. */
static void
sample_row(float *out, const struct job *j, const float *plane, ptrdiff_t x0, ptrdiff_t y, size_t n)
{
	const struct dptrace_image *im = j->image;
	const size_t c = j->to.cell, first = x0 < 0 ? (size_t)-x0 : 0,
		     end = rows_clamp((ptrdiff_t)(im->w / c) - x0, n + 1);
	const float ref = plane[im->h / 2 * im->w + im->w / 2];

	memset(out, 0, n * sizeof *out);
	for (size_t k = 0; k < c; k++) {
		const float *row =
		    plane + rows_clamp(y * (ptrdiff_t)c + (ptrdiff_t)k, im->h) * im->w;
		for (size_t i = 0; i < first && i < n; i++)
			add_cell(out + i, row, x0 + (ptrdiff_t)i, c, im->w, ref);
		if (first < end)
			add_row(out + first, row + (size_t)(x0 + (ptrdiff_t)first) * c, end - first,
				c, ref);
		for (size_t i = end > first ? end : first; i < n; i++)
			add_cell(out + i, row, x0 + (ptrdiff_t)i, c, im->w, ref);
	}
}

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
	const size_t r = (size_t)j->k[0].r;

	for (size_t i = 0; i < h + 2 * r; i++) {
		sample_row(b->sample[i], j, plane, x - (ptrdiff_t)r,
			   y - (ptrdiff_t)r + (ptrdiff_t)i, w + 2 * r);
		for (int order = 0; order < 2; order++)
			rows_convolve(b->along[order][i], b->sample[i] + r, 1, w, &j->k[order]);
	}
	for (size_t i = 0; i < h; i++) {
		for (int order = 0; order < 2; order++)
			rows_convolve(b->g[order], b->along[1 - order][i + r], WIDE, w,
				      &j->k[order]);
		rows_add_tensor(b->uu[i], b->uv[i], b->vv[i], b->g[0], b->g[1], w);
	}
}

/* The sums of sizes around the cells of the tile from cell (x, y) on. Returns their sum. */
static double
make_tile(struct bench *b, const struct job *j, size_t x, size_t y)
{
	const size_t w = j->to.w - x < SIDE ? j->to.w - x : SIDE,
		     h = j->h - y < SIDE ? j->h - y : SIDE;
	const size_t n = j->image->w * j->image->h;
	double sum = 0;

	memset(b->uu, 0, sizeof b->uu);
	memset(b->uv, 0, sizeof b->uv);
	memset(b->vv, 0, sizeof b->vv);
	for (const float *plane = j->plane[0]; plane < j->plane[1]; plane += n)
		add_plane(b, j, plane, (ptrdiff_t)x - AROUND, (ptrdiff_t)y - AROUND, w + 2 * AROUND,
			  h + 2 * AROUND);
	for (size_t i = 0; i < h + 2 * AROUND; i++)
		size_row(b->uu[i], b->uv[i], b->vv[i], w + 2 * AROUND);
	for (size_t i = 0; i < h; i++) {
		float *out = (float *)j->to.v + (y + i) * j->to.w + x;
		sum_square(out, b->g[0], b->uu[i], w);
		for (size_t k = 0; k < w; k++)
			sum += (double)out[k];
	}
	return sum;
}

/* Turns sums of mean m into gains. Where sums are too large for a float, the gain is 1. */
WEIR_CLONES(divide, (float *v, size_t n, float m), (v, n, m))
{
	for (size_t i = 0; i < n; i++) {
		const float gain = 1 / (v[i] / m + LEAST);
		v[i] = gain > 0 ? gain : 1;
	}
}

/* Makes the gains of j->to, with the benches of a team. sum has a place for each tile. */
static void
make_gains(const struct job *j, struct bench *bench, int team, double *sum)
{
	const size_t across = (j->to.w + SIDE - 1) / SIDE,
		     tiles = across * ((j->h + SIDE - 1) / SIDE);
	double mean = 0;

#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
	for (size_t t = 0; t < tiles; t++)
		sum[t] = make_tile(&bench[omp_get_thread_num()], j, t % across * SIDE,
				   t / across * SIDE);
	for (size_t t = 0; t < tiles; t++)
		mean += sum[t] / (double)(j->to.w * j->h);
	divide((float *)j->to.v, j->to.w * j->h, mean > 0 ? (float)mean : INFINITY);
}

int
gain_make(struct dptrace_gain *to, const struct dptrace_image *im, const float *gray,
	  const struct dptrace_options *o)
{
	const bool colour = im->c > 1 && !o->polarity;
	const double sigma = o->sigma > 0 ? o->sigma : 2, c = sigma < 2 ? 1 : floor(sigma);
	/* The mean over a cell has blurred the picture by (c^2 - 1) / 12. */
	const double scale = sqrt(sigma * sigma - (c * c - 1) / 12) / c;
	struct job j = {.image = im,
			.plane = {colour ? im->v : gray,
				  colour ? im->v + im->c * im->w * im->h : gray + im->w * im->h},
			.to = {.cell = (size_t)c},
			.h = (im->h - 1) / (size_t)c + 1};

	j.to.w = (im->w - 1) / (size_t)c + 1;
	const size_t tiles = ((j.to.w + SIDE - 1) / SIDE) * ((j.h + SIDE - 1) / SIDE);
	const int team = tiles < (size_t)o->threads ? (int)tiles : o->threads;
	struct bench *bench = weir_alloc((size_t)team, sizeof *bench);
	double *sum = weir_alloc(tiles, sizeof *sum);
	float *v = weir_alloc_large(j.to.w * j.h, sizeof *v);
	const bool ok = bench && sum && v;

	for (int i = 0; i < 2; i++)
		strip_kernel(&j.k[i], i, scale, (int)ceil(3 * scale), c);
	j.to.v = v;
	if (ok)
		make_gains(&j, bench, team, sum);
	else
		weir_free(v);
	weir_free(bench);
	weir_free(sum);
	*to = ok ? j.to : (struct dptrace_gain){0};
	return ok ? 0 : -ENOMEM;
}
