/*
 * Finds points, values and modes in items: by the names of columns, by axes and by types. It also makes the headers of
 * results. Its only arithmetic is conversion.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "usfft/job.h"

/* Returns which column of "x y re im" has that name, or -1. *count: the number of columns. */
static int
find_column(const char *columns, const char *name, size_t *count)
{
	const size_t len = strlen(name);
	int at = -1;

	*count = 0;
	for (const char *s = columns + strspn(columns, " "); *s; s += strspn(s, " ")) {
		const size_t word = strcspn(s, " ");
		if (word == len && !memcmp(s, name, len) && at < 0)
			at = (int)*count;
		++*count;
		s += word;
	}
	return at;
}

/* Returns the names of the columns: those of the key, else the usual ones. values: three columns are x re im. */
static const char *
columns_of(const struct img *x, bool values, bool sky)
{
	static const char *const usual[] = {NULL, "x", "x y", "x y z", "x y re im", "x y z re im"};
	static const char *const of_sky[] = {NULL, NULL, NULL, "u v w", NULL, "u v w re im"};
	const char *given = img_key(x, "columns");
	const size_t k = x->axis[0].n;

	if (given)
		return given;
	if (k == 3 && values && !sky)
		return "x re im";
	return k > 5 ? NULL : sky ? of_sky[k] : usual[k];
}

/* Returns the column of the real part, re, or value where there is no im. -1 is none. */
static int
find_re(const char *columns, size_t *count)
{
	const int re = find_column(columns, "re", count);

	return re >= 0 || find_column(columns, "im", count) >= 0
		   ? re
		   : find_column(columns, "value", count);
}

bool
stream_lacks_im(const struct img *x)
{
	const char *columns = img_key(x, "columns");
	size_t n;

	return columns && find_re(columns, &n) >= 0 && find_column(columns, "im", &n) < 0;
}

/* Finds the columns re and im, or value. p->c stays NULL when there are none. Returns 0 or -1. */
static int
find_values(const struct img *x, const char *columns, struct stream_points *p, struct why *why)
{
	size_t count;
	const int re = find_re(columns, &count), im = find_column(columns, "im", &count);

	if (re < 0 && im < 0)
		return 0;
	p->single = x->type == IMG_F32;
	p->real = im < 0;
	if (re < 0 || (im >= 0 && im != re + 1))
		return why_set(why, "columns:=%.60s: re and im must stand side by side", columns);
	p->c = (const char *)x->data + (size_t)re * img_type_size(x->type);
	p->cstride = count;
	return 0;
}

int
stream_values(const struct img *x, struct stream_points *p, struct why *why)
{
	const char *columns = img_is_float(x->type) ? img_key(x, "columns") : NULL;

	*p = (struct stream_points){0};
	return columns ? find_values(x, columns, p, why) : 0;
}

int
stream_points(const struct img *x, bool values, bool sky, struct stream_points *p, struct why *why)
{
	static const char *const names[3][3] = {
	    {"x", "y", "z"}, {"u", "v", "w"}, {"kx", "ky", "kz"}};
	const size_t real = img_type_size(x->type);
	const char *columns;
	size_t count = 0, m = 1;
	int at[3];

	*p = (struct stream_points){.single = x->type == IMG_F32};
	if (x->dim < 2 || !img_is_float(x->type))
		return why_set(why, "points are an item `k n` of type float or double");
	if (x->dim == 2 && x->axis[0].n > 5 && x->axis[1].n <= 3 && !sky &&
	    !img_key(x, "columns")) {
		p->dim = (int)x->axis[1].n;
		p->pt = (struct usfft_points){.m = x->axis[0].n, .stride = 1, .single = p->single};
		for (int a = 0; a < p->dim; a++)
			p->pt.x[a] = (const char *)x->data + (size_t)a * p->pt.m * real;
		return 0;
	}
	for (int a = 1; a < x->dim; a++)
		m *= x->axis[a].n;
	columns = columns_of(x, values, sky);
	for (int a = 0; columns && a < 3; a++) {
		at[a] = find_column(columns, names[sky][a], &count);
		if (at[a] < 0 && !sky)
			at[a] = find_column(columns, names[2][a], &count);
		if (at[a] >= 0 && p->dim == a)
			p->dim++;
	}
	if (!columns || count != x->axis[0].n || p->dim < (sky ? 3 : 1))
		return why_set(why, "columns:=%.60s does not name %zu columns, %s among them",
			       columns ? columns : "", x->axis[0].n, sky ? "u v w" : "x");
	p->pt = (struct usfft_points){.m = m, .stride = count, .single = p->single};
	for (int a = 0; a < p->dim; a++)
		p->pt.x[a] = (const char *)x->data + (size_t)at[a] * real;
	return find_values(x, columns, p, why);
}

