#include <errno.h>
#include <string.h>

#include "common/mem.h"
#include "emst/palette/cells.h"

enum { CELL_BITS = 9, BLOCK_BITS = 15, DIGIT = 12 };

static int
get_room(struct cells *c, size_t n)
{
	bool room = true;

	*c = (struct cells){.n = n,
			    .key = weir_alloc_large(n, sizeof *c->key),
			    .sum = weir_alloc_large(n, sizeof *c->sum)};
	for (int a = 0; a < 3; a++) {
		c->x[a] = weir_alloc_large(n + LANES, sizeof *c->x[a]);
		room = room && c->x[a];
		if (c->x[a])
			memset(c->x[a] + n, 0, LANES * sizeof *c->x[a]);
	}
	return room && c->key && c->sum ? 0 : -ENOMEM;
}

void
cells_free(struct cells *c)
{
	for (int a = 0; a < 3; a++)
		weir_free(c->x[a]);
	weir_free(c->key);
	weir_free(c->sum);
	weir_free(c->square);
	weir_free(c->cell);
	weir_free(c->block);
	weir_free(c->from);
	*c = (struct cells){0};
}

/* --- the order ------------------------------------------------------------------------------------------------------- */

/* Fills spread[v] with the bits of v, two zero bits between any two. */
static void
fill_spread(uint32_t spread[256])
{
	for (uint32_t v = 0; v < 256; v++) {
		spread[v] = 0;
		for (int b = 0; b < 8; b++)
			spread[v] |= (v >> b & 1) << 3 * b;
	}
}

/* Sorts keys by the DIGIT bits from `shift` on; equal ones keep their order. */
static void
sort_digit(uint64_t *restrict to, const uint64_t *restrict from, size_t n, int shift)
{
	uint32_t at[(1 << DIGIT) + 1] = {0};

	for (size_t i = 0; i < n; i++)
		at[(from[i] >> shift & ((1 << DIGIT) - 1)) + 1]++;
	for (int v = 1; v < 1 << DIGIT; v++)
		at[v] += at[v - 1];
	for (size_t i = 0; i < n; i++)
		to[at[from[i] >> shift & ((1 << DIGIT) - 1)]++] = from[i];
}

static int
sort_colours(struct cells *c, const uint32_t *code)
{
	uint64_t *a = weir_alloc_large(c->n, 2 * sizeof *a);
	uint32_t spread[256];

	c->from = weir_alloc_large(c->n, sizeof *c->from);
	if (a && c->from) {
		uint64_t *const b = a + c->n;
		fill_spread(spread);
		for (size_t i = 0; i < c->n; i++) {
			const uint32_t x = code[i];
			const uint64_t key =
			    spread[x >> 16] << 2 | spread[x >> 8 & 255] << 1 | spread[x & 255];
			a[i] = key << 32 | i;
		}
		sort_digit(b, a, c->n, 32);
		sort_digit(a, b, c->n, 32 + DIGIT);
		for (size_t p = 0; p < c->n; p++) {
			c->key[p] = (uint32_t)(a[p] >> 32);
			c->from[p] = (uint32_t)a[p];
		}
	}
	weir_free(a);
	return a && c->from ? 0 : -ENOMEM;
}

/* --- cells and blocks ------------------------------------------------------------------------------------------------- */

static size_t
count_runs(const struct cells *c, int bits)
{
	size_t n = c->n > 0;

	for (size_t p = 1; p < c->n; p++)
		n += c->key[p] >> bits != c->key[p - 1] >> bits;
	return n;
}

static void
widen(struct box *b, const struct box *by)
{
	for (int a = 0; a < 3; a++) {
		b->lo[a] = by->lo[a] < b->lo[a] ? by->lo[a] : b->lo[a];
		b->hi[a] = by->hi[a] > b->hi[a] ? by->hi[a] : b->hi[a];
	}
}

