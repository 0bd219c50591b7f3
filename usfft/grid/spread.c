/*
 * Spreads points to the grid and interpolates back, tile by tile. A thread takes a band of tiles along x. Bands whose
 * accumulators overlap have different colours, and bands of different colours never run at the same time. So no addition
 * is atomic, and their order is fixed:
 *
 *	y  0 1 0 1 0 1 ...	Two colours suffice where a tile is at least as wide as the overhang. In 3-D a colour has
 *				one digit per axis. The bands that are left over at the end of an axis lie next to band 0
 *				and get colours of their own.
 *
 * A tile with more than TILE_HEAVY points would keep one thread busy while others wait. Such tiles come last, in pieces
 * that all threads share. The accumulators of the pieces are added in the pieces' order.
 */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/plan.h"

static size_t
colours_of(size_t tiles, size_t step)
{
	return tiles < step ? tiles : step + tiles % step;
}

static size_t
colour_of(size_t tile, size_t tiles, size_t step)
{
	const size_t whole = tiles / step * step;

	return tile < whole ? tile % step : (whole ? step : 0) + tile - whole;
}

size_t
spread_acc_bytes(const struct usfft_plan *p, int lanes, size_t real)
{
	const int dim = p->o.dim, w = p->win[0].w;
	const int cells = tile_rows(dim, w) * tile_stride(dim, (int)p->span, w, lanes);

	return ((size_t)cells * 2 * real + 64 + 63) / 64 * 64;
}

int
spread_make(struct usfft_plan *p)
{
	const int dim = p->o.dim, w = p->win[0].w;
	const size_t step = (size_t)(w - 2) / p->span + 2;
	const size_t ny = dim == 1 ? p->tiles[0] : p->tiles[1], nz = p->tiles[2];
	const size_t cy = colours_of(ny, step), cz = colours_of(nz, step);

	p->nbands = ny * nz;
	p->ncolours = cy * cz;
	p->acc_bytes = spread_acc_bytes(p, p->ops->lanes, p->real);
	p->accs = p->span > (size_t)tile_span(dim) ? 1 : (size_t)p->o.threads;
	p->acc = weir_take(p->accs, p->acc_bytes);
	p->band = weir_alloc(p->nbands, sizeof *p->band);
	p->colour = weir_calloc(p->ncolours + 1, sizeof *p->colour);
	p->heavy = weir_alloc(p->ntiles, sizeof *p->heavy);
	if (!p->acc || !p->band || !p->colour || !p->heavy)
		return -ENOMEM;
	/* Unaligned loads read up to 64 bytes beyond the last row and multiply them by 0, so they must be finite. */
	for (size_t i = 1; i <= p->accs; i++)
		memset(p->acc + i * p->acc_bytes - 128, 0, 128);
	for (size_t c = 0, b = 0; c < p->ncolours; c++) {
		for (size_t z = 0; z < nz; z++)
			for (size_t y = 0; y < ny; y++)
				if (colour_of(z, nz, step) * cy + colour_of(y, ny, step) == c)
					p->band[b++] = (struct band){(uint32_t)y, (uint32_t)z};
		p->colour[c + 1] = b;
	}
	return 0;
}

/*
 * What visits an accumulator: visit() is called for each piece of it that is contiguous in the grid, wrapping around the
 * grid's edges, and takes n reals of both.
 */
struct visitor {
	void (*visit)(const struct usfft_plan *p, void *acc, void *grid, size_t n);
	size_t cell; /* bytes of a cell of the accumulator */
	int lanes;   /* of the loops that it is for */
};

static void
visit_row(const struct usfft_plan *p, size_t row, size_t x, char *acc, size_t len,
	  const struct visitor *v)
{
	const struct grid *g = &p->grid;

	while (len > 0) {
		size_t piece = g->rowlen - x % g->rowlen;
		if (piece > len)
			piece = len;
		v->visit(p, acc, (char *)g->data + grid_cell(g, row, x) * 2 * p->real, 2 * piece);
		acc += piece * v->cell;
		len -= piece;
		x += piece;
		if (x == g->n[0])
			x = 0;
	}
}

static size_t
first_cell(size_t tile, size_t span, size_t before, size_t n)
{
	return (tile * span + n - before % n) % n;
}

static void
visit_tile(const struct usfft_plan *p, size_t tile, char *acc, const struct visitor *v)
{
	const int dim = p->o.dim, w = p->win[0].w;
	const size_t span = (size_t)tile_span(dim), lead = (size_t)tile_lead(w);
	const size_t len = (size_t)tile_stride(dim, (int)p->span, w, v->lanes);
	const size_t high = dim > 1 ? span + (size_t)w - 1 : 1, deep = dim > 2 ? high : 1;
	const size_t *n = p->grid.n, tx = tile % p->tiles[0];
	const size_t ty = tile / p->tiles[0] % p->tiles[1], tz = tile / p->tiles[0] / p->tiles[1];
	const size_t x = first_cell(tx, p->span, lead + (size_t)tile_slack(w, v->lanes), n[0]);
	size_t z = dim > 2 ? first_cell(tz, span, lead, n[2]) : 0;

	for (size_t k = 0; k < deep; k++, z = z + 1 < n[2] ? z + 1 : 0) {
		size_t y = dim > 1 ? first_cell(ty, span, lead, n[1]) : 0;
		for (size_t j = 0; j < high; j++, y = y + 1 < n[1] ? y + 1 : 0) {
			visit_row(p, z * p->grid.plane + y, x, acc, len, v);
			acc += len * v->cell;
		}
	}
}

