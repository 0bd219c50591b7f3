#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/picture/tone.h"

enum {
	TONE_BLOCK = 1024
}; /* values at a time: doubles and levels stay in the cache and on a small stack */

static inline size_t
tone_blocks(size_t n)
{
	return (n + TONE_BLOCK - 1) / TONE_BLOCK;
}

/* ---- tones ---- */

/* --- values ---------------------------------------------------------------------------------- */

size_t
tone_count(const struct img *x)
{
	size_t count;

	img_count(x, &count);
	return img_is_complex(x) ? count / 2 : count;
}

/* Computes n <= TONE_BLOCK values from number `first` on; NaN where log10 is undefined. v has room for 2 TONE_BLOCK. */
static void
tone_load(const struct tone *t, const struct img *x, size_t first, size_t n, double *v)
{
	const size_t pair = img_is_complex(x) ? 2 : 1;
	const char *from = (const char *)x->data + first * pair * img_type_size(x->type);

	sample_load(v, from, x->type, n * pair);
	/* In place: v[i] is written after pair i was read. */
	for (size_t i = 0; pair == 2 && i < n; i++)
		v[i] = hypot(v[2 * i], v[2 * i + 1]);
	if (t->log)
		for (size_t i = 0; i < n; i++)
			v[i] = v[i] > 0 ? v[i] : NAN;
}

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

/* Whether a table of all values is small: of integers of at most 16 bits. */
static bool
is_small(const struct img *x)
{
	return !img_is_complex(x) && !img_is_float(x->type) && img_type_size(x->type) <= 2;
}

int
tone_make_table(struct tone *t, const struct img *x)
{
	const size_t size = img_type_size(x->type), entries = size == 1 ? 256 : 65536;
	struct img all;

	if (!is_small(x) || tone_planes(t) > 1 || tone_count(x) < 2 * entries)
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

/* Samples are taken as unsigned numbers, as tone_make_table() did. */
static void
look_up(const struct tone *t, const struct img *x, size_t first, size_t n, void *level, size_t at)
{
	static void (*const by_sizes[2][2])(const void *, size_t, const void *, void *) = {
	    {look_up_8_8, look_up_8_16}, {look_up_16_8, look_up_16_16}};
	const size_t size = img_type_size(x->type), wide = t->maxval > 255;

	by_sizes[size - 1][wide]((const char *)x->data + (first + at) * size, n, t->table,
				 (char *)level + at * (1 + wide));
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

/* --- the range as numbers -------------------------------------------------------------------- */

/* Finds the least and greatest finite value, and how many values are finite. */
static struct sample_stats
find_extremes(const struct tone *t, const struct img *x)
{
	const size_t n = tone_count(x);
	double lo = INFINITY, hi = -INFINITY;
	uint64_t finite = 0;

#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 8 * TONE_BLOCK)                \
    reduction(min : lo) reduction(max : hi) reduction(+ : finite)
	for (size_t b = 0; b < tone_blocks(n); b++) {
		const size_t at = b * TONE_BLOCK, some = n - at < TONE_BLOCK ? n - at : TONE_BLOCK;
		struct sample_stats here;
		double v[2 * TONE_BLOCK];

		tone_load(t, x, at, some, v);
		sample_stats_start(&here);
		sample_stats_add(&here, v, some);
		lo = here.lo < lo ? here.lo : lo;
		hi = here.hi > hi ? here.hi : hi;
		finite += here.finite;
	}
	return (struct sample_stats){.lo = lo, .hi = hi, .finite = finite};
}

/* Returns the rank of a percentile among the finite values; 0 for a number. */
static size_t
rank_of(const struct tone_end *end, const struct sample_stats *all)
{
	if (!end->is_percentile || !all->finite)
		return 0;
	return (size_t)(end->v / 100 * (double)(all->finite - 1) + .5);
}

/*
 * A number's key is an unsigned integer of the same order: the sign bit of positive numbers is set, and negative numbers are
 * inverted. A rank is found by counting, 16 bits of the key at a time from the top. This is exact and needs no copy of the
 * samples. Floats, and integers of at most 16 bits, have keys of 32 bits and need two passes; others need four. Both ends of
 * the range are found in the same passes.
 */
static bool
has_short_keys(const struct img *x)
{
	return !img_is_complex(x) && (x->type == IMG_F32 || img_type_size(x->type) <= 2);
}

/* Keys of numbers that are not finite become 0, which is no key. Adding 0 makes 0 of -0. */
#define KEYS(NAME, F, U)                                                                \
	WEIR_CLONES(NAME, (uint64_t *restrict key, const double *restrict v, size_t n), \
		    (key, v, n))                                                        \
	{                                                                               \
		const U top = (U)1 << (8 * sizeof top - 1);                             \
                                                                                        \
		for (size_t i = 0; i < n; i++) {                                        \
			const F f = (F)v[i] + (F)0;                                     \
			U u;                                                            \
                                                                                        \
			memcpy(&u, &f, sizeof u);                                       \
			u ^= u & top ? (U)-1 : top;                                     \
			key[i] = f - f == 0 ? u : 0;                                    \
		}                                                                       \
	}
KEYS(short_keys, float, uint32_t)
KEYS(long_keys, double, uint64_t)
#undef KEYS

static double
value_of(uint64_t key, const struct img *x)
{
	const uint64_t u = key ^ (key >> 63 ? 1ull << 63 : UINT64_MAX);
	const uint32_t w = (uint32_t)key ^ ((uint32_t)key >> 31 ? 1u << 31 : UINT32_MAX);
	double v;
	float f;

	memcpy(&v, &u, sizeof v);
	memcpy(&f, &w, sizeof f);
	return has_short_keys(x) ? (double)f : v;
}

enum { DIGITS = 1 << 16 };

/* Counts, for both prefixes, the keys that have them above the digit at shift: hist[e][digit]. */
static void
count_keys(const uint64_t *key, size_t n, const uint64_t prefix[2], int shift,
	   size_t (*hist)[DIGITS])
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t k = key[i] >> shift;

		if (k >> 16 == prefix[0])
			hist[0][k & (DIGITS - 1)]++;
		if (prefix[1] != prefix[0] && k >> 16 == prefix[1])
			hist[1][k & (DIGITS - 1)]++;
	}
}

