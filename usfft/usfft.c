/* Makes plans, and runs both transforms stage by stage. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/plan.h"
#include "usfft/usfft.h"

/* ---- grids of layers: see struct layers in plan.h ---- */

/* Cells of the largest grid with layers. */
enum { MOST_CELLS = 1 << 14 };

/* Bytes of the layers of a plan for o on a grid of n cells. 0: the grid is too large for layers, or o asks for none. */
static size_t
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

/* Makes p->layers for the windows and the grid of p. Returns 0 or -errno. */
static int
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
	return window_tables(p->win, p->o.dim, p->taps.ncoef, loops->tile.lanes, 1, p->o.single,
			     l->win.coef);
}

/* Frees l and what it owns. It accepts NULL. */
static void
layers_free(struct layers *l)
{
	if (!l)
		return;
	memset(l->grid.undo, 0, sizeof l->grid.undo); /* the plan's */
	grid_free(&l->grid);
	weir_free_list(l->win.coef, 3);
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
	const size_t cell = grid_cell_bytes(g), lead = (size_t)tile_lead(l->win.w);
	/* From the first physical cell to the first one that the FFT sees, the grid's cell 0. */
	const size_t apart = 1 + (g->dim > 1 ? g->ld : 0) + (g->dim > 2 ? g->ld * g->plane : 0);

	w.cells = (char *)g->data + i * g->cells * cell;
	g->data = w.cells + lead * apart * cell;
	g->work += i * g->work_bytes;
	g->threads = 1;
	if (g->dim > 1)
		g->rows = (g->n[2] - 1) * g->plane + g->n[1];
	return w;
}

/* Adds a margin to the cells that it stands for, or copies them to it. */
static void
wrap(const struct layers *l, char *margin, char *inside, size_t bytes, bool back)
{
	if (back)
		memcpy(margin, inside, bytes);
	else
		l->add(inside, margin, bytes / l->grid.real);
}

/* Does so for both margins of an axis of n cells, which lie `step` bytes apart, in one line of cells, rows or planes. */
static void
wrap_line(const struct layers *l, char *at, size_t n, size_t step, bool back)
{
	const size_t lead = (size_t)tile_lead(l->win.w), left = (size_t)l->win.w - 1 - lead;

	wrap(l, at, at + n * step, lead * step, back);
	wrap(l, at + (lead + n) * step, at + lead * step, left * step, back);
}

/* Does so for all margins of an axis. */
static void
wrap_axis(const struct worker *w, int axis, bool back)
{
	const struct layers *l = w->p->layers;
	const struct grid *g = &w->grid;
	const size_t cell = grid_cell_bytes(g), row = g->ld * cell, plane = g->plane * row;
	const size_t deep = g->dim > 2 ? g->n[2] + g->margin : 1;
	const size_t high = g->dim > 1 ? g->n[1] + g->margin : 1;

	if (axis == 2)
		wrap_line(l, w->cells, g->n[2], plane, back);
	for (size_t z = 0; axis < 2 && z < deep; z++)
		for (size_t y = 0; y < (axis ? 1 : high); y++)
			wrap_line(l, w->cells + z * plane + y * row, g->n[axis], axis ? row : cell,
				  back);
}

/* Visits the tiles: *pt becomes the points of tile t. Returns the tile's first cell. */
static char *
open_tile(const struct worker *w, size_t t, struct tile_points *pt)
{
	const struct usfft_plan *p = w->p;
	const size_t span = (size_t)tile_span(p->o.dim);
	const size_t x = t % p->tiles[0] * p->span, y = t / p->tiles[0] % p->tiles[1] * span;
	const size_t z = t / p->tiles[0] / p->tiles[1] * span;

	*pt = tile_points_of(p, w->sign, p->points.start[t], p->points.start[t + 1]);
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
		wrap_axis(w, a, false);
	clock_charge(&t, &w->took.spread);
	grid_transform(&w->grid, true);
	clock_charge(&t, &w->took.fft);
	for (size_t row = 0; row < p->o.n[1] * p->o.n[2]; row++)
		modes_move_layers(&w->grid, w->sign, row, true, count, modes);
	clock_charge(&t, &w->took.modes);
}

