#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "wconv/axis.h"

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

int
wconv_cut(struct wconv_axis *x, size_t longest, double tile, double fun, double each)
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

void
wconv_axis_free(struct wconv_axis *a)
{
	weir_free(a->left);
	weir_free(a->right);
	weir_free(a->node);
	weir_free(a->tile);
	memset(a, 0, sizeof *a);
}
