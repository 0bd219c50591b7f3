#include <errno.h>

#include "common/mem.h"
#include "emst/palette/cells.h"

static inline uint32_t
cell_of(uint32_t code)
{
	return (code >> 19 & 31) << 10 | (code >> 11 & 31) << 5 | (code >> 3 & 31);
}

/* Lists the cells that hold colours. first[id] is the place where the colours of a cell begin. */
static void
list_cells(struct cells *c, uint32_t *first, const uint32_t *code)
{
	for (size_t i = 0; i < c->n; i++)
		first[cell_of(code[i]) + 1]++;
	for (uint32_t id = 0; id < CELLS; id++) {
		const uint32_t colours = first[id + 1];
		if (colours)
			c->cell[c->ncell++] = (struct cell){
			    .start = first[id], .id = (uint16_t)id, .lo = {255, 255, 255}};
		first[id + 1] = first[id] + colours;
	}
	c->cell[c->ncell].start = (uint32_t)c->n;
}

static void
place_colours(struct cells *c, uint32_t *first, const uint32_t *code, const uint64_t *weight)
{
	for (size_t i = 0; i < c->n; i++) {
		const uint32_t p = c->at[i] = first[cell_of(code[i])]++;
		const int64_t w = (int64_t)weight[i];
		for (int a = 0; a < 3; a++) {
			const int64_t v = code[i] >> 8 * (2 - a) & 255;
			c->x[a][p] = (float)v;
			c->sum[p].v[a] = w * v;
			c->squares += (double)(w * v * v);
		}
		c->sum[p].v[3] = w;
		c->pixels += (uint64_t)w;
	}
}

static void
measure_cell(const struct cells *c, struct cell *q)
{
	for (uint32_t p = q->start; p < q[1].start; p++)
		for (int a = 0; a < 4; a++) {
			q->sum.v[a] += c->sum[p].v[a];
			if (a == 3)
				continue;
			q->lo[a] = c->x[a][p] < q->lo[a] ? c->x[a][p] : q->lo[a];
			q->hi[a] = c->x[a][p] > q->hi[a] ? c->x[a][p] : q->hi[a];
		}
}

int
cells_make(struct cells *c, const uint32_t *code, const uint64_t *weight, size_t n)
{
	uint32_t *first = weir_calloc(CELLS + 1, sizeof *first);
	bool room = first != NULL;

	*c = (struct cells){.n = n,
			    .sum = weir_alloc_large(n, sizeof *c->sum),
			    .cell = weir_alloc_large(CELLS + 1, sizeof *c->cell),
			    .at = weir_alloc_large(n, sizeof *c->at)};
	for (int a = 0; a < 3; a++)
		room &= (c->x[a] = weir_calloc_large(n + LANES, sizeof *c->x[a])) != NULL;
	room = room && c->sum && c->cell && c->at;
	if (room) {
		list_cells(c, first, code);
		place_colours(c, first, code, weight);
		for (size_t q = 0; q < c->ncell; q++)
			measure_cell(c, &c->cell[q]);
	}
	weir_free(first);
	return room ? 0 : -ENOMEM;
}

void
cells_free(struct cells *c)
{
	for (int a = 0; a < 3; a++)
		weir_free(c->x[a]);
	weir_free(c->sum);
	weir_free(c->cell);
	weir_free(c->at);
	*c = (struct cells){0};
}
