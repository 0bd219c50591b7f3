/* Makes the tree of the grid by Kruskal's algorithm, and regions by that of Felzenszwalb and Huttenlocher. */
#include <errno.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/roots.h"
#include "emst/vertices.h"
#include "emst/sort.h"

/* ---- edges ---- */

/* Lists the edges of the grid in order. Edges of bytes are sorted by counting, those of other samples by a radix sort. */

enum { MOST_D2 = 3 * 255 * 255, DIRECTIONS = 4 };

static const int along[DIRECTIONS] = {1, 0, 1, -1}, down[DIRECTIONS] = {0, 1, 1, 1};

/* The edges of one row and direction start at pixels x0..x1-1. */
struct reach {
	size_t x0, x1;
};

static struct reach
row_reach(size_t w, size_t h, size_t y, int dir)
{
	struct reach r = {along[dir] < 0, w - (along[dir] > 0)};

	if (y + (size_t)down[dir] >= h)
		r.x1 = r.x0;
	return r;
}

/* --- bytes --------------------------------------------------------------------------------------------------------- */

/* Fills d2[i] with the squared distance of pixels i of two rows. */
WEIR_CLONES(row_d2,
	    (const uint8_t *restrict a, const uint8_t *restrict b, size_t planes, size_t n,
	     uint32_t *restrict d2),
	    (a, b, planes, n, d2))
{
	if (planes == 3)
		for (size_t i = 0; i < n; i++) {
			const int r = a[3 * i] - b[3 * i], g = a[3 * i + 1] - b[3 * i + 1],
				  c = a[3 * i + 2] - b[3 * i + 2];
			d2[i] = (uint32_t)(r * r + g * g + c * c);
		}
	else
		for (size_t i = 0; i < n; i++) {
			d2[i] = 0;
			for (size_t p = 0; p < planes; p++) {
				const int d = a[planes * i + p] - b[planes * i + p];
				d2[i] += (uint32_t)(d * d);
			}
		}
}

/* Counts the edges of one direction by squared length in at[], or places them there. */
CPU_INLINE void
each_edge(const struct mesh *g, const struct vertices *v, int dir, uint32_t *d2, uint32_t *at,
	  bool places)
{
	const size_t planes = v->planes;

	for (size_t y = 0; y < g->h; y++) {
		const struct reach r = row_reach(g->w, g->h, y, dir);
		const uint8_t *a = (const uint8_t *)v->data + (y * g->w + r.x0) * planes;
		const ptrdiff_t to = (ptrdiff_t)((size_t)down[dir] * g->w) + along[dir];
		if (r.x1 > r.x0)
			row_d2(a, a + to * (ptrdiff_t)planes, planes, r.x1 - r.x0, d2);
		for (size_t x = 0; x + r.x0 < r.x1; x++) {
			const uint32_t i = at[d2[x]]++;
			if (places)
				g->edge[i] = (uint32_t)((y * g->w + r.x0 + x) << 2) | (uint32_t)dir;
		}
	}
}

/* Replaces count[d2] by the place where the edges of that length begin, and lists the runs of equal edges. */
static int
make_runs(struct mesh *g, uint32_t *count)
{
	size_t runs = 0, at = 0;

	for (size_t d2 = 0; d2 <= MOST_D2; d2++)
		runs += count[d2] > 0;
	g->run = weir_alloc(runs, sizeof *g->run);
	if (!g->run)
		return -ENOMEM;
	for (size_t d2 = 0; d2 <= MOST_D2; d2++) {
		const uint32_t n = count[d2];
		count[d2] = (uint32_t)at;
		at += n;
		if (n)
			g->run[g->nrun++] = (struct mesh_run){sqrt((double)d2), at};
	}
	return 0;
}

static int
sort_bytes(struct mesh *g, const struct vertices *v, int directions)
{
	uint32_t *d2 = weir_alloc(g->w, sizeof *d2),
		 *count = weir_calloc(MOST_D2 + 1, sizeof *count);
	int err = d2 && count ? 0 : -ENOMEM;

	for (int dir = 0; !err && dir < directions; dir++)
		each_edge(g, v, dir, d2, count, false);
	if (!err)
		err = make_runs(g, count);
	for (int dir = 0; !err && dir < directions; dir++)
		each_edge(g, v, dir, d2, count, true);
	weir_free_all(d2, count);
	return err;
}

/* --- other samples --------------------------------------------------------------------------------------------------- */

static double
pixel_d2(const struct emst_set *s, size_t i, size_t j)
{
	double d2 = 0;

	for (size_t a = 0; a < s->k; a++) {
		const double x = s->type == EMST_F32
				     ? (double)((const float *)s->x)[i * s->k + a] -
					   (double)((const float *)s->x)[j * s->k + a]
				     : ((const double *)s->x)[i * s->k + a] -
					   ((const double *)s->x)[j * s->k + a];
		d2 += x * x;
	}
	return d2;
}

