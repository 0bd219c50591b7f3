/* rawpalette: its engines and dithering against their definitions, and what a palette keeps. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/rawpalette/palette.h"
#include "t/check.h"

#define DIMS 3
#include "emst/rawpalette/cells_body.h"
#include "emst/rawpalette/lloyd_body.h"

/* --- three dimensions ------------------------------------------------------------------------------------------------- */

enum { PIXELS = 3000 };

static int
ascending(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Distinct colours of a few clouds, ascending, with weights. */
static size_t
random_histogram(struct check_rng *r, uint32_t *code, uint64_t *weight)
{
	size_t n = 0;

	for (size_t i = 0; i < PIXELS; i++) {
		const double cloud = 40 * (double)rng_below(r, 6);
		code[i] = 0;
		for (int a = 0; a < 3; a++)
			code[i] = code[i] << 8 |
				  (uint32_t)fmin(fmax(20 + cloud + 9 * rng_normal(r), 0), 255);
		weight[i] = 1 + (uint64_t)rng_below(r, 50) * rng_below(r, 50);
	}
	weight[0] = 1u << 30; /* a sky of one colour */
	qsort(code, PIXELS, sizeof *code, ascending);
	for (size_t i = 0; i < PIXELS; i++)
		if (!n || code[i] != code[n - 1])
			code[n++] = code[i];
	return n;
}

static double
distance2(const struct centre *c, uint32_t code)
{
	double d2 = 0;

	for (int a = 0; a < 3; a++) {
		const double d = (double)c->x[a] - (code >> 8 * (2 - a) & 255);
		d2 += d * d;
	}
	return d2;
}

/* Every colour against every centre. */
static bool
all_nearest(const struct lloyd *l, const struct cells *cells, const uint32_t *code,
	    const uint64_t *weight, double sse)
{
	double sum = 0;

	for (size_t p = 0; p < cells->n; p++) {
		const uint32_t i = cells->from[p];
		double least = INFINITY;
		const double got = distance2(&l->c.at[l->label[p]], code[i]);
		for (size_t j = 0; j < l->k; j++)
			least = fmin(least, distance2(&l->c.at[j], code[i]));
		if (got > least + .1)
			return false;
		sum += (double)weight[i] * got;
	}
	return fabs(sum - sse) <= 1e-9 * cells->squares;
}

static void
check_rounds(void)
{
	static uint64_t weight[PIXELS];
	static uint32_t code[PIXELS];
	struct check_many m = {0};
	struct check_rng r = {8};

	for (size_t set = 0; set < 40; set++) {
		struct cells cells;
		struct lloyd l;
		const size_t n = random_histogram(&r, code, weight);
		int err = cells_make(&cells, &(struct palette_colours){n, weight, code});
		if (!err)
			err = lloyd_init(&l, &cells, 1 + (int)(set % 3));
		l.k = 1 + rng_below(&r, set % 2 ? 20 : PALETTE_MOST);
		for (size_t j = 0; j < l.k; j++)
			for (int a = 0; a < 3; a++)
				l.c.at[j].x[a] = (float)(255 * rng_unit(&r));
		const double sse = lloyd_assign(&l);
		check_case(&m, !err && all_nearest(&l, &cells, code, weight, sse),
			   "set %zu, %zu centres", set, l.k);
		const double less = lloyd_run(&l, 30, 0);
		check_case(&m, less <= sse, "set %zu: %g grows to %g", set, sse, less);
		lloyd_free(&l);
		cells_free(&cells);
	}
	check_end(
	    &m, "rawpalette: every colour goes to its nearest centre, whatever the boxes drop, and "
		"rounds lose nothing");
}

/* The pixels of the colours that are in the node of side 2^s of a colour. */
static uint64_t
node_pixels(const uint32_t *code, const uint64_t *weight, size_t n, uint32_t of, int s)
{
	const uint32_t same = (0xffu << s & 0xff) * 0x010101;
	uint64_t pixels = 0;

	for (size_t i = 0; i < n; i++)
		pixels += (code[i] & same) == (of & same) ? weight[i] : 0;
	return pixels;
}

/* Whether two colours stay in one node: some node that holds both has too few pixels to be split. */
static bool
stay_together(const uint32_t *code, const uint64_t *weight, size_t n, const double *most,
	      uint32_t a, uint32_t b)
{
	for (int s = TOP; s >= 0; s--) {
		if (((a ^ b) & (0xffu << s & 0xff) * 0x010101) != 0)
			return false;
		if ((double)node_pixels(code, weight, n, a, s) < most[s])
			return true;
	}
	return a == b;
}

/* Whether colour p of the thin ones has the sums of the places from..to-1. */
static bool
sums_equal(const struct cells *thin, size_t p, const struct cells *c, const uint32_t *code,
	   const uint64_t *weight, uint32_t from, uint32_t to)
{
	int64_t sum[4] = {0};
	double square[6] = {0};

	for (uint32_t i = from; i < to; i++) {
		const int64_t w = (int64_t)weight[c->from[i]];
		const uint32_t x = code[c->from[i]];
		const int64_t v[3] = {x >> 16, x >> 8 & 255, x & 255};
		for (int a = 0, ab = 0; a < 3; a++) {
			sum[a] += w * v[a];
			for (int b = a; b < 3; b++)
				square[ab++] += (double)(w * v[a] * v[b]);
		}
		sum[3] += w;
	}
	return !memcmp(sum, thin->sum[p].v, sizeof sum) &&
	       !memcmp(square, thin->square[p].v, sizeof square);
}

static void
check_thin(void)
{
	static uint64_t weight[PIXELS];
	static uint32_t code[PIXELS], start[PIXELS + 1];
	struct check_many m = {0};
	struct check_rng r = {11};

	for (size_t set = 0; set < 20; set++) {
		double most[TOP + 1];
		struct cells cells, thin = {0};
		const size_t n = random_histogram(&r, code, weight) % 400 + 1;
		int err = cells_make(&cells, &(struct palette_colours){n, weight, code});
		for (int s = 0; s <= TOP; s++)
			most[s] = set % 4 ? 1e5 * rng_unit(&r) * rng_unit(&r) : (double)(set % 8);
		const size_t left = err ? 0 : cells_cut(&cells, most, start);
		if (!err)
			err = cells_thin(&thin, &cells, start, left);
		bool good = !err && start[0] == 0 && start[left] == n && thin.n == left;
		for (size_t p = 0; good && p < left; p++)
			good = start[p] < start[p + 1] &&
			       sums_equal(&thin, p, &cells, code, weight, start[p], start[p + 1]);
		for (size_t p = 0, run = 0; good && p + 1 < n; p++) {
			run += p == start[run + 1];
			const uint32_t a = code[cells.from[p]], b = code[cells.from[p + 1]];
			good =
			    stay_together(code, weight, n, most, a, b) == (p + 1 < start[run + 1]);
		}
		check_case(&m, good, "set %zu, %zu colours, %zu left: error %d", set, n, left, err);
		cells_free(&thin);
		cells_free(&cells);
	}
	check_end(&m,
		  "rawpalette: light nodes of the octree become one colour, which keeps all sums");
}

static void
check_palette(void)
{
	static uint64_t weight[PIXELS];
	static uint32_t code[PIXELS], label[PIXELS], again[PIXELS];
	struct check_many m = {0};
	struct check_rng r = {9};

	for (size_t set = 0; set < 24; set++) {
		const size_t n = random_histogram(&r, code, weight), k = 1 + rng_below(&r, 256);
		uint32_t most = 0;
		check_poison(label, sizeof label);
		int err = palette_rgb(&(struct palette_colours){n, weight, code}, k, 1, label);
		if (!err)
			err = palette_rgb(&(struct palette_colours){n, weight, code}, k,
					  2 + (int)(set % 3), again);
		for (size_t i = 0; i < n; i++)
			most = label[i] > most ? label[i] : most;
		check_case(&m, !err && most < k && !memcmp(label, again, n * sizeof *label),
			   "set %zu, %zu colours in %zu: error %d, label %u", set, n, k, err, most);
	}
	check_end(
	    &m, "rawpalette: a palette is the same for any threads, and no larger than was asked");
	const uint32_t few[] = {7, 65536, 0xffffff};
	const uint64_t one[] = {3, 1, 2};
	check(!palette_rgb(&(struct palette_colours){3, one, few}, 8, 2, label) &&
		  label[0] != label[1] && label[1] != label[2] && label[0] != label[2],
	      "rawpalette: a picture of few colours keeps them all", "%u %u %u", label[0], label[1],
	      label[2]);
}

/* Returns the SSE of two classes of n colours; bit i of `second` tells the class of colour i. */
static double
sse_of_two(const uint32_t *code, const uint64_t *weight, size_t n, uint64_t second)
{
	double sum[2][4] = {{0}}, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double *s = sum[second >> i & 1];
		s[3] += (double)weight[i];
		for (int a = 0; a < 3; a++) {
			const double x = code[i] >> 8 * a & 255;
			s[a] += (double)weight[i] * x;
			squares += (double)weight[i] * x * x;
		}
	}
	for (int j = 0; j < 2; j++)
		for (int a = 0; a < 3 && sum[j][3] > 0; a++)
			squares -= sum[j][a] * sum[j][a] / sum[j][3];
	return squares;
}

