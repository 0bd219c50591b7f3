/* Random numbers for tests: splitmix64, the same on every machine. */
#ifndef WEIR_RNG_H
#define WEIR_RNG_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct check_rng {
	uint64_t s; /* the seed, any number */
};

static inline uint64_t
rng_u64(struct check_rng *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0..n-1 */
static inline size_t
rng_below(struct check_rng *r, size_t n)
{
	return (size_t)(rng_u64(r) % n);
}

/* [0,1) */
static inline double
rng_unit(struct check_rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* mean 0, variance 1 */
static inline double
rng_normal(struct check_rng *r)
{
	double u = 1 - rng_unit(r), v = rng_unit(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

#endif
