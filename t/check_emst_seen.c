#include <math.h>
#include <string.h>

#include "emst/palette/palette.h"
#include "t/check.h"
#include "t/check_emst.h"

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
check_levels(void)
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
	check_end(&m, "emst: gray levels are cut where that loses least of all ways");
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
	int err = vertices_make(v, px, type, n, planes, false, 1, &at);

	if (!err)
		err = vertices_weigh(v, 1);
	return err ? err : palette_make(v, k, 1, label);
}

/* The palette of a gray picture is the one that levels_make() finds. */
static void
check_gray(void)
{
	enum { N = 2000 };
	static uint16_t px[N];
	static uint32_t got[N], want[N];
	static struct sorted e[N];
	struct check_many m = {0};
	struct check_rng r = {24};

	for (size_t set = 0; set < 20; set++) {
		const size_t k = 2 + rng_below(&r, 40);
		struct vertices v;
		for (size_t i = 0; i < N; i++)
			px[i] = (uint16_t)(rng_below(&r, 256) * rng_below(&r, 256));
		int err = reduce(&v, px, IMG_U16, N, 1, k, got);
		for (size_t i = 0; i < v.set.n; i++) {
			double x;
			vertices_get(&v, i, &x);
			size_t at = i;
			for (; at && e[at - 1].key > (uint64_t)x; at--)
				e[at] = e[at - 1];
			e[at] = (struct sorted){(uint64_t)x, (uint32_t)i, 0};
		}
		err = err ? err : levels_make(e, v.weight, v.set.n, k, want);
		const double sse = sse_of_classes(&v, got), least = sse_of_classes(&v, want);
		check_case(&m, !err && sse <= least, "set %zu: error %d, SSE %g, not %g", set, err,
			   sse, least);
		vertices_free(&v);
	}
	check_end(&m, "emst: the palette of a gray picture has the least error");
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
	check_end(&m, "emst: a palette of 16 bits is as good as that of the same picture in 8");
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
		int err = vertices_make(&v, px, IMG_U8, n, 4, false, 1, &at);
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
	check_end(&m, "emst: a palette keeps opaque pixels apart from clear ones, for any threads");
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
		int err = vertices_make(&v, px, IMG_U8, 3, 4, false, 1, &at);
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
	check_end(&m,
		  "emst: of three colours with alpha, those that look most alike are one class");
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
		const int err = dither_run(&d, got) | emst_direct_dither(&d, want);
		check_case(&m, !err && !memcmp(got, want, d.w * d.h),
			   "set %zu: %zu x %zu, %zu planes, %zu colours: error %d", set, d.w, d.h,
			   d.planes, d.k, err);
	}
	check_end(&m, "emst: error diffusion gives every pixel the colour of the definition");
}

void
check_emst_seen(void)
{
	check_levels();
	check_gray();
	check_deep();
	check_seen();
	check_alike();
	check_dither();
}