int
stream_modes(const struct img *x, int dim, size_t n[3], struct why *why)
{
	const int first = img_is_complex(x);

	if (x->dim - first != dim)
		return why_set(why, "modes of %d axes, but points of %d", x->dim - first, dim);
	for (int a = 0; a < 3; a++)
		n[a] = a < dim ? x->axis[a + first].n : 1;
	return 0;
}

bool
stream_single(enum img_type type)
{
	return type == IMG_F32 || type == IMG_I8 || type == IMG_U8 || type == IMG_I16 ||
	       type == IMG_U16;
}

void *
stream_complex(const struct img *x, size_t count, bool single)
{
	const size_t size = img_type_size(x->type), parts = img_is_complex(x) ? 2 : 1;
	void *z = weir_alloc(count, 2 * (single ? sizeof(float) : sizeof(double)));
	double v[512];

	for (size_t i = 0; z && i < count * parts; i += 512) {
		const size_t n = count * parts - i < 512 ? count * parts - i : 512;
		sample_load(v, (const char *)x->data + i * size, x->type, n);
		for (size_t q = 0; q < n; q++) {
			real_set(z, (i + q) * 2 / parts, v[q], single);
			if (parts == 1)
				real_set(z, (i + q) * 2 + 1, 0, single);
		}
	}
	return z;
}

void
stream_head(struct img *x, bool single, bool complex, int dim, const size_t *n)
{
	size_t sizes[4] = {2};
	const int first = complex ? 1 : 0;

	for (int a = 0; a < dim; a++)
		sizes[a + first] = n[a];
	img_init(x, single ? IMG_F32 : IMG_F64, dim + first, sizes);
	if (complex)
		strcpy(x->axis[0].kind, "complex");
}

void
stream_modes_head(struct img *x, const struct usfft_options *o, bool complex)
{
	stream_head(x, o->single, complex, o->dim, o->n);
	for (int a = 0; a < o->dim; a++) {
		struct img_axis *axis = &x->axis[a + (complex ? 1 : 0)];
		axis->spacing = 1;
		axis->min = -(double)(o->n[a] / 2);
		axis->centre = IMG_NODE;
	}
}

size_t
stream_find_outside(const struct usfft_points *pt, int dim, const double scale[3])
{
	for (size_t j = 0; j < pt->m; j++)
		for (int a = 0; a < dim; a++) {
			const double x = scale[a] * real_at(pt->x[a], j * pt->stride, pt->single);
			if (!(x >= -0.5 && x < 0.5))
				return j;
		}
	return pt->m;
}

bool
stream_mostly_outside(const struct usfft_points *pt, int dim, double most[3])
{
	const size_t step = pt->m / 1000 + 1;
	size_t n = 0, out = 0;

	for (size_t j = 0; j < pt->m; j += step, n++) {
		bool far = false;
		for (int a = 0; a < dim; a++) {
			const double x = real_at(pt->x[a], j * pt->stride, pt->single);
			far |= x < -.5 || x >= 1;
			most[a] = fmax(most[a], fabs(x));
		}
		out += far;
	}
	return 2 * out > n;
}

/* ---- values ---- */

static double
part(const struct values *v, size_t i, size_t k)
{
	return k && v->real ? 0 : real_at(v->c, i * v->cstride + k, v->single);
}

void *
values_copy(const struct values *v, size_t m, const double *weights, bool single)
{
	void *copy = weir_alloc(m, 2 * (single ? sizeof(float) : sizeof(double)));

	for (size_t i = 0; copy && i < 2 * m; i++)
		real_set(copy, i, part(v, i / 2, i % 2) * (weights ? weights[i / 2] : 1), single);
	return copy;
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
