/* From the picture to evidence at the base rows: samples, derivatives in the strip, sizes, a soft division. */
#include <stdint.h>
#include <string.h>

#include "common/simd.h"
#include "dptrace/strip.h"

/* A register of the widest kind; the compiler splits it where there is none. Any address, any type behind it. */
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

/* What base_fill() is called with. */
struct job {
	struct base *out;
	const struct bench *scratch;
	const struct grid *g;
	const struct origin *at;
	const struct dptrace_image *image;
	const struct dptrace_options *o;
};

/* Raw rows: the reach of the derivatives too. */
static size_t
raw_rows(const struct grid *g)
{
	return base_rows(g) + lanes_up(2 * g->rv);
}

void
base_take(struct base *b, struct arena *a, const struct grid *g)
{
	for (int i = 0; i < 3; i++)
		b->f[i] = arena_take(a, (size_t)g->ncol * base_rows(g), sizeof *b->f[i]);
}

void
bench_take(struct bench *b, struct arena *a, const struct grid *g)
{
	size_t wide = (size_t)(g->ncol + 2 * g->ru), base = base_rows(g);

	b->raw = arena_take(a, wide * raw_rows(g), sizeof *b->raw);
	for (int i = 0; i < 3; i++)
		b->across[i] = arena_take(a, wide * base, sizeof *b->across[i]);
	b->size = arena_take(a, (size_t)g->ncol * base, sizeof *b->size);
	b->inside = arena_take(a, (size_t)g->ncol * base, sizeof *b->inside);
}

/* --- sampling --------------------------------------------------------------------------------------------------- */

/* A walk over the picture: sample i lies at (x + i dx, y + i dy). */
struct walk {
	double x, y, dx, dy;
};

/* Bilinear samples less ref. All of the walk lies between the centres of the outermost pixels. */
WEIR_CLONES static void
sample_within(float *restrict out, int n, const float *restrict p, int w, struct walk k, float ref)
{
	for (int i = 0; i < n; i++) {
		const double x = k.x + i * k.dx, y = k.y + i * k.dy;
		const int xi = (int)x, yi = (int)y;
		const float a = (float)(x - xi), b = (float)(y - yi);
		const float *at = p + ((ptrdiff_t)yi * w + xi);
		const float top = at[0] + a * (at[1] - at[0]),
			    low = at[w] + a * (at[w + 1] - at[w]);
		out[i] = (top + b * (low - top)) - ref;
	}
}

/* The same anywhere: outside the picture those of its border, so that the border itself is no edge. */
static void
sample_clamped(float *out, int n, const float *p, size_t w, size_t h, struct walk k, float ref)
{
	const double xmax = (double)(w - 1), ymax = (double)(h - 1);
	const size_t right = w > 1, down = h > 1 ? w : 0;

	for (int i = 0; i < n; i++) {
		double x = k.x + i * k.dx, y = k.y + i * k.dy;
		x = x < 0 ? 0 : x > xmax ? xmax : x;
		y = y < 0 ? 0 : y > ymax ? ymax : y;
		const size_t xi = (size_t)x - (x == xmax && w > 1),
			     yi = (size_t)y - (y == ymax && h > 1);
		const float a = (float)(x - (double)xi), b = (float)(y - (double)yi);
		const float *at = p + yi * w + xi;
		const float top = at[0] + a * (at[right] - at[0]);
		const float low = at[down] + a * (at[down + right] - at[down]);
		out[i] = (top + b * (low - top)) - ref;
	}
}

