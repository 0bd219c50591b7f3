#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/real.h"
#include "usfft/plan.h"

enum { BLOCK = 256 }; /* points whose places are computed at a time, in loops that vectorise */

/* A block of points: per axis, the cell that holds each point, and the point's distance from the start of the cell. */
struct block {
	int32_t cell[3][BLOCK];
	double rest[3][BLOCK];
	int64_t bad; /* 0 when all coordinates are finite */
};

/*
 * Finds the cell that holds x (shifted by half a cell for an odd number of taps), and x in cells relative to it.
 * x - rint(x) is exact, and so is the product inside fma, for any size of x and n.
 */
CPU_INLINE void
find_cells(const double *x, size_t count, double n, double shift, int32_t *cell, double *rest)
{
	for (size_t j = 0; j < count; j++) {
		const double folded = x[j] - rint(x[j]);
		const double at = floor(fma(folded, n, shift));
		rest[j] = fma(folded, n, shift - at);
		cell[j] = (int32_t)(at < 0 ? at + n : at < n ? at : 0);
	}
}

/* Returns 0 when all n numbers are finite. It is an OR, because a sum of floats would wait for each of its additions. */
CPU_INLINE int64_t
find_infinite(const double *x, size_t n)
{
	int64_t bad = 0;

	for (size_t j = 0; j < n; j++)
		bad |= fabs(x[j]) <= DBL_MAX ? 0 : 1;
	return bad;
}

CPU_INLINE void
take_strided(double *x, const void *v, bool single, size_t stride, size_t from, size_t n)
{
	for (size_t j = 0; j < n; j++)
		x[j] = real_at(v, (from + j) * stride, single);
}

/* Loads n numbers as doubles. The usual strides, of points with and without values, have loops that vectorise. */
CPU_INLINE void
take(double *x, const void *v, bool single, size_t stride, size_t from, size_t n)
{
	if (stride == 1)
		take_strided(x, v, single, 1, from, n);
	else if (stride == 2)
		take_strided(x, v, single, 2, from, n);
	else if (stride == 4)
		take_strided(x, v, single, 4, from, n);
	else
		take_strided(x, v, single, stride, from, n);
}

/* Scales x. lost is what rounding took from it: many turns would multiply that. */
CPU_INLINE void
rescale(const struct usfft_scale *s, double *restrict x, size_t n, double *restrict lost)
{
	const double mid = s->mid, factor = s->factor, rest = s->rest;

	for (size_t i = 0; i < n; i++) {
		const double v = x[i], d = v - mid, t = d - v;
		const double off = (v - (d - t)) - (mid + t), y = d * factor;
		x[i] = y;
		lost[i] = fma(d, factor, -y) + off * factor + d * rest;
	}
}

/* Finds the cells of `count` points of a piece, starting with point `from`. */
WEIR_CLONES(locate, (const struct piece *s, size_t from, size_t count, struct block *b),
	    (s, from, count, b))
{
	const struct usfft_points *pt = s->pt;
	const double shift = s->p->win[0].w % 2 ? 0.5 : 0;
	double x[BLOCK], lost[BLOCK];

	b->bad = 0;
	for (int a = 0; a < s->p->o.dim; a++) {
		const double n = (double)s->p->grid.n[a];
		take(x, pt->x[a], pt->single, pt->stride, from, count);
		b->bad |= find_infinite(x, count);
		if (pt->scale)
			rescale(&pt->scale[a], x, count, lost);
		else if (pt->rest[a])
			take(lost, pt->rest[a], false, pt->stride, from, count);
		find_cells(x, count, n, shift, b->cell[a], b->rest[a]);
		for (size_t j = 0; (pt->scale || pt->rest[a]) && j < count; j++)
			b->rest[a][j] += n * lost[j];
	}
}

WEIR_CLONES_OF(bool, values_finite, (const struct piece *s, size_t from, size_t n), (s, from, n))
{
	const bool single = s->p->o.single;
	int64_t bad = 0;
	double v[BLOCK];

	for (size_t i = 0; i < 2; i++) {
		const void *part = (const char *)s->c + i * s->p->real;
		take(v, part, single, s->cstride, from, n);
		bad |= find_infinite(v, n);
	}
	return !bad;
}

