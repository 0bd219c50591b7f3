#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/opt.h"
#include "common/stream/nodata.h"

/* Stores a whole number of 64 bits, of which a double may hold the highest bits alone. */
static bool
store_whole(void *sample, bool is_signed, const char *text)
{
	char *end;

	errno = 0;
	const uint64_t v = is_signed ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	if (errno || *end || (!is_signed && *text == '-'))
		return false;
	memcpy(sample, &v, sizeof v);
	return true;
}

bool
nodata_store(void *sample, enum img_type type, const char *text)
{
	double v;

	if (!opt_number(text, &v))
		return false;
	return ((type == IMG_I64 || type == IMG_U64) &&
		store_whole(sample, type == IMG_I64, text)) ||
	       sample_store(sample, &v, type, 1) == 1;
}

struct nodata
nodata_of(const struct img *x, bool nan_alone)
{
	const char *text = img_key(x, "nodata");
	struct nodata d = {.type = x->type};
	double v;

	d.named = text && opt_number(text, &v);
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

#define DEFINE_MARK(NAME, TYPE)                                                                \
	static void NAME(const char *sample, uint8_t *restrict is, const void *from, size_t n) \
	{                                                                                      \
		const TYPE *v = from;                                                          \
		TYPE value;                                                                    \
                                                                                               \
		memcpy(&value, sample, sizeof value);                                          \
		for (size_t i = 0; i < n; i++)                                                 \
			is[i] = v[i] == value  ? NODATA_VALUE                                  \
				: v[i] != v[i] ? NODATA_NAN                                    \
					       : NODATA_NOT;                                   \
	}
DEFINE_MARK(mark_1, uint8_t)
DEFINE_MARK(mark_2, uint16_t)
DEFINE_MARK(mark_4, uint32_t)
DEFINE_MARK(mark_8, uint64_t)
DEFINE_MARK(mark_f32, float)
DEFINE_MARK(mark_f64, double)
#undef DEFINE_MARK

void
nodata_mark(const struct nodata *d, uint8_t *restrict is, const void *restrict v, size_t n)
{
	const size_t size = img_type_size(d->type);

	if (!d->any)
		memset(is, NODATA_NOT, n);
	else if (d->type == IMG_F32)
		mark_f32(d->sample, is, v, n);
	else if (d->type == IMG_F64)
		mark_f64(d->sample, is, v, n);
	else
		(size == 1   ? mark_1
		 : size == 2 ? mark_2
		 : size == 4 ? mark_4
			     : mark_8)(d->sample, is, v, n);
}

size_t
nodata_put(void *v, const uint8_t *is, int what, const void *sample, size_t size, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (is[i] != what)
			continue;
		memcpy((char *)v + i * size, sample, size);
		count++;
	}
	return count;
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