static void
list_edges(const struct mesh *g, const struct emst_set *s, int directions, struct sorted *e)
{
	for (int dir = 0; dir < directions; dir++)
		for (size_t y = 0; y < g->h; y++) {
			const struct reach r = row_reach(g->w, g->h, y, dir);
			for (size_t i = y * g->w + r.x0; i < y * g->w + r.x1; i++, e++) {
				const size_t j = i + (size_t)down[dir] * g->w + (size_t)along[dir];
				*e = (struct sorted){sort_key_double(pixel_d2(s, i, j)),
						     (uint32_t)(i << 2) | (uint32_t)dir, 0};
			}
		}
}

static int
sort_samples(struct mesh *g, const struct vertices *v, int directions)
{
	struct sorted *e = weir_alloc_large(2 * g->n, sizeof *e);

	g->run = weir_alloc_large(g->n, sizeof *g->run);
	const bool room = e && g->run;
	if (room) {
		list_edges(g, &v->set, directions, e);
		emst_sort(e, e + g->n, g->n);
	}
	for (size_t i = 0; room && i < g->n; i++) {
		g->edge[i] = e[i].a;
		if (!i || e[i].key != e[i - 1].key)
			g->run[g->nrun++].length = v->scale * sqrt(sort_double(e[i].key));
		g->run[g->nrun - 1].end = i + 1;
	}
	weir_free(e);
	return room ? 0 : -ENOMEM;
}

int
mesh_make(struct mesh *g, const struct vertices *v, size_t w, size_t h, int neighbours)
{
	const int directions = neighbours / 2;

	*g = (struct mesh){.w = w, .h = h};
	for (int dir = 0; dir < directions; dir++)
		g->n += (w - (along[dir] != 0)) * (h - (size_t)down[dir]);
	g->edge = weir_alloc_large(g->n, sizeof *g->edge);
	if (!g->edge)
		return -ENOMEM;
	return v->type == IMG_U8 && v->planes <= 3 ? sort_bytes(g, v, directions)
						   : sort_samples(g, v, directions);
}

void
mesh_free(struct mesh *g)
{
	weir_free_all(g->edge, g->run);
	*g = (struct mesh){0};
}

/* ---- mesh ---- */

/* Returns the other end of an edge. */
static inline uint32_t
other_end(const struct mesh *g, uint32_t edge)
{
	const uint32_t i = edge >> 2, w = (uint32_t)g->w;
	const uint32_t step[] = {1, w, w + 1, w - 1};

	return i + step[edge & 3];
}

int
mesh_tree(const struct mesh *g, struct emst_tree *t)
{
	const size_t n = g->w * g->h;
	uint32_t *up = roots_new(n);
	size_t have = 0;

	*t = (struct emst_tree){n, weir_alloc_large(n, sizeof *t->edge),
				weir_alloc_large(n, sizeof *t->length)};
	const bool room = up && t->edge && t->length;
	for (size_t r = 0, i = 0; room && r < g->nrun; r++)
		for (; i < g->run[r].end && have < n - 1; i++) {
			const uint32_t u = g->edge[i] >> 2, v = other_end(g, g->edge[i]),
				       a = roots_find(up, u), b = roots_find(up, v);
			if (a == b)
				continue;
			roots_join(up, a, b);
			t->edge[have] = (struct emst_edge){u, v};
			t->length[have++] = g->run[r].length;
		}
	weir_free(up);
	if (!room)
		emst_tree_free(t);
	return room ? 0 : -ENOMEM;
}

/* A region, stored at its root. It has 16 bytes, so that reading it touches one cache line. */
struct region {
	uint32_t pixels;
	double limit; /* an edge must be shorter than this to join it */
};

/*
 * The regions of a picture in the making. A pixel is a root if up[] of it is the pixel itself. region[pixels] is a place for
 * what nobody reads.
 */
struct regions {
	uint32_t *up;
	struct region *region;
	size_t pixels;
	double scale;
	uint64_t min_size;
};

/*
 * Edges are processed in batches, since consecutive edges lie far apart in the picture. The steps of a batch do not wait for
 * each other's memory, and have no branches that depend on the data. Without batches, pictures of .4 to 14 million pixels
 * take 1.5 to 2.3 times as long.
 */
enum { BATCH = 128 };

struct batch {
	uint32_t edge[BATCH], u[BATCH], v[BATCH];
};

static inline uint32_t
root_of(const uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i];
	return i;
}

/*
 * Moves the ends of n edges from `from` on two steps up, and shortens their paths. b gets the edges whose ends differ then.
 * Returns their number.
 */