static void
check_exchange(void)
{
	enum { MOST = 10 };
	struct check_many m = {0};
	struct check_rng r = {12};

	for (size_t set = 0; set < 300; set++) {
		const size_t n = 3 + rng_below(&r, MOST - 2);
		uint32_t code[MOST], label[MOST] = {0};
		uint64_t weight[MOST], got = 0;
		for (size_t i = 0; i < n; i++) {
			code[i] = (uint32_t)(i * 0x190000 + rng_below(&r, 0x190000));
			weight[i] = 1 + rng_below(&r, set % 2 ? 1 : 9);
		}
		bool good = !palette_rgb(&(struct palette_colours){n, weight, code}, 2, 1, label);
		for (size_t i = 0; i < n; i++)
			got |= (uint64_t)(label[i] & 1) << i;
		const double sse = sse_of_two(code, weight, n, got);
		for (size_t i = 0; i < n; i++)
			good &= sse <= 1.01 * sse_of_two(code, weight, n, got ^ (uint64_t)1 << i);
		check_case(&m, good, "set %zu, %zu colours: SSE %g", set, n, sse);
	}
	check_end(&m,
		  "rawpalette: moving one of few colours to another class lowers no error by 1 %%");
}

/* --- any number of planes ----------------------------------------------------------------------------------------------- */

