/* Samples of any type as doubles, and what can be said of many of them. Pure. */
#ifndef WEIR_SAMPLE_H
#define WEIR_SAMPLE_H

#include <stdint.h>

#include "common/img.h"

/* out[i] = in[i]. 64-bit integers beyond 2^53 are rounded. in and out do not overlap. */
void sample_load(double *restrict out, const void *restrict in, enum img_type type, size_t n);

/*
 * out[i] = in[i], where the type has that very number; floats are rounded to nearest. Returns n, or the index of the first
 * that the type has not: a fraction or NaN as an integer, a number out of range.
 */
size_t sample_store(void *restrict out, const double *restrict in, enum img_type type, size_t n);

/* Of the finite samples: the least, the greatest, the sum; how many there were; how many were NaN or infinite. */
struct sample_stats {
	double lo, hi, sum; /* inf, -inf, 0 before the first */
	uint64_t finite, nan, inf;
};

void sample_stats_start(struct sample_stats *s);
void sample_stats_add(struct sample_stats *s, const double *v, size_t n);

#endif
