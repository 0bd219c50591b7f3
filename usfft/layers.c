#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/layers.h"
#include "usfft/plan.h"

/* Cells of the largest grid with layers. */
enum { MOST_CELLS = 1 << 14 };

size_t
layers_bytes(const struct usfft_options *o, const size_t n[3])
{
	size_t cells = 1;

	for (int a = 0; a < o->dim; a++) {
		if (n[a] > MOST_CELLS)
			return 0;
		cells *= n[a];
	}
	return o->many && cells <= MOST_CELLS ? (size_t)o->threads * cells * BATCH_BYTES / 2 : 0;
}

/* The first physical cell that the FFT sees: that of the grid's cell 0. */
static size_t
first_cell(const struct layers *l)
{
	const struct grid *g = &l->grid;
	const size_t lead = (size_t)tile_lead(l->win.w);

	return lead * (1 + (g->dim > 1 ? g->ld : 0) + (g->dim > 2 ? g->ld * g->plane : 0));
}

int
layers_make(struct usfft_plan *p)
{
	struct layers *l = weir_calloc(1, sizeof *l);
	const struct loops *loops = usfft_loops_for(&p->o);

	p->layers = l;
	if (!l)
		return -ENOMEM;
	struct grid *g = &l->grid;
	l->ops = &loops->layer;
	l->add = loops->tile.add;
	g->ops = &loops->batch;
	memcpy(g->n, p->grid.n, sizeof g->n);
	g->layers = grid_most_layers(p->real);
	g->copies = (size_t)p->threads;
	g->margin = (size_t)p->win[0].w - 1;
	const int err = grid_make(g, &p->o);
	if (err)
		return err;
	memcpy(g->undo, p->grid.undo, sizeof g->undo);
	l->win = (struct layer_window){.dim = p->o.dim,
				       .w = p->win[0].w,
				       .ncoef = p->taps.ncoef,
				       .row = g->ld * g->layers * 2,
				       .plane = g->ld * g->plane * g->layers * 2};
	for (int a = 0; a < p->o.dim; a++) {
		l->table[a] =
		    window_table(&p->win[a], p->taps.ncoef, loops->tile.lanes, 1, p->o.single);
		if (!l->table[a])
			return -ENOMEM;
		l->win.coef[a] = l->table[a];
	}
	return 0;
}

void
layers_free(struct layers *l)
{
	if (!l)
		return;
	for (int a = 0; a < 3; a++) {
		l->grid.undo[a] = NULL;
		weir_free(l->table[a]);
	}
	grid_free(&l->grid);
	weir_free(l);
}

/* What one thread works on: one copy of the grid, as the FFT sees it, and all its cells. */
struct worker {
	const struct usfft_plan *p;
	struct grid grid;
	char *cells;
	int sign;
	struct usfft_seconds took;
};

static struct worker
worker_of(const struct usfft_plan *p, size_t i, int sign)
{
	const struct layers *l = p->layers;
	struct worker w = {.p = p, .grid = l->grid, .sign = sign};
	struct grid *g = &w.grid;
	const size_t cell = grid_cell_bytes(g);

	w.cells = (char *)g->data + i * g->cells * cell;
	g->data = w.cells + first_cell(l) * cell;
	g->work += i * g->work_bytes;
	g->threads = 1;
	if (g->dim > 1)
		g->rows = (g->n[2] - 1) * g->plane + g->n[1];
	return w;
}

/* Adds or copies bytes between a margin and the cells that it stands for. */
typedef void wrap_fn(const struct layers *l, char *margin, char *inside, size_t bytes);

static void
add_margin(const struct layers *l, char *margin, char *inside, size_t bytes)
{
	l->add(inside, margin, bytes / l->grid.real);
}

static void
copy_margin(const struct layers *l, char *margin, char *inside, size_t bytes)
{
	(void)l;
	memcpy(margin, inside, bytes);
}

/* Does so for both margins of an axis of n cells, which lie `step` bytes apart, in one line of cells, rows or planes. */
static void
wrap_line(const struct layers *l, char *at, size_t n, size_t step, wrap_fn *wrap)
{
	const size_t lead = (size_t)tile_lead(l->win.w), left = (size_t)l->win.w - 1 - lead;

	wrap(l, at, at + n * step, lead * step);
	wrap(l, at + (lead + n) * step, at + lead * step, left * step);
}

/* Does so for all margins of an axis. */
static void
wrap_axis(const struct worker *w, int axis, wrap_fn *wrap)
{
	const struct layers *l = w->p->layers;
	const struct grid *g = &w->grid;
	const size_t cell = grid_cell_bytes(g), row = g->ld * cell, plane = g->plane * row;
	const size_t deep = g->dim > 2 ? g->n[2] + g->margin : 1;
	const size_t high = g->dim > 1 ? g->n[1] + g->margin : 1;

	if (axis == 2)
		wrap_line(l, w->cells, g->n[2], plane, wrap);
	for (size_t z = 0; axis < 2 && z < deep; z++)
		for (size_t y = 0; y < (axis ? 1 : high); y++)
			wrap_line(l, w->cells + z * plane + y * row, g->n[axis], axis ? row : cell,
				  wrap);
}

