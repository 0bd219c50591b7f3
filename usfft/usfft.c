/* Makes plans, and runs both transforms stage by stage. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "usfft/plan.h"

void *
window_table(const struct window *win, int ncoef, int lanes, int offsets, bool single)
{
	const size_t len = (size_t)((win->w + offsets - 1 + lanes - 1) / lanes * lanes);
	const size_t real = single ? sizeof(float) : sizeof(double);
	char *table = weir_calloc((size_t)(offsets * ncoef) * len, real);

	for (int o = 0; table && o < offsets; o++)
		for (int d = 0; d < ncoef; d++)
			for (int t = 0; t < win->w; t++)
				real_set(table, (size_t)(o * ncoef + d) * len + (size_t)(o + t),
					 win->coef[ncoef - 1 - d][t], single);
	return table;
}

/* Makes the windows of all axes, each for its own oversampling. Their polynomials have the same number of terms. */
static int
make_windows(struct usfft_plan *p, int w)
{
	const bool single = p->o.single;
	const int lanes = p->ops->lanes;
	void **table[3] = {&p->taps.x, &p->taps.y, &p->taps.z};

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
	for (int a = 0; a < p->o.dim; a++) {
		*table[a] =
		    window_table(&p->win[a], p->taps.ncoef, lanes, a ? 1 : lanes / 2, single);
		if (!*table[a])
			return -ENOMEM;
	}
	return 0;
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
	enum { MOST_CELLS = 1 << 18 };

	return p->o.type == 2 && p->o.dim == 1 && p->o.tol >= 1e-10 && p->grid.n[0] <= MOST_CELLS;
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
	err = usfft_choose(&p->o, &w, p->grid.n, &p->reach);
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
usfft_bytes(const struct usfft_options *o, double *reach)
{
	size_t n[3], bytes = 2 * (o->single ? sizeof(float) : sizeof(double));
	double kept;
	int w;

	if (usfft_choose(o, &w, n, &kept))
		return SIZE_MAX;
	if (reach)
		*reach = kept;
	for (int a = 0; a < o->dim; a++)
		if (!weir_mul(bytes, n[a], &bytes))
			return SIZE_MAX;
	return bytes + layers_bytes(o, n);
}

int
usfft_plan(struct usfft_plan **plan, const struct usfft_options *o)
{
	struct usfft_plan *p = weir_calloc(1, sizeof *p);
	int err;

	*plan = NULL;
	if (!p)
		return -ENOMEM;
	p->o = *o;
	p->threads = o->threads;
	p->took = o->took ? o->took : &p->own;
	err = make_plan(p);
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
	void *owned[] = {p->taps.x, p->taps.y, p->taps.z,      p->band,
			 p->colour, p->heavy,  p->points.start};

	layers_free(p->layers);
	grid_free(&p->grid);
	sort_free(&p->points);
	crowd_free(&p->crowds);
	weir_give(p->acc, p->accs, p->acc_bytes);
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		weir_free(owned[i]);
	weir_free(p);
}

int
usfft_taps(const struct usfft_plan *p)
{
	return p->win[0].w;
}

double
usfft_reach(const struct usfft_plan *p)
{
	return p->reach;
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
	grid_to_modes(&p->grid);
	clock_charge(&t, &p->took->fft);
}

/* How many modes of a row a thread takes at a time: all of them, except in one dimension, where there is only one row. */
static size_t
piece_of_row(const struct usfft_plan *p)
{
	const size_t least = 512 * (p->o.dim == 1 ? p->grid.rows : 1);

	return p->o.dim == 1 ? least : p->o.n[0];
}

void
usfft_get_row(const struct usfft_plan *p, int sign, size_t row, void *modes)
{
	modes_get(&p->grid, conjugate(sign), row, 0, p->o.n[0], modes);
}

void
usfft_type1(struct usfft_plan *p, int sign, const void *c, void *modes)
{
	const size_t nx = p->o.n[0], piece = piece_of_row(p), rows = p->o.n[1] * p->o.n[2];
	const size_t pieces = (nx + piece - 1) / piece;
	double t;

	usfft_gather(p, sign, c);
	t = clock_now();
#pragma omp parallel for num_threads(p->o.threads) schedule(static)
	for (size_t i = 0; i < rows * pieces; i++) {
		const size_t row = i / pieces, from = i % pieces * piece;
		modes_get(&p->grid, conjugate(sign), row, from,
			  from + piece < nx ? from + piece : nx,
			  (char *)modes + (row * nx + from) * 2 * p->real);
	}
	clock_charge(&t, &p->took->modes);
}

void
usfft_clear(struct usfft_plan *p)
{
	grid_clear(&p->grid);
}

void
usfft_put_row(struct usfft_plan *p, int sign, size_t row, const void *modes)
{
	modes_put(&p->grid, conjugate(sign), row, 0, p->o.n[0], modes);
}

void
usfft_scatter(struct usfft_plan *p, int sign, void *c)
{
	double t = clock_now();

	modes_to_grid(&p->grid);
	clock_charge(&t, &p->took->fft);
	interp_points(p, conjugate(sign), c);
	clock_charge(&t, &p->took->spread);
}

void
usfft_type2(struct usfft_plan *p, int sign, const void *modes, void *c)
{
	const size_t nx = p->o.n[0], piece = piece_of_row(p), rows = p->o.n[1] * p->o.n[2];
	const size_t pieces = (nx + piece - 1) / piece;
	double t = clock_now();

	usfft_clear(p);
#pragma omp parallel for num_threads(p->o.threads) schedule(static)
	for (size_t i = 0; i < rows * pieces; i++) {
		const size_t row = i / pieces, from = i % pieces * piece;
		modes_put(&p->grid, conjugate(sign), row, from,
			  from + piece < nx ? from + piece : nx,
			  (const char *)modes + (row * nx + from) * 2 * p->real);
	}
	clock_charge(&t, &p->took->modes);
	usfft_scatter(p, sign, c);
}
