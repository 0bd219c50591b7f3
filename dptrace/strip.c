#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/simd.h"
#include "dptrace/strip.h"

/* A register of the widest kind; the compiler splits it where there is none. Any address, any type behind it. */
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

struct grid
strip_grid(double length, int gaps, int rows, double dv, double sigma)
{
	struct grid g = {.rows = rows, .t = 1};
	const int half = (rows - 1) / 2;

	g.per_gap = (int)ceil(length / gaps);
	g.ncol = g.per_gap * gaps;
	g.hu = length / g.ncol;
	if (dv <= .3) {
		while (dv * g.t <= .5)
			g.t *= 2;
		g.q = 1;
		g.P = dv * g.t;
		g.half = (half + g.t - 1) / g.t;
	} else {
		g.m = (int)ceil(dv);
		g.P = dv / g.m;
		while (g.P / g.t > .3)
			g.t *= 2;
		g.q = g.m * g.t;
		g.half = half * g.m;
	}
	g.base = 2 * g.half + 1;
	g.ru = (int)ceil(3 * sigma / g.hu);
	g.rv = (int)ceil(3 * sigma / g.P);
	return g;
}

/* Base rows with their skirts; raw rows with the reach of the derivatives too. */
static size_t
base_rows(const struct grid *g)
{
	return lanes_up((g->base + 2 * SKIRT + 2 * GROUP - 1) / (2 * GROUP) * (2 * GROUP));
}

static size_t
raw_rows(const struct grid *g)
{
	return base_rows(g) + lanes_up(2 * g->rv);
}

void
strip_take(struct strip *s, struct arena *a, const struct grid *g)
{
	size_t lane = lanes_up(g->rows) + 2 * PAD, n = (size_t)g->ncol * (size_t)g->q * lane;

	for (int i = 0; i < 3; i++)
		s->f[i] = arena_take(a, n, sizeof *s->f[i]);
	s->offset =
	    arena_take(a, (2 * (size_t)g->rows - 1) * (size_t)g->per_gap, sizeof *s->offset);
}

void
bench_take(struct bench *b, struct arena *a, const struct grid *g)
{
	size_t wide = (size_t)(g->ncol + 2 * g->ru), base = base_rows(g);

	b->raw = arena_take(a, wide * raw_rows(g), sizeof *b->raw);
	for (int i = 0; i < 3; i++) {
		b->across[i] = arena_take(a, wide * base, sizeof *b->across[i]);
		b->base[i] = arena_take(a, (size_t)g->ncol * base, sizeof *b->base[i]);
	}
	b->size = arena_take(a, (size_t)g->ncol * base, sizeof *b->size);
	b->inside = arena_take(a, (size_t)g->ncol * base, sizeof *b->inside);
}

/* --- sampling --------------------------------------------------------------------------------------------------- */

/* A walk over the picture: sample i lies at (x + i dx, y + i dy). */
struct walk {
	double x, y, dx, dy;
};

/* Bilinear samples less ref; outside the picture those of its border, so that the border itself is no edge. */
WEIR_CLONES static void
sample_column(float *restrict out, int n, const float *restrict p, size_t w, size_t h,
	      struct walk k, float ref)
{
	const double xmax = (double)(w - 1), ymax = (double)(h - 1);
	const int right = w > 1, wi = (int)w, x1 = (int)w - 2, y1 = (int)h - 2;
	const ptrdiff_t down = h > 1 ? wi : 0;

	for (int i = 0; i < n; i++) {
		double x = k.x + i * k.dx, y = k.y + i * k.dy;
		x = x < 0 ? 0 : x > xmax ? xmax : x;
		y = y < 0 ? 0 : y > ymax ? ymax : y;
		int xi = (int)x, yi = (int)y;
		xi = xi > x1 ? (x1 < 0 ? 0 : x1) : xi;
		yi = yi > y1 ? (y1 < 0 ? 0 : y1) : yi;
		float a = (float)(x - xi), b = (float)(y - yi);
		const float *at = p + (ptrdiff_t)yi * wi + xi;
		float top = at[0] + a * (at[right] - at[0]);
		float low = at[down] + a * (at[down + right] - at[down]);
		out[i] = (top + b * (low - top)) - ref;
	}
}

