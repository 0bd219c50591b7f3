/* Makes labels from cuts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/classes/classes.h"
#include "emst/roots.h"

struct ranked {
	uint64_t weight;
	uint32_t first, label;
};

static int
heavier(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

int
classes_rank(struct classes *c, size_t vertices, size_t n, const uint64_t *weight)
{
	struct ranked *r = weir_calloc(n, sizeof *r);
	uint32_t *name = weir_alloc(n, sizeof *name);

	c->weight = weir_calloc(n + 1, sizeof *c->weight);
	bool ok = r && name && c->weight;
	for (uint32_t i = 0; ok && i < n; i++)
		r[i] = (struct ranked){0, CLASSES_NONE, i};
	for (uint32_t v = 0; ok && v < vertices; v++) {
		const uint32_t label = c->label[v];
		const uint64_t w = weight ? weight[v] : 1;
		if (label == CLASSES_NONE) {
			c->weight[0] += w;
			continue;
		}
		r[label].weight += w;
		r[label].first = v < r[label].first ? v : r[label].first;
	}
	if (ok) {
		qsort(r, n, sizeof *r, heavier);
		for (c->n = 0; c->n < n && r[c->n].weight; c->n++) {
			name[r[c->n].label] = (uint32_t)c->n + 1;
			c->weight[c->n + 1] = r[c->n].weight;
		}
		for (size_t v = 0; v < vertices; v++)
			c->label[v] = c->label[v] == CLASSES_NONE ? 0 : name[c->label[v]];
	}
	weir_free(name);
	weir_free(r);
	return ok ? 0 : -ENOMEM;
}

int
classes_make(struct classes *c, const struct emst_tree *t, const uint8_t *cut,
	     const uint64_t *weight)
{
	uint32_t *up = weir_alloc(t->n, sizeof *up), n = 0;
	int err = -ENOMEM;

	*c = (struct classes){.label = weir_alloc(t->n, sizeof *c->label)};
	if (up && c->label) {
		roots_single(up, t->n);
		for (size_t e = 0; e + 1 < t->n; e++) {
			uint32_t a = roots_find(up, t->edge[e].u), b = roots_find(up, t->edge[e].v);
			if (!cut[e])
				roots_join(up, a, b);
		}
		for (uint32_t i = 0; i < t->n; i++)
			c->label[i] = up[i] == i ? n++ : c->label[roots_find(up, i)];
		err = classes_rank(c, t->n, n, weight);
	}
	weir_free(up);
	if (err)
		classes_free(c);
	return err;
}

void
classes_free(struct classes *c)
{
	weir_free(c->label);
	weir_free(c->weight);
	weir_free(c->pixel);
	*c = (struct classes){0};
}