static void
modes_to_points(struct worker *w, size_t count, const void *const *modes, void *const *c)
{
	const struct usfft_plan *p = w->p;
	void *values[BATCH_BYTES];
	struct tile_points pt;
	double t = clock_now();

	for (size_t i = 0; i < w->grid.layers; i++)
		values[i] = (void *)(uintptr_t)modes[i < count ? i : 0];
	grid_clear(&w->grid);
	for (size_t row = 0; row < p->o.n[1] * p->o.n[2]; row++)
		modes_move_layers(&w->grid, w->sign, row, false, w->grid.layers, values);
	clock_charge(&t, &w->took.modes);
	grid_transform(&w->grid, false);
	clock_charge(&t, &w->took.fft);
	for (int a = p->o.dim; a-- > 0;)
		wrap_axis(w, a, true);
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
usfft_many(struct usfft_plan *p, int type, int sign, size_t count, const void *const *in,
	   void *const *out)
{
	/* Layers have no sums in double precision. */
	const bool layers = p->layers && (type == 2 || !crowd_anywhere(p));

	if (layers)
		run_layers(p, type, sign, count, in, out);
	for (size_t i = 0; !layers && i < count; i++)
		(type == 1 ? usfft_type1 : usfft_type2)(p, sign, in[i], out[i]);
}

/* ---- the transforms ---- */

/* Makes the windows of all axes, each for its own oversampling. Their polynomials have the same number of terms. */
static int
make_windows(struct usfft_plan *p, int w)
{
	const int lanes = p->ops->lanes;

	for (int a = 0; a < p->o.dim; a++) {
		const double sigma = (double)p->grid.n[a] / (double)p->o.n[a];
		if (a && p->grid.n[a] == p->grid.n[0] && p->o.n[a] == p->o.n[0])
			p->win[a] = p->win[0];
		else
			window_make(&p->win[a], p->o.gauss, w,
				    fmin(sigma, p->o.gauss ? USFFT_SIGMA_GAUSS : USFFT_SIGMA),
				    p->o.tol);
		if (p->win[a].ncoef > p->taps.ncoef)
			p->taps.ncoef = p->win[a].ncoef;
	}
	return window_tables(p->win, p->o.dim, p->taps.ncoef, lanes, lanes / 2, p->o.single,
			     p->taps.coef);
}

static int
make_undo(struct grid *g, const struct window win[3])
{
	for (int a = 0; a < g->dim; a++) {
		const size_t n = g->modes[a] / 2 + 1;
		double *undo = weir_alloc(n, sizeof *undo);
		g->undo[a] = undo;
		if (!undo)
			return -ENOMEM;
		window_undo(&win[a], g->n[a], undo, n);
		for (size_t k = 0; g->real == sizeof(float) && k < n; k++) {
			const float v = (float)undo[k];
			memcpy((float *)g->undo[a] + k, &v, sizeof v);
		}
	}
	return 0;
}

/*
 * Interpolation in 1-D reads so few cells for a point that sorting takes longer than reading them from a far cache. So such
 * a plan has one tile, and its points stay in the caller's order. A place then has bits enough for these tolerances.
 */
static bool
one_tile_suffices(const struct usfft_plan *p)
{
	enum { MOST_OF_ONE_TILE = 1 << 18 };

	return p->o.type == 2 && p->o.dim == 1 && p->o.tol >= 1e-10 &&
	       p->grid.n[0] <= MOST_OF_ONE_TILE;
}

static int
make_tiles(struct usfft_plan *p)
{
	const size_t span = (size_t)tile_span(p->o.dim);

	p->span = span;
	p->span_log = tile_span_log(p->o.dim);
	p->bits = tile_bits(p->o.dim, true);
	if (one_tile_suffices(p))
		for (p->span = p->grid.n[0]; (size_t)1 << p->span_log < p->span; p->span_log++)
			p->bits--;
	p->ntiles = 1;
	for (int a = 0; a < 3; a++) {
		p->tiles[a] = a < p->o.dim ? p->grid.n[a] / (a ? span : p->span) : 1;
		p->ntiles *= p->tiles[a];
	}
	if (p->ntiles > UINT32_MAX / TILE_PARTS)
		return -EOVERFLOW;
	p->points.start = weir_calloc(p->ntiles + 1, sizeof *p->points.start);
	return p->points.start ? spread_make(p) : -ENOMEM;
}

/*
 * The cells in which the expected points of type 1 can arrive with their values. In one dimension those are slightly more
 * than the grid has: 2^20 points would take 24 MiB from the system in each call, as the grid has 22. With more than twice
 * its cells, the grid would be too large for what follows the sort.
 */
static size_t
cells_of_arrivals(const struct usfft_plan *p)
{
	const size_t cell = 2 * p->real,
		     record = tile_record(p->o.dim, p->real, !p->o.single, false);
	size_t bytes;

	if (p->o.dim > 1 || p->o.type == 2 || !weir_mul(p->o.expect, record, &bytes))
		return 0;
	return bytes / cell / 2 < p->grid.n[0] ? bytes / cell + 1 : 0;
}

static int
make_plan(struct usfft_plan *p)
{
	int w, err;

	p->real = p->o.single ? sizeof(float) : sizeof(double);
	const struct loops *loops = usfft_loops_for(&p->o);
	p->ops = &loops->tile;
	p->grid.ops = &loops->batch;
	p->grid.layers = p->grid.copies = 1;
	err = usfft_choose(&p->o, &w, p->grid.n);
	if (err)
		return err;
	for (int a = p->o.dim; a < 3; a++)
		p->o.n[a] = 1;
	p->grid.room = cells_of_arrivals(p);
	err = grid_make(&p->grid, &p->o);
	if (!err)
		err = make_windows(p, w);
	if (!err)
		err = make_undo(&p->grid, p->win);
	if (!err)
		err = make_tiles(p);
	return !err && layers_bytes(&p->o, p->grid.n) ? layers_make(p) : err;
}

size_t
usfft_bytes(const struct usfft_options *o)
{
	size_t n[3], bytes = 2 * (o->single ? sizeof(float) : sizeof(double));
	int w;

	if (usfft_choose(o, &w, n))
		return SIZE_MAX;
	for (int a = 0; a < o->dim; a++)
		if (!weir_mul(bytes, n[a], &bytes))
			return SIZE_MAX;
	return bytes + layers_bytes(o, n);
}

int
usfft_plan(struct usfft_plan **plan, const struct usfft_options *o)
{
	struct usfft_plan *p = weir_calloc(1, sizeof *p);

	*plan = NULL;
	if (!p)
		return -ENOMEM;
	p->o = *o;
	p->threads = o->threads;
	p->took = o->took ? o->took : &p->own;
	int err = make_plan(p);
	p->o.then = NULL;
	if (err)
		usfft_free(p);
	else
		*plan = p;
	return err;
}

void
usfft_free(struct usfft_plan *p)
{
	if (!p)
		return;
	layers_free(p->layers);
	grid_free(&p->grid);
	sort_free(&p->points);
	crowd_free(&p->crowds);
	weir_give(p->acc, p->accs, p->acc_bytes);
	weir_free_list(p->taps.coef, 3);
	weir_free_all(p->band, p->colour, p->heavy, p->points.start, p);
}

int
usfft_taps(const struct usfft_plan *p)
{
	return p->win[0].w;
}

size_t
usfft_cells(const struct usfft_plan *p, int axis)
{
	return p->grid.n[axis];
}

void
usfft_gather(struct usfft_plan *p, int sign, const void *c)
{
	double t = clock_now();

	spread_points(p, conjugate(sign), c);
	clock_charge(&t, &p->took->spread);
	grid_transform(&p->grid, true);
	clock_charge(&t, &p->took->fft);
}

/*
 * Moves all modes from the grid (get) or to it. A thread takes a row at a time, and in one dimension, where there is only one
 * row, pieces of it.
 */
static void
move_modes(struct usfft_plan *p, int sign, bool get, void *modes)
{
	const size_t nx = p->o.n[0], piece = p->o.dim == 1 ? 512 * p->grid.rows : nx;
	const size_t pieces = (nx + piece - 1) / piece, rows = p->o.n[1] * p->o.n[2];
	double t = clock_now();

	if (!get)
		grid_clear(&p->grid);
#pragma omp parallel for num_threads(p->o.threads) schedule(static)
	for (size_t i = 0; i < rows * pieces; i++) {
		const size_t row = i / pieces, from = i % pieces * piece;
		const size_t to = from + piece < nx ? from + piece : nx;
		char *at = (char *)modes + (row * nx + from) * 2 * p->real;
		modes_move(&p->grid, conjugate(sign), row, from, to, get, at);
	}
	clock_charge(&t, &p->took->modes);
}

void
usfft_get_row(const struct usfft_plan *p, int sign, size_t row, void *modes)
{
	modes_move(&p->grid, conjugate(sign), row, 0, p->o.n[0], true, modes);
}

void
usfft_type1(struct usfft_plan *p, int sign, const void *c, void *modes)
{
	usfft_gather(p, sign, c);
	move_modes(p, sign, true, modes);
}

void
usfft_clear(struct usfft_plan *p)
{
	grid_clear(&p->grid);
}

void
usfft_put_row(struct usfft_plan *p, int sign, size_t row, const void *modes)
{
	modes_move(&p->grid, conjugate(sign), row, 0, p->o.n[0], false, (void *)(uintptr_t)modes);
}

void
usfft_scatter(struct usfft_plan *p, int sign, void *c)
{
	double t = clock_now();

	grid_transform(&p->grid, false);
	clock_charge(&t, &p->took->fft);
	interp_points(p, conjugate(sign), c);
	clock_charge(&t, &p->took->spread);
}

void
usfft_type2(struct usfft_plan *p, int sign, const void *modes, void *c)
{
	move_modes(p, sign, false, (void *)(uintptr_t)modes);
	usfft_scatter(p, sign, c);
}