enum { WIDE = 2000 };

/* Returns the squared distance of pixel i from the mean of the class. */
static double
from_mean(const float *x, const double *sum, size_t d, size_t i)
{
	double far = 0;

	for (size_t a = 0; a < d; a++) {
		const double t = (double)x[i * d + a] - sum[a] / sum[d];
		far += t * t;
	}
	return far;
}

/* Whether no pixel is nearer, by more than a thousandth, to the mean of a class that is not its own. */
static bool
is_settled(const float *x, const uint32_t *of, const uint32_t *label, size_t d, size_t k)
{
	double *sum = weir_calloc(k, (d + 1) * sizeof *sum);
	bool good = true;

	for (size_t i = 0; i < WIDE; i++) {
		double *s = sum + label[of[i]] * (d + 1);
		for (size_t a = 0; a < d; a++)
			s[a] += (double)x[i * d + a];
		s[d]++;
	}
	for (size_t i = 0; i < WIDE; i++) {
		const double own = from_mean(x, sum + label[of[i]] * (d + 1), d, i);
		for (size_t j = 0; j < k; j++)
			good &= sum[j * (d + 1) + d] == 0 ||
				own <= 1.001 * from_mean(x, sum + j * (d + 1), d, i) + 1;
	}
	weir_free(sum);
	return good;
}

static void
check_wide(void)
{
	static float x[WIDE * 9];
	static uint32_t label[WIDE], again[WIDE];
	struct check_many m = {0};
	struct check_rng r = {15};

	for (size_t set = 0; set < 24; set++) {
		const size_t d = 1 + set % 9, k = 2 + rng_below(&r, 60);
		struct vertices v;
		size_t at;
		for (size_t i = 0; i < WIDE; i++) {
			const double cloud = (double)(rng_below(&r, 7) * rng_below(&r, 50));
			for (size_t a = 0; a < d; a++)
				x[i * d + a] = (float)(cloud * (double)(a % 3) +
						       (double)rng_below(&r, 40) - 300);
		}
		check_poison(label, sizeof label);
		int err = vertices_make(&v, x, IMG_F32, WIDE, d, VERTICES_COLOURS, 1, &at);
		err = err ? err : vertices_weigh(&v, 1);
		err = err ? err : palette_wide(&v, k, 1, label);
		err = err ? err : palette_wide(&v, k, 2 + (int)(set % 3), again);
		check_case(&m,
			   !err && is_settled(x, v.of, label, d, k) &&
			       !memcmp(label, again, v.set.n * sizeof *label),
			   "set %zu, %zu planes, %zu classes: error %d", set, d, k, err);
		vertices_free(&v);
	}
	check_end(&m, "rawpalette: classes of any planes have the nearest means, for any threads");
}

