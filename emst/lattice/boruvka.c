/* Runs the rounds of Boruvka's algorithm on the trees that the shells left. */
#include <errno.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/lattice/nearest.h"
#include "emst/sort.h"

/*
 * A few colours search first. Then every large tree has a short edge, and most of the other colours need not search. A thread
 * begins with the next pass while others still work on the last one.
 */
static void
search_all(struct blocks *k)
{
	enum { PASSES = 3, CHUNK = 256 };
	static const size_t step[PASSES] = {1024, 32, 1};
	size_t upto[PASSES + 1] = {0};

	for (size_t i = 0; i < k->nlive; i++)
		k->best[k->live[i]] = (struct key){NONE, NONE, NONE, NONE};
	for (int pass = 0; pass < PASSES; pass++)
		upto[pass + 1] = upto[pass] + k->nactive / (CHUNK * step[pass]) + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(k->f->threads)
	for (size_t j = 0; j < upto[PASSES]; j++) {
		const int pass = (j >= upto[1]) + (j >= upto[2]);
		const size_t chunk = CHUNK * step[pass], from = (j - upto[pass]) * chunk;
		nearest_search(k, from, from + chunk < k->nactive ? from + chunk : k->nactive,
			       step[pass]);
	}
}

/* One thread updates fewer than MANY_TREES faster than several do. */
enum { MANY_TREES = 1 << 16 };

/* Keeps those of the live trees that are still roots, and updates now[]. */
static void
number_live(struct blocks *k, uint32_t *parent)
{
	size_t n = 0;

	for (size_t i = 0; i < k->nlive; i++) {
		uint32_t c = k->live[i];
		if (parent[c] == c)
			k->live[n++] = c;
		else
			parent[c] = parent[parent[c]];
	}
	k->nlive = n;
#pragma omp parallel for schedule(static) num_threads(k->f->threads) if (k->ntrees > MANY_TREES)
	for (size_t c = 0; c < k->ntrees; c++)
		k->now[c] = parent[k->now[c]];
}

/* Every tree takes its edge. parent is a union-find over the first numbers of trees. Returns the number of edges so far. */
static size_t
join_trees(struct blocks *k, uint32_t *parent, struct key *out, size_t n)
{
	for (size_t i = 0; i < k->nlive; i++) {
		const struct key *e = &k->best[k->live[i]];
		if (e->d2 == NONE)
			continue;
		uint32_t a = roots_find(parent, k->live[i]),
			 b = roots_find(parent, k->now[e->other]);
		if (a == b)
			continue;
		uint32_t low = a < b ? a : b, high = a < b ? b : a;
		parent[high] = low;
		k->size[low] += k->size[high];
		out[n++] = *e;
	}
	number_live(k, parent);
	return n;
}

/* Sorts the edges: by span and lo, then by d2; the sort keeps the order of equal keys. */
static void
sort_edges(struct sorted *e, struct sorted *tmp, const struct key *edge, size_t n)
{
	for (size_t i = 0; i < n; i++)
		e[i] = (struct sorted){(uint64_t)edge[i].span << 24 | edge[i].lo, edge[i].d2, 0};
	emst_sort(e, tmp, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t key = e[i].key;
		e[i] = (struct sorted){e[i].a, key & 0xffffff, (uint32_t)(key >> 24)};
	}
	emst_sort(e, tmp, n);
}

static int
finish(struct forest *f, const struct key *edge, size_t n, uint32_t **d2)
{
	struct sorted *e = weir_alloc_large(n, sizeof *e), *tmp = weir_alloc_large(n, sizeof *tmp);

	*d2 = weir_alloc_large(n, sizeof **d2);
	bool ok = e && tmp && *d2;
	if (ok)
		sort_edges(e, tmp, edge, n);
	for (size_t i = 0; ok && i < n; i++) {
		(*d2)[i] = (uint32_t)e[i].key;
		f->edge[f->nedge++] = (struct emst_edge){lattice_rank(f->l, e[i].a),
							 lattice_rank(f->l, e[i].a + e[i].b)};
	}
	weir_free(tmp);
	weir_free(e);
	return ok ? 0 : -ENOMEM;
}

int
forest_boruvka(struct forest *f, uint32_t **d2)
{
	struct blocks *k = weir_calloc(1, sizeof *k);
	struct key *edge = weir_alloc_large(f->trees, sizeof *edge);
	uint32_t *parent = weir_alloc_large(f->trees, sizeof *parent);
	size_t n = 0;
	int err = k && edge && parent ? 0 : -ENOMEM;

	if (!err && !(err = blocks_plan(k, f)))
		roots_single(parent, k->ntrees);
	while (!err && n < f->trees - 1) {
		search_all(k);
		n = join_trees(k, parent, edge, n);
		blocks_label(k, false);
	}
	if (k)
		blocks_free(k);
	if (!err)
		err = finish(f, edge, n, d2);
	weir_free(parent);
	weir_free(edge);
	return err;
}
