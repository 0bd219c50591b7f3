/* Cuts the tree by weight, by length and by number. */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/classes/classes.h"

void
cut_size(const struct dendrogram *d, uint64_t min_weight, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < d->n; e++)
		cut[e] = dendrogram_lighter(d, e) >= min_weight;
}

void
cut_longest(const struct emst_tree *t, size_t classes, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < t->n; e++)
		cut[e] = e + classes >= t->n;
}

void
cut_length(const struct emst_tree *t, double longest, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < t->n; e++)
		cut[e] = t->length[e] > longest;
}

/* Returns the largest number that at least `rank` of the keys of cut edges reach; 0 when fewer edges are cut. */
static uint64_t
find_rank(const uint64_t *key, const uint8_t *cut, size_t n, size_t rank)
{
	enum { DIGIT = 12, BITS = 48 };
	const uint64_t mask = (1 << DIGIT) - 1;
	uint64_t found = 0; /* the digits that are known, from the highest on */

	for (int shift = BITS - DIGIT; shift >= 0; shift -= DIGIT) {
		size_t count[1 << DIGIT] = {0};
		uint64_t digit = mask;

		for (size_t e = 0; e < n; e++)
			if (key[e] >> shift >> DIGIT == found)
				count[key[e] >> shift & mask] += cut[e];
		for (; digit && count[digit] < rank; digit--)
			rank -= count[digit];
		found = found << DIGIT | digit;
	}
	return found;
}

int
cut_at_most(const struct dendrogram *d, size_t classes, uint8_t *cut)
{
	const size_t n = d->n - 1;
	uint64_t *key = weir_alloc(n + 1, sizeof *key);
	size_t kept = 0;

	if (!key)
		return -ENOMEM;
	for (size_t e = 0; e < n; e++)
		key[e] = dendrogram_lighter(d, e);
	const uint64_t least = find_rank(key, cut, n, classes - 1);

	for (size_t e = 0; e < n; e++) {
		cut[e] = cut[e] && classes > 1 && key[e] >= least;
		kept += cut[e];
	}
	for (size_t e = 0; kept >= classes; e++) {
		kept -= cut[e];
		cut[e] = 0;
	}
	weir_free(key);
	return 0;
}
