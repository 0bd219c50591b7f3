#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "usfft/items/values.h"

static double
part(const struct values *v, size_t i, size_t k)
{
	return real_at(v->c, i * v->cstride + k, v->single);
}

double *
values_as_doubles(const struct values *v, size_t m, const double *weights)
{
	double *c = weir_alloc(m, 2 * sizeof *c);

	for (size_t i = 0; c && i < m; i++)
		for (size_t k = 0; k < 2; k++)
			c[2 * i + k] = part(v, i, k) * (weights ? weights[i] : 1);
	return c;
}

int
values_make_own(struct values *v, size_t m, const double *weights)
{
	void *own = weir_alloc(m, 2 * (v->single ? sizeof(float) : sizeof(double)));

	if (!own)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * m; i++) {
		const double x = part(v, i / 2, i % 2) * (weights ? weights[i / 2] : 1);
		real_set(own, i, x, v->single);
	}
	weir_free(v->owned);
	v->c = v->owned = own;
	v->cstride = 2;
	return 0;
}

size_t
values_find_bad(const struct values *v, size_t m)
{
	for (size_t i = 0; i < m; i++)
		if (!isfinite(part(v, i, 0)) || !isfinite(part(v, i, 1)))
			return i;
	return m;
}

WEIR_CLONES_OF(bool, floats_are_finite, (const float *z, size_t n), (z, n))
{
	int32_t bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= !(fabsf(z[i]) <= FLT_MAX);
	return !bad;
}

WEIR_CLONES_OF(bool, doubles_are_finite, (const double *z, size_t n), (z, n))
{
	int64_t bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= !(fabs(z[i]) <= DBL_MAX);
	return !bad;
}

bool
values_are_finite(const void *z, size_t n, bool single)
{
	return single ? floats_are_finite(z, n) : doubles_are_finite(z, n);
}

void
values_free(struct values *v)
{
	weir_free(v->owned);
}
