/* The planner chooses method, lengths of transforms, and tiles. It takes the cheapest by the table of costs. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "wconv/costs.h"
#include "wconv/plan.h"
#include "wconv/small.h"

/* Size of the tiles of direct sums: wide enough for blocks of 64 pixels, low enough that all threads get some. */
enum { NEAR_WIDTH = 1024, NEAR_HEIGHT = 32 };

/* Spectra up to this many bytes cost nothing extra. */
static const double roomy = 96e6;

/* Returns how many functions of a a tile is expected to have. */
static double
usual(const struct wconv_axis *a)
{
	return a->degree >= 0 ? (double)a->nfun : a->nfun > 1 ? 2 : 1;
}

/* Returns the index of length n in wconv_sizes, or WCONV_SIZES. */
static size_t
find_size(size_t n)
{
	size_t i = 0;

	while (i < WCONV_SIZES && wconv_sizes[i] != n)
		i++;
	return i;
}

static double
transform_cost(size_t n)
{
	const size_t i = find_size(n);

	return i < WCONV_SIZES ? wconv_costs.transform[i] : INFINITY;
}

/* Returns the seconds of transforming LANES rows of n samples. */
static double
row_cost(size_t n)
{
	return transform_cost(n / 2) + (double)n * wconv_costs.turn;
}

static double
blocks_of(const struct wconv_plan *p, size_t n)
{
	return (double)(n / 2 / p->core->lanes + 1);
}

/* Cuts direction a, with kernels of k samples, into tiles for transforms of length n. */
static int
cut_for(const struct wconv_plan *p, struct wconv_axis *a, const struct wconv_axis *other, size_t n,
	size_t k)
{
	const double column = transform_cost(n), blocks = blocks_of(p, n);
	const double groups = (double)n / (double)p->core->lanes;
	const double row = find_size(n / 2) < WCONV_SIZES ? row_cost(n) : column;
	const double fun =
	    usual(other) * blocks * (column + (double)n * wconv_costs.product) + groups * row;

	return wconv_cut(a, n - k + 1, groups * row + blocks * column, fun, 0);
}

static int
cut_for_sums(struct wconv_axis *x, struct wconv_axis *y)
{
	const int e = wconv_cut(x, NEAR_WIDTH, 1, 0, 1);

	return e ? e : wconv_cut(y, NEAR_HEIGHT, 1, .1, 0);
}

/* The tiles of one direction for one length of transforms. */
struct layout {
	size_t n;    /* that length; 0: it cannot be used */
	double cost; /* seconds of LANES transforms: along x of rows, along y of columns */
	size_t tiles, functions; /* functions: summed over the tiles */
	size_t longest;		 /* results in the longest tile */
};

static struct layout
look(const struct wconv_axis *a, size_t n, double cost)
{
	struct layout l = {n, cost, a->ntile, 0, a->longest};

	for (size_t i = 0; i < a->ntile; i++)
		l.functions += a->tile[i].nf;
	return l;
}

/* Returns the bytes of the spectra that are held, of image rows and of kernels. */
static double
space(const struct wconv_plan *p, const struct layout *x, const struct layout *y)
{
	const double line = blocks_of(p, x->n) * 2 * (double)(p->core->lanes * p->core->sample);
	const double window = (double)(y->longest + p->q.kh + p->core->lanes);
	const double deep = (double)y->functions / (double)y->tiles + 1;

	return line *
	       ((double)(x->tiles * p->q.planes) * window + deep * (double)(p->x.nfun * y->n));
}

/* Returns the seconds of transforms for this many rows of results. */
static double
fft_cost(const struct wconv_plan *p, double rows, const struct layout *x, const struct layout *y)
{
	const double lanes = (double)p->core->lanes, blocks = blocks_of(p, x->n);
	const double tiles_x = (double)x->tiles, tiles_y = (double)y->tiles;
	const double kernels = (double)(p->x.nfun * p->y.nfun) *
			       (ceil((double)p->q.kh / lanes) * x->cost + blocks * y->cost);
	const double forward = tiles_x * (rows / lanes * x->cost + tiles_y * blocks * y->cost);
	const double pairs = (double)(x->functions * y->functions);
	const double groups = ceil(rows / tiles_y / lanes) * tiles_y;
	const double back = pairs * blocks * (y->cost + (double)y->n * wconv_costs.product) +
			    (double)x->functions * groups * x->cost;
	const double bytes = space(p, x, y);

	return (kernels + (double)p->q.planes * (forward + back)) *
	       (bytes > roomy ? bytes / roomy : 1);
}

/*
 * Whether transforms of n samples make too many tiles to consider, while longer transforms are available. Planning takes
 * time per tile: with all lengths, it takes more than 20 s for 10^9 samples in a row.
 */
static bool
too_short(const struct wconv_axis *a, size_t n, size_t k)
{
	const size_t many = (size_t)(a->hi - a->lo) / 4096, least = many < 1024 ? many : 1024;

	return n - k + 1 < least && k + least <= wconv_sizes[WCONV_SIZES - 1];
}

/* Lays x and y out for each length that can be used. Lengths along y have two passes or more. Returns 0 or -ENOMEM. */
static int
try_sizes(const struct wconv_plan *p, struct wconv_axis *x, struct wconv_axis *y,
	  struct layout *of_x, struct layout *of_y)
{
	const size_t kw = p->q.kw, kh = p->q.kh;

