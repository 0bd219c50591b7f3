/* How a picture is cut into tiles, and what that costs. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/base/mem.h"
#include "wconv/plan.h"

/* ---- costs ---- */

enum { SIZES = 52 };

/* The lengths of transforms that the planner chooses from, increasing: 2^a 3^b 5^c, multiples of 4. */
static const size_t sizes[SIZES] = {
    8,	  12,	16,   20,   24,	  32,	40,   48,   60,	  64,	72,    80,    96,
    100,  120,	128,  144,  160,  180,	192,  200,  240,  256,	288,   300,   320,
    360,  384,	400,  480,  512,  576,	600,  640,  720,  768,	800,   960,   1024,
    1280, 1536, 1920, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 10240, 12288, 16384};

struct costs {
	/* [i]: one complex transform of LANES columns of sizes[i] points */
	double transform[SIZES];
	/* per sample of LANES rows: transpose and untangle them */
	double turn;
	/* per point of LANES columns: multiply with a kernel, blend the result */
	double product;
	/* per kernel sample and vector of results: direct sums */
	double tap;
	/* the same for small kernels: see plan.h */
	double small_tap;
	/* per sample of a column and a row, and vector of results: direct sums of their product; and what a vector of results
	   costs besides, in samples */
	double product_tap, product_line;
	/* per row of a tile and function of x, of one lane: blend the kernels, begin the sums */
	double line;
};

/*
 * Measured on an AMD EPYC (Zen 5), AVX-512, single precision. Only ratios matter, and they differ little between machines.
 * Costs measured on an Intel Xeon chose plans that took .95 to 1.17 times as long on six of seven problems, and 2.8 times
 * on the seventh. On an AMD EPYC (Zen 4), transforms took 1.25 times as long as predicted from direct sums with AVX-512, and
 * 1.06 times with AVX2. For that, tap is less than the measured 4.06e-10, and kernels of up to 49 samples are summed directly:
 * transforms of these took up to 1.4 times as long.
 * What small kernels and products cost was measured on an AMD EPYC (Zen 3) with AVX2, on 4096x4096 floats and one thread. Sums by
 * column and row took as long as transforms at 43x43; the table says 36x36, since transforms are faster on the others.
 */
static const struct costs costs = {
    .turn = 2.94e-09,
    .product = 5.28e-09,
    .tap = 3.15e-10,
    .small_tap = 2.2e-10,
    .product_tap = 2.2e-10,
    .product_line = 6,
    .line = 5.6e-07,
    .transform = {2.3e-08,  3.81e-08, 4.36e-08, 5.46e-08, 6.16e-08, 7.91e-08, 9.99e-08, 1.34e-07,
		  1.78e-07, 1.49e-07, 2.11e-07, 2.26e-07, 2.8e-07,  3.09e-07, 3.64e-07, 3.57e-07,
		  4.8e-07,  4.74e-07, 6.3e-07,	5.47e-07, 6.2e-07,  8.16e-07, 7.23e-07, 9.81e-07,
		  1.08e-06, 9.71e-07, 1.31e-06, 1.36e-06, 1.52e-06, 2.05e-06, 1.79e-06, 2.46e-06,
		  2.63e-06, 2.75e-06, 3.52e-06, 3.33e-06, 3.59e-06, 4.31e-06, 4.49e-06, 5.79e-06,
		  6.69e-06, 1.01e-05, 9.16e-06, 1.18e-05, 1.63e-05, 1.89e-05, 2.69e-05, 3.38e-05,
		  4.81e-05, 6.72e-05, 8.78e-05, 0.000126}};

/* ---- axes ---- */

/* Returns x modulo m, in 0..m-1. */
static ptrdiff_t
modulo(ptrdiff_t x, ptrdiff_t m)
{
	return (x % m + m) % m;
}

ptrdiff_t
wconv_edge(enum wconv_edge edge, ptrdiff_t x, ptrdiff_t n)
{
	if (x >= 0 && x < n)
		return x;
	switch (edge) {
	case WCONV_NEAREST:
		return x < 0 ? 0 : n - 1;
	case WCONV_WRAP:
		return modulo(x, n);
	case WCONV_REFLECT:
		x = modulo(x, 2 * n);
		return x < n ? x : 2 * n - 1 - x;
	case WCONV_MIRROR:
		if (n == 1)
			return 0;
		x = modulo(x, 2 * n - 2);
		return x < n ? x : 2 * n - 2 - x;
	default:
		return -1;
	}
}

