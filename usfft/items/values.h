/* Complex values as they stand in an item: floats or doubles, with any stride. There is no I/O here. */
#ifndef WEIR_USFFT_VALUES_H
#define WEIR_USFFT_VALUES_H

#include <stdbool.h>
#include <stddef.h>

struct values {
	bool single;
	const void *c;	/* value i is the pair at c + i * cstride reals */
	size_t cstride; /* 2 where values are contiguous */
	void *owned;	/* equal to c where c is to be freed; else NULL */
};

/* Returns the m values as pairs of doubles, times weights (NULL: ones). The caller frees. NULL: no memory. */
double *values_as_doubles(const struct values *v, size_t m, const double *weights);

/* Copies the m values into memory that v owns, contiguous, times weights (NULL: ones). Returns 0 or -ENOMEM. */
int values_make_own(struct values *v, size_t m, const double *weights);

/* Returns the first value whose real or imaginary part is not finite, or m. */
size_t values_find_bad(const struct values *v, size_t m);

/* Whether all n reals at z are finite. */
bool values_are_finite(const void *z, size_t n, bool single);

void values_free(struct values *v);

#endif