/* --- gray levels ---------------------------------------------------------------------------------------------------- */

/* Returns the SSE about the rounded mean. w, s and q are the sums of the weights, and of these times x and x^2. */
static double
rounded_sse(double w, double s, double q)
{
	const double m = floor(s / w + .5);

	return q - 2 * m * s + m * m * w;
}

/* Returns the least SSE of n levels in at most k classes, trying all ways to cut. */
static double
least_sse(const struct sorted *e, const uint64_t *weight, size_t n, size_t k)
{
	double least = INFINITY;

	for (uint32_t cuts = 0; cuts < 1u << (n - 1); cuts++) {
		double sse = 0, w = 0, s = 0, q = 0;
		for (size_t i = 0; i < n; i++) {
			const double x = (double)e[i].key, wi = (double)weight[e[i].a];
			w += wi;
			s += wi * x;
			q += wi * x * x;
			if (i + 1 == n || (cuts >> i & 1)) {
				sse += rounded_sse(w, s, q);
				w = s = q = 0;
			}
		}
		if ((size_t)__builtin_popcount(cuts) < k)
			least = fmin(least, sse);
	}
	return least;
}

static void
check_gray_levels(void)
{
	enum { MOST = 10 };
	struct check_many m = {0};
	struct check_rng r = {23};

	for (size_t set = 0; set < 300; set++) {
		const size_t n = 1 + rng_below(&r, MOST), k = 1 + rng_below(&r, n);
		struct sorted e[MOST];
		uint64_t weight[MOST];
		uint32_t label[MOST];
		double sum[MOST][3] = {{0}}, sse = 0;
		for (size_t i = 0; i < n; i++) {
			const size_t place = (i * 7 + set) % n;
			e[i] = (struct sorted){(i ? e[i - 1].key : 0) + 1 + rng_below(&r, 9),
					       (uint32_t)(n % 7 ? place : i), 0};
			weight[i] = 1 + rng_below(&r, 5);
		}
		const int err = levels_make(e, weight, n, k, label);
		bool good = !err;
		for (size_t i = 0; good && i < n; i++) {
			const double x = (double)e[i].key, w = (double)weight[e[i].a];
			const uint32_t j = label[e[i].a];
			good = j < k;
			for (int a = 0; good && a < 3; a++)
				sum[j][a] += a == 0 ? w : a == 1 ? w * x : w * x * x;
		}
		for (size_t j = 0; good && j < k; j++)
			sse += rounded_sse(sum[j][0], sum[j][1], sum[j][2]);
		check_case(&m, good && sse < least_sse(e, weight, n, k) + 1e-9,
			   "set %zu, %zu levels in %zu: error %d, SSE %g", set, n, k, err, sse);
	}
	check_end(&m, "rawpalette: gray levels are cut where that loses least of all ways");
}

/* Returns the SSE of classes of a picture about their rounded means. */
static double
sse_of_classes(const struct vertices *v, const uint32_t *label)
{
	static double sum[PALETTE_MOST][4][3];
	double sse = 0;

	memset(sum, 0, sizeof sum);
	for (size_t i = 0; i < v->set.n; i++) {
		double x[4];
		vertices_get(v, i, x);
		for (size_t a = 0; a < v->planes; a++) {
			double *s = sum[label[i]][a];
			s[0] += (double)v->weight[i];
			s[1] += (double)v->weight[i] * x[a];
			s[2] += (double)v->weight[i] * x[a] * x[a];
		}
	}
	for (size_t j = 0; j < PALETTE_MOST; j++)
		for (size_t a = 0; a < v->planes && sum[j][a][0] > 0; a++)
			sse += rounded_sse(sum[j][a][0], sum[j][a][1], sum[j][a][2]);
	return sse;
}

static int
reduce(struct vertices *v, const void *px, enum img_type type, size_t n, size_t planes, size_t k,
       uint32_t *label)
{
	size_t at;
	int err = vertices_make(v, px, type, n, planes, VERTICES_COLOURS, 1, &at);

	if (!err)
		err = vertices_weigh(v, 1);
	return err ? err : palette_make(v, k, 1, label);
}

