#include <string.h>

#include "emst/sort.h"

enum { DIGIT = 11, VALUES = 1 << DIGIT, DIGITS = 6, FEW = 48 };

static void
insertion(struct sorted *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sorted x = v[i];
		size_t j = i;
		for (; j && v[j - 1].key > x.key; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

static void
scatter(const struct sorted *from, struct sorted *to, size_t n, int shift,
	const uint32_t count[VALUES])
{
	uint32_t at[VALUES], sum = 0;

	for (size_t d = 0; d < VALUES; d++) {
		at[d] = sum;
		sum += count[d];
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & (VALUES - 1)]++] = from[i];
}

void
emst_sort(struct sorted *v, struct sorted *tmp, size_t n)
{
	uint32_t count[DIGITS][VALUES];
	struct sorted *from = v, *to = tmp;

	if (n <= FEW) {
		insertion(v, n);
		return;
	}
	memset(count, 0, sizeof count);
	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			count[d][v[i].key >> d * DIGIT & (VALUES - 1)]++;
	for (int d = 0; d < DIGITS; d++) {
		if (count[d][v[0].key >> d * DIGIT & (VALUES - 1)] == n)
			continue;
		scatter(from, to, n, d * DIGIT, count[d]);
		struct sorted *t = from;
		from = to;
		to = t;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}