static void
add_piece(const struct usfft_plan *p, void *acc, void *grid, size_t n)
{
	p->ops->add(grid, acc, n);
}

static void
add_crowded_piece(const struct usfft_plan *p, void *acc, void *grid, size_t n)
{
	const double *from = acc;
	float *to = grid;

	(void)p;
	for (size_t i = 0; i < n; i++)
		to[i] += (float)from[i];
}

static void
load_piece(const struct usfft_plan *p, void *acc, void *grid, size_t n)
{
	memcpy(acc, grid, n * p->real);
}

static struct visitor
loader(const struct usfft_plan *p)
{
	return (struct visitor){load_piece, 2 * p->real, p->ops->lanes};
}

/* Records from..to-1, which lie in one tile. */
static struct tile_points
some_points(const struct usfft_plan *p, int sign, size_t from, size_t to)
{
	return (struct tile_points){.record = (char *)p->points.record + from * p->points.bytes,
				    .n = to - from,
				    .bytes = p->points.bytes,
				    .wide = p->points.wide,
				    .bits = p->bits,
				    .indexed = p->points.indexed,
				    .sign = sign};
}

/* Spreads records from..to-1, which lie in one tile, to accumulator i. */
static void
spread_part(const struct usfft_plan *p, int sign, bool crowded, size_t from, size_t to,
	    const void *c, size_t i)
{
	const struct tile_points pt = some_points(p, sign, from, to);
	const struct crowds *q = &p->crowds;

	if (crowded) {
		memset(q->acc + i * q->acc_bytes, 0, q->acc_bytes);
		crowd_spread(p, &pt, c, q->acc + i * q->acc_bytes);
	} else {
		memset(p->acc + i * p->acc_bytes, 0, p->acc_bytes);
		p->ops->spread[p->o.dim - 1][p->win[0].w](&p->taps, p->acc + i * p->acc_bytes, &pt,
							  c);
	}
}

/* Adds accumulator i to the grid. */
static void
add_part(const struct usfft_plan *p, bool crowded, size_t tile, size_t i)
{
	const struct crowds *q = &p->crowds;
	const struct visitor v = {crowded ? add_crowded_piece : add_piece,
				  crowded ? 2 * sizeof(double) : 2 * p->real,
				  crowded ? q->ops->lanes : p->ops->lanes};

	visit_tile(p, tile, crowded ? q->acc + i * q->acc_bytes : p->acc + i * p->acc_bytes, &v);
}

/* The first tile of a band. The band is this tile and those that follow it, tiles_of_band() in all. */
static size_t
first_tile(const struct usfft_plan *p, struct band b)
{
	return p->o.dim == 1 ? b.y : (b.z * p->tiles[1] + b.y) * p->tiles[0];
}

static size_t
tiles_of_band(const struct usfft_plan *p)
{
	return p->o.dim == 1 ? 1 : p->tiles[0];
}

static void
spread_band(const struct usfft_plan *p, int sign, struct band b, const void *c, size_t acc)
{
	const size_t first = first_tile(p, b);

	for (size_t t = first; t < first + tiles_of_band(p); t++) {
		const size_t from = p->points.start[t], to = p->points.start[t + 1];
		if (from == to || to - from > TILE_HEAVY)
			continue;
		const bool crowded = crowd_in(p, t);
		spread_part(p, sign, crowded, from, to, c, acc);
		add_part(p, crowded, t, acc);
	}
}

/*
 * Threads share the records of a heavy tile. If it is crowded, it has 64 parts at most, because parts are rounded when they
 * are added.
 */
static void
spread_heavy(const struct usfft_plan *p, int sign, size_t tile, const void *c)
{
	const size_t first = p->points.start[tile], end = p->points.start[tile + 1];
	const bool crowded = crowd_in(p, tile);
	const size_t most = crowded ? (end - first) / CROWD + 1 : 0, group = p->accs;
	const size_t part = most > TILE_HEAVY ? most : TILE_HEAVY;

	for (size_t at = first; at < end; at += group * part) {
		const size_t left = (end - at + part - 1) / part;
		const size_t parts = left < group ? left : group;
#pragma omp parallel for num_threads(p->o.threads) schedule(static, 1)
		for (size_t i = 0; i < parts; i++) {
			const size_t from = at + i * part;
			spread_part(p, sign, crowded, from, from + part < end ? from + part : end,
				    c, i);
		}
		for (size_t i = 0; i < parts; i++)
			add_part(p, crowded, tile, i);
	}
}