	for (size_t i = 0; i < WCONV_SIZES; i++) {
		const size_t n = wconv_sizes[i];
		of_x[i].n = of_y[i].n = 0;
		if (n >= kw && find_size(n / 2) < WCONV_SIZES && !too_short(x, n, kw)) {
			if (cut_for(p, x, y, n, kw))
				return -ENOMEM;
			of_x[i] = look(x, n, row_cost(n));
		}
		if (n >= 16 && n >= kh + p->core->lanes - 1 && !too_short(y, n, kh)) {
			if (cut_for(p, y, x, n, kh))
				return -ENOMEM;
			of_y[i] = look(y, n, wconv_costs.transform[i]);
		}
	}
	return 0;
}

/* Finds the cheapest pair of lengths, *nx and *ny, and its cost: INFINITY if the kernel is too large for all lengths. */
static int
choose_sizes(const struct wconv_plan *p, struct wconv_axis *x, struct wconv_axis *y, size_t *nx,
	     size_t *ny, double *cost)
{
	struct layout of_x[WCONV_SIZES], of_y[WCONV_SIZES];

	*cost = INFINITY;
	if (try_sizes(p, x, y, of_x, of_y))
		return -ENOMEM;
	for (size_t i = 0; i < WCONV_SIZES; i++)
		for (size_t j = 0; j < WCONV_SIZES; j++) {
			if (!of_x[i].n || !of_y[j].n)
				continue;
			const double seconds =
			    fft_cost(p, (double)(y->hi - y->lo), &of_x[i], &of_y[j]);
			if (seconds < *cost) {
				*cost = seconds;
				*nx = of_x[i].n;
				*ny = of_y[j].n;
			}
		}
	return 0;
}

/* Returns the seconds of a sample of a kernel, for a vector of results. */
static double
tap_cost(const struct wconv_plan *p)
{
	return wconv_is_small(p) ? wconv_costs.small_tap : wconv_costs.tap;
}

/* Returns the seconds of sums by column and row, for a vector of results. */
static double
product_cost(const struct wconv_plan *p)
{
	return ((double)(p->q.kw + p->q.kh) + wconv_costs.product_line) * wconv_costs.product_tap;
}

/* Returns the seconds of direct sums, for which x and y must be cut. */
static double
direct_cost(const struct wconv_plan *p, const struct wconv_axis *x, const struct wconv_axis *y)
{
	const double taps = (double)(p->q.kw * p->q.kh), lanes = (double)p->core->lanes;
	const double rows = (double)(y->hi - y->lo);
	double vectors = 0, blends = 0, lines = 0;

	for (size_t i = 0; i < x->ntile; i++) {
		const struct wconv_tile *t = &x->tile[i];
		vectors += (double)t->nf * 4 * ceil((double)(t->b - t->a) / lanes / 4);
		blends += (double)t->nf * usual(y) / lanes;
		lines += (double)t->nf / lanes;
	}
	if (p->product)
		return (double)p->q.planes * rows * vectors * product_cost(p);
	return (double)p->q.planes * rows *
	       (taps * tap_cost(p) * (vectors + 2 * blends) + lines * wconv_costs.line);
}

/* Chooses method, lengths and costs for the results of x and y. Their tiles are not the chosen ones afterwards. */
static int
choose(struct wconv_plan *p, struct wconv_axis *x, struct wconv_axis *y)
{
	int e = choose_sizes(p, x, y, &p->rows.n, &p->columns.n, &p->cost_fft);

	e = e ? e : cut_for_sums(x, y);
	if (e)
		return e;
	p->product = p->factors && (double)(p->q.kw * p->q.kh) * tap_cost(p) > product_cost(p);
	p->cost_direct = direct_cost(p, x, y);
	p->direct = p->q.method == WCONV_DIRECT || p->cost_fft == INFINITY ||
		    (p->q.method == WCONV_AUTO && p->cost_direct <= p->cost_fft);
	p->product = p->product && p->direct;
	if (p->direct)
		p->rows.n = p->columns.n = 0;
	return 0;
}

/* Returns the axis with all results of the whole image, and without tiles. Its other pointers belong to a. */
static struct wconv_axis
whole_of(const struct wconv_axis *a)
{
	struct wconv_axis whole = *a;

	whole.lo = a->whole_lo;
	whole.hi = a->whole_hi;
	whole.tile = NULL;
	whole.ntile = 0;
	return whole;
}

/*
 * The choice is made for the whole image and holds for each part of it. So a tile that lies in a part has the same bytes
 * there as in the whole.
 */
int
wconv_choose(struct wconv_plan *p)
{
	struct wconv_axis x = whole_of(&p->x), y = whole_of(&p->y);
	const double part = (double)(p->x.hi - p->x.lo) / (double)(x.hi - x.lo) *
			    ((double)(p->y.hi - p->y.lo) / (double)(y.hi - y.lo));
	int e = choose(p, &x, &y);

	weir_free(x.tile);
	weir_free(y.tile);
	p->cost_fft *= part;
	p->cost_direct *= part;
	if (e)
		return e;
	if (p->direct)
		return cut_for_sums(&p->x, &p->y);
	e = cut_for(p, &p->x, &p->y, p->rows.n, p->q.kw);
	return e ? e : cut_for(p, &p->y, &p->x, p->columns.n, p->q.kh);
}
