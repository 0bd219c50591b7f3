/* Reads, in seconds, a clock that never jumps. */
#ifndef WEIR_BASE_CLOCK_H
#define WEIR_BASE_CLOCK_H

#include <time.h>

static inline double
clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Adds the seconds since *t to a stage, and sets *t to now. */
static inline void
clock_charge(double *t, double *stage)
{
	const double now = clock_now();

	*stage += now - *t;
	*t = now;
}

#endif