/* Rises linearly from 0 at a to 1 at b. */
static double
ramp(double x, double a, double b)
{
	const double u = (x - a) / (b - a);

	return u < 0 ? 0 : u;
}

double
wconv_weight(const struct wconv_axis *a, size_t f, ptrdiff_t at)
{
	const double x = (double)at;

	if (a->of)
		return wconv_weight(a->of, f / 2, at) * wconv_weight(a->of, (f + 1) / 2, at);
	if (a->degree >= 0)
		return pow((x - a->zero) / a->scale, (double)f);
	if (x < a->left[f])
		return f == 0 ? 1 : ramp(x, a->right[f - 1], a->left[f]);
	if (x > a->right[f])
		return f == a->nfun - 1 ? 1 : ramp(x, a->left[f + 1], a->right[f]);
	return 1;
}

/* Makes one function for each run of nodes that have the same kernels. */
static int
make_functions(struct wconv_axis *a, const double *node, size_t n, const bool *alike)
{
	a->left = weir_alloc(n, sizeof *a->left);
	a->right = weir_alloc(n, sizeof *a->right);
	a->node = weir_alloc(n, sizeof *a->node);
	if (!a->left || !a->right || !a->node)
		return -ENOMEM;
	a->nfun = 0;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !alike[i - 1]) {
			a->node[a->nfun] = i;
			a->left[a->nfun++] = node[i];
		}
		a->right[a->nfun - 1] = node[i];
	}
	return 0;
}

static void
bound_results(struct wconv_axis *a, enum wconv_output output)
{
	a->whole_lo = output == WCONV_FULL ? -a->after : output == WCONV_VALID ? a->before : 0;
	a->whole_hi = output == WCONV_FULL    ? a->n + a->before
		      : output == WCONV_VALID ? a->n - a->after
					      : a->n;
	a->lo = a->have0 == 0 ? a->whole_lo : a->have0 + a->before;
	a->hi = a->have1 == a->n ? a->whole_hi : a->have1 - a->after;
}

int
wconv_axis(struct wconv_axis *a, const struct wconv_problem *q, bool y, const bool *alike)
{
	const size_t k = y ? q->kh : q->kw, c = y ? q->cy : q->cx;
	const bool part = y ? q->h != q->H : q->w != q->W;

	memset(a, 0, sizeof *a);
	a->n = (ptrdiff_t)(y ? q->H : q->W);
	a->have0 = (ptrdiff_t)(y ? q->y0 : q->x0);
	a->have1 = a->have0 + (ptrdiff_t)(y ? q->h : q->w);
	a->before = (ptrdiff_t)(q->correlate ? c : k - 1 - c);
	a->after = (ptrdiff_t)k - 1 - a->before;
	a->edge = q->edge;
	a->degree = q->degree;
	a->zero = y ? q->zero_y : q->zero_x;
	a->scale = y ? q->scale_y : q->scale_x;
	if (part && q->edge == WCONV_WRAP)
		return -EINVAL;
	if (part && (ptrdiff_t)k > a->have1 - a->have0)
		return -ERANGE;
	bound_results(a, q->output);
	if (y && q->want0 < q->want1) {
		a->lo = a->lo > q->want0 ? a->lo : q->want0;
		a->hi = a->hi < q->want1 ? a->hi : q->want1;
	}
	if (a->lo >= a->hi)
		return -EDOM;
	if (a->degree >= 0) {
		a->nfun = (size_t)a->degree + 1;
		return 0;
	}
	return make_functions(a, y ? q->node_y : q->node_x, y ? q->gy : q->gx, alike);
}

/* --- tiles --------------------------------------------------------------------------------------------------------- */

/* Returns the first function, `from` or later, that is not 0 everywhere in a tile that begins at a. */
static size_t
first_function(const struct wconv_axis *x, size_t from, ptrdiff_t a)
{
	while (x->degree < 0 && from + 1 < x->nfun && x->left[from + 1] <= (double)a)
		from++;
	return from;
}

/* Returns the last function, `from` or later, that is not 0 everywhere in a tile that ends before b. */
static size_t
last_function(const struct wconv_axis *x, size_t from, ptrdiff_t b)
{
	while (from + 1 < x->nfun && (x->degree >= 0 || x->right[from] < (double)(b - 1)))
		from++;
	return from;
}

