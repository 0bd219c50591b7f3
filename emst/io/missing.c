/* See emst/io/missing.h. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/sample.h"
#include "emst/io/missing.h"

enum { BLOCK = 4096 };

static bool
has_nan(const struct img *x, size_t count)
{
	const float *f = x->data;
	const double *g = x->data;
	bool any = false;

	if (x->type == IMG_F32)
		for (size_t i = 0; i < count; i++)
			any |= isnan(f[i]);
	else if (x->type == IMG_F64)
		for (size_t i = 0; i < count; i++)
			any |= isnan(g[i]);
	return any;
}

static bool
is_missing(const double *v, size_t planes, double nodata)
{
	bool nan = false, equal = true;

	for (size_t a = 0; a < planes; a++) {
		nan |= isnan(v[a]);
		equal &= v[a] == nodata;
	}
	return nan || equal;
}

/* Fills is[]. Returns how many are missing. nodata: NaN when there is no such value. */
static size_t
mark(uint8_t *is, const struct img *x, size_t planes, size_t inputs, double nodata)
{
	const size_t size = planes * img_type_size(x->type), most = BLOCK / planes + 1;
	double *v = weir_xalloc(most * planes, sizeof *v);
	size_t found = 0;

	for (size_t from = 0, n; from < inputs; from += n) {
		n = inputs - from < most ? inputs - from : most;
		sample_load(v, (const char *)x->data + from * size, x->type, n * planes);
		for (size_t i = 0; i < n; i++)
			found += is[from + i] = is_missing(v + i * planes, planes, nodata);
	}
	weir_free(v);
	return found;
}

void
missing_find(struct missing *m, const struct raw_in *in, struct img *x, size_t planes,
	     size_t *inputs)
{
	const size_t size = planes * img_type_size(x->type);
	const char *word = img_key(x, "nodata");
	double nodata = NAN;
	char *data = x->data;

	*m = (struct missing){0};
	if (word)
		opt_number(word, &nodata);
	if (isnan(nodata) && !has_nan(x, *inputs * planes))
		return;
	m->is = weir_xalloc_large(*inputs, 1);
	m->n = mark(m->is, x, planes, *inputs, nodata);
	if (m->n == *inputs)
		raw_die(in, "no pixel has data");
	if (!m->n) {
		missing_free(m);
		return;
	}
	m->place = weir_xalloc_large(*inputs - m->n, sizeof *m->place);
	for (size_t i = 0, to = 0; i < *inputs; i++) {
		if (m->is[i])
			continue;
		memmove(data + to * size, data + i * size, size);
		m->place[to++] = (uint32_t)i;
	}
	*inputs -= m->n;
}

int
missing_number(const struct missing *m, struct vertices *v)
{
	return m->n && v->first ? vertices_count(v, v->count, m->place, v->total) : 0;
}

size_t
missing_others(const struct missing *m, size_t from, size_t n)
{
	size_t others = 0;

	for (size_t i = 0; i < n; i++)
		others += !m->is[from + i];
	return others;
}

void
missing_spread(const struct missing *m, char *rows, size_t from, size_t n, const char *none,
	       size_t bytes)
{
	size_t at = missing_others(m, from, n);

	for (size_t i = n; i-- > 0;)
		if (m->is[from + i])
			memcpy(rows + i * bytes, none, bytes);
		else
			memmove(rows + i * bytes, rows + --at * bytes, bytes);
}

void
missing_free(struct missing *m)
{
	weir_free(m->is);
	weir_free(m->place);
	*m = (struct missing){0};
}