/* Lists the nodes whose keys agree above CELL_BITS, and those whose keys agree above BLOCK_BITS. */
static int
list_cells(struct cells *c)
{
	static const struct box none = {{255, 255, 255}, {0, 0, 0}};
	struct cell *q;

	c->cell = weir_alloc_large(count_runs(c, CELL_BITS) + 1, sizeof *c->cell);
	c->block = weir_alloc(count_runs(c, BLOCK_BITS), sizeof *c->block);
	if (!c->cell || !c->block)
		return -ENOMEM;
	q = c->cell - 1;
	for (size_t p = 0; p < c->n; p++) {
		struct box one;
		if (!p || c->key[p] >> BLOCK_BITS != c->key[p - 1] >> BLOCK_BITS)
			c->block[c->nblock++] = none;
		if (!p || c->key[p] >> CELL_BITS != c->key[p - 1] >> CELL_BITS)
			*++q = (struct cell){
			    .start = (uint32_t)p, .block = (uint32_t)c->nblock - 1, .box = none};
		for (int a = 0; a < 3; a++)
			one.lo[a] = one.hi[a] = c->x[a][p];
		widen(&q->box, &one);
		widen(&c->block[q->block], &one);
		sum4_add(&q->sum, &c->sum[p]);
	}
	(++q)->start = (uint32_t)c->n;
	c->ncell = (size_t)(q - c->cell);
	return 0;
}

int
cells_make(struct cells *c, const uint32_t *code, const uint64_t *weight, size_t n)
{
	int err = get_room(c, n);

	if (!err)
		err = sort_colours(c, code);
	if (err)
		return err;
	for (size_t p = 0; p < n; p++) {
		const int64_t w = (int64_t)weight[c->from[p]];
		for (int a = 0; a < 3; a++) {
			const int64_t v = code[c->from[p]] >> 8 * (2 - a) & 255;
			c->x[a][p] = (float)v;
			c->sum[p].v[a] = w * v;
			c->squares += (double)(w * v * v);
		}
		c->sum[p].v[3] = w;
		c->pixels += (uint64_t)w;
	}
	return list_cells(c);
}

/* --- nodes of the octree ---------------------------------------------------------------------------------------------- */

/* Cuts the node of side 2^s that holds the colours from..to-1 and w pixels. Returns the place after the last start. */
static uint32_t *
cut_node(const struct cells *c, const double *most, int s, uint32_t from, uint32_t to, int64_t w,
	 uint32_t *start)
{
	if (to - from == 1 || s == 0 || (double)w < most[s]) {
		*start = from;
		return start + 1;
	}
	while (from < to) {
		const uint32_t part = c->key[from] >> 3 * (s - 1);
		uint32_t p = from;
		for (w = 0; p < to && c->key[p] >> 3 * (s - 1) == part; p++)
			w += c->sum[p].v[3];
		start = cut_node(c, most, s - 1, from, p, w, start);
		from = p;
	}
	return start;
}

size_t
cells_cut(const struct cells *c, const double most[TOP + 1], uint32_t *start)
{
	uint32_t *end = cut_node(c, most, TOP, 0, (uint32_t)c->n, (int64_t)c->pixels, start);

	*end = (uint32_t)c->n;
	return (size_t)(end - start);
}

/* Joins the colours from..to-1 of c to one at place p. */
static void
join_run(struct cells *t, size_t p, const struct cells *c, uint32_t from, uint32_t to)
{
	struct sum4 sum = {{0}};
	struct square q = {{0}};

	for (uint32_t i = from; i < to; i++) {
		const struct sum4 *w = &c->sum[i];
		const int64_t x = (int64_t)c->x[0][i], y = (int64_t)c->x[1][i],
			      z = (int64_t)c->x[2][i];
		sum4_add(&sum, w);
		q.v[0] += w->v[0] * x;
		q.v[1] += w->v[0] * y;
		q.v[2] += w->v[0] * z;
		q.v[3] += w->v[1] * y;
		q.v[4] += w->v[1] * z;
		q.v[5] += w->v[2] * z;
	}
	for (int a = 0; a < 3; a++)
		t->x[a][p] = (float)((double)sum.v[a] / (double)sum.v[3]);
	t->key[p] = c->key[from];
	t->sum[p] = sum;
	t->square[p] = q;
}

int
cells_thin(struct cells *to, const struct cells *c, const uint32_t *start, size_t n)
{
	int err = get_room(to, n);

	to->square = weir_alloc_large(n, sizeof *to->square);
	if (err || !to->square)
		return -ENOMEM;
	to->pixels = c->pixels;
	to->squares = c->squares;
	for (size_t p = 0; p < n; p++)
		join_run(to, p, c, start[p], start[p + 1]);
	return list_cells(to);
}