static size_t
climb(const struct mesh *g, const struct regions *f, size_t from, size_t n, struct batch *b)
{
	const size_t to = from + n + BATCH < g->n ? from + n + BATCH : g->n;
	size_t left = 0;

	for (size_t k = 0; k < n; k++) {
		b->u[k] = f->up[g->edge[from + k] >> 2];
		b->v[k] = f->up[other_end(g, g->edge[from + k])];
		__builtin_prefetch(&f->up[b->u[k]]);
		__builtin_prefetch(&f->up[b->v[k]]);
	}
	/* The ends of the edges that come after the batch. */
	for (size_t i = from + n; i < to; i++) {
		__builtin_prefetch(&f->up[g->edge[i] >> 2]);
		__builtin_prefetch(&f->up[other_end(g, g->edge[i])]);
	}
	for (size_t k = 0; k < n; k++) {
		const uint32_t edge = g->edge[from + k], u = f->up[b->u[k]], v = f->up[b->v[k]];
		f->up[edge >> 2] = u;
		f->up[other_end(g, edge)] = v;
		__builtin_prefetch(&f->region[u]);
		__builtin_prefetch(&f->region[v]);
		b->edge[left] = edge;
		b->u[left] = u;
		b->v[left] = v;
		left += u != v;
	}
	return left;
}

/* Joins regions along n edges of one length. Appends to later[] those of join_near(). Returns how many it has then. */
static size_t
join_batch(const struct regions *f, const struct batch *b, size_t n, double length, uint32_t *later,
	   size_t have)
{
	struct region *const region = f->region;
	uint32_t nobody;

	for (size_t k = 0; k < n; k++) {
		const uint32_t u = root_of(f->up, b->u[k]), v = root_of(f->up, b->v[k]);
		const uint32_t pu = region[u].pixels, pv = region[v].pixels, sum = pu + pv;
		const bool near = (length < region[u].limit) & (length < region[v].limit),
			   joins = (u != v) & near, swaps = pu < pv;
		/* The root of the larger region stays a root. */
		const uint32_t to = swaps ? v : u, from = swaps ? u : v;
		uint32_t *const up = joins ? &f->up[from] : &nobody;
		struct region *const root = joins ? &region[to] : &region[f->pixels];
		later[have] = b->edge[k];
		have += (u != v) & !near & ((pu < f->min_size) | (pv < f->min_size));
		*up = to;
		root->pixels = sum;
		root->limit = length + f->scale / sum;
	}
	return have;
}

/*
 * Makes the first pass. The edges that did not join two different regions and may do so in the second pass, since one of the
 * two is still small, move to the front of g->edge. Returns their number.
 */
static size_t
join_near(struct mesh *g, const struct regions *f)
{
	struct batch b;
	size_t later = 0;

	for (size_t run = 0, i = 0, n; run < g->nrun; run++)
		for (; i < g->run[run].end; i += n) {
			n = g->run[run].end - i < BATCH ? g->run[run].end - i : BATCH;
			later = join_batch(f, &b, climb(g, f, i, n, &b), g->run[run].length,
					   g->edge, later);
		}
	return later;
}

static void
join_small(const struct mesh *g, const struct regions *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t u = roots_find(f->up, g->edge[i] >> 2),
			       v = roots_find(f->up, other_end(g, g->edge[i])),
			       pu = f->region[u].pixels, pv = f->region[v].pixels;
		if (u == v || (pu >= f->min_size && pv >= f->min_size))
			continue;
		f->up[pu < pv ? u : v] = pu < pv ? v : u;
		f->region[pu < pv ? v : u].pixels = pu + pv;
	}
}

/* Replaces up[] by the numbers of the regions. A root gets the next number when its first pixel comes. Returns their number. */
static size_t
number_regions(const struct regions *f)
{
	const uint32_t none = 0xffffffffu;
	size_t regions = 0;

	for (uint32_t i = 0; i < f->pixels; i++) {
		f->up[i] = roots_find(f->up, i);
		f->region[i].pixels = none;
	}
	for (size_t i = 0; i < f->pixels; i++) {
		struct region *root = &f->region[f->up[i]];
		if (root->pixels == none)
			root->pixels = (uint32_t)regions++;
		f->up[i] = root->pixels;
	}
	return regions;
}

int
mesh_regions(struct mesh *g, double scale, uint64_t min_size, uint32_t *label, size_t *regions)
{
	const size_t n = g->w * g->h;
	struct regions f = {label, weir_alloc_large(n + 1, sizeof *f.region), n, scale, min_size};

	if (!f.region)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		f.up[i] = i;
		f.region[i] = (struct region){1, scale};
	}
	join_small(g, &f, join_near(g, &f));
	*regions = number_regions(&f);
	weir_free(f.region);
	return 0;
}
