/*
 * Makes the evidence at the base rows: samples the picture, differentiates in the strip, and has normalise.c divide by the
 * size of the derivative or by the level.
 */
#include <string.h>

#include "common/base/cpu.h"
#include "dptrace/libm.h"
#include "dptrace/evidence/normalise.h"
#include "dptrace/evidence/rows.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/evidence/walk.h"

/*
 * A vector of 32 bytes, a register of AVX2. One of 64 bytes made convolve() 3 times as slow with AVX2, where gcc 12 keeps
 * it in memory, and no faster with AVX-512. It may be read at any address of floats and from memory of any type.
 */
typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));

/* The arguments of base_fill(). */
struct job {
	struct base *out;
	const struct scratch *scratch;
	const struct grid *g;
	const struct dptrace_image *image;
	const struct dptrace_options *o;
};

/* Rows of raw samples in a column: the base rows and the reach of the derivatives. */
static size_t
raw_rows(const struct grid *g)
{
	return base_rows(g) + (lanes_up(2 * g->rv) + 2 * GROUP - 1) / (2 * GROUP) * (2 * GROUP);
}

void
base_take(struct base *b, struct arena *a, const struct grid *g)
{
	for (int i = 0; i < 3; i++)
		b->f[i] = arena_take(a, (size_t)g->ncol * base_rows(g), sizeof *b->f[i]);
}

void
scratch_take(struct scratch *b, struct arena *a, const struct grid *g)
{
	size_t wide = (size_t)g->nraw, base = base_rows(g);

	b->raw = arena_take(a, wide * raw_rows(g), sizeof *b->raw);
	b->across = arena_take(a, (size_t)g->ncol * raw_rows(g), sizeof *b->across);
	b->vv = arena_take(a, (size_t)g->ncol * base, sizeof *b->vv);
	b->size = arena_take(a, (size_t)g->ncol * base, sizeof *b->size);
	b->inside = arena_take(a, (size_t)g->ncol * base, sizeof *b->inside);
	b->column = arena_take(a, wide, sizeof *b->column);
}

/* --- samples ---------------------------------------------------------------------------------------------------- */

struct walk
strip_walk(const struct grid *g, double x, double y, double nx, double ny)
{
	const double v = (-SKIRT - g->rv - g->half) * g->P;

	return (struct walk){x + v * nx, y + v * ny, g->P * nx, g->P * ny};
}

void
strip_columns(struct walk *column, const struct grid *g, const struct origin *at)
{
	for (int i = 0; i < g->nraw; i++) {
		const double u = (.5 + (double)(i - g->ru) / g->sub) * g->hu;

		column[i] = strip_walk(g, at->x + u * at->ex, at->y + u * at->ey, -at->ey, at->ex);
	}
}

/* The walk that starts n base rows further on. */
static struct walk
walk_on(struct walk k, int n)
{
	return (struct walk){k.x + n * k.dx, k.y + n * k.dy, k.dx, k.dy};
}