/* 1 inside the picture, 0 outside. */
WEIR_CLONES static void
inside_column(float *restrict out, int n, size_t w, size_t h, struct walk k)
{
	const double xmax = (double)w - .5, ymax = (double)h - .5;

	for (int i = 0; i < n; i++) {
		double x = k.x + i * k.dx, y = k.y + i * k.dy;
		out[i] = (float)((x >= -.5) & (x <= xmax) & (y >= -.5) & (y <= ymax));
	}
}

/* The walk along a column, from base row r on (half: on ab). */
static struct walk
walk_from(const struct grid *g, const struct course *c, double ax, double ay, int col, int r)
{
	double u = (col + .5) * g->hu, v = (r - g->half) * g->P;

	return (struct walk){ax + u * c->ex - v * c->ey, ay + u * c->ey + v * c->ex, -g->P * c->ey,
			     g->P * c->ex};
}

static float
value_at(const float *p, size_t w, size_t h, double x, double y)
{
	float out;

	sample_column(&out, 1, p, w, h, (struct walk){x, y, 0, 0}, 0);
	return out;
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* Half a kernel, taps 0..r; the other half mirrored, or mirrored and negated when odd. */
struct kernel {
	int r;
	bool odd;
	float w[MAXTAPS];
};

/* The Gaussian (order 0) of that scale or its derivative, exact for polynomials of degree <= 2, per unit of 1/per. */
static void
make_kernel(struct kernel *k, int order, double sigma, int r, double per)
{
	double w[MAXTAPS], sum = 0, second = 0, norm = 0;

	for (int i = 0; i <= r; i++) {
		w[i] = exp(-i * i / (2 * sigma * sigma));
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

/* out[i] = sum_t w[t] (in[i + t step] +- in[i - t step]); mirrored input gives mirrored output, bit for bit. */
WEIR_CLONES static void
convolve(float *restrict out, const float *restrict in, size_t n, ptrdiff_t step,
	 const struct kernel *k)
{
	const float sign = k->odd ? -1 : 1;

	for (size_t i = 0; i < n; i += 2 * GROUP) {
		lanes a = k->w[0] * *(const lanes *)(in + i),
		      b = k->w[0] * *(const lanes *)(in + i + GROUP);
		for (int t = 1; t <= k->r; t++) {
			const float *up = in + i + t * step, *down = in + i - t * step;
			a += k->w[t] * (*(const lanes *)up + sign * *(const lanes *)down);
			b += k->w[t] *
			     (*(const lanes *)(up + GROUP) + sign * *(const lanes *)(down + GROUP));
		}
		*(lanes *)(out + i) = a;
		*(lanes *)(out + i + GROUP) = b;
	}
}

/* Derivatives of all orders u + v == order at the base rows: base[i] is of order i across (v), order - i along (u). */
static void
differentiate(const struct strip *s, const struct bench *b, int order)
{
	const struct grid *g = &s->g;
	const size_t base = base_rows(g), raw = raw_rows(g);

	for (int i = 0; i <= order; i++) {
		struct kernel v, u;
		make_kernel(&v, i, s->o->sigma / g->P, g->rv, 1 / pow(g->P, i));
		make_kernel(&u, order - i, s->o->sigma / g->hu, g->ru, 1 / pow(g->hu, order - i));
		for (int c = 0; c < g->ncol + 2 * g->ru; c++)
			convolve(b->across[i] + (size_t)c * base, b->raw + (size_t)c * raw + g->rv,
				 base, 1, &v);
		for (int c = 0; c < g->ncol; c++)
			convolve(b->base[i] + (size_t)c * base,
				 b->across[i] + (size_t)(c + g->ru) * base, base, (ptrdiff_t)base,
				 &u);
	}
}

/* The strip's samples of one plane, with the reach of the derivatives around them. */
static void
sample_strip(const struct strip *s, const struct bench *b, const struct course *c, double ax,
	     double ay, const struct dptrace_image *im, const float *plane)
{
	const struct grid *g = &s->g;
	const struct walk mid = walk_from(g, c, ax, ay, g->ncol / 2, g->half);
	const float ref = value_at(plane, im->w, im->h, mid.x, mid.y);

	for (int col = 0; col < g->ncol + 2 * g->ru; col++)
		sample_column(b->raw + (size_t)col * raw_rows(g), (int)raw_rows(g), plane, im->w,
			      im->h, walk_from(g, c, ax, ay, col - g->ru, -SKIRT - g->rv), ref);
}

/* --- evidence --------------------------------------------------------------------------------------------------- */

WEIR_CLONES static void
gradient_size(float *restrict size, const float *restrict gu, const float *restrict gv, size_t n)
{
	for (size_t i = 0; i < n; i++)
		size[i] = __builtin_sqrtf(gu[i] * gu[i] + gv[i] * gv[i]);
}

/* The larger of the absolute eigenvalues. */
WEIR_CLONES static void
hessian_size(float *restrict size, const float *restrict uu, const float *restrict uv,
	     const float *restrict vv, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float mean = .5f * (uu[i] + vv[i]), half = .5f * (uu[i] - vv[i]);
		size[i] = __builtin_fabsf(mean) + __builtin_sqrtf(half * half + uv[i] * uv[i]);
	}
}

WEIR_CLONES static void
add_tensor(float *restrict uu, float *restrict uv, float *restrict vv, const float *restrict gu,
	   const float *restrict gv, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uu[i] += gu[i] * gu[i];
		uv[i] += gu[i] * gv[i];
		vv[i] += gv[i] * gv[i];
	}
}

/* Di Zenzo: the direction in which colours change fastest, as long as the change is large. */
WEIR_CLONES static void
main_direction(float *restrict gu, float *restrict gv, const float *restrict uu,
	       const float *restrict uv, const float *restrict vv, size_t n)
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

/* The gradient of all planes together. The sums lie where order 1 leaves room: base[2], size and across[2]. */
static void
colour_gradient(const struct strip *s, const struct bench *b, const struct course *c, double ax,
		double ay, const struct dptrace_image *im)
{
	const size_t n = (size_t)s->g.ncol * base_rows(&s->g);
	float *uu = b->base[2], *uv = b->size, *vv = b->across[2];

	memset(uu, 0, n * sizeof *uu);
	memset(uv, 0, n * sizeof *uv);
	memset(vv, 0, n * sizeof *vv);
	for (size_t i = 0; i < im->c; i++) {
		sample_strip(s, b, c, ax, ay, im, im->v + i * im->w * im->h);
		differentiate(s, b, 1);
		add_tensor(uu, uv, vv, b->base[0], b->base[1], n);
	}
	main_direction(b->base[0], b->base[1], uu, uv, vv, n);
}

/* The first k bits below the top `skip` of a float that is not negative: these order them. */
static unsigned
bits_of(float x, int skip, int k)
{
	uint32_t u;

	memcpy(&u, &x, sizeof u);
	return u << skip >> (32 - k);
}

/*
 * The median of the sizes inside the picture and the strip, of every fourth column: by two rounds of counting the
 * leading bits, to 1 part in 30000. *top: the largest. 0 when there are none.
 */
static float
median_size(const struct grid *g, const struct bench *b, float *top)
{
	enum { BITS = 12, BINS = 1 << BITS };
	const size_t base = base_rows(g);
	uint32_t count[BINS], bits = 0;
	size_t n = 0, before = 0;
	float median;

	*top = 0;
	for (int round = 0; round < 2; round++) {
		memset(count, 0, sizeof count);
		for (int c = 0; c < g->ncol; c += 4)
			for (size_t i = (size_t)c * base + SKIRT;
			     i < (size_t)c * base + SKIRT + (size_t)g->base; i++) {
				if (b->inside[i] == 0 ||
				    (round && bits_of(b->size[i], 0, BITS) != bits))
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
	bits <<= 32 - 2 * BITS;
	memcpy(&median, &bits, sizeof median);
	return n ? median : 0;
}

/* g0: that many medians, but not so few that a clear line in a quiet picture is cut off flat. */
static float
soft_size(double soft, float median, float top)
{
	float g0 = (float)soft * median, least = top / 16;

	return g0 > least ? g0 : least;
}

/* fields *= sign * inside / (size + g0); where all of that is 0 there is no evidence. */
WEIR_CLONES static void
normalise(float *restrict f, const float *restrict size, const float *restrict inside, float sign,
	  float g0, float one, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float d = one * size[i] + g0;
		f[i] = d > 0 ? f[i] * (sign * inside[i] / d) : 0;
	}
}

/* --- phases ----------------------------------------------------------------------------------------------------- */

/* out[i ostep] between base rows i istep and the next, by a cubic (Catmull-Rom) with those weights. */
WEIR_CLONES static void
interpolate(float *restrict out, int ostep, const float *restrict b, int istep, int n,
	    const float w[4])
{
	if (ostep == 1 && istep == 1)
		for (int i = 0; i < n; i++)
			out[i] =
			    (w[0] * b[i - 1] + w[3] * b[i + 2]) + (w[1] * b[i] + w[2] * b[i + 1]);
	else
		for (int i = 0; i < n; i++, b += istep, out += ostep)
			*out = (w[0] * b[-1] + w[3] * b[2]) + (w[1] * b[0] + w[2] * b[1]);
}

static void
cubic_weights(double x, float w[4])
{
	w[0] = (float)(-.5 * x * (1 - x) * (1 - x));
	w[1] = (float)(1 + x * x * (1.5 * x - 2.5));
	w[2] = (float)(x * (.5 + x * (2 - 1.5 * x)));
	w[3] = (float)(-.5 * x * x * (1 - x));
}

/* Field i, base rows to the phases of its rows. */
static void
make_phases(const struct strip *s, const struct bench *b, int i)
{
	const struct grid *g = &s->g;
	const int first = g->m ? 0 : g->half * g->t - (g->rows - 1) / 2; /* fine step of row 0 */

	for (int p = 0; p < (g->m ? g->q : g->t); p++) {
		float w[4];
		int row =
		    g->m ? 0 : (p - first % g->t + g->t) % g->t; /* the first row in this phase */
		int base = (g->m ? p : first + row) / g->t, step = g->m ? 1 : g->t;

		cubic_weights((double)(p % g->t) / g->t, w);
		for (int c = 0; c < g->ncol; c++) {
			const float *in = b->base[i] + (size_t)c * base_rows(g) + SKIRT + base;
			float *out = s->f[i] +
				     ((size_t)c * (size_t)g->q + (size_t)(g->m ? p : 0)) * s->lane +
				     PAD + row;
			interpolate(out, step, in, g->m ? g->m : 1,
				    (g->rows - row + step - 1) / step, w);
		}
	}
}

/* offset[t][c]: from row r of the first column of a gap to where the link that climbs t rows from r lies in column c. */
static void
make_offsets(struct strip *s)
{
	const struct grid *g = &s->g;
	int *o = s->offset;

	for (int t = 1 - g->rows; t < g->rows; t++)
		for (int c = 0; c < g->per_gap; c++) {
			long long num = (long long)abs(t) * g->q * (2 * c + 1),
				  den = 2 * g->per_gap;
			int fine = (int)((2 * num + den) /
					 (2 * den)); /* nearest; halves away from 0, for mirrors */
			fine = t < 0 ? -fine : fine;
			int row = fine >= 0 ? fine / g->q : -((g->q - 1 - fine) / g->q);
			*o++ = (int)(((size_t)c * (size_t)g->q + (size_t)(fine - row * g->q)) *
				     s->lane) +
			       row;
		}
}

void
strip_fill(struct strip *s, struct bench *b, const struct course *c, double ax, double ay,
	   const struct dptrace_image *image, const float *gray)
{
	const struct dptrace_options *o = s->o;
	const int fields = o->score == DPTRACE_RIDGE ? 3 : 2;
	const size_t base = base_rows(&s->g), n = (size_t)s->g.ncol * base;
	float top, median, one = o->score == DPTRACE_SIN || o->soft > 0;

	s->lane = lanes_up(s->g.rows) + 2 * PAD;
	if (o->score == DPTRACE_EDGE && image->c > 1 && !o->polarity) {
		colour_gradient(s, b, c, ax, ay, image);
	} else {
		sample_strip(s, b, c, ax, ay, image, gray);
		differentiate(s, b, fields - 1);
	}
	for (int col = 0; col < s->g.ncol; col++)
		inside_column(b->inside + (size_t)col * base, (int)base, image->w, image->h,
			      walk_from(&s->g, c, ax, ay, col, -SKIRT));
	if (fields == 3)
		hessian_size(b->size, b->base[0], b->base[1], b->base[2], n);
	else
		gradient_size(b->size, b->base[0], b->base[1], n);
	median = median_size(&s->g, b, &top);
	s->blank = top == 0;
	s->g0 = o->score == DPTRACE_SIN ? 0 : one > 0 ? soft_size(o->soft, median, top) : 1;
	for (int i = 0; i < fields; i++) {
		normalise(b->base[i], b->size, b->inside, fields == 3 && o->polarity >= 0 ? -1 : 1,
			  s->g0, one, n);
		make_phases(s, b, i);
	}
	make_offsets(s);
}