/* Counts the values of x. hist has a pair of tables for each thread; the sums are left in the first pair. */
static void
count_digits(const struct tone *t, const struct img *x, const uint64_t prefix[2], int shift,
	     size_t (*hist)[DIGITS])
{
	const size_t n = tone_count(x), teams = (size_t)t->threads;

	memset(hist, 0, 2 * teams * sizeof *hist);
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 8 * TONE_BLOCK)
	for (size_t b = 0; b < tone_blocks(n); b++) {
		const size_t at = b * TONE_BLOCK, some = n - at < TONE_BLOCK ? n - at : TONE_BLOCK;
		double v[2 * TONE_BLOCK];
		uint64_t key[TONE_BLOCK];

		tone_load(t, x, at, some, v);
		if (has_short_keys(x))
			short_keys(key, v, some);
		else
			long_keys(key, v, some);
		count_keys(key, some, prefix, shift, hist + 2 * omp_get_thread_num());
	}
	for (size_t k = 2; k < 2 * teams; k++)
		for (size_t d = 0; d < DIGITS; d++)
			hist[k % 2][d] += hist[k][d];
}

/* Finds the finite values of two ranks. Rank 0 is the least; there are more finite values than each rank. */
static void
values_of_ranks(const struct tone *t, const struct img *x, size_t rank[2], double found[2])
{
	const int first = has_short_keys(x) ? 16 : 48;
	size_t(*hist)[DIGITS] = weir_xalloc(2 * (size_t)t->threads, sizeof *hist);
	uint64_t prefix[2] = {0, 0};

	for (int shift = first; shift >= 0; shift -= 16) {
		const bool same = prefix[0] == prefix[1];

		count_digits(t, x, prefix, shift, hist);
		for (int e = 0; e < 2; e++) {
			/* At the top, digit 0 counts what is not finite. */
			size_t digit = shift == first;

			while (rank[e] >= hist[same ? 0 : e][digit])
				rank[e] -= hist[same ? 0 : e][digit++];
			prefix[e] = prefix[e] << 16 | digit;
		}
	}
	weir_free(hist);
	for (int e = 0; e < 2; e++)
		found[e] = value_of(prefix[e], x);
}

/* --- integers of at most 16 bits: a table of all values ------------------------------------------------------------------ */

/*
 * Counts samples by their bits. Equal neighbours would wait for each other, so there are two tables. Their counters have 32
 * bits: two tables of size_t do not fit the cache of a core, and noise of 16 bits then takes twice as long.
 */
