/* The planner: method, sizes of the transforms, tiles. Everything costs what the table says; the cheapest is taken. */
#include <errno.h>
#include <math.h>

#include "wconv/costs.h"
#include "wconv/plan.h"

enum {
	NEAR_WIDTH = 1024,
	NEAR_HEIGHT = 32
}; /* tiles of direct sums: room for 64-pixel blocks, work for threads */

static const double roomy = 96e6; /* bytes of work space that cost nothing */

/* One direction cut for one size. */
struct cut {
	size_t tiles, functions, longest; /* tiles, functions summed over them, longest tile */
};

static struct cut
look(const struct wconv_axis *a)
{
	struct cut c = {a->ntile, 0, a->longest};

	for (size_t i = 0; i < a->ntile; i++)
		c.functions += a->tile[i].nf;
	return c;
}

/* Functions that a tile of the other direction is expected to have. */
static double
usual(const struct wconv_axis *a)
{
	return a->degree >= 0 ? (double)a->nfun : a->nfun > 1 ? 2 : 1;
}

/* Index of length n, or WCONV_SIZES. */
static size_t
find_size(size_t n)
{
	size_t i = 0;

	while (i < WCONV_SIZES && wconv_sizes[i] != n)
		i++;
	return i;
}

double
wconv_transform_cost(const struct wconv_costs *c, size_t n)
{
	const size_t i = find_size(n);

	return i < WCONV_SIZES ? c->transform[i] : INFINITY;
}

/* Seconds of the transforms of LANES rows of n samples. */
static double
row_cost(const struct wconv_costs *c, size_t n)
{
	return wconv_transform_cost(c, n / 2) + (double)n * c->turn;
}

static double
blocks_of(const struct wconv_plan *p, size_t n)
{
	return (double)(n / 2 / p->core->lanes + 1);
}

/* Cuts direction a, with kernels of k samples, for transforms of n. */
static int
cut_for(const struct wconv_plan *p, const struct wconv_costs *c, struct wconv_axis *a,
	const struct wconv_axis *other, size_t n, size_t k)
{
	const double column = wconv_transform_cost(c, n), blocks = blocks_of(p, n);
	const double groups = (double)n / (double)p->core->lanes;
	const double row = find_size(n / 2) < WCONV_SIZES ? row_cost(c, n) : column;
	const double fun = usual(other) * blocks * (column + (double)n * c->product) + groups * row;

	return wconv_cut(a, n - k + 1, groups * row + blocks * column, fun, 0);
}

struct choice {
	double cost;
	size_t nx, ny;
};

/* Bytes of spectra held: of image rows and of kernels. */
static double
space(const struct wconv_plan *p, size_t nx, size_t ny, const struct cut *x, const struct cut *y)
{
	const double line = blocks_of(p, nx) * 2 * (double)(p->core->lanes * p->core->sample);
	const double window = (double)(y->longest + p->q.kh + p->core->lanes);
	const double deep = (double)y->functions / (double)y->tiles + 1;

	return line * ((double)(x->tiles * p->q.planes) * window + deep * (double)(p->x.nfun * ny));
}

static double
fft_cost(const struct wconv_plan *p, const struct wconv_costs *c, size_t nx, size_t ny,
	 const struct cut *x, const struct cut *y)
{
	const double lanes = (double)p->core->lanes, blocks = blocks_of(p, nx),
		     planes = (double)p->q.planes;
	const double row = row_cost(c, nx), column = wconv_transform_cost(c, ny);
	const double results = (double)(p->y.hi - p->y.lo), h = results / (double)y->tiles;
	const double groups = ceil(h / lanes) * (double)y->tiles;
	const double kernels = (double)(p->x.nfun * p->y.nfun) *
			       (ceil((double)p->q.kh / lanes) * row + blocks * column);
	const double forward =
	    (double)x->tiles * (results / lanes * row + (double)y->tiles * blocks * column);
	const double pairs = (double)(x->functions * y->functions);
	const double back = pairs * blocks * (column + (double)ny * c->product) +
			    (double)x->functions * groups * row;
	const double bytes = space(p, nx, ny, x, y);

	return (kernels + planes * (forward + back)) * (bytes > roomy ? bytes / roomy : 1);
}

/*
 * Whether tiles of transforms of n are too many to be looked at, and there are longer ones to take. Planning costs time by
 * the tile: with all lengths, more than 20 s for 10^9 samples in a row.
 */
static bool
too_short(const struct wconv_axis *a, size_t n, size_t k)
{
	const size_t many = (size_t)(a->hi - a->lo) / 4096, least = many < 1024 ? many : 1024;

	return n - k + 1 < least && k + least <= wconv_sizes[WCONV_SIZES - 1];
}