/* Samples that are 59000 more, or 200 times as large, have the same classes. */
static void
check_deep(void)
{
	enum { N = 900 };
	static uint8_t px[N * 4];
	static uint16_t deep[N * 4];
	static uint32_t label[N];
	struct check_many m = {0};
	struct check_rng r = {25};

	for (size_t set = 0; set < 24; set++) {
		const size_t planes = 3 + set / 2 % 2, k = 2 + rng_below(&r, 60);
		const unsigned scale = set % 2 ? 200 : 1, more = set % 2 ? 0 : 59000;
		struct vertices v;
		for (size_t i = 0; i < N * planes; i++) {
			px[i] = (uint8_t)(i ? rng_below(&r, 256) : 0);
			deep[i] = (uint16_t)(px[i] * scale + more);
		}
		int err = reduce(&v, px, IMG_U8, N, planes, k, label);
		const double want = sse_of_classes(&v, label) * scale * scale;
		vertices_free(&v);
		err = err ? err : reduce(&v, deep, IMG_U16, N, planes, k, label);
		const double got = sse_of_classes(&v, label);
		check_case(&m, !err && got <= (scale > 1 ? 1.03 : 1) * want,
			   "set %zu: error %d, SSE %g, not %g", set, err, got, want);
		vertices_free(&v);
	}
	check_end(&m,
		  "rawpalette: a palette of 16 bits is as good as that of the same picture in 8");
}

/* --- colours with alpha ---------------------------------------------------------------------------------------------- */

enum { SEEN = 400 };

/* Makes a picture whose pixels are opaque, clear and translucent, in shares that depend on the set. */
static size_t
random_picture(struct check_rng *r, size_t set, uint8_t (*px)[4])
{
	const size_t n = 2 + rng_below(r, SEEN - 1);

	for (size_t i = 0; i < n; i++) {
		const size_t kind = rng_below(r, 3 + set % 5);
		for (int a = 0; a < 4; a++)
			px[i][a] = (uint8_t)rng_below(r, 1 + 255 / (1 + set % 7));
		px[i][3] = kind == 0 ? 255 : kind == 1 ? 0 : px[i][3];
	}
	return n;
}

/* Whether classes keep opaque pixels and clear ones apart, and all clear ones together. k is 2 or more. */
static bool
kept_apart(const struct vertices *v, const uint32_t *label)
{
	bool opaque[PALETTE_MOST] = {false};
	uint32_t clear = PALETTE_MOST;

	for (size_t i = 0; i < v->set.n; i++) {
		double x[4];
		vertices_get(v, i, x);
		opaque[label[i]] |= x[3] == 255;
		if (x[3] != 0)
			continue;
		if (clear < PALETTE_MOST && label[i] != clear)
			return false;
		clear = label[i];
	}
	return clear == PALETTE_MOST || !opaque[clear];
}

static void
check_seen(void)
{
	static uint8_t px[SEEN][4];
	static uint32_t label[SEEN], again[SEEN];
	struct check_many m = {0};
	struct check_rng r = {21};

	for (size_t set = 0; set < 120; set++) {
		const size_t n = random_picture(&r, set, px),
			     k = 2 + rng_below(&r, set % 2 ? 255 : 14);
		struct vertices v;
		size_t at;
		uint32_t most = 0;
		int err = vertices_make(&v, px, IMG_U8, n, 4, VERTICES_COLOURS, 1, &at);
		v.opaque = 255;
		if (!err)
			err = vertices_weigh(&v, 1);
		if (!err)
			err = palette_make(&v, k, 1, label);
		if (!err)
			err = palette_make(&v, k, 2 + (int)(set % 3), again);
		for (size_t i = 0; i < v.set.n; i++)
			most = label[i] > most ? label[i] : most;
		check_case(&m,
			   !err && most < k && !memcmp(label, again, v.set.n * sizeof *label) &&
			       kept_apart(&v, label),
			   "set %zu, %zu colours in %zu: error %d, label %u", set, v.set.n, k, err,
			   most);
		vertices_free(&v);
	}
	check_end(
	    &m, "rawpalette: a palette keeps opaque pixels apart from clear ones, for any threads");
}

