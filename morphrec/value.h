/* Single samples of any type as doubles, which hold all of them exactly. */
#ifndef WEIR_MORPHREC_VALUE_H
#define WEIR_MORPHREC_VALUE_H

#include "common/base/sample.h"

static inline double
value_get(enum img_type type, const void *a, size_t i)
{
	double v;

	sample_load(&v, (const char *)a + i * img_type_size(type), type, 1);
	return v;
}

/* v must be a value of that type. */
static inline void
value_set(enum img_type type, void *a, size_t i, double v)
{
	sample_store((char *)a + i * img_type_size(type), &v, type, 1);
}

#endif
