/* The search for the cheapest way: A*, with a list of cells for each sum. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "dptrace/settle/way.h"

/* --- search ---------------------------------------------------------------------------------------------------------- */

enum {
	BUCKETS = 4096
}; /* more than the sum of a cell's neighbour, with its estimate, can be above the cell's own */

/* Cells wait in lists, one for each sum modulo BUCKETS. */
struct queue {
	const struct way_grid *g;
	int to, least;	  /* the goal; the cheapest cell */
	uint32_t *sum;	  /* [cells]: of the cheapest way so far, ~0: none */
	int *next, *prev; /* [cells]: the neighbours in a list, -1: none */
	int8_t *came; /* [cells]: the step that led to it; DONE is added when the sum is final */
	int head[BUCKETS];
};
enum { DONE = 16, NEIGHBOURS = 8 };

static const int dx_of[NEIGHBOURS] = {1, -1, 0, 0, 1, -1, 1, -1},
		 dy_of[NEIGHBOURS] = {0, 0, 1, -1, 1, -1, -1, 1};

/* What the way on to the goal costs at least. */
static uint32_t
estimate(const struct queue *q, int cell)
{
	const int dx = abs(cell % q->g->w - q->to % q->g->w),
		  dy = abs(cell / q->g->w - q->to / q->g->w);
	const int straight = dx > dy ? dx - dy : dy - dx, corner = dx < dy ? dx : dy;

	return (uint32_t)(2 * q->least * (WAY_SIDE * straight + WAY_CORNER * corner));
}

static int *
list_of(struct queue *q, int cell)
{
	return &q->head[(q->sum[cell] + estimate(q, cell)) % BUCKETS];
}

static void
leave(struct queue *q, int cell)
{
	const int next = q->next[cell], prev = q->prev[cell];

	if (prev < 0)
		*list_of(q, cell) = next;
	else
		q->next[prev] = next;
	if (next >= 0)
		q->prev[next] = prev;
}

static void
enter(struct queue *q, int cell, uint32_t sum, int came)
{
	if (q->sum[cell] != UINT32_MAX)
		leave(q, cell);
	q->sum[cell] = sum;
	q->came[cell] = (int8_t)came;
	int *head = list_of(q, cell);
	q->next[cell] = *head;
	q->prev[cell] = -1;
	if (*head >= 0)
		q->prev[*head] = cell;
	*head = cell;
}

/* Offers the neighbours of a cell the way over it. */
static void
spread(struct queue *q, int cell)
{
	const int w = q->g->w, h = q->g->h, x = cell % w, y = cell / w;
	const uint8_t *cost = q->g->cost;

	for (int i = 0; i < NEIGHBOURS; i++) {
		const int nx = x + dx_of[i], ny = y + dy_of[i], to = ny * w + nx;
		if (nx < 0 || ny < 0 || nx >= w || ny >= h || (q->came[to] & DONE))
			continue;
		const uint32_t sum = q->sum[cell] + (uint32_t)((i < 4 ? WAY_SIDE : WAY_CORNER) *
							       (cost[cell] + cost[to]));
		if (sum < q->sum[to])
			enter(q, to, sum, i);
	}
}

static bool
take_queue(struct queue *q, const struct way_grid *g, int to)
{
	const size_t n = (size_t)g->w * (size_t)g->h;
	char *p = weir_alloc(n, sizeof *q->sum + 2 * sizeof *q->next + sizeof *q->came);

	q->g = g;
	q->to = to;
	q->sum = (uint32_t *)(void *)p;
	if (!p)
		return false;
	q->next = (int *)(q->sum + n);
	q->prev = q->next + n;
	q->came = (int8_t *)(q->prev + n);
	memset(q->sum, 0xff, n * sizeof *q->sum);
	memset(q->came, 0, n);
	memset(q->head, 0xff, sizeof q->head);
	q->least = WAY_MOST;
	for (size_t i = 0; i < n; i++)
		q->least = g->cost[i] < q->least ? g->cost[i] : q->least;
	return true;
}

size_t
way_search(const struct way_grid *g, int from, int to, int *cell, uint32_t *sum)
{
	struct queue q;
	size_t n = 1;
	int at = from;

	if (!take_queue(&q, g, to))
		return 0;
	enter(&q, from, 0, 0);
	for (uint32_t key = estimate(&q, from); at = q.head[key % BUCKETS], at != to;) {
		if (at < 0) {
			key++;
			continue;
		}
		leave(&q, at);
		q.came[at] |= DONE;
		spread(&q, at);
	}
	*sum = q.sum[to];
	for (cell[0] = at; at != from; cell[n++] = at) {
		const int i = q.came[at] & (NEIGHBOURS - 1);
		at -= dy_of[i] * g->w + dx_of[i];
	}
	weir_free(q.sum);
	for (size_t i = 0; i < n / 2; i++) {
		const int swap = cell[i];
		cell[i] = cell[n - 1 - i];
		cell[n - 1 - i] = swap;
	}
	return n;
}

/* --- the way of a segment -------------------------------------------------------------------------------------------- */

static int
clamp(int x, int most)
{
	return x < 0 ? 0 : x > most ? most : x;
}

/* The cell at a place. A place between two cells belongs to the second one, whatever its last bits. */
static int
cell_at(const struct way_grid *g, double x, double y)
{
	const int cx = (int)floor((x - g->x0) / g->step + .5 + 1e-6),
		  cy = (int)floor((y - g->y0) / g->step + .5 + 1e-6);

	return clamp(cy, g->h - 1) * g->w + clamp(cx, g->w - 1);
}

double (*way_of(const struct dptrace_image *im, const float *gray, const struct dptrace_options *o,
		const struct segment_shape *s, size_t *n, int *err))[2]
{
	const double bx = s->ax + s->length * s->ex, by = s->ay + s->length * s->ey;
	/* The search begins at the upper point, so that the way back is the same. */
	const bool back = by < s->ay || (by <= s->ay && bx < s->ax);
	struct way_grid g = {0};
	double(*xy)[2] = NULL;
	int *cell = NULL;
	uint32_t sum;

	*n = 0;
	if ((*err = way_costs(&g, im, gray, o, s))) {
		*err = *err < 0 ? *err : 0;
		return NULL;
	}
	const int a = cell_at(&g, s->ax, s->ay), b = cell_at(&g, bx, by);
	if ((cell = weir_alloc((size_t)g.w * (size_t)g.h, sizeof *cell)))
		*n = way_search(&g, back ? b : a, back ? a : b, cell, &sum);
	if (*n && (xy = weir_alloc(*n + 2, sizeof *xy))) {
		for (size_t i = 0; i < *n; i++) {
			const int at = cell[back ? *n - 1 - i : i];
			xy[i][0] = g.x0 + at % g.w * g.step;
			xy[i][1] = g.y0 + at / g.w * g.step;
		}
		*n = *n < 2 ? 2 : *n;
		xy[0][0] = s->ax;
		xy[0][1] = s->ay;
		xy[*n - 1][0] = bx;
		xy[*n - 1][1] = by;
	}
	*err = xy ? 0 : -ENOMEM;
	weir_free(cell);
	weir_free(g.cost);
	return xy;
}