/* Fills to[4] with a colour in front of black, and with the light of white that shines through. */
static void
see(const uint8_t px[4], double to[4])
{
	for (int c = 0; c < 3; c++)
		to[c] = px[c] * px[3] / 255.;
	to[3] = 255 - px[3];
}

/* Returns the mean of the squared differences of two colours on black and on white. */
static double
seen_d2(const uint8_t a[4], const uint8_t b[4])
{
	double x[4], y[4], d2 = 0;

	see(a, x);
	see(b, y);
	for (int c = 0; c < 3; c++) {
		const double black = x[c] - y[c], white = black + x[3] - y[3];
		d2 += (black * black + white * white) / 2;
	}
	return d2;
}

/* Two classes of three far colours: those that look most alike are together. */
static void
check_alike(void)
{
	struct check_many m = {0};
	struct check_rng r = {22};

	for (size_t set = 0; set < 200; set++) {
		uint8_t px[3][4];
		uint32_t label[3];
		struct vertices v;
		size_t at;
		for (int i = 0; i < 3; i++)
			for (int a = 0; a < 4; a++)
				px[i][a] = (uint8_t)(1 + rng_below(&r, 254));
		const double d01 = seen_d2(px[0], px[1]), d02 = seen_d2(px[0], px[2]),
			     d12 = seen_d2(px[1], px[2]), least = fmin(d01, fmin(d02, d12));
		int err = vertices_make(&v, px, IMG_U8, 3, 4, VERTICES_COLOURS, 1, &at);
		v.opaque = 255;
		if (!err)
			err = vertices_weigh(&v, 1);
		if (!err)
			err = palette_make(&v, 2, 1, label);
		const double got = label[0] == label[1] ? d01 : label[0] == label[2] ? d02 : d12;
		check_case(&m, !err && got < 1.01 * least + 1, "set %zu: %g, not %g", set, got,
			   least);
		vertices_free(&v);
	}
	check_end(
	    &m,
	    "rawpalette: of three colours with alpha, those that look most alike are one class");
}

/* Fills n samples with few values or any, so that clear, opaque and equal ones occur. */
static void
fill_samples(struct check_rng *r, void *to, enum img_type type, size_t n, size_t top)
{
	const bool few = rng_below(r, 2);

	for (size_t i = 0; i < n; i++) {
		const size_t x = few ? top * rng_below(r, 3) / 2 : rng_below(r, top + 1);
		if (type == IMG_U8)
			((uint8_t *)to)[i] = (uint8_t)x;
		else
			((uint16_t *)to)[i] = (uint16_t)x;
	}
}

static void
check_dither(void)
{
	enum { SIDE = 20 };
	static uint16_t px[SIDE * SIDE * 4];
	static double colour[256 * 4];
	uint8_t got[SIDE * SIDE], want[SIDE * SIDE];
	struct check_many m = {0};
	struct check_rng r = {77};

	for (size_t set = 0; set < 600; set++) {
		struct dither d = {.w = 1 + rng_below(&r, SIDE),
				   .h = 1 + rng_below(&r, SIDE),
				   .planes = 1 + rng_below(&r, 4),
				   .type = rng_below(&r, 2) ? IMG_U8 : IMG_U16,
				   .px = px,
				   .k = 1 + rng_below(&r, set % 2 ? 256 : 20),
				   .colour = colour};
		d.alpha = d.planes % 2 == 0 && rng_below(&r, 2);
		d.top = d.type == IMG_U16 ? 65535 : rng_below(&r, 3) ? 255 : 31;
		fill_samples(&r, px, d.type, d.w * d.h * d.planes, (size_t)d.top);
		for (size_t i = 0; i < d.k * d.planes; i++)
			colour[i] = rng_below(&r, 4)   ? (double)rng_below(&r, (size_t)d.top + 1)
				    : rng_below(&r, 2) ? 0
						       : d.top;
		const int err = dither_run(&d, got) | palette_direct_dither(&d, want);
		check_case(&m, !err && !memcmp(got, want, d.w * d.h),
			   "set %zu: %zu x %zu, %zu planes, %zu colours: error %d", set, d.w, d.h,
			   d.planes, d.k, err);
	}
	check_end(&m, "rawpalette: error diffusion gives every pixel the colour of the definition");
}

void
check_rawpalette(void)
{
	check_wide();
	check_rounds();
	check_thin();
	check_palette();
	check_exchange();
	check_gray_levels();
	check_deep();
	check_seen();
	check_alike();
	check_dither();
}
