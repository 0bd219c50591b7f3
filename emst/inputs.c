/* Finds the vertex that an input is, what all inputs of a vertex weigh, and the tree of all inputs. */
#include <errno.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/sort.h"
#include "emst/vertices.h"

/* Finds the vertices of n pixels of 1..3 planes. */
WEIR_CLONES(find_colours,
	    (const struct lattice *l, const uint8_t *px, size_t planes, size_t n,
	     uint32_t *restrict vertex),
	    (l, px, planes, n, vertex))
{
	if (planes == 3)
		for (size_t i = 0; i < n; i++, px += 3)
			vertex[i] = lattice_rank(l, (uint32_t)(px[0] << 16 | px[1] << 8 | px[2]));
	else if (planes == 2)
		for (size_t i = 0; i < n; i++, px += 2)
			vertex[i] = lattice_rank(l, (uint32_t)(px[0] << 8 | px[1]));
	else
		for (size_t i = 0; i < n; i++)
			vertex[i] = lattice_rank(l, px[i]);
}

void
vertices_find(const struct vertices *v, size_t from, size_t count, uint32_t *vertex)
{
	if (v->lattice.n) {
		find_colours(&v->lattice, (const uint8_t *)v->data + from * v->planes, v->planes,
			     count, vertex);
		return;
	}
	for (size_t i = 0; i < count; i++)
		vertex[i] = v->of ? v->of[from + i] : (uint32_t)(from + i);
}

/* Adds the counts of the inputs from..to-1 to weight[]. */
static void
weigh_part(const struct vertices *v, size_t from, size_t to, uint64_t *weight)
{
	enum { BLOCK = 1024 };
	uint32_t vertex[BLOCK];

	for (; from < to; from += BLOCK) {
		const size_t n = to - from < BLOCK ? to - from : BLOCK;
		vertices_find(v, from, n, vertex);
		for (size_t i = 0; i < n; i++)
			weight[vertex[i]] += v->count ? v->count[from + i] : 1;
	}
}

/* Each part of the inputs has sums of its own, where there are many inputs for each vertex; they are then added. */
int
vertices_weigh(struct vertices *v, int threads)
{
	enum { MANY = 1 << 18, EACH = 4, MOST = 4 };
	const size_t n = v->set.n, parts = v->inputs < MANY || v->inputs / EACH < n || threads < 2
					       ? 1
					   : threads > MOST ? MOST
							    : (size_t)threads;
	uint64_t *own = parts > 1 ? weir_calloc_large((parts - 1) * n, sizeof *own) : NULL;

	v->weight = weir_calloc_large(n, sizeof *v->weight);
	if (!v->weight || (parts > 1 && !own)) {
		weir_free(own);
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static, 1) num_threads((int)parts) if (parts > 1)
	for (size_t p = 0; p < parts; p++)
		weigh_part(v, v->inputs * p / parts, v->inputs * (p + 1) / parts,
			   p ? own + (p - 1) * n : v->weight);
	for (size_t p = 1; p < parts; p++)
		for (size_t i = 0; i < n; i++)
			v->weight[i] += own[(p - 1) * n + i];
	weir_free(own);
	return 0;
}

int
vertices_count(struct vertices *v, const uint64_t *count, const uint32_t *place, uint64_t total)
{
	v->count = count;
	v->total = total;
	if (!place)
		return 0;
	v->place = weir_alloc_large(v->set.n, sizeof *v->place);
	if (!v->place) {
		vertices_free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < v->set.n; i++)
		v->place[i] = place[v->first[i]];
	v->set.id = v->place;
	return 0;
}

/* Writes the edges of length 0. By the rule they come first, those with the smallest difference of places before others. */
static size_t
join_equal(const struct vertices *v, struct sorted *e, struct sorted *tmp, struct emst_tree *to)
{
	size_t n = 0;

	for (uint32_t i = 0; i < v->inputs; i++) {
		uint32_t first = v->first[v->of[i]];
		if (first != i)
			e[n++] = (struct sorted){(uint64_t)(i - first) << 32 | first, first, i};
	}
	emst_sort(e, tmp, n);
	for (size_t i = 0; i < n; i++) {
		to->edge[i] = (struct emst_edge){e[i].a, e[i].b};
		to->length[i] = 0;
	}
	return n;
}

int
vertices_expand(const struct vertices *v, const struct emst_tree *t, struct emst_tree *to)
{
	struct sorted *e = weir_alloc_large(v->inputs, sizeof *e),
		      *tmp = weir_alloc_large(v->inputs, sizeof *tmp);

	*to = (struct emst_tree){v->inputs, weir_alloc_large(v->inputs, sizeof *to->edge),
				 weir_alloc_large(v->inputs, sizeof *to->length)};
	bool ok = e && tmp && to->edge && to->length;
	if (ok) {
		size_t n = join_equal(v, e, tmp, to);
		for (size_t i = 0; i + 1 < t->n; i++, n++) {
			to->edge[n] =
			    (struct emst_edge){v->first[t->edge[i].u], v->first[t->edge[i].v]};
			to->length[n] = t->length[i];
		}
	} else {
		emst_tree_free(to);
	}
	weir_free(tmp);
	weir_free(e);
	return ok ? 0 : -ENOMEM;
}
