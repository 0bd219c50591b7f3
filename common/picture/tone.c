#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/picture/ranks.h"
#include "common/picture/tone.h"

enum { TONE_BLOCK = RANKS_BLOCK }; /* doubles and levels stay in the cache and on a small stack */

/* ---- tones ---- */

/* --- levels ---------------------------------------------------------------------------------- */

/* v = clip((s v - lo) / (hi - lo)); NaN becomes 0. */
WEIR_CLONES(normalise_scaled, (double *v, size_t n, double s, double lo, double hi),
	    (v, n, s, lo, hi))
{
	for (size_t i = 0; i < n; i++) {
		const double t = (s * v[i] - lo) / (hi - lo);
		const double most = t < 1 ? t : 1;
		v[i] = t > 0 ? most : 0;
	}
}

/* v = clip((v - lo) / (hi - lo)). Where hi - lo is beyond DBL_MAX, all are halved, which is exact. */
static void
normalise(double *v, size_t n, double lo, double hi)
{
	const double s = isfinite(hi - lo) ? 1 : .5;

	normalise_scaled(v, n, s, s * lo, s * hi);
}

WEIR_CLONES(quantise8, (uint8_t *restrict level, const double *restrict v, size_t n, double maxval),
	    (level, v, n, maxval))
{
	for (size_t i = 0; i < n; i++)
		level[i] = (uint8_t)(int)(v[i] * maxval + .5);
}

WEIR_CLONES(quantise16,
	    (uint16_t *restrict level, const double *restrict v, size_t n, double maxval),
	    (level, v, n, maxval))
{
	for (size_t i = 0; i < n; i++)
		level[i] = (uint16_t)(int)(v[i] * maxval + .5);
}

static void
quantise(const struct tone *t, void *level, size_t at, const double *v, size_t n)
{
	if (t->maxval < 256)
		quantise8((uint8_t *)level + at, v, n, t->maxval);
	else
		quantise16((uint16_t *)level + at, v, n, t->maxval);
}

static void
fade(double *v, size_t n, double gamma)
{
	if (gamma != 1)
		for (size_t i = 0; i < n; i++)
			v[i] = pow(v[i], 1 / gamma);
}

/*
 * v = log10(v), for v > 0 or NaN, to a few units of the last digit. v = 2^e m with m from sqrt(1/2) to sqrt(2), and log(m) is
 * 2 atanh(s) with s = (m - 1) / (m + 1), |s| < .172. The C library has no such function for vectors.
 */
WEIR_CLONES(take_logarithms, (double *v, size_t n), (v, n))
{
	const double log10_2 = 0.30102999566398119521, log10_e = 0.43429448190325182765;

	for (size_t i = 0; i < n; i++) {
		const bool tiny = v[i] < 0x1p-1022;
		const double x = tiny ? v[i] * 0x1p54 : v[i];
		uint64_t u, whole;
		double m, e;
		memcpy(&u, &x, sizeof u);
		/* Adding makes numbers from sqrt(2) on overflow into the exponent. */
		const uint64_t shifted = u + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
		whole = shifted >> 52 | 0x4330000000000000; /* 2^52 + the exponent */
		u -= (shifted & 0xfff0000000000000) - 0x3ff0000000000000;
		memcpy(&m, &u, sizeof m);
		memcpy(&e, &whole, sizeof e);
		e -= 0x1p52 + 1023 + (tiny ? 54 : 0);
		const double s = (m - 1) / (m + 1), q = s * s;
		double sum = 1. / 21;

		for (int k = 19; k > 0; k -= 2)
			sum = sum * q + 1. / k;
		const double y = e * log10_2 + 2 * s * sum * log10_e;
		v[i] = x == x ? y : x;
	}
}

static void
block_of_greys(const struct tone *t, double *v, size_t n, void *level, size_t at)
{
	if (t->log)
		take_logarithms(v, n);
	normalise(v, n, t->log ? log10(t->lo) : t->lo, t->log ? log10(t->hi) : t->hi);
	fade(v, n, t->gamma);
	quantise(t, level, at, v, n);
}

static void
block_of_colours(const struct tone *t, const double *v, size_t n, void *level, size_t at)
{
	const double peak = fmax(fabs(t->lo), fabs(t->hi));
	double s[TONE_BLOCK], rgb[3 * TONE_BLOCK];

	for (size_t i = 0; i < n; i++)
		s[i] = fabs(v[i]);
	normalise(s, n, 0, peak);
	fade(s, n, t->gamma);
	for (size_t i = 0; i < n; i++) {
		const double full = isnan(v[i]) ? 0 : 1, rest = isnan(v[i]) ? 0 : 1 - s[i];
		rgb[3 * i] = v[i] < 0 ? rest : full;
		rgb[3 * i + 1] = rest;
		rgb[3 * i + 2] = v[i] > 0 ? rest : full;
	}
	quantise(t, level, 3 * at, rgb, 3 * n);
}

/*
 * Colours of numbers: each hue is 835/1536 of the circle behind the one before, in four tones by turns. Of all such steps and of
 * some sets of tones, these keep the first 12, 24 and 64 colours farthest apart, and from black (CIELAB: 36, 20 and 8).
 */