static void
sample_column(float *out, int n, const float *p, size_t w, size_t h, struct walk k, float ref)
{
	const double xmax = (double)w - 1.001, ymax = (double)h - 1.001;
	const double x = k.x + (n - 1) * k.dx, y = k.y + (n - 1) * k.dy;

	if (k.x >= 0 && k.y >= 0 && x >= 0 && y >= 0 && k.x < xmax && k.y < ymax && x < xmax &&
	    y < ymax)
		sample_within(out, n, p, (int)w, k, ref);
	else
		sample_clamped(out, n, p, w, h, k, ref);
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
walk_from(const struct grid *g, const struct origin *at, int col, int r)
{
	double u = (col + .5) * g->hu, v = (r - g->half) * g->P;

	return (struct walk){at->x + u * at->ex - v * at->ey, at->y + u * at->ey + v * at->ex,
			     -g->P * at->ey, g->P * at->ex};
}

static float
value_at(const float *p, size_t w, size_t h, double x, double y)
{
	float out;

	sample_column(&out, 1, p, w, h, (struct walk){x, y, 0, 0}, 0);
	return out;
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

void
strip_kernel(struct kernel *k, int order, double sigma, int r, double per)
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
differentiate(const struct job *j, int order)
{
	const struct grid *g = j->g;
	const struct bench *b = j->scratch;
	const size_t base = base_rows(g), raw = raw_rows(g);

	for (int i = 0; i <= order; i++) {
		struct kernel v, u;
		strip_kernel(&v, i, j->o->sigma / g->P, g->rv, 1 / pow(g->P, i));
		strip_kernel(&u, order - i, j->o->sigma / g->hu, g->ru, 1 / pow(g->hu, order - i));
		for (int c = 0; c < g->ncol + 2 * g->ru; c++)
			convolve(b->across[i] + (size_t)c * base, b->raw + (size_t)c * raw + g->rv,
				 base, 1, &v);
		for (int c = 0; c < g->ncol; c++)
			convolve(j->out->f[i] + (size_t)c * base,
				 b->across[i] + (size_t)(c + g->ru) * base, base, (ptrdiff_t)base,
				 &u);
	}
}

/* The strip's samples of one plane, with the reach of the derivatives around them. */
static void
sample_strip(const struct job *j, const float *plane)
{
	const struct grid *g = j->g;
	const struct dptrace_image *im = j->image;
	const struct walk mid = walk_from(g, j->at, g->ncol / 2, g->half);
	const float ref = value_at(plane, im->w, im->h, mid.x, mid.y);

	for (int col = 0; col < g->ncol + 2 * g->ru; col++)
		sample_column(j->scratch->raw + (size_t)col * raw_rows(g), (int)raw_rows(g), plane,
			      im->w, im->h, walk_from(g, j->at, col - g->ru, -SKIRT - g->rv), ref);
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

/* The gradient of all planes together. The sums lie where order 1 leaves room: f[2], size and across[2]. */
static void
colour_gradient(const struct job *j)
{
	const struct dptrace_image *im = j->image;
	const size_t n = (size_t)j->g->ncol * base_rows(j->g);
	float *uu = j->out->f[2], *uv = j->scratch->size, *vv = j->scratch->across[2];

	memset(uu, 0, n * sizeof *uu);
	memset(uv, 0, n * sizeof *uv);
	memset(vv, 0, n * sizeof *vv);
	for (size_t i = 0; i < im->c; i++) {
		sample_strip(j, im->v + i * im->w * im->h);
		differentiate(j, 1);
		add_tensor(uu, uv, vv, j->out->f[0], j->out->f[1], n);
	}
	main_direction(j->out->f[0], j->out->f[1], uu, uv, vv, n);
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
	float g0 = (float)soft * median, least = top / 4;

	return g0 > least ? g0 : least;
}

/* fields *= sign * inside / (size + g0); where all of that is 0 there is no evidence. */
WEIR_CLONES static void
soft_normalise(float *restrict f, const float *restrict size, const float *restrict inside,
	       float sign, float g0, float one, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float d = one * size[i] + g0;
		f[i] = d > 0 ? f[i] * (sign * inside[i] / d) : 0;
	}
}

void
base_fill(struct base *b, const struct bench *scratch, const struct grid *g,
	  const struct origin *at, const struct dptrace_image *image, const float *gray,
	  const struct dptrace_options *o)
{
	const struct job job = {b, scratch, g, at, image, o};
	const int fields = o->score == DPTRACE_RIDGE ? 3 : 2;
	const size_t base = base_rows(g), n = (size_t)g->ncol * base;
	float top, median, one = o->score == DPTRACE_SIN || o->soft > 0;

	if (o->score == DPTRACE_EDGE && image->c > 1 && !o->polarity) {
		colour_gradient(&job);
	} else {
		sample_strip(&job, gray);
		differentiate(&job, fields - 1);
	}
	for (int col = 0; col < g->ncol; col++)
		inside_column(scratch->inside + (size_t)col * base, (int)base, image->w, image->h,
			      walk_from(g, at, col, -SKIRT));
	if (fields == 3)
		hessian_size(scratch->size, b->f[0], b->f[1], b->f[2], n);
	else
		gradient_size(scratch->size, b->f[0], b->f[1], n);
	median = median_size(g, scratch, &top);
	b->blank = top == 0;
	b->g0 = o->score == DPTRACE_SIN ? 0 : one > 0 ? soft_size(o->soft, median, top) : 1;
	for (int i = 0; i < fields; i++)
		soft_normalise(b->f[i], scratch->size, scratch->inside,
			       fields == 3 && o->polarity >= 0 ? -1 : 1, b->g0, one, n);
}
