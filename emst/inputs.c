/* Finds the vertex that an input is, and what all inputs of a vertex weigh. */
#include <errno.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "emst/vertices.h"

/* Finds the vertices of n pixels of 1..3 planes. */
WEIR_CLONES(find_colours,
	    (const struct lattice *l, const uint8_t *px, size_t planes, size_t n,
	     uint32_t *restrict vertex),
	    (l, px, planes, n, vertex))
{
	for (size_t i = 0; i < n; i++) {
		uint32_t code = 0;
		for (size_t a = 0; a < planes; a++)
			code = code << 8 | *px++;
		vertex[i] = lattice_rank(l, code);
	}
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

int
vertices_weigh(struct vertices *v)
{
	enum { BLOCK = 1024 };
	uint32_t vertex[BLOCK];

	v->weight = weir_calloc_large(v->set.n, sizeof *v->weight);
	if (!v->weight)
		return -ENOMEM;
	for (size_t from = 0; from < v->inputs; from += BLOCK) {
		size_t n = v->inputs - from < BLOCK ? v->inputs - from : BLOCK;
		vertices_find(v, from, n, vertex);
		for (size_t i = 0; i < n; i++)
			v->weight[vertex[i]] += v->count ? v->count[from + i] : 1;
	}
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