static void
block_of_labels(const double *v, size_t n, uint8_t *level)
{
	static const uint8_t tone[4][2] = {{0, 140}, {0, 255}, {140, 255}, {70, 200}};

	for (size_t i = 0; i < n; i++, level += 3) {
		/* 6144 numbers on, colours return. */
		const double k = isfinite(v[i]) ? floor(v[i] + .5) : 0,
			     turn = k - 6144 * floor(k / 6144);
		const unsigned hue = (unsigned)turn * 835 % 1536, up = hue % 256, down = 255 - up;
		const unsigned by_hue[6][3] = {{255, up, 0},   {down, 255, 0}, {0, 255, up},
					       {0, down, 255}, {up, 0, 255},   {255, 0, down}};
		const uint8_t *of = tone[(unsigned)turn % 4];

		for (int c = 0; c < 3; c++)
			level[c] = k == 0 ? 0
					  : (uint8_t)(of[0] + (of[1] - of[0]) *
								  (int)by_hue[hue / 256][c] / 255);
	}
}

/* --- levels of integers: a table --------------------------------------------------------------------------------------- */

int
tone_make_table(struct tone *t, const struct img *x)
{
	const size_t size = img_type_size(x->type), entries = size == 1 ? 256 : 65536;
	struct img all;

	/* A table of all values is small where they are integers of at most 16 bits. */
	if (img_is_float(x->type) || size > 2 || tone_planes(t) > 1 ||
	    ranks_view(x, false).n < 2 * entries)
		return 0;
	img_init(&all, x->type, 1, &entries);
	void *table = weir_alloc(entries, t->maxval < 256 ? 1 : 2);

	if (img_alloc(&all) || !table) {
		weir_free(table);
		img_free(&all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < entries; i++)
		memcpy((char *)all.data + i * size, &i, size);
	tone_levels(t, &all, 0, entries, table);
	img_free(&all);
	t->table = table;
	return 0;
}

#define LOOK_UP(NAME, FROM, TO)                                                    \
	static void NAME(const void *from, size_t n, const void *levels, void *to) \
	{                                                                          \
		const FROM *v = from;                                              \
		const TO *table = levels;                                          \
		TO *level = to;                                                    \
                                                                                   \
		for (size_t i = 0; i < n; i++)                                     \
			level[i] = table[v[i]];                                    \
	}
LOOK_UP(look_up_8_8, uint8_t, uint8_t)
LOOK_UP(look_up_8_16, uint8_t, uint16_t)
LOOK_UP(look_up_16_8, uint16_t, uint8_t)
LOOK_UP(look_up_16_16, uint16_t, uint16_t)
#undef LOOK_UP

void
tone_levels(const struct tone *t, const struct img *x, size_t first, size_t n, void *level)
{
	const struct ranks values = ranks_view(x, t->log); /* NaN where log10 is undefined */
	/* A table takes samples as unsigned numbers, as tone_make_table() did. */
	static void (*const look_up[2][2])(const void *, size_t, const void *, void *) = {
	    {look_up_8_8, look_up_8_16}, {look_up_16_8, look_up_16_16}};
	const size_t size = img_type_size(x->type), wide = t->maxval > 255;

#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 8 * TONE_BLOCK)
	for (size_t at = 0; at < n; at += TONE_BLOCK) {
		const size_t some = n - at < TONE_BLOCK ? n - at : TONE_BLOCK;
		double v[2 * TONE_BLOCK];
		if (t->table) {
			look_up[size - 1][wide]((const char *)x->data + (first + at) * size, some,
						t->table, (char *)level + at * (1 + wide));
			continue;
		}
		ranks_load(&values, first + at, some, v);
		if (t->labels)
			block_of_labels(v, some, (uint8_t *)level + 3 * at);
		else if (t->diverging)
			block_of_colours(t, v, some, level, at);
		else
			block_of_greys(t, v, some, level, at);
	}
}

/* ---- ranges ---- */

/* --- the range as text ----------------------------------------------------------------------- */

static bool
parse_end(const char *text, size_t n, struct tone_end *end)
{
	end->is_percentile = *text == 'p';

	const char *at = text + end->is_percentile;

	return !word_rounds(at) && word_real(&at, &end->v) && at == text + n && isfinite(end->v) &&
	       (!end->is_percentile || (end->v >= 0 && end->v <= 100));
}

int
tone_parse_range(const char *text, struct tone_end end[2])
{
	if (!strcmp(text, "minmax"))
		text = "p0:p100";
	const char *colon = strchr(text, ':');
	if (!colon || !parse_end(text, (size_t)(colon - text), &end[0]) ||
	    !parse_end(colon + 1, strlen(colon + 1), &end[1]))
		return -1;
	return end[0].is_percentile == end[1].is_percentile && end[0].v == end[1].v ? -1 : 0;
}

/* --- the range as numbers -------------------------------------------------------------------- */

void
tone_find_range(struct tone *t, const struct tone_end end[2], const struct img *x)
{
	double v[2] = {0};

	if (end[0].is_percentile || end[1].is_percentile) {
		struct ranks r = ranks_start(x, t->log, t->threads);
		const struct sample_stats all = ranks_extremes(&r);
		const size_t last = all.finite ? all.finite - 1 : 0;
		size_t rank[2] = {0};
		bool inside = false;
		for (int e = 0; e < 2 && all.finite; e++) {
			if (end[e].is_percentile)
				rank[e] = (size_t)(end[e].v / 100 * (double)last + .5);
			v[e] = rank[e] ? all.hi : all.lo;
			inside |= rank[e] > 0 && rank[e] < last;
		}
		if (inside)
			ranks_find(&r, rank, v);
		ranks_free(&r);
	}
	t->lo = end[0].is_percentile ? v[0] : end[0].v;
	t->hi = end[1].is_percentile ? v[1] : end[1].v;
}