static size_t
add_border(ptrdiff_t *p, size_t n, double at, ptrdiff_t hi)
{
	const double c = ceil(at);

	if (c > (double)p[n - 1] && c < (double)hi)
		p[n++] = (ptrdiff_t)c;
	return n;
}

/* Lists where the set of functions changes, with lo and hi, increasing. The list needs room for 2 nfun + 2. */
static size_t
list_borders(const struct wconv_axis *x, ptrdiff_t *p)
{
	size_t n = 1;

	p[0] = x->whole_lo;
	for (size_t f = 0; x->degree < 0 && f < x->nfun; f++) {
		n = add_border(p, n, x->left[f], x->whole_hi);
		n = add_border(p, n, x->right[f], x->whole_hi);
	}
	p[n++] = x->whole_hi;
	return n;
}

/* A place where a tile may begin or end. */
struct cut {
	ptrdiff_t at;
	double cost;  /* of the cheapest tiles up to here */
	size_t from;  /* the cut where the last of these tiles begins */
	size_t first; /* the first function of a tile that begins here */
	bool keep;
};

/* Returns *n cuts: the borders, and even cuts of intervals that are longer than `longest`. NULL: no memory. */
static struct cut *
list_cuts(const struct wconv_axis *x, ptrdiff_t longest, size_t *n)
{
	const size_t pieces = (size_t)((x->whole_hi - x->whole_lo) / longest);
	ptrdiff_t *p = weir_alloc(2 * x->nfun + 2, sizeof *p);
	struct cut *cut = weir_calloc(4 * x->nfun + 4 + pieces, sizeof *cut);

	*n = 0;
	if (p && cut) {
		const size_t np = list_borders(x, p);
		for (size_t i = 0; i + 1 < np; i++) {
			const ptrdiff_t length = p[i + 1] - p[i];
			const ptrdiff_t parts = (length + longest - 1) / longest;
			for (ptrdiff_t k = 0; k < parts; k++)
				cut[(*n)++].at = p[i] + length * k / parts;
		}
		cut[(*n)++].at = x->whole_hi;
	}
	weir_free(p);
	return cut;
}

/* Fills in cost and from of all cuts, by dynamic programming. */
static void
find_cheapest(const struct wconv_axis *x, struct cut *cut, size_t n, ptrdiff_t longest, double tile,
	      double fun, double each)
{
	size_t last = 0;

	cut[0].cost = 0;
	cut[0].first = first_function(x, 0, cut[0].at);
	for (size_t i = 1; i < n; i++) {
		cut[i].cost = INFINITY;
		cut[i].first = first_function(x, cut[i - 1].first, cut[i].at);
		last = last_function(x, last, cut[i].at);
		for (size_t j = i; j-- > 0 && cut[i].at - cut[j].at <= longest;) {
			const double length = (double)(cut[i].at - cut[j].at);
			const double functions = (double)(last - cut[j].first + 1);
			const double c = cut[j].cost + tile + functions * (fun + each * length);
			if (c < cut[i].cost) {
				cut[i].cost = c;
				cut[i].from = j;
			}
		}
	}
}

/* Appends the tile, without the results that the item does not have. */
static void
add_tile(struct wconv_axis *x, ptrdiff_t a, ptrdiff_t b)
{
	struct wconv_tile *t = &x->tile[x->ntile];

	t->a = a > x->lo ? a : x->lo;
	t->b = b < x->hi ? b : x->hi;
	if (t->a >= t->b)
		return;
	t->f0 = first_function(x, 0, t->a);
	t->nf = last_function(x, t->f0, t->b) - t->f0 + 1;
	if ((size_t)(t->b - t->a) > x->longest)
		x->longest = (size_t)(t->b - t->a);
	if (t->nf > x->most)
		x->most = t->nf;
	x->ntile++;
}

/*
 * Cuts [lo,hi) into tiles of at most `longest` results. Minimises the sum over tiles of
 * tile + functions * (fun + each * length). Returns 0 or -ENOMEM.
 */