/* Computes the keys of n located points, and counts them. */
static void
count_keys(const struct usfft_plan *p, const struct block *b, size_t n, uint32_t *key,
	   uint32_t *count)
{
	const uint32_t nx = (uint32_t)p->tiles[0], ny = (uint32_t)p->tiles[1];
	const int log = p->span_log;

	if (p->ntiles == 1 && p->o.dim < 3) {
		*count += (uint32_t)n;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t x = (uint32_t)b->cell[0][i];
		const uint32_t y = (uint32_t)b->cell[1][i], z = (uint32_t)b->cell[2][i];
		const uint32_t tile = ((z >> log) * ny + (y >> log)) * nx + (x >> log);
		key[i] = p->o.dim == 3 ? tile * TILE_PARTS + tile_part(y, z) : tile;
		count[key[i]]++;
	}
}

/* Computes places as fixed-point numbers: the cell inside the tile, and the fraction of a cell. */
WEIR_CLONES(make_places,
	    (const struct block *b, int axis, size_t n, int log, int bits, int64_t *place),
	    (b, axis, n, log, bits, place))
{
	const int32_t inside = (1 << log) - 1;
	const double one = (double)((int64_t)1 << bits);

	for (size_t i = 0; i < n; i++) {
		const double f = b->rest[axis][i] * one;
		place[i] =
		    ((int64_t)(b->cell[axis][i] & inside) << bits) + (int64_t)(f < 0	 ? 0
									       : f < one ? f
											 : one - 1);
	}
}

/* Writes the records of n points of a piece, one after the other. */
CPU_INLINE void
write_records(const struct piece *s, int dim, size_t real, size_t place_bytes, size_t from,
	      size_t n, int64_t (*place)[BLOCK], char *to)
{
	const bool wide = place_bytes == sizeof(int64_t);
	const size_t bytes = tile_record(dim, real, wide, !s->c);

	for (size_t i = 0; i < n; i++, to += bytes) {
		const uint64_t index = s->first + from + i;
		char *value = to + bytes - tile_value(real, !s->c);
		for (int a = 0; a < dim; a++)
			if (place_bytes == sizeof(int32_t))
				((int32_t *)to)[a] = (int32_t)place[a][i];
			else
				((int64_t *)to)[a] = place[a][i];
		if (s->c)
			memcpy(value, (const char *)s->c + (from + i) * s->cstride * real,
			       2 * real);
		else
			memcpy(value, &index, sizeof index);
	}
}

bool
records_take(const struct piece *s, size_t from, size_t to, uint32_t *count)
{
	const struct points *q = &s->p->points;
	const int dim = s->p->o.dim;
	int64_t place[3][BLOCK];
	struct block b = {.cell = {{0}}};

	for (size_t j = from; j < to; j += BLOCK) {
		const size_t n = to - j < BLOCK ? to - j : BLOCK;
		char *record = q->arrived + (s->first + j) * q->bytes;
		locate(s, j, n, &b);
		if (b.bad || (s->c && !values_finite(s, j, n)))
			return false;
		count_keys(s->p, &b, n, q->key + s->first + j, count);
		for (int a = 0; a < dim; a++)
			make_places(&b, a, n, s->p->span_log,
				    q->wide ? s->p->bits : tile_bits(dim, false), place[a]);
#define WRITE(d, type, place_type)                                                          \
	if (dim == d && s->p->real == sizeof(type) && q->wide == (sizeof(place_type) == 8)) \
	write_records(s, d, sizeof(type), sizeof(place_type), j, n, place, record)
		WRITE(1, float, int32_t);
		WRITE(1, float, int64_t);
		WRITE(2, float, int32_t);
		WRITE(3, float, int32_t);
		WRITE(1, double, int64_t);
		WRITE(2, double, int64_t);
		WRITE(3, double, int64_t);
		WRITE(2, double, int32_t);
		WRITE(3, double, int32_t);
#undef WRITE
	}
	return true;
}

size_t
records_find_bad(const struct piece *s)
{
	for (size_t j = 0; j < s->pt->m; j++) {
		for (int a = 0; a < s->p->o.dim; a++)
			if (!isfinite(real_at(s->pt->x[a], j * s->pt->stride, s->pt->single)))
				return j;
		for (size_t i = 0; s->c && i < 2; i++)
			if (!isfinite(real_at(s->c, j * s->cstride + i, s->p->o.single)))
				return j;
	}
	return 0;
}
