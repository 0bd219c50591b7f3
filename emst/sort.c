#include <stdbool.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/emst.h"
#include "emst/sort.h"

void
emst_tree_free(struct emst_tree *t)
{
	weir_free_all(t->edge, t->length);
	*t = (struct emst_tree){0};
}

double
emst_total(const struct emst_tree *t)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < t->n; i++)
		sum += t->length[i];
	return sum;
}

/* ---- sorting ---- */

enum { DIGIT = 11, VALUES = 1 << DIGIT, DIGITS = 6, SOME = 1024 };

/* Merges the runs a[0..n) and b[0..m); of equal keys those of a come first. */
static void
merge(struct sorted *restrict to, const struct sorted *restrict a, size_t n,
      const struct sorted *restrict b, size_t m)
{
	while (n && m) {
		const bool second = b->key < a->key;
		*to++ = second ? *b : *a;
		b += second;
		m -= second;
		a += !second;
		n -= !second;
	}
	memcpy(to, n ? a : b, (n + m) * sizeof *to);
}

/* Sorts by merging runs. The tables of digits would take longer to clear than this. */
static void
sort_some(struct sorted *v, struct sorted *tmp, size_t n)
{
	enum { RUN = 16 };
	struct sorted *from = v, *to = tmp;

	for (size_t i = 1; i < n; i++) {
		const struct sorted x = v[i];
		size_t j = i;
		for (; j % RUN && v[j - 1].key > x.key; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
	for (size_t run = RUN; run < n; run *= 2) {
		for (size_t i = 0; i < n; i += 2 * run) {
			const size_t a = n - i < run ? n - i : run,
				     b = n - i - a < run ? n - i - a : run;
			merge(to + i, from + i, a, from + i + a, b);
		}
		struct sorted *t = from;
		from = to;
		to = t;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}

void
emst_sort(struct sorted *v, struct sorted *tmp, size_t n)
{
	uint32_t count[DIGITS][VALUES];
	struct sorted *from = v, *to = tmp;

	if (n <= SOME) {
		sort_some(v, tmp, n);
		return;
	}
	memset(count, 0, sizeof count);
	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			count[d][v[i].key >> d * DIGIT & (VALUES - 1)]++;
	for (int d = 0; d < DIGITS; d++) {
		if (count[d][v[0].key >> d * DIGIT & (VALUES - 1)] == n)
			continue;
		uint32_t at[VALUES], sum = 0;
		for (size_t x = 0; x < VALUES; x++) {
			at[x] = sum;
			sum += count[d][x];
		}
		for (size_t i = 0; i < n; i++)
			to[at[from[i].key >> d * DIGIT & (VALUES - 1)]++] = from[i];
		struct sorted *t = from;
		from = to;
		to = t;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}