/* The cheapest pair of sizes. cost INFINITY: the kernel is too large for any. */
static int
choose_sizes(struct wconv_plan *p, const struct wconv_costs *c, struct choice *best)
{
	struct cut x[WCONV_SIZES], y[WCONV_SIZES];

	*best = (struct choice){INFINITY, 0, 0};
	for (size_t i = 0; i < WCONV_SIZES; i++) {
		const size_t n = wconv_sizes[i];
		x[i].tiles = y[i].tiles = 0;
		if (n >= p->q.kw && find_size(n / 2) < WCONV_SIZES &&
		    !too_short(&p->x, n, p->q.kw)) {
			if (cut_for(p, c, &p->x, &p->y, n, p->q.kw))
				return -ENOMEM;
			x[i] = look(&p->x);
		}
		if (n >= 16 && n >= p->q.kh + p->core->lanes - 1 && /* two passes */
		    !too_short(&p->y, n, p->q.kh)) {
			if (cut_for(p, c, &p->y, &p->x, n, p->q.kh))
				return -ENOMEM;
			y[i] = look(&p->y);
		}
	}
	for (size_t i = 0; i < WCONV_SIZES; i++)
		for (size_t j = 0; j < WCONV_SIZES; j++) {
			if (!x[i].tiles || !y[j].tiles)
				continue;
			const double cost =
			    fft_cost(p, c, wconv_sizes[i], wconv_sizes[j], &x[i], &y[j]);
			if (cost < best->cost)
				*best = (struct choice){cost, wconv_sizes[i], wconv_sizes[j]};
		}
	return 0;
}

static int
cut_for_sums(struct wconv_plan *p)
{
	const int e = wconv_cut(&p->x, NEAR_WIDTH, 1, 0, 1);

	return e ? e : wconv_cut(&p->y, NEAR_HEIGHT, 1, .1, 0);
}

static double
direct_cost(const struct wconv_plan *p, const struct wconv_costs *c)
{
	const double taps = (double)(p->q.kw * p->q.kh), lanes = (double)p->core->lanes;
	const double rows = (double)(p->y.hi - p->y.lo);
	double vectors = 0, blends = 0;

	for (size_t i = 0; i < p->x.ntile; i++) {
		const struct wconv_tile *t = &p->x.tile[i];
		vectors += (double)t->nf * 4 * ceil((double)(t->b - t->a) / lanes / 4);
		blends += (double)t->nf * usual(&p->y) / lanes;
	}
	return (double)p->q.planes * rows * taps * c->tap * (vectors + 2 * blends);
}

/* Sets method and sizes for the results that x and y have now. */
static int
choose(struct wconv_plan *p, const struct wconv_costs *c)
{
	struct choice fft;
	int e = choose_sizes(p, c, &fft);

	e = e ? e : cut_for_sums(p);
	if (e)
		return e;
	p->cost_fft = fft.cost;
	p->cost_direct = direct_cost(p, c);
	p->direct = p->q.method == WCONV_DIRECT ||
		    (p->q.method == WCONV_AUTO && p->cost_direct <= p->cost_fft) ||
		    fft.cost == INFINITY;
	p->rows.n = p->direct ? 0 : fft.nx;
	p->columns.n = p->direct ? 0 : fft.ny;
	return 0;
}

/*
 * What is chosen for the whole image is chosen for each part of it, so that a tile that lies in a part has the same
 * bytes there as in the whole.
 */
int
wconv_choose(struct wconv_plan *p, const struct wconv_costs *c)
{
	const double results = (double)(p->x.hi - p->x.lo) * (double)(p->y.hi - p->y.lo);
	const struct wconv_axis x = p->x, y = p->y;
	int e;

	p->x.lo = x.whole_lo;
	p->x.hi = x.whole_hi;
	p->y.lo = y.whole_lo;
	p->y.hi = y.whole_hi;
	const double whole = (double)(p->x.hi - p->x.lo) * (double)(p->y.hi - p->y.lo);
	e = choose(p, c);
	p->cost_fft *= results / whole;
	p->cost_direct *= results / whole;
	p->x.lo = x.lo;
	p->x.hi = x.hi;
	p->y.lo = y.lo;
	p->y.hi = y.hi;
	if (e)
		return e;
	if (p->direct)
		return cut_for_sums(p);
	e = cut_for(p, c, &p->x, &p->y, p->rows.n, p->q.kw);
	return e ? e : cut_for(p, c, &p->y, &p->x, p->columns.n, p->q.kh);
}
