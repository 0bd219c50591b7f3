/* Single linkage: finds the two parts that each edge of a tree joins. */
#include <errno.h>

#include "common/base/mem.h"
#include "emst/classes/classes.h"
#include "emst/roots.h"
#include "emst/sort.h"

/* name[root]: the part that stands for the union-find set with this root. */
static void
join_parts(struct dendrogram *d, const struct emst_tree *t, uint32_t *up, uint32_t *name)
{
	for (size_t e = 0; e + 1 < t->n; e++) {
		uint32_t a = roots_find(up, t->edge[e].u), b = roots_find(up, t->edge[e].v);
		d->part[e][0] = name[a];
		d->part[e][1] = name[b];
		d->weight[t->n + e] = d->weight[name[a]] + d->weight[name[b]];
		bool keep = d->weight[name[a]] >= d->weight[name[b]];
		up[keep ? b : a] = keep ? a : b;
		name[keep ? a : b] = (uint32_t)(t->n + e);
	}
}

int
dendrogram_make(struct dendrogram *d, const struct emst_tree *t, const uint64_t *weight)
{
	uint32_t *up = roots_new(t->n), *name = roots_new(t->n);

	*d = (struct dendrogram){t->n, weir_alloc(t->n, sizeof *d->part),
				 weir_alloc(2 * t->n, sizeof *d->weight)};
	bool ok = up && name && d->part && d->weight;
	if (ok) {
		for (size_t i = 0; i < t->n; i++)
			d->weight[i] = weight ? weight[i] : 1;
		join_parts(d, t, up, name);
	} else {
		dendrogram_free(d);
	}
	weir_free(name);
	weir_free(up);
	return ok ? 0 : -ENOMEM;
}

void
dendrogram_free(struct dendrogram *d)
{
	weir_free(d->part);
	weir_free(d->weight);
	*d = (struct dendrogram){0};
}

struct sorted *
dendrogram_by_lighter(const struct dendrogram *d)
{
	struct sorted *e = weir_alloc(d->n, sizeof *e), *tmp = weir_alloc(d->n, sizeof *tmp);

	for (uint32_t i = 0; e && tmp && i + 1 < d->n; i++)
		e[i] = (struct sorted){dendrogram_lighter(d, i), i, 0};
	if (e && tmp)
		emst_sort(e, tmp, d->n - 1);
	weir_free(tmp);
	if (!tmp) {
		weir_free(e);
		return NULL;
	}
	return e;
}
