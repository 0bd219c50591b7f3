#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/numbers.h"

/* ---- numbers ---- */

double
libm_exp_minus(double x)
{
	enum { TERMS = 14 };
	double term = 1, sum = 1;
	int halvings = 0;

	if (x > 800)
		return 0;
	for (; x > .5; x /= 2)
		halvings++;
	for (int i = 1; i < TERMS; i++) {
		term *= x / i;
		sum += term;
	}
	for (sum = 1 / sum; halvings > 0; halvings--)
		sum *= sum;
	return sum;
}

/* ---- rows ---- */

WEIR_CLONES(convolve,
	    (float *restrict out, const float *restrict in, ptrdiff_t step, size_t n,
	     const struct kernel *k),
	    (out, in, step, n, k))
{
	for (size_t i = 0; i < n; i++)
		out[i] = k->w[0] * in[i];
	for (int t = 1; t <= k->r; t++) {
		const float w = k->w[t], *up = in + t * step, *down = in - t * step;
		if (k->odd)
			for (size_t i = 0; i < n; i++)
				out[i] += w * (up[i] - down[i]);
		else
			for (size_t i = 0; i < n; i++)
				out[i] += w * (up[i] + down[i]);
	}
}

void
rows_convolve(float *out, const float *in, ptrdiff_t step, size_t n, const struct kernel *k)
{
	convolve(out, in, step, n, k);
}

WEIR_CLONES(add_tensor,
	    (float *restrict uu, float *restrict uv, float *restrict vv, const float *restrict gu,
	     const float *restrict gv, size_t n),
	    (uu, uv, vv, gu, gv, n))
{
	for (size_t i = 0; i < n; i++) {
		uu[i] += gu[i] * gu[i];
		uv[i] += gu[i] * gv[i];
		vv[i] += gv[i] * gv[i];
	}
}

void
rows_add_tensor(float *uu, float *uv, float *vv, const float *gu, const float *gv, size_t n)
{
	add_tensor(uu, uv, vv, gu, gv, n);
}

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

/* Adds the c pixels from x on of a row of w pixels, less ref each. Beyond the row its last pixel is repeated. */
static void
add_cell(float *out, const float *row, ptrdiff_t x, size_t c, size_t w, float ref)
{
	for (size_t k = 0; k < c; k++)
		*out += row[clamp_index(x + (ptrdiff_t)k, w)] - ref;
}

void
rows_cells(float *out, const struct dptrace_image *im, const float *plane, ptrdiff_t x, ptrdiff_t y,
	   size_t n, size_t c, float ref)
{
	/* Cells first .. end-1 lie within the row. */
	const ptrdiff_t step = (ptrdiff_t)c;
	const size_t first = x < 0 ? ((size_t)-x + c - 1) / c : 0,
		     end = clamp_index(((ptrdiff_t)im->w - x) / step, n + 1);

	memset(out, 0, n * sizeof *out);
	for (ptrdiff_t k = 0; k < step; k++) {
		const float *row = plane + clamp_index(y + k, im->h) * im->w;
		for (size_t i = 0; i < first && i < n; i++)
			add_cell(out + i, row, x + (ptrdiff_t)i * step, c, im->w, ref);
		if (first < end)
			add_row(out + first, row + x + (ptrdiff_t)first * step, end - first, c,
				ref);
		for (size_t i = end > first ? end : first; i < n; i++)
			add_cell(out + i, row, x + (ptrdiff_t)i * step, c, im->w, ref);
	}
}

/* ---- walks: samples of a picture along a straight line ---- */

/* Two neighbouring samples, read as one. This halves the loads and is 1.5 times as fast with AVX-512. */
typedef uint64_t pair __attribute__((may_alias, aligned(4)));

enum { LEFT = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 32, RIGHT = 32 - LEFT };