static void
clear_grid(const struct usfft_plan *p)
{
	const struct grid *g = &p->grid;
	const size_t row = g->ld * 2 * p->real;

#pragma omp parallel for num_threads(p->o.threads) schedule(static)
	for (size_t r = 0; r < g->rows; r++)
		memset((char *)g->data + r * row, 0, row);
}

/*
 * The index of the i-th of n bands to run. It alternates between both halves, so that two threads seldom are the first to
 * touch the same page of 2 MiB, which both would clear (1024^2, two threads: 22.2 -> 21.1 ms).
 */
static size_t
far_apart(size_t i, size_t n)
{
	return i / 2 + (i % 2 ? (n + 1) / 2 : 0);
}

void
spread_points(struct usfft_plan *p, int sign, const void *c)
{
	const int threads = p->points.m < 2048 ? 1 : (int)p->accs;

	clear_grid(p);
#pragma omp parallel num_threads(threads)
	{
		const size_t acc = (size_t)omp_get_thread_num();
		for (size_t q = 0; q < p->ncolours; q++) {
			const struct band *band = p->band + p->colour[q];
			const size_t n = p->colour[q + 1] - p->colour[q];
#pragma omp for schedule(dynamic, 1)
			for (size_t i = 0; i < n; i++)
				spread_band(p, sign, band[far_apart(i, n)], c, acc);
		}
	}
	for (size_t i = 0; i < p->nheavy; i++)
		spread_heavy(p, sign, p->heavy[i], c);
	if (!c)
		sort_drop(p);
}

/* Interpolation writes no cell of the grid, so tiles need no order. */
static void
interp_tile(const struct usfft_plan *p, int sign, size_t tile, void *c, char *acc)
{
	const size_t from = p->points.start[tile], to = p->points.start[tile + 1];
	const struct tile_points pt = some_points(p, sign, from, to);
	const struct visitor load = loader(p);

	if (from == to || to - from > TILE_HEAVY)
		return;
	visit_tile(p, tile, acc, &load);
	p->ops->interp[p->o.dim - 1][p->win[0].w](&p->taps, acc, &pt, c);
}

static void
interp_heavy(const struct usfft_plan *p, int sign, size_t tile, void *c)
{
	const size_t first = p->points.start[tile], end = p->points.start[tile + 1];
	const struct visitor load = loader(p);

	visit_tile(p, tile, p->acc, &load);
#pragma omp parallel for num_threads(p->o.threads) schedule(dynamic, 1)
	for (size_t from = first; from < end; from += TILE_HEAVY) {
		const size_t to = from + TILE_HEAVY < end ? from + TILE_HEAVY : end;
		const struct tile_points pt = some_points(p, sign, from, to);
		p->ops->interp[p->o.dim - 1][p->win[0].w](&p->taps, p->acc, &pt, c);
	}
}

/* Interpolates where the grid is one tile in one dimension: the threads copy it to one accumulator, and share the points. */
static void
interp_line(const struct usfft_plan *p, int sign, void *c)
{
	const int threads = p->points.m < 2048 ? 1 : p->o.threads;
	const int w = p->win[0].w, lanes = p->ops->lanes;
	const size_t len = (size_t)tile_stride(1, (int)p->span, w, lanes);
	const size_t n = p->grid.n[0], m = p->points.m;
	const struct visitor load = loader(p);
	const size_t first = first_cell(0, n, (size_t)(tile_lead(w) + tile_slack(w, lanes)), n);

#pragma omp parallel num_threads(threads)
	{
#pragma omp for schedule(static)
		for (size_t x = 0; x < len; x += TILE_HEAVY)
			visit_row(p, 0, (first + x) % n, p->acc + x * load.cell,
				  len - x < TILE_HEAVY ? len - x : TILE_HEAVY, &load);
#pragma omp for schedule(static)
		for (size_t j = 0; j < m; j += TILE_HEAVY) {
			const size_t to = m - j < TILE_HEAVY ? m : j + TILE_HEAVY;
			const struct tile_points pt = some_points(p, sign, j, to);
			p->ops->interp[0][w](&p->taps, p->acc, &pt, c);
		}
	}
}

void
interp_points(struct usfft_plan *p, int sign, void *c)
{
	const int threads = p->points.m < 2048 ? 1 : p->o.threads;

	if (p->o.dim == 1 && p->ntiles == 1) {
		interp_line(p, sign, c);
		return;
	}
#pragma omp parallel num_threads(threads)
	{
		char *acc = p->acc + (size_t)omp_get_thread_num() * p->acc_bytes;
#pragma omp for schedule(dynamic, 4)
		for (size_t t = 0; t < p->ntiles; t++)
			interp_tile(p, sign, t, c, acc);
	}
	for (size_t i = 0; i < p->nheavy; i++)
		interp_heavy(p, sign, p->heavy[i], c);
}
