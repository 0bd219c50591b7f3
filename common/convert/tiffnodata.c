/* See common/convert/tiffnodata.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/sample.h"
#include "common/convert/tiffnodata.h"

enum { CHUNK = 512 };

struct nodata
nodata_of(struct img *x, bool nan, bool masked)
{
	const char *const word = img_key(x, "nodata");
	struct nodata d = {.given = x->type, .type = x->type, .planes = 1};

	d.any = word && opt_number(word, &d.value) && !isnan(d.value);
	if ((d.any || masked) && nan && !img_is_float(x->type))
		d.type = img_type_size(x->type) < 4 ? IMG_F32 : IMG_F64;
	x->type = d.type;
	if (masked && !word)
		img_set_key(x, "nodata", "nan");
	if (img_row_axis(x))
		d.planes = x->axis[0].n;
	return d;
}

static void
mark_floats(float *v, size_t n, float value)
{
	for (size_t i = 0; i < n; i++)
		v[i] = v[i] == value ? NAN : v[i];
}

static void
mark_doubles(double *v, size_t n, double value)
{
	for (size_t i = 0; i < n; i++)
		v[i] = v[i] == value ? NAN : v[i];
}

static uint64_t
count_equal(const char *v, enum img_type type, size_t n, double value)
{
	double some[CHUNK];
	uint64_t count = 0;

	for (size_t i = 0; i < n; i += CHUNK) {
		const size_t m = n - i < CHUNK ? n - i : CHUNK;
		sample_load(some, v + i * img_type_size(type), type, m);
		for (size_t j = 0; j < m; j++)
			count += some[j] == value;
	}
	return count;
}

/* Makes doubles, or floats, of integers. */
static void *
mark_integers(struct nodata *d, const char *v, size_t n)
{
	const size_t size = img_type_size(d->type);
	double some[CHUNK];

	if (n * size > d->room) {
		weir_free(d->made);
		d->made = weir_xalloc(n, size);
		d->room = n * size;
	}
	for (size_t i = 0; i < n; i += CHUNK) {
		const size_t m = n - i < CHUNK ? n - i : CHUNK;
		sample_load(some, v + i * img_type_size(d->given), d->given, m);
		if (d->any)
			mark_doubles(some, m, d->value);
		sample_store(d->made + i * size, some, d->type, m);
	}
	return d->made;
}

static void
mark_masked(struct nodata *d, void *samples, size_t n)
{
	float *f = samples;
	double *g = samples;

	for (size_t i = 0; i < n; i++)
		if (d->mask[d->at + i / d->planes])
			continue;
		else if (d->type == IMG_F32)
			f[i] = NAN;
		else
			g[i] = NAN;
	d->at += n / d->planes;
}

const void *
nodata_mark(struct nodata *d, void *rows, size_t n)
{
	void *v = rows;

	if (d->given != d->type)
		v = mark_integers(d, rows, n);
	else if (d->any && d->given == IMG_F32)
		mark_floats(rows, n, (float)d->value);
	else if (d->any && d->given == IMG_F64)
		mark_doubles(rows, n, d->value);
	else if (d->any)
		d->kept += count_equal(rows, d->given, n, d->value);
	if (d->mask)
		mark_masked(d, v, n);
	return v;
}

void
nodata_free(struct nodata *d)
{
	weir_free(d->made);
	d->made = NULL;
}

bool
nodata_fits(const char *text, enum img_type type)
{
	_Alignas(double) char sample[8];
	char *end;
	double v;

	if (!opt_number(text, &v) || sample_store(sample, &v, type, 1) == 1)
		return true;
	/* Integers of 64 bits that no double holds. */
	errno = 0;
	if (type == IMG_I64)
		strtoll(text, &end, 10);
	else if (type == IMG_U64 && *text != '-')
		strtoull(text, &end, 10);
	else
		return false;
	return !errno && !*end;
}
