/*
 * Points sorted by tile, as records that carry all the loops need: two passes over 32-bit keys. Each thread counts its
 * own share of the points, so that the order inside a tile is the caller's for any number of threads.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/mem.h"
#include "common/par.h"
#include "common/simd.h"
#include "usfft/plan.h"

static inline double
coordinate(const struct usfft_points *pt, int axis, size_t j)
{
	if (pt->single)
		return ((const float *)pt->x[axis])[j * pt->stride];
	return ((const double *)pt->x[axis])[j * pt->stride];
}

/*
 * The cell that holds x (shifted by half a cell for an odd number of taps), and x in cells relative to it. x - rint(x) is
 * exact, and so is the product inside fma: nothing is lost however large x or n is.
 */
static inline size_t
find_cell(double x, size_t n, double shift, double *rest)
{
	const double folded = x - rint(x), cells = (double)n;
	const double cell = floor(fma(folded, cells, shift));

	*rest = fma(folded, cells, shift - cell);
	if (cell < 0)
		return (size_t)(cell + cells);
	return cell < cells ? (size_t)cell : 0;
}

struct sorter {
	const struct usfft_plan *p;
	const struct usfft_points *pt;
	const void *c;
	size_t cstride;
	double shift;
	size_t span;
};

/* Keys of points from..to-1, their counts per tile; returns 0, or NaN when a coordinate is not finite. */
WEIR_CLONES static double
count_points(const struct sorter *s, size_t from, size_t to, uint32_t *count)
{
	const struct usfft_plan *p = s->p;
	double finite = 0, rest;

	for (size_t j = from; j < to; j++) {
		size_t tile = 0;
		for (int a = p->o.dim - 1; a >= 0; a--) {
			const double x = coordinate(s->pt, a, j);
			finite += 0 * x;
			tile = tile * p->tiles[a] +
			       find_cell(x, p->grid.n[a], s->shift, &rest) / s->span;
		}
		p->points.key[j] = (uint32_t)tile;
		count[tile]++;
	}
	return finite;
}

static inline int64_t
make_place(double x, size_t n, double shift, size_t span, int bits)
{
	const int64_t one = (int64_t)1 << bits;
	double rest;
	const size_t cell = find_cell(x, n, shift, &rest) % span;
	const int64_t fraction = (int64_t)(rest * (double)one);

	return (int64_t)cell * one + (fraction < 0 ? 0 : fraction < one ? fraction : one - 1);
}

static inline void
store_value(const struct sorter *s, size_t j, char *to)
{
	const size_t real = s->p->real;
	const uint64_t index = j;

	if (s->c)
		memcpy(to, (const char *)s->c + j * s->cstride * real, 2 * real);
	else
		memcpy(to, &index, sizeof index);
}

/* Moves points from..to-1 to their tiles; next[tile] is where the next one goes. 0, or NaN when a value is not finite. */
WEIR_CLONES static double
move_points(const struct sorter *s, size_t from, size_t to, uint32_t *next)
{
	const struct usfft_plan *p = s->p;
	const int dim = p->o.dim, bits = tile_bits(dim, p->real);
	const size_t record = ((size_t)dim + 2) * p->real;
	double finite = 0;

	for (size_t j = from; j < to; j++) {
		char *r = (char *)p->points.record + next[p->points.key[j]]++ * record;
		for (int a = 0; a < dim; a++) {
			const int64_t place = make_place(coordinate(s->pt, a, j), p->grid.n[a],
							 s->shift, s->span, bits);
			if (p->real == sizeof(float))
				((int32_t *)r)[a] = (int32_t)place;
			else
				((int64_t *)r)[a] = place;
		}
		r += (size_t)dim * p->real;
		store_value(s, j, r);
		if (s->c && p->real == sizeof(float))
			finite += 0 * ((float *)r)[0] + 0 * ((float *)r)[1];
		else if (s->c)
			finite += 0 * ((double *)r)[0] + 0 * ((double *)r)[1];
	}
	return finite;
}

/* Counts per thread and tile become first places. */
static void
add_up(struct usfft_plan *p, uint32_t *count, size_t shares)
{
	uint32_t sum = 0;

	p->nheavy = 0;
	for (size_t t = 0; t < p->ntiles; t++) {
		p->points.start[t] = sum;
		for (size_t i = 0; i < shares; i++) {
			const uint32_t n = count[i * p->ntiles + t];
			count[i * p->ntiles + t] = sum;
			sum += n;
		}
		if (sum - p->points.start[t] > TILE_HEAVY)
			p->heavy[p->nheavy++] = (uint32_t)t;
	}
	p->points.start[p->ntiles] = sum;
}

/* The first point with a coordinate or a value that is not finite. */
static size_t
find_bad(const struct sorter *s)
{
	for (size_t j = 0; j < s->pt->m; j++) {
		double v[2] = {0, 0};
		for (int a = 0; a < s->p->o.dim; a++)
			if (!isfinite(coordinate(s->pt, a, j)))
				return j;
		if (s->c && s->p->real == sizeof(float))
			for (int i = 0; i < 2; i++)
				v[i] = ((const float *)s->c)[j * s->cstride + (size_t)i];
		else if (s->c)
			memcpy(v, (const double *)s->c + j * s->cstride, sizeof v);
		if (!isfinite(v[0]) || !isfinite(v[1]))
			return j;
	}
	return 0;
}

static int
make_room(struct usfft_plan *p, size_t m)
{
	struct points *q = &p->points;

	if (m > USFFT_MAXPOINTS)
		return -EOVERFLOW;
	if (q->room >= m && q->record)
		return 0;
	weir_free(q->record);
	weir_free(q->key);
	q->room = 0;
	q->record = weir_alloc(m, ((size_t)p->o.dim + 2) * p->real);
	q->key = weir_alloc(m, sizeof *q->key);
	if (!q->record || !q->key)
		return -ENOMEM;
	q->room = m;
	return 0;
}

static size_t
share(size_t m, size_t i, size_t shares)
{
	return m / shares * i + (i < m % shares ? i : m % shares);
}

int
usfft_points(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
	     size_t *bad)
{
	const size_t shares = pt->m < 4096 ? 1 : (size_t)p->o.threads, m = pt->m;
	const struct sorter s = {.p = p,
				 .pt = pt,
				 .c = c,
				 .cstride = cstride,
				 .shift = p->win[0].w % 2 ? 0.5 : 0,
				 .span = (size_t)tile_span(p->o.dim)};
	double finite = 0, t0 = usfft_now();
	uint32_t *count;
	int err = make_room(p, m);

	if (err)
		return err;
	count = weir_calloc(shares * p->ntiles, sizeof *count);
	if (!count)
		return -ENOMEM;
	p->points.m = m;
	p->points.indexed = !c;
#pragma omp parallel for num_threads((int)shares) schedule(static, 1) reduction(+ : finite)
	for (size_t i = 0; i < shares; i++)
		finite += count_points(&s, share(m, i, shares), share(m, i + 1, shares),
				       count + i * p->ntiles);
	add_up(p, count, shares);
	if (finite == 0)
#pragma omp parallel for num_threads((int)shares) schedule(static, 1) reduction(+ : finite)
		for (size_t i = 0; i < shares; i++)
			finite += move_points(&s, share(m, i, shares), share(m, i + 1, shares),
					      count + i * p->ntiles);
	weir_free(count);
	p->seconds.sort += usfft_now() - t0;
	if (finite == 0)
		return 0;
	*bad = find_bad(&s);
	p->points.m = 0;
	p->nheavy = 0;
	return -EINVAL;
}