static float
value_at(const float *p, size_t w, size_t h, double x, double y)
{
	float out;

	walk_sample(&out, 1, p, w, h, (struct walk){x, y, 0, 0}, 0);
	return out;
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

void
strip_kernel(struct kernel *k, int order, double sigma, int r, double step)
{
	const double per = order == 0 ? 1 : order == 1 ? 1 / step : 1 / (step * step);
	double w[MAXTAPS], sum = 0, second = 0, norm = 0;

	for (int i = 0; i <= r; i++) {
		w[i] = libm_exp_minus(i * i / (2 * sigma * sigma));
		sum += i ? 2 * w[i] : w[i];
		second += 2. * i * i * w[i];
	}
	for (int i = 0; i <= r; i++) {
		double g = w[i] / sum;
		w[i] = order == 0 ? g : order == 1 ? i * g : (i * i - second / sum) * g;
		norm += order == 0   ? (i ? 2 * w[i] : w[i])
			: order == 1 ? 2 * i * w[i]
				     : i * i * w[i];
	}
	k->r = r;
	k->odd = order == 1;
	for (int i = 0; i <= r; i++)
		k->w[i] = (float)(w[i] / norm * per);
}

/* out[i] = sum_t w[t] (in[i + t step] +- in[i - t step]). Mirrored input gives mirrored output, bit for bit. */
static inline __attribute__((always_inline)) void
convolve_column(float *restrict out, const float *restrict in, size_t n, ptrdiff_t step,
		const struct kernel *k, bool odd)
{
	for (size_t i = 0; i < n; i += 2 * GROUP) {
		lanes a[4];
		for (int x = 0; x < 4; x++)
			a[x] = k->w[0] * ((const lanes *)(in + i))[x];
		for (int t = 1; t <= k->r; t++) {
			const lanes *up = (const lanes *)(in + i + t * step),
				    *down = (const lanes *)(in + i - t * step);
			for (int x = 0; x < 4; x++)
				a[x] += k->w[t] * (odd ? up[x] - down[x] : up[x] + down[x]);
		}
		for (int x = 0; x < 4; x++)
			((lanes *)(out + i))[x] = a[x];
	}
}

/* Convolves that many columns. */
WEIR_CLONES(convolve,
	    (float *restrict out, size_t ldout, const float *restrict in, size_t ldin, int columns,
	     size_t n, ptrdiff_t step, const struct kernel *k),
	    (out, ldout, in, ldin, columns, n, step, k))
{
	for (int c = 0; c < columns; c++, out += ldout, in += ldin)
		if (k->odd)
			convolve_column(out, in, n, step, k, true);
		else
			convolve_column(out, in, n, step, k, false);
}

/*
 * Makes the derivatives whose orders along u and v add up to order, at the base rows. f[i] is of order i across (v) and
 * of order - i along (u). The kernel along u runs first, because it leaves fewer columns.
 */
static void
differentiate(const struct job *j, int order)
{
	const struct grid *g = j->g;
	const struct scratch *b = j->scratch;
	const size_t base = base_rows(g), raw = raw_rows(g);
	const double hr = g->hu / g->sub;

	for (int i = 0; i <= order; i++) {
		struct kernel v, u;
		strip_kernel(&v, i, g->sigma / g->P, g->rv, g->P);
		strip_kernel(&u, order - i, g->sigma / hr, g->ru, hr);
		convolve(b->across, raw, b->raw + (size_t)g->ru * raw, (size_t)g->sub * raw,
			 g->ncol, raw, (ptrdiff_t)raw, &u);
		convolve(j->out->f[i], base, b->across + g->rv, raw, g->ncol, base, 1, &v);
	}
}

/* Samples one plane in the strip and within the reach of the derivatives around it. */
static void
sample_strip(const struct job *j, const float *plane)
{
	const struct grid *g = j->g;
	const struct dptrace_image *im = j->image;
	const struct walk mid =
	    walk_on(j->scratch->column[g->ru + g->ncol / 2 * g->sub], SKIRT + g->rv + g->half);
	const float ref = value_at(plane, im->w, im->h, mid.x, mid.y);
	const size_t used = (size_t)(g->base + 2 * (SKIRT + g->rv));

	for (int col = 0; col < g->nraw; col++) {
		float *out = j->scratch->raw + (size_t)col * raw_rows(g);

		walk_sample(out, (int)used, plane, im->w, im->h, j->scratch->column[col], ref);
		memset(out + used, 0, (raw_rows(g) - used) * sizeof *out);
	}
}

/* --- evidence --------------------------------------------------------------------------------------------------- */

WEIR_CLONES(gradient_size,
	    (float *restrict size, const float *restrict gu, const float *restrict gv, size_t n),
	    (size, gu, gv, n))
{
	for (size_t i = 0; i < n; i++)
		size[i] = __builtin_sqrtf(gu[i] * gu[i] + gv[i] * gv[i]);
}

/* size: the larger absolute eigenvalue of the Hessian. */
WEIR_CLONES(hessian_size,
	    (float *restrict size, const float *restrict uu, const float *restrict uv,
	     const float *restrict vv, size_t n),
	    (size, uu, uv, vv, n))
{
	for (size_t i = 0; i < n; i++) {
		float mean = .5f * (uu[i] + vv[i]), half = .5f * (uu[i] - vv[i]);
		size[i] = __builtin_fabsf(mean) + __builtin_sqrtf(half * half + uv[i] * uv[i]);
	}
}

/* Di Zenzo's gradient: the direction in which colours change fastest. Its length is the size of that change. */
WEIR_CLONES(main_direction,
	    (float *restrict gu, float *restrict gv, const float *restrict uu,
	     const float *restrict uv, const float *restrict vv, size_t n),
	    (gu, gv, uu, uv, vv, n))
{
	for (size_t i = 0; i < n; i++) {
		float half = .5f * (uu[i] - vv[i]),
		      root = __builtin_sqrtf(half * half + uv[i] * uv[i]);
		float x = half > 0 ? half + root : uv[i], y = half > 0 ? uv[i] : root - half;
		float square = x * x + y * y;
		float scale =
		    square > 0 ? __builtin_sqrtf((.5f * (uu[i] + vv[i]) + root) / square) : 0;
		gu[i] = x * scale;
		gv[i] = y * scale;
	}
}

/* The gradient of all planes together. The tensor's sums are kept in f[2], size and vv, which are free here. */
static void
colour_gradient(const struct job *j)
{
	const struct dptrace_image *im = j->image;
	const size_t n = (size_t)j->g->ncol * base_rows(j->g);
	float *uu = j->out->f[2], *uv = j->scratch->size, *vv = j->scratch->vv;

	memset(uu, 0, n * sizeof *uu);
	memset(uv, 0, n * sizeof *uv);
	memset(vv, 0, n * sizeof *vv);
	for (size_t i = 0; i < im->c; i++) {
		sample_strip(j, im->v + i * im->w * im->h);
		differentiate(j, 1);
		rows_add_tensor(uu, uv, vv, j->out->f[0], j->out->f[1], n);
	}
	main_direction(j->out->f[0], j->out->f[1], uu, uv, vv, n);
}

/* What the evidence is multiplied by: 0 outside the picture and its mask, else the gain. */
static void
find_inside(const struct job *j, const struct dptrace_gain *gain)
{
	const struct dptrace_image *im = j->image;
	const struct grid *g = j->g;
	const size_t base = base_rows(g);

	for (int col = 0; col < g->ncol; col++) {
		const struct walk k = walk_on(j->scratch->column[g->ru + col * g->sub], g->rv);
		float *out = j->scratch->inside + (size_t)col * base;
		walk_inside(out, (int)base, im->w, im->h, k, im->mask);
		if (gain->v)
			walk_gain(out, (int)base, im->w, im->h, k, gain);
	}
}

void
base_fill(struct base *b, const struct scratch *scratch, const struct grid *g,
	  const struct dptrace_image *image, const float *gray, const struct dptrace_options *o,
	  const struct rule *rule)
{
	const struct job job = {b, scratch, g, image, o};
	const int fields = o->score == DPTRACE_RIDGE ? 3 : 2;
	const size_t base = base_rows(g), n = (size_t)g->ncol * base;

	if (o->score == DPTRACE_EDGE && image->c > 1 && !o->polarity) {
		colour_gradient(&job);
	} else {
		sample_strip(&job, gray);
		if (rule->flank > 0) {
			differentiate(&job, 1);
			gradient_size(scratch->size, b->f[0], b->f[1], n);
		}
		differentiate(&job, fields - 1);
	}
	find_inside(&job, rule->cost ? &image->gain : &(struct dptrace_gain){0});
	if (rule->cost) {
		normalise_cost(b, scratch, g, o, rule);
		return;
	}
	if (fields == 3)
		hessian_size(scratch->size, b->f[0], b->f[1], b->f[2], n);
	else
		gradient_size(scratch->size, b->f[0], b->f[1], n);
	normalise_sum(b, scratch, g, o, rule);
}
