#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/opt.h"
#include "common/par.h"
#include "common/sample.h"
#include "common/tools/tone.h"

enum { BLOCK = 2048 }; /* values at a time: 48 KiB of doubles and levels stay in the cache */

/* --- the range as text ----------------------------------------------------------------------- */

static bool
parse_end(const char *text, size_t n, struct tone_end *end)
{
	char word[64];

	end->is_percentile = *text == 'p';
	text += end->is_percentile;
	n -= end->is_percentile;
	if (n >= sizeof word)
		return false;
	memcpy(word, text, n);
	word[n] = '\0';
	return opt_number(word, &end->v) && isfinite(end->v) &&
	       (!end->is_percentile || (end->v >= 0 && end->v <= 100));
}

int
tone_parse_range(const char *text, struct tone_end end[2])
{
	const char *colon;

	if (!strcmp(text, "minmax"))
		text = "p0:p100";
	colon = strchr(text, ':');
	if (!colon || !parse_end(text, (size_t)(colon - text), &end[0]) ||
	    !parse_end(colon + 1, strlen(colon + 1), &end[1]))
		return -1;
	return end[0].is_percentile == end[1].is_percentile && end[0].v == end[1].v ? -1 : 0;
}

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

/* Computes n <= BLOCK values from number `first` on; NaN where log10 is undefined. v has room for 2 BLOCK. */
static void
load(const struct tone *t, const struct img *x, size_t first, size_t n, double *v)
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

static size_t
blocks(size_t n)
{
	return (n + BLOCK - 1) / BLOCK;
}

/* --- the range as numbers -------------------------------------------------------------------- */

/* Finds the least and greatest finite value, and how many values are finite. */
static struct sample_stats
find_extremes(const struct tone *t, const struct img *x)
{
	const size_t n = tone_count(x);
	double lo = INFINITY, hi = -INFINITY;
	uint64_t finite = 0;

#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 8 * BLOCK)                \
    reduction(min : lo) reduction(max : hi) reduction(+ : finite)
	for (size_t b = 0; b < blocks(n); b++) {
		const size_t at = b * BLOCK, some = n - at < BLOCK ? n - at : BLOCK;
		struct sample_stats here;
		double v[2 * BLOCK];

		load(t, x, at, some, v);
		sample_stats_start(&here);
		sample_stats_add(&here, v, some);
		lo = here.lo < lo ? here.lo : lo;
		hi = here.hi > hi ? here.hi : hi;
		finite += here.finite;
	}
	return (struct sample_stats){.lo = lo, .hi = hi, .finite = finite};
}

/*
 * Maps doubles to unsigned keys of the same order: the sign bit of positive numbers is set, and negative numbers are inverted.
 * A rank is then found by counting, 16 bits of the key at a time from the top. This takes four passes, is exact, and needs no
 * copy of the samples.
 */
static uint64_t
key_of(double v)
{
	uint64_t u;

	v += 0.0; /* -0 becomes 0 */
	memcpy(&u, &v, sizeof u);
	return u >> 63 ? ~u : u | 1ull << 63;
}

static double
value_of(uint64_t key)
{
	const uint64_t u = key >> 63 ? key & ~(1ull << 63) : ~key;
	double v;

	memcpy(&v, &u, sizeof v);
	return v;
}

enum { DIGITS = 1 << 16 };

/* Counts in hist[d] the finite values whose key has the 16-bit digit d at shift and equals prefix above it. */
static void
count_digits(const struct tone *t, const struct img *x, uint64_t prefix, int shift, size_t *hist)
{
	const size_t n = tone_count(x);
	double v[2 * BLOCK];

	memset(hist, 0, DIGITS * sizeof *hist);
	for (size_t at = 0; at < n; at += BLOCK) {
		const size_t some = n - at < BLOCK ? n - at : BLOCK;

		load(t, x, at, some, v);
		for (size_t i = 0; i < some; i++) {
			const uint64_t key = key_of(v[i]) >> shift;

			if (isfinite(v[i]) && key >> 16 == prefix)
				hist[key & (DIGITS - 1)]++;
		}
	}
}

/* Returns the finite value of a rank. Rank 0 is the least; there are more than `rank` finite values. */
static double
value_of_rank(const struct tone *t, const struct img *x, size_t rank)
{
	size_t *hist = weir_xalloc(DIGITS, sizeof *hist);
	uint64_t prefix = 0;

	for (int shift = 48; shift >= 0; shift -= 16) {
		size_t digit = 0;

		count_digits(t, x, prefix, shift, hist);
		while (rank >= hist[digit])
			rank -= hist[digit++];
		prefix = prefix << 16 | digit;
	}
	weir_free(hist);
	return value_of(prefix);
}

static double
find_end(const struct tone *t, const struct tone_end *end, const struct img *x,
	 const struct sample_stats *all)
{
	if (!end->is_percentile)
		return end->v;
	if (!all->finite)
		return 0;
	const size_t last = (size_t)all->finite - 1;
	const size_t rank = (size_t)(end->v / 100 * (double)last + .5);
	if (rank == 0)
		return all->lo;
	return rank >= last ? all->hi : value_of_rank(t, x, rank);
}

void
tone_find_range(struct tone *t, const struct tone_end end[2], const struct img *x)
{
	struct sample_stats all = {0};
	double found[2];

	if (end[0].is_percentile || end[1].is_percentile)
		all = find_extremes(t, x);
#pragma omp parallel for num_threads(t->threads)
	for (int i = 0; i < 2; i++)
		found[i] = find_end(t, &end[i], x, &all);
	t->lo = found[0];
	t->hi = found[1];
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

static void
block_of_greys(const struct tone *t, double *v, size_t n, void *level, size_t at)
{
	if (t->log)
		for (size_t i = 0; i < n; i++)
			v[i] = log10(v[i]);
	normalise(v, n, t->log ? log10(t->lo) : t->lo, t->log ? log10(t->hi) : t->hi);
	fade(v, n, t->gamma);
	quantise(t, level, at, v, n);
}

static void
block_of_colours(const struct tone *t, const double *v, size_t n, void *level, size_t at)
{
	const double peak = fmax(fabs(t->lo), fabs(t->hi));
	double s[BLOCK], rgb[3 * BLOCK];

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

void
tone_levels(const struct tone *t, const struct img *x, size_t first, size_t n, void *level)
{
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 8 * BLOCK)
	for (size_t b = 0; b < blocks(n); b++) {
		const size_t at = b * BLOCK, some = n - at < BLOCK ? n - at : BLOCK;
		double v[2 * BLOCK];

		load(t, x, first + at, some, v);
		if (t->diverging)
			block_of_colours(t, v, some, level, at);
		else
			block_of_greys(t, v, some, level, at);
	}
}