static inline __attribute__((always_inline)) float
half_of(uint64_t both, int shift)
{
	const uint32_t bits = (uint32_t)(both >> shift);
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

/*
 * Takes bilinear samples at the points (x + i dx, y + i dy) of a picture w wide that begins at p, and subtracts ref. No
 * coordinate may be negative.
 */
WEIR_CLONES(sample_within,
	    (float *restrict out, int n, const float *restrict p, int w, float x, float y, float dx,
	     float dy, float ref),
	    (out, n, p, w, x, y, dx, dy, ref))
{
	for (int i = 0; i < n; i++) {
		const float xs = x + (float)i * dx, ys = y + (float)i * dy;
		const int xi = (int)xs, yi = (int)ys, at = yi * w + xi;
		const float a = xs - (float)xi, b = ys - (float)yi;
		const uint64_t above = *(const pair *)(p + at), below = *(const pair *)(p + at + w);
		const float top =
		    half_of(above, LEFT) + a * (half_of(above, RIGHT) - half_of(above, LEFT));
		const float low =
		    half_of(below, LEFT) + a * (half_of(below, RIGHT) - half_of(below, LEFT));
		out[i] = (top + b * (low - top)) - ref;
	}
}

/*
 * Takes n bilinear samples of the picture p of h rows of w, and subtracts ref from each. Beyond the picture a sample is
 * that of the nearest place on the border, so that the border is no edge.
 */
static void
walk_sample(float *out, int n, const float *p, size_t w, size_t h, struct walk k, float ref)
{
	double x0, y0;

	/* The fast path counts from a corner of the walk's own box, so that floats are exact enough for coordinates. */
	if (walk_stays(&k, n, w, h, &x0, &y0))
		sample_within(out, n, p + (size_t)y0 * w + (size_t)x0, (int)w, (float)(k.x - x0),
			      (float)(k.y - y0), (float)k.dx, (float)k.dy, ref);
	else
		for (int i = 0; i < n; i++)
			out[i] = sample_clamped(p, w, h, k.x + i * k.dx, k.y + i * k.dy, ref);
}

/* Sets out[i] to 1 where sample i lies inside the picture, and to 0 outside. */
WEIR_CLONES(mark_inside, (float *restrict out, int n, size_t w, size_t h, struct walk k),
	    (out, n, w, h, k))
{
	const double xmax = (double)w - .5, ymax = (double)h - .5;

	for (int i = 0; i < n; i++) {
		double x = k.x + i * k.dx, y = k.y + i * k.dy;
		out[i] = (float)((x >= -.5) & (x <= xmax) & (y >= -.5) & (y <= ymax));
	}
}

/* ---- contrast: from derivatives at the base rows to evidence, in place ---- */

/* k bits of a float x >= 0, after its first `skip` bits. The leading bits of such floats are ordered as the floats are. */
static unsigned
bits_of(float x, int skip, int k)
{
	uint32_t u;

	memcpy(&u, &x, sizeof u);
	return u << skip >> (32 - k);
}

/*
 * The median of the sizes inside the picture and the strip, taken from every fourth column; 0 when there are none. Two
 * rounds of counting the leading bits find it to 1 part in 30000. *top receives the largest size.
 */
static float
median_size(const struct grid *g, const struct scratch *b, float *top)
{
	enum { BITS = 12, BINS = 1 << BITS, ROUNDS = 2 };
	const size_t base = base_rows(g);
	uint32_t count[BINS], bits = 0;
	size_t n = 0, before = 0;
	float median;

	*top = 0;
	for (int round = 0; round < ROUNDS; round++) {
		memset(count, 0, sizeof count);
		for (int c = 0; c < g->ncol; c += 4)
			for (size_t i = (size_t)c * base + SKIRT;
			     i < (size_t)c * base + SKIRT + (size_t)g->base; i++) {
				if (b->inside[i] == 0 ||
				    (round && bits_of(b->size[i], 0, round * BITS) != bits))
					continue;
				count[bits_of(b->size[i], round * BITS, BITS)]++;
				n += !round;
				*top = b->size[i] > *top ? b->size[i] : *top;
			}
		unsigned k = 0;
		while (k + 1 < BINS && before + count[k] <= n / 2)
			before += count[k++];
		bits = bits << BITS | k;
	}
	bits <<= 32 - ROUNDS * BITS;
	memcpy(&median, &bits, sizeof median);
	return n ? median : 0;
}

/* f *= sign * inside / (size + g0). Where the divisor is 0 there is no evidence. */
WEIR_CLONES(soft_normalise,
	    (float *restrict f, const float *restrict size, const float *restrict inside,
	     float sign, float g0, size_t n),
	    (f, size, inside, sign, g0, n))
{
	for (size_t i = 0; i < n; i++) {
		float d = size[i] + g0;
		f[i] = d > 0 ? f[i] * (sign * inside[i] / d) : 0;
	}
}

/* f *= scale * inside. The scale turns the level into 1. */
WEIR_CLONES(scale_inside, (float *restrict f, const float *restrict inside, float scale, size_t n),
	    (f, inside, scale, n))
{
	for (size_t i = 0; i < n; i++)
		f[i] *= scale * inside[i];
}

/*
 * Makes the fields of the sum from the derivatives in b->f, with their sizes and the inside of the picture in scratch. Sets
 * b->g0, and b->blank where there is no evidence.
 */
static void
normalise_sum(struct base *b, const struct scratch *scratch, const struct grid *g,
	      const struct dptrace_options *o, const struct rule *rule)
{
	const int fields = o->score == DPTRACE_RIDGE ? 3 : 2;
	const size_t n = (size_t)g->ncol * base_rows(g);
	float top;
	const float median = median_size(g, scratch, &top);

	b->blank = top == 0;
	/* The least part of the largest size keeps the peak of a clear line in a quiet picture from being cut off flat. */
	b->g0 = o->score == DPTRACE_SIN		  ? 0
		: DPTRACE_SOFT * median > top / 4 ? DPTRACE_SOFT * median
						  : top / 4;
	for (int i = 0; i < fields; i++)
		soft_normalise(b->f[i], scratch->size, scratch->inside,
			       fields == 3 && rule->polarity >= 0 ? -1 : 1, b->g0, n);
}

/* f -= part * size * inside. */
WEIR_CLONES(subtract_flanks,
	    (float *restrict f, const float *restrict size, const float *restrict inside,
	     float part, size_t n),
	    (f, size, inside, part, n))
{
	for (size_t i = 0; i < n; i++)
		f[i] -= part * size[i] * inside[i];
}

/*
 * Makes the fields of the cost and sets b->blank. Fields 0 and 2 of a ridge are T_uu and T_vv; what is subtracted from both
 * counts alike for links of all directions. The sizes in scratch are those of the gradient.
 */
static void
normalise_cost(struct base *b, const struct scratch *scratch, const struct grid *g,
	       const struct dptrace_options *o, const struct rule *r)
{
	const int fields = o->score == DPTRACE_RIDGE ? 3 : 2;
	const size_t n = (size_t)g->ncol * base_rows(g);
	const float sign = fields == 3 && r->polarity >= 0 ? -1 : 1;

	b->blank = r->scale == 0;
	for (int i = 0; i < fields; i++)
		scale_inside(b->f[i], scratch->inside, sign * r->scale, n);
	for (int i = 0; r->flank > 0 && i < fields; i += 2)
		subtract_flanks(b->f[i], scratch->size, scratch->inside, r->flank * r->scale, n);
}

/* ---- base rows ---- */

/*
 * Makes the evidence at the base rows: samples the picture, differentiates in the strip, and divides by the
 * size of the derivative or by the level.
 */

/*
 * A vector of 32 bytes, a register of AVX2. One of 64 bytes made convolve_rows() 3 times as slow with AVX2, where gcc 12 keeps
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
WEIR_CLONES(convolve_rows,
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
		convolve_rows(b->across, raw, b->raw + (size_t)g->ru * raw, (size_t)g->sub * raw,
			      g->ncol, raw, (ptrdiff_t)raw, &u);
		convolve_rows(j->out->f[i], base, b->across + g->rv, raw, g->ncol, base, 1, &v);
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
	const size_t used = (size_t)(g->base + 2 * (SKIRT + g->rv));
	float ref;

	walk_sample(&ref, 1, plane, im->w, im->h, (struct walk){mid.x, mid.y, 0, 0}, 0);
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

WEIR_CLONES(main_direction,
	    (float *restrict gu, float *restrict gv, const float *restrict uu,
	     const float *restrict uv, const float *restrict vv, size_t n),
	    (gu, gv, uu, uv, vv, n))
{
	for (size_t i = 0; i < n; i++)
		find_direction(uu[i], uv[i], vv[i], &gu[i], &gv[i]);
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
		mark_inside(out, (int)base, im->w, im->h, k);
		for (size_t i = 0; (im->mask || gain->v) && i < base; i++) {
			if (out[i] == 0)
				continue;
			const size_t x = pixel_at(k.x + (double)i * k.dx, im->w),
				     y = pixel_at(k.y + (double)i * k.dy, im->h);
			if (im->mask && !im->mask[y * im->w + x])
				out[i] = 0;
			else
				out[i] *= gain_at(gain, x, y);
		}
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
