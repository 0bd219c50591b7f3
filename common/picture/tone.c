#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/picture/tone.h"

/* --- values ---------------------------------------------------------------------------------- */

size_t
tone_count(const struct img *x)
{
	size_t count;

	img_count(x, &count);
	return img_is_complex(x) ? count / 2 : count;
}

/*
 * v[i] = |re + i im|, or its argument. In place: v[i] is written after pair i was read.
 */
static void
take_part(enum tone_part part, double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = part == TONE_PHASE ? atan2(v[2 * i + 1], v[2 * i])
					  : hypot(v[2 * i], v[2 * i + 1]);
}

void
tone_load(const struct tone *t, const struct img *x, size_t first, size_t n, double *v)
{
	const size_t pair = img_is_complex(x) ? 2 : 1;
	const char *from = (const char *)x->data + first * pair * img_type_size(x->type);

	sample_load(v, from, x->type, n * pair);
	if (pair == 2)
		take_part(t->part, v, n);
	else if (t->part == TONE_ABS)
		for (size_t i = 0; i < n; i++)
			v[i] = fabs(v[i]);
	if (t->log)
		for (size_t i = 0; i < n; i++)
			v[i] = v[i] > 0 ? v[i] : NAN;
}

/* --- levels ---------------------------------------------------------------------------------- */

/* v = clip((v - lo) / (hi - lo)); NaN becomes 0. */
WEIR_CLONES(normalise, (double *v, size_t n, double lo, double hi), (v, n, lo, hi))
{
	for (size_t i = 0; i < n; i++) {
		const double t = (v[i] - lo) / (hi - lo);
		const double most = t < 1 ? t : 1;

		v[i] = t > 0 ? most : 0;
	}
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

/* --- levels of integers: a table --------------------------------------------------------------------------------------- */

int
tone_make_table(struct tone *t, const struct img *x)
{
	const size_t size = img_type_size(x->type), entries = size == 1 ? 256 : 65536;
	struct img all;

	if (img_is_complex(x) || img_is_float(x->type) || size > 2 || t->diverging ||
	    tone_count(x) < 2 * entries)
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

#define LOOK_UP(NAME, FROM, TO)                                                  \
	static void NAME(const FROM *from, size_t n, const TO *table, TO *level) \
	{                                                                        \
		for (size_t i = 0; i < n; i++)                                   \
			level[i] = table[from[i]];                               \
	}
LOOK_UP(look_up_8_8, uint8_t, uint8_t)
LOOK_UP(look_up_8_16, uint8_t, uint16_t)
LOOK_UP(look_up_16_8, uint16_t, uint8_t)
LOOK_UP(look_up_16_16, uint16_t, uint16_t)
#undef LOOK_UP

/* Samples are taken as unsigned numbers, as tone_make_table() did. */
static void
look_up(const struct tone *t, const struct img *x, size_t first, size_t n, void *level, size_t at)
{
	const size_t size = img_type_size(x->type);
	const void *from = (const char *)x->data + (first + at) * size;
	const bool narrow = t->maxval < 256;
	uint8_t *low = (uint8_t *)level + at;
	uint16_t *wide = (uint16_t *)level + at;

	if (size == 1 && narrow)
		look_up_8_8(from, n, t->table, low);
	else if (size == 1)
		look_up_8_16(from, n, t->table, wide);
	else if (narrow)
		look_up_16_8(from, n, t->table, low);
	else
		look_up_16_16(from, n, t->table, wide);
}

void
tone_levels(const struct tone *t, const struct img *x, size_t first, size_t n, void *level)
{
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 8 * TONE_BLOCK)
	for (size_t b = 0; b < tone_blocks(n); b++) {
		const size_t at = b * TONE_BLOCK, some = n - at < TONE_BLOCK ? n - at : TONE_BLOCK;
		double v[2 * TONE_BLOCK];

		if (t->table) {
			look_up(t, x, first, some, level, at);
			continue;
		}
		tone_load(t, x, first + at, some, v);
		if (t->diverging)
			block_of_colours(t, v, some, level, at);
		else
			block_of_greys(t, v, some, level, at);
	}
}
