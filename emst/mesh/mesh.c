/* Makes the tree of the grid by Kruskal's algorithm, and regions by that of Felzenszwalb and Huttenlocher. */
#include <errno.h>

#include "common/mem.h"
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

/* Regions are prefetched this many edges ahead: consecutive edges lie far apart in the picture. */
enum { AHEAD = 12 };

/* A region, stored at its root. It has 16 bytes, so that reading it touches one cache line. */
struct region {
	uint32_t up, pixels;
	double limit; /* an edge must be shorter than this to join it */
};

static inline uint32_t
find(struct region *r, uint32_t i)
{
	for (;;) {
		const uint32_t up = r[i].up, above = r[up].up;
		if (up == above)
			return up;
		r[i].up = above;
		i = above;
	}
}

/* Joins two regions. The root of the larger one stays a root. */
static inline uint32_t
join(struct region *r, uint32_t a, uint32_t b)
{
	if (r[a].pixels < r[b].pixels) {
		const uint32_t t = a;
		a = b;
		b = t;
	}
	r[b].up = a;
	r[a].pixels += r[b].pixels;
	return a;
}

/*
 * Makes the first pass. left[] gets the edges that did not join two different regions and may do so in the second pass: one of
 * the two is still small. Returns their number.
 */
static size_t
join_near(const struct mesh *g, double scale, uint64_t min_size, struct region *r, uint32_t *left)
{
	size_t n = 0;

	for (size_t run = 0, i = 0; run < g->nrun; run++) {
		const double length = g->run[run].length;
		for (; i < g->run[run].end; i++) {
			if (i + AHEAD < g->n) {
				__builtin_prefetch(&r[g->edge[i + AHEAD] >> 2]);
				__builtin_prefetch(&r[other_end(g, g->edge[i + AHEAD])]);
			}
			const uint32_t a = find(r, g->edge[i] >> 2),
				       b = find(r, other_end(g, g->edge[i]));
			if (a == b)
				continue;
			if (!(length < r[a].limit && length < r[b].limit)) {
				left[n] = g->edge[i];
				n += r[a].pixels < min_size || r[b].pixels < min_size;
				continue;
			}
			const uint32_t to = join(r, a, b);
			r[to].limit = length + scale / r[to].pixels;
		}
	}
	return n;
}

static void
join_small(const struct mesh *g, uint64_t min_size, struct region *r, const uint32_t *left,
	   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t a = find(r, left[i] >> 2), b = find(r, other_end(g, left[i]));
		if (a != b && (r[a].pixels < min_size || r[b].pixels < min_size))
			join(r, a, b);
	}
}

/* Fills label[]. A root gets the next number when its first pixel comes. Returns the number of regions. */
static size_t
number_regions(struct region *r, size_t n, uint32_t *label)
{
	const uint32_t none = 0xffffffffu;
	size_t regions = 0;

	for (size_t i = 0; i < n; i++)
		r[i].pixels = none;
	for (uint32_t i = 0; i < n; i++) {
		struct region *root = &r[find(r, i)];
		if (root->pixels == none)
			root->pixels = (uint32_t)regions++;
		label[i] = root->pixels;
	}
	return regions;
}

int
mesh_regions(const struct mesh *g, double scale, uint64_t min_size, uint32_t *label,
	     size_t *regions)
{
	const size_t n = g->w * g->h;
	struct region *r = weir_alloc_large(n, sizeof *r);
	uint32_t *left = weir_alloc_large(g->n, sizeof *left);

	if (r && left) {
		for (uint32_t i = 0; i < n; i++)
			r[i] = (struct region){i, 1, scale};
		join_small(g, min_size, r, left, join_near(g, scale, min_size, r, left));
		*regions = number_regions(r, n, label);
	}
	weir_free(left);
	weir_free(r);
	return r && left ? 0 : -ENOMEM;
}
