#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/picture/ranks.h"

enum { BLOCK = RANKS_BLOCK, DIGITS = 1 << 16 };

static inline size_t
block_size(size_t n, size_t at)
{
	return n - at < BLOCK ? n - at : BLOCK;
}

void
ranks_load(const struct ranks *r, size_t first, size_t n, double *v)
{
	const size_t pair = r->complex ? 2 : 1;
	const char *from = (const char *)r->data + first * pair * img_type_size(r->type);

	sample_load(v, from, r->type, n * pair);
	/* In place: v[i] is written after pair i was read. */
	for (size_t i = 0; pair == 2 && i < n; i++)
		v[i] = hypot(v[2 * i], v[2 * i + 1]);
	for (size_t i = 0; r->positive && i < n; i++)
		v[i] = v[i] > 0 ? v[i] : NAN;
	for (size_t i = 0; r->weight && i < n; i++)
		v[i] = r->weight[first + i] > 0 ? v[i] : NAN;
	for (size_t i = 0; !isnan(r->centre) && i < n; i++)
		v[i] = fabs(v[i] - r->centre);
}

/*
 * Puts all numbers of the type, and how often each one is there, in the place of the samples. Equal neighbours would wait for each
 * other, so there are two tables. Their counters have 32 bits: two tables of size_t do not fit the cache of a core, and noise of
 * 16 bits then takes twice as long.
 */
static void
tabulate(struct ranks *r, size_t entries)
{
	const size_t teams = (size_t)r->threads, turn = (size_t)1 << 31; /* no counter overflows */
	uint32_t(*hist)[DIGITS] = weir_xalloc(2 * teams, sizeof *hist);
	double *weight = weir_xalloc(entries, sizeof *weight + sizeof(float)), v;
	float *value = (float *)(weight + entries);

	memset(weight, 0, entries * sizeof *weight);
	for (size_t from = 0; from < r->n; from += turn) {
		const size_t some = r->n - from < turn ? r->n - from : turn;
		memset(hist, 0, 2 * teams * sizeof *hist);
#pragma omp parallel for schedule(static) num_threads(r->threads) if (some > 8 * BLOCK)
		for (size_t at = 0; at < some; at += BLOCK) {
			const uint8_t *byte = (const uint8_t *)r->data + from + at;
			const uint16_t *word = (const uint16_t *)r->data + from + at;
			const size_t n = block_size(some, at);
			uint32_t(*mine)[DIGITS] = hist + 2 * omp_get_thread_num();
			for (size_t i = 0; i < n && entries == 256; i++)
				mine[i % 2][byte[i]]++;
			for (size_t i = 0; i < n && entries != 256; i++)
				mine[i % 2][word[i]]++;
		}
		for (size_t k = 0; k < 2 * teams; k++)
			for (size_t d = 0; d < entries; d++)
				weight[d] += hist[k][d];
	}
	for (size_t d = 0; d < entries; d++) {
		const uint16_t bits = (uint16_t)d;
		sample_load(&v, &bits, r->type, 1);
		value[d] = (float)v; /* exact */
	}
	weir_free(hist);
	r->type = IMG_F32;
	r->data = value;
	r->n = entries;
	r->weight = weight;
}

struct ranks
ranks_view(const struct img *x, bool positive)
{
	struct ranks r = {x->type, x->data, .positive = positive, .centre = NAN, .threads = 1};

	r.complex = img_is_complex(x);
	img_count(x, &r.n);
	r.n /= r.complex ? 2 : 1;
	return r;
}

struct ranks
ranks_start(const struct img *x, bool positive, int threads)
{
	struct ranks r = ranks_view(x, positive);
	const size_t entries = img_type_size(x->type) == 1 ? 256 : DIGITS;

	r.threads = threads;
	if (!img_is_float(x->type) && img_type_size(x->type) <= 2 && r.n >= entries)
		tabulate(&r, entries);
	return r;
}

void
ranks_free(struct ranks *r)
{
	weir_free_all(r->table, r->weight);
}

struct sample_stats
ranks_extremes(const struct ranks *r)
{
	double lo = INFINITY, hi = -INFINITY;
	uint64_t finite = 0;

#pragma omp parallel for schedule(static) num_threads(r->threads) if (r->n > 8 * BLOCK)                  \
    reduction(min : lo) reduction(max : hi) reduction(+ : finite)
	for (size_t at = 0; at < r->n; at += BLOCK) {
		const size_t n = block_size(r->n, at);
		struct sample_stats here;
		double v[2 * BLOCK];
		ranks_load(r, at, n, v);
		sample_stats_start(&here);
		sample_stats_add(&here, v, n);
		lo = here.lo < lo ? here.lo : lo;
		hi = here.hi > hi ? here.hi : hi;
		finite += r->weight ? 0 : here.finite;
		for (size_t i = 0; r->weight && i < n; i++)
			finite += isfinite(v[i]) ? (uint64_t)r->weight[at + i] : 0;
	}
	return (struct sample_stats){.lo = lo, .hi = hi, .finite = finite};
}

