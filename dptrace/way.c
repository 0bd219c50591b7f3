/* The search for the cheapest way: A*, with a list of cells for each sum. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/numbers.h"
#include "dptrace/resolve.h"

/* --- what the cells of a way cost: responses to a picture of one sample a cell -------------------------------------------- */

#define NEAR 1e-6 /* px: an end of a segment is that close to a whole pixel, or is not on one */

/* Derivatives of the cells. The samples reach r cells beyond the grid to all sides. */
struct cells {
	int w, h, r, wide; /* the grid; the reach of the kernels; w + 2 r */
	float *sample;	   /* [h + 2 r][wide] */
	float *along[3];   /* [h + 2 r][w]: derivatives of that order along x */
	float *d[3]; /* [h][w]: ridge: T_xx, T_xy, T_yy; edge: sums of g_x g_x, g_x g_y, g_y g_y */
	float *g[2]; /* [w]: the gradient of a row */
	struct kernel k[3];
};

/* The samples of the cells, less ref: each is the mean of its pixels. */
static void
sample_cells(const struct cells *c, const struct dptrace_image *im, const float *plane, int step,
	     ptrdiff_t x0, ptrdiff_t y0, float ref)
{
	const float share = 1 / (float)(step * step);

	for (int y = 0; y < c->h + 2 * c->r; y++) {
		float *out = c->sample + (ptrdiff_t)y * c->wide;
		rows_cells(out, im, plane, x0 - c->r * step, y0 + (ptrdiff_t)(y - c->r) * step,
			   (size_t)c->wide, (size_t)step, ref);
		for (int x = 0; x < c->wide; x++)
			out[x] *= share;
	}
}

/* Differentiates the samples: a ridge into d, an edge into g, whose products are added to d. */
static void
differentiate(const struct cells *c, bool ridge)
{
	const size_t n = (size_t)c->w;

	for (int order = 0; order <= 1 + ridge; order++)
		for (int y = 0; y < c->h + 2 * c->r; y++)
			rows_convolve(c->along[order] + (ptrdiff_t)y * c->w,
				      c->sample + (ptrdiff_t)y * c->wide + c->r, 1, n,
				      &c->k[order]);
	for (int y = 0; y < c->h; y++) {
		const ptrdiff_t at = (ptrdiff_t)y * c->w, in = at + (ptrdiff_t)c->r * c->w;
		float *const row[3] = {c->d[0] + at, c->d[1] + at, c->d[2] + at};
		for (int i = 0; ridge && i < 3; i++)
			rows_convolve(row[i], c->along[2 - i] + in, c->w, n, &c->k[i]);
		for (int i = 0; !ridge && i < 2; i++)
			rows_convolve(c->g[i], c->along[1 - i] + in, c->w, n, &c->k[i]);
		if (!ridge)
			rows_add_tensor(row[0], row[1], row[2], c->g[0], c->g[1], n);
	}
}

/* What cells cost by their response: a response of floor counts as none, one of floor + 1 / scale as all. */
struct price {
	bool ridge;
	float sign, scale, floor;
};

WEIR_CLONES(price_row,
	    (uint8_t *restrict cost, const float *xx, const float *xy, const float *yy, int n,
	     const struct price *p),
	    (cost, xx, xy, yy, n, p))
{
	for (int i = 0; i < n; i++) {
		const float mean = (xx[i] + yy[i]) * .5f, half = (xx[i] - yy[i]) * .5f,
			    root = __builtin_sqrtf(half * half + xy[i] * xy[i]);
		float e = p->ridge ? root - p->sign * mean : __builtin_sqrtf(mean + root);
		e = (e - p->floor) * p->scale;
		e = e > 0 ? e : 0;
		e = e < 1 ? e : 1;
		cost[i] = (uint8_t)((float)WAY_UNIT / (e + COST_K) + .5f);
	}
}

/* Lays out the arrays of c in an arena. */
static void
lay_cells(struct cells *c, struct arena *a)
{
	const size_t tall = (size_t)(c->h + 2 * c->r), w = (size_t)c->w, n = w * (size_t)c->h;

	c->sample = arena_take(a, tall * (size_t)c->wide, sizeof *c->sample);
	for (int i = 0; i < 3; i++) {
		c->along[i] = arena_take(a, tall * w, sizeof *c->along[i]);
		c->d[i] = arena_take(a, n, sizeof *c->d[i]);
	}
	for (int i = 0; i < 2; i++)
		c->g[i] = arena_take(a, w, sizeof *c->g[i]);
}

/* Multiplies the responses of a row by its gains: those of an edge here, whose tensor has their squares. */
static void
apply_gains(const struct cells *c, const struct way_grid *g, const struct dptrace_gain *gain, int y)
{
	for (int x = 0; x < c->w; x++) {
		const float k =
		    gain_at(gain, (size_t)(g->x0 + x * g->step), (size_t)(g->y0 + y * g->step));
		for (int i = 0; i < 3; i++)
			c->d[i][y * c->w + x] *= k * k;
	}
}

