/* What the cells of a way cost: responses to a picture of one sample a cell. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "dptrace/bounds.h"
#include "dptrace/evidence/gain.h"
#include "dptrace/evidence/rows.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/settle/way.h"

#define NEAR 1e-6 /* px: an end of a segment is that close to a whole pixel, or is not on one */

/* --- costs ----------------------------------------------------------------------------------------------------------- */

/* Derivatives of the cells. The samples reach r cells beyond the grid to all sides. */
struct cells {
	int w, h, r, wide; /* the grid; the reach of the kernels; w + 2 r */
	float *sample;	   /* [h + 2 r][wide] */
	float *along[3];   /* [h + 2 r][w]: derivatives of that order along x */
	float *d[3]; /* [h][w]: ridge: T_xx, T_xy, T_yy; edge: sums of g_x g_x, g_x g_y, g_y g_y */
	float *g[2]; /* [w]: the gradient of a row */
	struct kernel k[3];
};

/* The samples of the cells, less ref: each is the mean of its pixels. Beyond the border the border is repeated. */
static void
sample_cells(const struct cells *c, const struct dptrace_image *im, const float *plane, int step,
	     ptrdiff_t x0, ptrdiff_t y0, float ref)
{
	const float share = 1 / (float)(step * step);

	for (int y = 0; y < c->h + 2 * c->r; y++) {
		float *out = c->sample + (ptrdiff_t)y * c->wide;
		memset(out, 0, (size_t)c->wide * sizeof *out);
		for (int i = 0; i < step; i++) {
			const float *row =
			    plane +
			    rows_clamp(y0 + (ptrdiff_t)(y - c->r) * step + i, im->h) * im->w;
			for (int x = 0; x < c->wide; x++) {
				const ptrdiff_t at = x0 + (ptrdiff_t)(x - c->r) * step;
				if (at >= 0 && at + step <= (ptrdiff_t)im->w)
					for (int j = 0; j < step; j++)
						out[x] += row[at + j] - ref;
				else
					for (int j = 0; j < step; j++)
						out[x] += row[rows_clamp(at + j, im->w)] - ref;
			}
		}
		for (int x = 0; x < c->wide; x++)
			out[x] *= share;
	}
}

/* Differentiates the samples: a ridge into d, an edge into g, whose products are added to d. */
static void
differentiate(const struct cells *c, bool ridge)
{
	const size_t n = (size_t)c->w;

	for (int order = 0; order <= 1 + ridge; order++)
		for (int y = 0; y < c->h + 2 * c->r; y++)
			rows_convolve(c->along[order] + (ptrdiff_t)y * c->w,
				      c->sample + (ptrdiff_t)y * c->wide + c->r, 1, n,
				      &c->k[order]);
	for (int y = 0; y < c->h; y++) {
		const ptrdiff_t at = (ptrdiff_t)y * c->w, in = at + (ptrdiff_t)c->r * c->w;
		float *const row[3] = {c->d[0] + at, c->d[1] + at, c->d[2] + at};
		for (int i = 0; ridge && i < 3; i++)
			rows_convolve(row[i], c->along[2 - i] + in, c->w, n, &c->k[i]);
		for (int i = 0; !ridge && i < 2; i++)
			rows_convolve(c->g[i], c->along[1 - i] + in, c->w, n, &c->k[i]);
		if (!ridge)
			rows_add_tensor(row[0], row[1], row[2], c->g[0], c->g[1], n);
	}
}

/* What cells cost by their response: a response of floor counts as none, one of floor + 1 / scale as all. */
struct price {
	bool ridge;
	float sign, scale, floor;
};

WEIR_CLONES(price_row,
	    (uint8_t *restrict cost, const float *xx, const float *xy, const float *yy, int n,
	     const struct price *p),
	    (cost, xx, xy, yy, n, p))
{
	for (int i = 0; i < n; i++) {
		const float mean = (xx[i] + yy[i]) * .5f, half = (xx[i] - yy[i]) * .5f,
			    root = __builtin_sqrtf(half * half + xy[i] * xy[i]);
		float e = p->ridge ? root - p->sign * mean : __builtin_sqrtf(mean + root);
		e = (e - p->floor) * p->scale;
		e = e > 0 ? e : 0;
		e = e < 1 ? e : 1;
		cost[i] = (uint8_t)((float)WAY_UNIT / (e + COST_K) + .5f);
	}
}

/* The floats that take_cells() takes. */
static size_t
floats_of(const struct cells *c)
{
	const size_t tall = (size_t)(c->h + 2 * c->r), w = (size_t)c->w;

	return tall * ((size_t)c->wide + 3 * w) + 3 * w * (size_t)c->h + 2 * w;
}

static bool
take_cells(struct cells *c)
{
	const size_t tall = (size_t)(c->h + 2 * c->r), wide = (size_t)c->wide, w = (size_t)c->w,
		     n = w * (size_t)c->h;
	float *p = weir_alloc(floats_of(c), sizeof *p);

	c->sample = p;
	if (!p)
		return false;
	p += tall * wide;
	for (int i = 0; i < 3; i++, p += tall * w)
		c->along[i] = p;
	for (int i = 0; i < 3; i++, p += n)
		c->d[i] = p;
	for (int i = 0; i < 2; i++, p += w)
		c->g[i] = p;
	return true;
}