/* Visits the tiles: *pt becomes the points of tile t. Returns the tile's first cell. */
static char *
open_tile(const struct worker *w, size_t t, struct tile_points *pt)
{
	const struct usfft_plan *p = w->p;
	const size_t from = p->points.start[t], span = (size_t)tile_span(p->o.dim);
	const size_t x = t % p->tiles[0] * p->span, y = t / p->tiles[0] % p->tiles[1] * span;
	const size_t z = t / p->tiles[0] / p->tiles[1] * span;

	*pt = (struct tile_points){.record = (char *)p->points.record + from * p->points.bytes,
				   .n = p->points.start[t + 1] - from,
				   .bytes = p->points.bytes,
				   .wide = p->points.wide,
				   .bits = p->bits,
				   .indexed = true,
				   .sign = w->sign};
	return w->cells + ((z * w->grid.plane + y) * w->grid.ld + x) * grid_cell_bytes(&w->grid);
}

/* Transforms `count` vectors, at most as many as there are layers. Other layers repeat the first one. */
static void
points_to_modes(struct worker *w, size_t count, const void *const *c, void *const *modes)
{
	const struct usfft_plan *p = w->p;
	const void *values[BATCH_BYTES];
	struct tile_points pt;
	double t = clock_now();

	for (size_t i = 0; i < w->grid.layers; i++)
		values[i] = c[i < count ? i : 0];
	memset(w->cells, 0, w->grid.cells * grid_cell_bytes(&w->grid));
	for (size_t i = 0; i < p->ntiles; i++) {
		char *tile = open_tile(w, i, &pt);
		p->layers->ops->spread(&p->layers->win, tile, &pt, values);
	}
	for (int a = 0; a < p->o.dim; a++)
		wrap_axis(w, a, add_margin);
	clock_charge(&t, &w->took.spread);
	grid_to_modes(&w->grid);
	clock_charge(&t, &w->took.fft);
	for (size_t row = 0; row < p->o.n[1] * p->o.n[2]; row++)
		modes_get_layers(&w->grid, w->sign, row, count, modes);
	clock_charge(&t, &w->took.modes);
}

static void
modes_to_points(struct worker *w, size_t count, const void *const *modes, void *const *c)
{
	const struct usfft_plan *p = w->p;
	const void *values[BATCH_BYTES];
	struct tile_points pt;
	double t = clock_now();

	for (size_t i = 0; i < w->grid.layers; i++)
		values[i] = modes[i < count ? i : 0];
	grid_clear(&w->grid);
	for (size_t row = 0; row < p->o.n[1] * p->o.n[2]; row++)
		modes_put_layers(&w->grid, w->sign, row, values);
	clock_charge(&t, &w->took.modes);
	modes_to_grid(&w->grid);
	clock_charge(&t, &w->took.fft);
	for (int a = p->o.dim; a-- > 0;)
		wrap_axis(w, a, copy_margin);
	for (size_t i = 0; i < p->ntiles; i++) {
		char *tile = open_tile(w, i, &pt);
		p->layers->ops->interp(&p->layers->win, tile, &pt, count, c);
	}
	clock_charge(&t, &w->took.spread);
}

static void
run_layers(struct usfft_plan *p, int type, int sign, size_t count, const void *const *in,
	   void *const *out)
{
	const size_t each = p->layers->grid.layers, groups = (count + each - 1) / each;
	const size_t threads = groups < (size_t)p->threads ? groups : (size_t)p->threads;
	double spread = 0, fft = 0, modes = 0;

#pragma omp parallel num_threads((int)threads) reduction(+ : spread, fft, modes)
	{
		struct worker w = worker_of(p, (size_t)omp_get_thread_num(), conjugate(sign));
#pragma omp for schedule(dynamic, 1)
		for (size_t i = 0; i < groups; i++) {
			const size_t at = i * each, left = count - at < each ? count - at : each;
			if (type == 1)
				points_to_modes(&w, left, in + at, out + at);
			else
				modes_to_points(&w, left, in + at, out + at);
		}
		spread += w.took.spread;
		fft += w.took.fft;
		modes += w.took.modes;
	}
	/* The time of a stage is the mean of the threads'. */
	p->took->spread += spread / (double)threads;
	p->took->fft += fft / (double)threads;
	p->took->modes += modes / (double)threads;
}

size_t
usfft_together(const struct usfft_plan *p)
{
	return p->layers ? p->layers->grid.layers * (size_t)p->threads : 1;
}

void
usfft_type1_many(struct usfft_plan *p, int sign, size_t count, const void *const *c,
		 void *const *modes)
{
	/* Layers have no sums in double precision. */
	const bool layers = p->layers && !crowd_anywhere(p);

	if (layers)
		run_layers(p, 1, sign, count, c, modes);
	for (size_t i = 0; !layers && i < count; i++)
		usfft_type1(p, sign, c[i], modes[i]);
}

void
usfft_type2_many(struct usfft_plan *p, int sign, size_t count, const void *const *modes,
		 void *const *c)
{
	if (p->layers)
		run_layers(p, 2, sign, count, modes, c);
	for (size_t i = 0; !p->layers && i < count; i++)
		usfft_type2(p, sign, modes[i], c[i]);
}