static int
cut_tiles(struct wconv_axis *x, size_t longest, double tile, double fun, double each)
{
	size_t n;
	struct cut *cut = list_cuts(x, (ptrdiff_t)longest, &n);

	weir_free(x->tile);
	x->tile = weir_alloc(n, sizeof *x->tile);
	x->ntile = x->longest = x->most = 0;
	if (n && x->tile) {
		find_cheapest(x, cut, n, (ptrdiff_t)longest, tile, fun, each);
		for (size_t i = n - 1; i > 0; i = cut[i].from)
			cut[i].keep = true;
		for (size_t i = 1, begin = 0; i < n; i++)
			if (cut[i].keep) {
				add_tile(x, cut[begin].at, cut[i].at);
				begin = i;
			}
	}
	weir_free(cut);
	return n && x->tile ? 0 : -ENOMEM;
}

/* ---- tiles ---- */

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

/* Returns the index of length n in sizes, or SIZES. */
static size_t
find_size(size_t n)
{
	size_t i = 0;

	while (i < SIZES && sizes[i] != n)
		i++;
	return i;
}

static double
transform_cost(size_t n)
{
	const size_t i = find_size(n);

	return i < SIZES ? costs.transform[i] : INFINITY;
}

/* Returns the seconds of transforming LANES rows of n samples. */
static double
row_cost(size_t n)
{
	return transform_cost(n / 2) + (double)n * costs.turn;
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
	const double row = find_size(n / 2) < SIZES ? row_cost(n) : column;
	const double fun =
	    usual(other) * blocks * (column + (double)n * costs.product) + groups * row;

	return cut_tiles(a, n - k + 1, groups * row + blocks * column, fun, 0);
}

static int
cut_for_sums(struct wconv_axis *x, struct wconv_axis *y)
{
	const int e = cut_tiles(x, NEAR_WIDTH, 1, 0, 1);

	return e ? e : cut_tiles(y, NEAR_HEIGHT, 1, .1, 0);
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
	const double back = pairs * blocks * (y->cost + (double)y->n * costs.product) +
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

	return n - k + 1 < least && k + least <= sizes[SIZES - 1];
}

/* Lays x and y out for each length that can be used. Lengths along y have two passes or more. Returns 0 or -ENOMEM. */
static int
try_sizes(const struct wconv_plan *p, struct wconv_axis *x, struct wconv_axis *y,
	  struct layout *of_x, struct layout *of_y)
{
	const size_t kw = p->q.kw, kh = p->q.kh;

	for (size_t i = 0; i < SIZES; i++) {
		const size_t n = sizes[i];
		of_x[i].n = of_y[i].n = 0;
		if (n >= kw && find_size(n / 2) < SIZES && !too_short(x, n, kw)) {
			if (cut_for(p, x, y, n, kw))
				return -ENOMEM;
			of_x[i] = look(x, n, row_cost(n));
		}
		if (n >= 16 && n >= kh + p->core->lanes - 1 && !too_short(y, n, kh)) {
			if (cut_for(p, y, x, n, kh))
				return -ENOMEM;
			of_y[i] = look(y, n, costs.transform[i]);
		}
	}
	return 0;
}

/* Finds the cheapest pair of lengths, *nx and *ny, and its cost: INFINITY if the kernel is too large for all lengths. */
static int
choose_sizes(const struct wconv_plan *p, struct wconv_axis *x, struct wconv_axis *y, size_t *nx,
	     size_t *ny, double *cost)
{
	struct layout of_x[SIZES], of_y[SIZES];

	*cost = INFINITY;
	if (try_sizes(p, x, y, of_x, of_y))
		return -ENOMEM;
	for (size_t i = 0; i < SIZES; i++)
		for (size_t j = 0; j < SIZES; j++) {
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
	return wconv_is_small(p) ? costs.small_tap : costs.tap;
}

/* Returns the seconds of sums by column and row, for a vector of results. */
static double
product_cost(const struct wconv_plan *p)
{
	return ((double)(p->q.kw + p->q.kh) + costs.product_line) * costs.product_tap;
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
	       (taps * tap_cost(p) * (vectors + 2 * blends) + lines * costs.line);
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

	weir_free_all(x.tile, y.tile);
	p->cost_fft *= part;
	p->cost_direct *= part;
	if (e)
		return e;
	if (p->direct)
		return cut_for_sums(&p->x, &p->y);
	e = cut_for(p, &p->x, &p->y, p->rows.n, p->q.kw);
	return e ? e : cut_for(p, &p->y, &p->x, p->columns.n, p->q.kh);
}