static void
count_small(const struct img *x, size_t at, size_t n, uint32_t (*hist)[DIGITS])
{
	const uint8_t *byte = (const uint8_t *)x->data + at;
	const uint16_t *word = (const uint16_t *)x->data + at;

	if (img_type_size(x->type) == 1)
		for (size_t i = 0; i < n; i++)
			hist[i % 2][byte[i]]++;
	else
		for (size_t i = 0; i < n; i++)
			hist[i % 2][word[i]]++;
}

/* Counts all samples in total[], in turns so short that no counter overflows. */
static void
count_all_small(const struct tone *t, const struct img *x, size_t *total)
{
	const size_t n = tone_count(x), teams = (size_t)t->threads, turn = (size_t)1 << 31;
	uint32_t(*hist)[DIGITS] = weir_xalloc(2 * teams, sizeof *hist);

	memset(total, 0, DIGITS * sizeof *total);
	for (size_t from = 0; from < n; from += turn) {
		const size_t some = n - from < turn ? n - from : turn;

		memset(hist, 0, 2 * teams * sizeof *hist);
#pragma omp parallel for schedule(static) num_threads(t->threads) if (some > 8 * TONE_BLOCK)
		for (size_t b = 0; b < tone_blocks(some); b++) {
			const size_t at = b * TONE_BLOCK;

			count_small(x, from + at, some - at < TONE_BLOCK ? some - at : TONE_BLOCK,
				    hist + 2 * omp_get_thread_num());
		}
		for (size_t k = 0; k < 2 * teams; k++)
			for (size_t d = 0; d < DIGITS; d++)
				total[d] += hist[k][d];
	}
	weir_free(hist);
}

/* The value of table entry number i, in ascending order, and its bits. */
static int
small_value(enum img_type type, int i, uint16_t *bits)
{
	const int v = type == IMG_I8 ? i + INT8_MIN : type == IMG_I16 ? i + INT16_MIN : i;

	*bits = img_type_size(type) == 1 ? (uint8_t)v : (uint16_t)v;
	return v;
}

/* Finds the extremes and the values of two percentiles. */
static struct sample_stats
search_small(const struct tone *t, const struct img *x, const struct tone_end end[2],
	     double found[2])
{
	const int entries = img_type_size(x->type) == 1 ? 256 : DIGITS;
	size_t *total = weir_xalloc(DIGITS, sizeof *total);
	struct sample_stats all = {.lo = INFINITY, .hi = -INFINITY};
	uint16_t bits;

	count_all_small(t, x, total);
	for (int i = 0; i < entries; i++) {
		const int v = small_value(x->type, i, &bits);

		if (t->log && v <= 0)
			total[bits] = 0;
		all.finite += total[bits];
		all.lo = total[bits] && v < all.lo ? v : all.lo;
		all.hi = total[bits] ? v : all.hi;
	}
	for (int e = 0; e < 2; e++) {
		size_t rank = rank_of(&end[e], &all);

		for (int i = 0; all.finite && i < entries; i++) {
			found[e] = small_value(x->type, i, &bits);
			if (rank < total[bits])
				break;
			rank -= total[bits];
		}
	}
	weir_free(total);
	return all;
}

/* Finds the extremes and, where they are wanted, the values of two percentiles. */
static struct sample_stats
search(const struct tone *t, const struct img *x, const struct tone_end end[2], double found[2])
{
	const struct sample_stats all = find_extremes(t, x);
	size_t rank[2];
	bool inside = false;

	for (int e = 0; e < 2; e++) {
		rank[e] = rank_of(&end[e], &all);
		inside |= all.finite && rank[e] > 0 && rank[e] < all.finite - 1;
	}
	const size_t first = rank[0], second = rank[1];
	if (inside)
		values_of_ranks(t, x, rank, found);
	found[0] = first == 0 ? all.lo : first == all.finite - 1 ? all.hi : found[0];
	found[1] = second == 0 ? all.lo : second == all.finite - 1 ? all.hi : found[1];
	return all;
}

void
tone_find_range(struct tone *t, const struct tone_end end[2], const struct img *x)
{
	double found[2] = {0};
	struct sample_stats all = {0};

	if (end[0].is_percentile || end[1].is_percentile)
		all = (is_small(x) ? search_small : search)(t, x, end, found);
	for (int e = 0; e < 2; e++)
		if (!end[e].is_percentile)
			found[e] = end[e].v;
		else if (!all.finite)
			found[e] = 0;
	t->lo = found[0];
	t->hi = found[1];
}
