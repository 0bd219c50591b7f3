/* Complex values at points as they came: floats or doubles, any stride. No I/O. */
#ifndef WEIR_USFFT_VALUES_H
#define WEIR_USFFT_VALUES_H

#include <stdbool.h>
#include <stddef.h>

struct values {
	bool single;
	const void *c;	/* value i is the pair at c + i * cstride reals */
	size_t cstride; /* 2 where they are pairs and no more */
	void *owned;	/* c, where it is memory of their own; else NULL */
};

/* The m values as pairs of doubles, times weights (NULL: ones). The caller frees; NULL: no memory. */
double *values_as_doubles(const struct values *v, size_t m, const double *weights);

/* Makes them pairs of their type, times weights, in memory of their own. 0 or -ENOMEM. */
int values_make_own(struct values *v, size_t m, const double *weights);

/* The first value with a part that is not finite, or m. */
size_t values_find_bad(const struct values *v, size_t m);

void values_free(struct values *v);

#endif