/* unit: what the sums are of, times v - about. */
WEIR_CLONES_OF(struct ranks_sums, measure,
	       (const struct ranks *r, double lo, double hi, double about, double unit),
	       (r, lo, hi, about, unit))
{
	double n = 0, below = 0, sum = 0, square = 0, v[2 * BLOCK];

	for (size_t at = 0; at < r->n; at += BLOCK) {
		const size_t some = block_size(r->n, at);
		const double *w = r->weight ? r->weight + at : NULL;
		ranks_load(r, at, some, v);
#pragma omp simd reduction(+ : n, below, sum, square)
		for (size_t i = 0; i < some; i++) {
			const bool in = (v[i] >= lo) & (v[i] <= hi);
			const bool under = (v[i] >= -DBL_MAX) & (v[i] < lo);
			const double by = w ? w[i] : 1, d = in ? v[i] * unit - about * unit : 0;
			n += in ? by : 0;
			below += under ? by : 0;
			sum += by * d;
			square += by * d * d;
		}
	}
	const double mean = sum / n, var = square / n - mean * mean;
	const double sd = isinf(square) ? INFINITY : sqrt(var < 0 ? 0 : var);

	return (struct ranks_sums){n, below, (about * unit + mean) / unit, sd / unit};
}

struct ranks_sums
ranks_measure(const struct ranks *r, double lo, double hi, double about)
{
	const struct ranks_sums s = measure(r, lo, hi, about, 1);

	return isinf(s.sd) ? measure(r, lo, hi, about, 0x1p-600) : s;
}

/*
 * A number's key is an unsigned integer of the same order: the sign bit of positive numbers is set, and negative numbers are
 * inverted. A rank is found by counting, 16 bits of the key at a time from the top. This is exact and needs no copy of the
 * samples. Floats, and integers of at most 16 bits, have keys of 32 bits and need two passes; others need four. Both ranks
 * are found in the same passes, and what was counted serves other ranks with the same upper bits.
 */
