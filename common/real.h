/* Arrays of reals whose type, float or double, is known only when the program runs. */
#ifndef WEIR_REAL_H
#define WEIR_REAL_H

#include <stdbool.h>
#include <stddef.h>

/* x[i] of floats (single) or doubles. */
static inline double
real_at(const void *x, size_t i, bool single)
{
	return single ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* x[i] = v, rounded to float where x holds floats. */
static inline void
real_set(void *x, size_t i, double v, bool single)
{
	if (single)
		((float *)x)[i] = (float)v;
	else
		((double *)x)[i] = v;
}

#endif