/* A cell whose middle is masked costs as one without evidence. */
static void
price_mask(const struct way_grid *g, const struct dptrace_image *im)
{
	for (int y = 0; im->mask && y < g->h; y++)
		for (int x = 0; x < g->w; x++) {
			const size_t px = (size_t)(g->x0 + x * g->step),
				     py = (size_t)(g->y0 + y * g->step);
			if (!im->mask[py * im->w + px])
				g->cost[y * g->w + x] = (uint8_t)((float)WAY_UNIT / COST_K + .5f);
		}
}

/* Lays the grid over both points and the half-width around them, within the picture. */
static void
lay_grid(struct way_grid *g, const struct dptrace_image *im, const struct segment_shape *s)
{
	const double bx = s->ax + s->length * s->ex, by = s->ay + s->length * s->ey,
		     w = s->halfwidth;
	const double left = larger(floor(smaller(s->ax, bx) - w + NEAR), 0),
		     top = larger(floor(smaller(s->ay, by) - w + NEAR), 0),
		     right = smaller(ceil(larger(s->ax, bx) + w - NEAR), (double)im->w - 1),
		     bottom = smaller(ceil(larger(s->ay, by) + w - NEAR), (double)im->h - 1);

	g->step = (int)larger(1, floor(s->sigma));
	g->w = (int)ceil((right - left + 1) / g->step);
	g->h = (int)ceil((bottom - top + 1) / g->step);
	g->x0 = left + (g->step - 1) / 2.;
	g->y0 = top + (g->step - 1) / 2.;
}

/* Sizes the cells of a grid and their derivatives. *sigma receives the scale in cells. */
static struct cells
size_cells(const struct way_grid *g, const struct segment_shape *s, double *sigma)
{
	/* The mean over a cell has blurred the picture by (step^2 - 1) / 12. */
	*sigma = sqrt(s->sigma * s->sigma - (g->step * g->step - 1) / 12.) / g->step;
	const int r = (int)ceil(3 * *sigma);

	return (struct cells){.w = g->w, .h = g->h, .r = r, .wide = g->w + 2 * r};
}

size_t
way_bytes(const struct dptrace_image *im, const struct segment_shape *s)
{
	struct way_grid g;
	double sigma;

	lay_grid(&g, im, s);
	struct cells c = size_cells(&g, s, &sigma);
	struct arena room = {0};
	const size_t n = (size_t)c.w * (size_t)c.h;
	lay_cells(&c, &room);
	return n > WAY_CELLS ? 0 : room.used + n;
}

int
way_costs(struct way_grid *g, const struct dptrace_image *im, const float *gray,
	  const struct dptrace_options *o, const struct segment_shape *s)
{
	const bool ridge = o->score == DPTRACE_RIDGE, colour = !ridge && im->c > 1 && !o->polarity;

	lay_grid(g, im, s);
	double sigma;
	struct cells c = size_cells(g, s, &sigma);
	const size_t n = (size_t)c.w * (size_t)c.h;
	const double above = s->level - s->floor, size = ridge ? s->sigma * s->sigma : s->sigma;
	const ptrdiff_t x0 = (ptrdiff_t)(g->x0 - (g->step - 1) / 2.),
			y0 = (ptrdiff_t)(g->y0 - (g->step - 1) / 2.);
	const struct price price = {ridge, s->polarity < 0 ? -1 : 1, (float)(size / above),
				    (float)(s->floor / size)};

	if (!(above > 0) || n > WAY_CELLS)
		return 1;
	struct arena room = {0};
	lay_cells(&c, &room);
	room = (struct arena){.base = weir_alloc(room.used, 1)};
	g->cost = weir_alloc(n, 1);
	if (!room.base || !g->cost) {
		weir_free_all(room.base, g->cost);
		return -ENOMEM;
	}
	lay_cells(&c, &room);
	for (int i = 0; i < 3; i++) {
		strip_kernel(&c.k[i], i, sigma, c.r, g->step);
		memset(c.d[i], 0, n * sizeof *c.d[i]);
	}
	const size_t mid =
	    clamp_index(lround(s->ay), im->h) * im->w + clamp_index(lround(s->ax), im->w);
	for (size_t i = 0; i < (colour ? im->c : 1); i++) {
		const float *plane = colour ? im->v + i * im->w * im->h : gray;
		sample_cells(&c, im, plane, g->step, x0, y0, plane[mid]);
		differentiate(&c, ridge);
	}
	for (int y = 0; im->gain.v && y < c.h; y++)
		apply_gains(&c, g, &im->gain, y);
	for (ptrdiff_t y = 0; y < c.h; y++)
		price_row(g->cost + y * c.w, c.d[0] + y * c.w, c.d[1] + y * c.w, c.d[2] + y * c.w,
			  c.w, &price);
	price_mask(g, im);
	weir_free(room.base);
	return 0;
}

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

/* The cell at a place. A place between two cells belongs to the second one, whatever its last bits. */
static int
cell_at(const struct way_grid *g, double x, double y)
{
	const int cx = (int)floor((x - g->x0) / g->step + .5 + 1e-6),
		  cy = (int)floor((y - g->y0) / g->step + .5 + 1e-6);

	return (int)clamp_index(cy, (size_t)g->h) * g->w + (int)clamp_index(cx, (size_t)g->w);
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
	weir_free_all(cell, g.cost);
	return xy;
}