static bool
has_short_keys(const struct ranks *r)
{
	const bool small = r->type == IMG_F32 || img_type_size(r->type) <= 2;

	return small && !r->complex && isnan(r->centre);
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
value_of(uint64_t key, const struct ranks *r)
{
	const uint64_t u = key ^ (key >> 63 ? 1ull << 63 : UINT64_MAX);
	const uint32_t w = (uint32_t)key ^ ((uint32_t)key >> 31 ? 1u << 31 : UINT32_MAX);
	double v;
	float f;

	memcpy(&v, &u, sizeof v);
	memcpy(&f, &w, sizeof f);
	return has_short_keys(r) ? (double)f : v;
}

/*
 * Counts, for both prefixes, the next digits of the keys that have them, in the tables of a level, unless it has those of the
 * same prefixes. Behind all levels lie the tables of the other threads.
 */
static void
count_digits(struct ranks *r, const uint64_t prefix[2], int level)
{
	const double *weight = r->weight;
	const uint64_t a = prefix[0], b = prefix[1];
	const size_t teams = (size_t)r->threads;
	size_t(*hist)[DIGITS] = (size_t(*)[DIGITS])r->table + 2 * level;
	size_t(*more)[DIGITS] = (size_t(*)[DIGITS])r->table + 2 * RANKS_LEVELS;

	if (r->counted[level] && !memcmp(r->prefix[level], prefix, sizeof r->prefix[level]))
		return;
	memset(hist, 0, 2 * sizeof *hist);
	memset(more, 0, 2 * (teams - 1) * sizeof *more);
#pragma omp parallel for schedule(static) num_threads(r->threads) if (r->n > 8 * BLOCK)
	for (size_t at = 0; at < r->n; at += BLOCK) {
		const size_t n = block_size(r->n, at);
		const int thread = omp_get_thread_num();
		size_t(*mine)[DIGITS] = thread ? more + 2 * (thread - 1) : hist;
		double v[2 * BLOCK];
		uint64_t key[BLOCK];
		ranks_load(r, at, n, v);
		if (has_short_keys(r))
			short_keys(key, v, n);
		else
			long_keys(key, v, n);
		for (size_t i = 0; i < n; i++) {
			const uint64_t k = key[i] >> 16 * level;
			const size_t by = weight ? (size_t)weight[at + i] : 1;
			if (k >> 16 == a)
				mine[0][k & (DIGITS - 1)] += by;
			if (a != b && k >> 16 == b)
				mine[1][k & (DIGITS - 1)] += by;
		}
	}
	for (size_t k = 0; k < 2 * (teams - 1); k++)
		for (size_t d = 0; d < DIGITS; d++)
			hist[k % 2][d] += more[k][d];
	memcpy(r->prefix[level], prefix, sizeof r->prefix[level]);
	r->counted[level] = true;
}

void
ranks_find(struct ranks *r, const size_t rank[2], double found[2])
{
	const int first = has_short_keys(r) ? 1 : RANKS_LEVELS - 1;
	size_t left[2] = {rank[0], rank[1]};
	uint64_t prefix[2] = {0, 0};

	if (memcmp(&r->about, &r->centre, sizeof r->about) != 0)
		memset(r->counted, 0, sizeof r->counted);
	r->about = r->centre;
	if (!r->table)
		r->table = weir_xalloc(2 * (RANKS_LEVELS + (size_t)r->threads - 1),
				       DIGITS * sizeof *r->table);
	for (int level = first; level >= 0; level--) {
		const bool same = prefix[0] == prefix[1];
		const size_t(*hist)[DIGITS] = (const size_t(*)[DIGITS])r->table + 2 * level;
		count_digits(r, prefix, level);
		for (int e = 0; e < 2; e++) {
			/* At the top, digit 0 counts what is not finite. */
			size_t digit = level == first;

			while (left[e] >= hist[same ? 0 : e][digit])
				left[e] -= hist[same ? 0 : e][digit++];
			prefix[e] = prefix[e] << 16 | digit;
		}
	}
	for (int e = 0; e < 2; e++)
		found[e] = value_of(prefix[e], r);
}

double
ranks_percentile(struct ranks *r, double percent, size_t first, size_t n)
{
	const double place = percent / 100 * ((double)n - 1), part = place - floor(place);
	double v[2];

	if (!n)
		return NAN;
	first += (size_t)place;
	ranks_find(r, (size_t[]){first, first + (part > 0)}, v);
	return v[0] == v[1] ? v[0] : (1 - part) * v[0] + part * v[1];
}

void
ranks_count(const struct ranks *r, double unit, double lo, double width, size_t n, size_t *count)
{
	double v[2 * RANKS_BLOCK];

	memset(count, 0, n * sizeof *count);
	for (size_t at = 0, some; at < r->n; at += some) {
		some = block_size(r->n, at);
		ranks_load(r, at, some, v);
		for (size_t i = 0; i < some; i++)
			if (isfinite(v[i])) {
				const double bin = n > 1 ? (unit * v[i] - unit * lo) / width : 0;
				count[bin < (double)n ? (size_t)bin : n - 1] +=
				    r->weight ? (size_t)r->weight[at + i] : 1;
			}
	}
}

/* ---- thresholds ---- */

/* Returns the bin up to which the lower class goes. */
static size_t
find_otsu(const size_t *count, size_t bins)
{
	double all = 0, sum = 0, n = 0, below = 0, most = -1;
	size_t best = 0;

	for (size_t i = 0; i < bins; i++) {
		all += (double)count[i];
		sum += (double)count[i] * (double)i;
	}
	for (size_t i = 0; i + 1 < bins; i++) {
		n += (double)count[i];
		below += (double)count[i] * (double)i;
		const double apart = below / n - (sum - below) / (all - n),
			     between = n * (all - n) * apart * apart;

		if (between > most) {
			most = between;
			best = i;
		}
	}
	return best;
}

/* The first and the last bin hold the least and the greatest value. */
static size_t
find_triangle(const size_t *count, size_t bins)
{
	size_t peak = 0, best = 0;
	double most = -INFINITY;

	for (size_t i = 0; i < bins; i++)
		peak = count[i] > count[peak] ? i : peak;
	const bool up = peak < bins - 1 - peak;
	const size_t wide = up ? bins - 1 - peak : peak;

	for (size_t k = 0; k < wide; k++) {
		const size_t at = up ? bins - 1 - k : k;
		const double d = (double)count[peak] * (double)k - (double)wide * (double)count[at];
		best = d > most ? at : best;
		most = d > most ? d : most;
	}
	return best;
}

double
ranks_threshold(struct ranks *r, bool whole, bool otsu)
{
	const struct sample_stats s = ranks_extremes(r);
	const double range = s.hi - s.lo;
	const bool each = whole && range < 65536;
	const size_t bins = each ? (size_t)range + 1 : 256;
	const double width = each ? 1 : range / 256;

	if (!(range > 0 && range < INFINITY))
		return s.finite && range == 0 ? s.lo : NAN;
	size_t *count = weir_xalloc(bins, sizeof *count);

	ranks_count(r, 1, s.lo, width, bins, count);
	const size_t bin = otsu ? find_otsu(count, bins) : find_triangle(count, bins);

	weir_free(count);
	return s.lo + width * (double)bin + (each ? 0 : width / 2);
}
