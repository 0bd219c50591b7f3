#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/opt.h"
#include "common/stream/nodata.h"

bool
nodata_store(void *sample, enum img_type type, const char *text)
{
	uint64_t whole = 0;
	double v;
	char *end;

	if (!opt_number(text, &v))
		return false;
	errno = 0;
	if (type == IMG_I64)
		whole = (uint64_t)strtoll(text, &end, 10);
	else
		whole = strtoull(text, &end, 10);
	/* Of 64 bits a double may hold the highest alone. */
	if (errno || *end || (type != IMG_I64 && (type != IMG_U64 || *text == '-')))
		return sample_store(sample, &v, type, 1) == 1;
	memcpy(sample, &whole, sizeof whole);
	return true;
}

struct nodata
nodata_of(const struct img *x, bool nan_alone)
{
	const char *text = img_key(x, "nodata");
	struct nodata d = {.type = x->type, .value = NAN};
	double v;

	d.named = text && opt_number(text, &v);
	if (d.named)
		d.value = v;
	if (!img_is_float(x->type)) {
		d.any = d.named && nodata_store(d.sample, x->type, text);
		return d;
	}
	d.any = true;
	/* A float cannot be -1.7976931348623157e+308, which then becomes -inf, as GDAL's samples do. */
	nodata_store(d.sample, x->type, d.named && !nan_alone ? text : "nan");
	return d;
}

bool
nodata_same(const struct nodata *a, const struct nodata *b)
{
	return a->type == b->type && a->any == b->any &&
	       (!a->any || !memcmp(a->sample, b->sample, img_type_size(a->type)));
}

#define MARK(NAME, TYPE)                                                                  \
	WEIR_CLONES(mark_##NAME,                                                          \
		    (uint8_t *restrict is, const TYPE *restrict v, TYPE value, size_t n), \
		    (is, v, value, n))                                                    \
	{                                                                                 \
		for (size_t i = 0; i < n; i++)                                            \
			is[i] = (uint8_t)((v[i] == value) * NODATA_VALUE +                \
					  (v[i] != v[i]) * NODATA_NAN);                   \
	}
MARK(8, uint8_t)
MARK(16, uint16_t)
MARK(32, uint32_t)
MARK(64, uint64_t)
MARK(float, float)
MARK(double, double)
#undef MARK

void
nodata_mark(const struct nodata *d, uint8_t *restrict is, const void *restrict v, size_t n)
{
	const size_t size = img_type_size(d->type);
	const void *value = d->sample;

	if (!d->any)
		memset(is, NODATA_NOT, n);
	else if (d->type == IMG_F32)
		mark_float(is, v, *(const float *)value, n);
	else if (d->type == IMG_F64)
		mark_double(is, v, *(const double *)value, n);
	else if (size == 1)
		mark_8(is, v, *(const uint8_t *)value, n);
	else if (size == 2)
		mark_16(is, v, *(const uint16_t *)value, n);
	else if (size == 4)
		mark_32(is, v, *(const uint32_t *)value, n);
	else
		mark_64(is, v, *(const uint64_t *)value, n);
}

enum { CHUNK = 4096 }; /* samples at a time */

void
nodata_load(const struct nodata *d, double *restrict to, const void *restrict v, size_t n)
{
	uint8_t is[CHUNK];

	sample_load(to, v, d->type, n);
	for (size_t i = 0, some; d->named && i < n; i += some) {
		some = n - i < CHUNK ? n - i : CHUNK;
		nodata_mark(d, is, (const char *)v + i * img_type_size(d->type), some);
		for (size_t k = 0; k < some; k++)
			to[i + k] = is[k] ? NAN : to[i + k];
	}
}

size_t
nodata_count(const struct nodata *d, const void *v, size_t n)
{
	const size_t size = img_type_size(d->type);
	uint8_t is[CHUNK];
	size_t found = 0;

	for (size_t i = 0, some; i < n; i += some) {
		uint32_t sum = 0;
		some = n - i < CHUNK ? n - i : CHUNK;
		nodata_mark(d, is, (const char *)v + i * size, some);
		for (size_t k = 0; k < some; k++)
			sum += is[k] != NODATA_NOT;
		found += sum;
	}
	return found;
}

#define EXCHANGE(TYPE)                                                                      \
	WEIR_CLONES(value_to_nan_##TYPE, (TYPE * v, TYPE value, size_t n), (v, value, n))   \
	{                                                                                   \
		for (size_t i = 0; i < n; i++)                                              \
			v[i] = v[i] == value ? (TYPE)NAN : v[i];                            \
	}                                                                                   \
	WEIR_CLONES(nan_to_value_##TYPE, (TYPE * v, TYPE value, size_t n, size_t found[2]), \
		    (v, value, n, found))                                                   \
	{                                                                                   \
		size_t equal = 0, nan = 0;                                                  \
                                                                                            \
		for (size_t i = 0; i < n; i++) {                                            \
			equal += v[i] == value;                                             \
			nan += v[i] != v[i];                                                \
			v[i] = v[i] != v[i] ? value : v[i];                                 \
		}                                                                           \
		found[0] += equal;                                                          \
		found[1] += nan;                                                            \
	}
EXCHANGE(float)
EXCHANGE(double)
#undef EXCHANGE

void
nodata_to_nan(const struct nodata *d, void *v, size_t n)
{
	const void *value = d->sample;

	if (d->type == IMG_F32)
		value_to_nan_float(v, *(const float *)value, n);
	else
		value_to_nan_double(v, *(const double *)value, n);
}

void
nodata_from_nan(const struct nodata *d, void *v, size_t n, size_t found[2])
{
	const void *value = d->sample;

	if (d->type == IMG_F32)
		nan_to_value_float(v, *(const float *)value, n, found);
	else
		nan_to_value_double(v, *(const double *)value, n, found);
}

void
nodata_renew(struct img *x)
{
	if (!img_key(x, "nodata"))
		return;
	if (img_is_float(x->type))
		img_change_key(x, "nodata", "nan");
	else
		img_drop_key(x, "nodata");
}
