#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/sample.h"
#include "common/picture/overlap.h"

enum { BLOCK = 256 }; /* samples at a time */

bool
overlap_combines(enum overlap how)
{
	return how >= OVERLAP_SUM;
}

static double
combine_double(enum overlap how, double a, double b)
{
	if (how == OVERLAP_SUM)
		return a + b;
	if (isnan(a))
		return b;
	if (isnan(b))
		return a;
	return (how == OVERLAP_MAX) == (a > b) ? a : b;
}

/* Samples that a double holds exactly. A float is the sum of two floats, rounded once. */
static size_t
combine_block(enum overlap how, void *restrict y, const void *restrict x, enum img_type type,
	      unsigned most, size_t n)
{
	double a[BLOCK], b[BLOCK];
	size_t within = 0;

	sample_load(a, y, type, n);
	sample_load(b, x, type, n);
	for (size_t i = 0; i < n; i++)
		a[i] = combine_double(how, a[i], b[i]);
	while (within < n && (!most || a[within] <= most))
		within++;
	return sample_store(y, a, type, within);
}

/* a becomes the result. False: the sum overflows. */
static bool
combine_64(enum overlap how, bool is_signed, uint64_t *a, uint64_t b)
{
	const bool greater = is_signed ? (int64_t)b > (int64_t)*a : b > *a;
	int64_t sum;

	if (how != OVERLAP_SUM) {
		*a = (how == OVERLAP_MAX) == greater ? b : *a;
		return true;
	}
	if (!is_signed)
		return !__builtin_add_overflow(*a, b, a);
	if (__builtin_add_overflow((int64_t)*a, (int64_t)b, &sum))
		return false;
	*a = (uint64_t)sum;
	return true;
}

/* Integers of 64 bits, which a double would round. */
static size_t
combine_long(enum overlap how, bool is_signed, char *restrict y, const char *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t a, b;

		memcpy(&a, y + i * sizeof a, sizeof a);
		memcpy(&b, x + i * sizeof b, sizeof b);
		if (!combine_64(how, is_signed, &a, b))
			return i;
		memcpy(y + i * sizeof a, &a, sizeof a);
	}
	return n;
}

size_t
overlap_combine(enum overlap how, void *restrict y, const void *restrict x, enum img_type type,
		unsigned most, size_t n)
{
	const size_t size = img_type_size(type);

	if (type == IMG_I64 || type == IMG_U64)
		return combine_long(how, type == IMG_I64, y, x, n);
	for (size_t i = 0; i < n; i += BLOCK) {
		const size_t block = n - i < BLOCK ? n - i : BLOCK;
		const size_t k = combine_block(how, (char *)y + i * size,
					       (const char *)x + i * size, type, most, block);

		if (k < block)
			return i + k;
	}
	return n;
}

/* Returns the index of the first sample that differs, or n. */
static size_t
compare(const char *y, const char *x, size_t size, size_t n)
{
	size_t i = 0;

	if (!memcmp(y, x, n * size))
		return n;
	while (!memcmp(y + i * size, x + i * size, size))
		i++;
	return i;
}

size_t
overlap_lay(enum overlap how, void *restrict y, const void *restrict x, enum img_type type,
	    unsigned most, size_t n)
{
	if (overlap_combines(how))
		return overlap_combine(how, y, x, type, most, n);
	if (how == OVERLAP_SAME)
		return compare(y, x, img_type_size(type), n);
	if (how == OVERLAP_LAST)
		memcpy(y, x, n * img_type_size(type));
	return n;
}

/* Does overlap_lay_gaps() for up to BLOCK samples. */
static size_t
lay_block(enum overlap how, const struct gap *g, char *restrict y, const char *restrict x,
	  unsigned most, size_t n)
{
	const size_t size = img_type_size(g->type);
	uint8_t below[BLOCK], above[BLOCK];

	gap_mark(g, below, y, n);
	gap_mark(g, above, x, n);
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && below[to] == below[i] && above[to] == above[i]; to++)
			;
		if (above[i])
			continue;
		if (below[i]) {
			memcpy(y + i * size, x + i * size, (to - i) * size);
			continue;
		}
		const size_t done =
		    overlap_lay(how, y + i * size, x + i * size, g->type, most, to - i);
		if (done < to - i)
			return i + done;
	}
	return n;
}

size_t
overlap_lay_gaps(enum overlap how, const struct gap *g, void *restrict y, const void *restrict x,
		 unsigned most, size_t n)
{
	const size_t size = img_type_size(g->type);

	for (size_t i = 0; i < n; i += BLOCK) {
		const size_t some = n - i < BLOCK ? n - i : BLOCK;
		const size_t k =
		    lay_block(how, g, (char *)y + i * size, (const char *)x + i * size, most, some);

		if (k < some)
			return i + k;
	}
	return n;
}
