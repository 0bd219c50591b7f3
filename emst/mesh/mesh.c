/* Makes the tree of the grid by Kruskal's algorithm, and regions by that of Felzenszwalb and Huttenlocher. */
#include <errno.h>

#include "common/base/mem.h"
#include "emst/mesh/mesh.h"
#include "emst/roots.h"

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
struct forest {
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

/* Fetches the ends of the edges that come after a batch. */
static void
fetch_ends(const struct mesh *g, const uint32_t *up, size_t from)
{
	const size_t to = from + BATCH < g->n ? from + BATCH : g->n;

	for (size_t i = from; i < to; i++) {
		__builtin_prefetch(&up[g->edge[i] >> 2]);
		__builtin_prefetch(&up[other_end(g, g->edge[i])]);
	}
}

/*
 * Moves the ends of n edges from `from` on two steps up, and shortens their paths. b gets the edges whose ends differ then.
 * Returns their number.
 */
static size_t
climb(const struct mesh *g, const struct forest *f, size_t from, size_t n, struct batch *b)
{
	size_t left = 0;

	for (size_t k = 0; k < n; k++) {
		b->u[k] = f->up[g->edge[from + k] >> 2];
		b->v[k] = f->up[other_end(g, g->edge[from + k])];
		__builtin_prefetch(&f->up[b->u[k]]);
		__builtin_prefetch(&f->up[b->v[k]]);
	}
	fetch_ends(g, f->up, from + n);
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
join_batch(const struct forest *f, const struct batch *b, size_t n, double length, uint32_t *later,
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
join_near(struct mesh *g, const struct forest *f)
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
join_small(const struct mesh *g, const struct forest *f, size_t n)
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
number_regions(const struct forest *f)
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
	struct forest f = {label, weir_alloc_large(n + 1, sizeof *f.region), n, scale, min_size};

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