/* Multiplies the responses of a row by its gains: those of an edge here, whose tensor has their squares. */
static void
apply_gains(const struct cells *c, const struct way_grid *g, const struct dptrace_gain *gain, int y)
{
	for (int x = 0; x < c->w; x++) {
		const float k =
		    gain_at(gain, (size_t)(g->x0 + x * g->step), (size_t)(g->y0 + y * g->step));
		for (int i = 0; i < 3; i++)
			c->d[i][y * c->w + x] *= k * k;
	}
}

/* A cell whose middle is masked costs as one without evidence. */
static void
price_mask(const struct way_grid *g, const struct dptrace_image *im)
{
	for (int y = 0; im->mask && y < g->h; y++)
		for (int x = 0; x < g->w; x++) {
			const size_t px = (size_t)(g->x0 + x * g->step),
				     py = (size_t)(g->y0 + y * g->step);
			if (!im->mask[py * im->w + px])
				g->cost[y * g->w + x] = (uint8_t)((float)WAY_UNIT / COST_K + .5f);
		}
}

/* Lays the grid over both points and the half-width around them, within the picture. */
static void
lay_grid(struct way_grid *g, const struct dptrace_image *im, const struct segment_shape *s)
{
	const double bx = s->ax + s->length * s->ex, by = s->ay + s->length * s->ey,
		     w = s->halfwidth;
	const double left = larger(floor(smaller(s->ax, bx) - w + NEAR), 0),
		     top = larger(floor(smaller(s->ay, by) - w + NEAR), 0),
		     right = smaller(ceil(larger(s->ax, bx) + w - NEAR), (double)im->w - 1),
		     bottom = smaller(ceil(larger(s->ay, by) + w - NEAR), (double)im->h - 1);

	g->step = (int)larger(1, floor(s->sigma));
	g->w = (int)ceil((right - left + 1) / g->step);
	g->h = (int)ceil((bottom - top + 1) / g->step);
	g->x0 = left + (g->step - 1) / 2.;
	g->y0 = top + (g->step - 1) / 2.;
}

/* Sizes the cells of a grid and their derivatives. *sigma receives the scale in cells. */
static struct cells
size_cells(const struct way_grid *g, const struct segment_shape *s, double *sigma)
{
	/* The mean over a cell has blurred the picture by (step^2 - 1) / 12. */
	*sigma = sqrt(s->sigma * s->sigma - (g->step * g->step - 1) / 12.) / g->step;
	const int r = (int)ceil(3 * *sigma);

	return (struct cells){.w = g->w, .h = g->h, .r = r, .wide = g->w + 2 * r};
}

size_t
way_bytes(const struct dptrace_image *im, const struct segment_shape *s)
{
	struct way_grid g;
	double sigma;

	lay_grid(&g, im, s);
	const struct cells c = size_cells(&g, s, &sigma);
	const size_t n = (size_t)c.w * (size_t)c.h;
	return n > WAY_CELLS ? 0 : floats_of(&c) * sizeof(float) + n;
}

int
way_costs(struct way_grid *g, const struct dptrace_image *im, const float *gray,
	  const struct dptrace_options *o, const struct segment_shape *s)
{
	const bool ridge = o->score == DPTRACE_RIDGE, colour = !ridge && im->c > 1 && !o->polarity;

	lay_grid(g, im, s);
	double sigma;
	struct cells c = size_cells(g, s, &sigma);
	const size_t n = (size_t)c.w * (size_t)c.h;
	const double above = s->level - s->floor, size = ridge ? s->sigma * s->sigma : s->sigma;
	const ptrdiff_t x0 = (ptrdiff_t)(g->x0 - (g->step - 1) / 2.),
			y0 = (ptrdiff_t)(g->y0 - (g->step - 1) / 2.);
	const struct price price = {ridge, s->polarity < 0 ? -1 : 1, (float)(size / above),
				    (float)(s->floor / size)};

	if (!(above > 0) || n > WAY_CELLS)
		return 1;
	if (!take_cells(&c))
		return -ENOMEM;
	if (!(g->cost = weir_alloc(n, 1))) {
		weir_free(c.sample);
		return -ENOMEM;
	}
	for (int i = 0; i < 3; i++)
		strip_kernel(&c.k[i], i, sigma, c.r, g->step);
	memset(c.d[0], 0, 3 * n * sizeof(float));
	const size_t mid =
	    rows_clamp(lround(s->ay), im->h) * im->w + rows_clamp(lround(s->ax), im->w);
	for (size_t i = 0; i < (colour ? im->c : 1); i++) {
		const float *plane = colour ? im->v + i * im->w * im->h : gray;
		sample_cells(&c, im, plane, g->step, x0, y0, plane[mid]);
		differentiate(&c, ridge);
	}
	for (int y = 0; im->gain.v && y < c.h; y++)
		apply_gains(&c, g, &im->gain, y);
	for (ptrdiff_t y = 0; y < c.h; y++)
		price_row(g->cost + y * c.w, c.d[0] + y * c.w, c.d[1] + y * c.w, c.d[2] + y * c.w,
			  c.w, &price);
	price_mask(g, im);
	weir_free(c.sample);
	return 0;
}
