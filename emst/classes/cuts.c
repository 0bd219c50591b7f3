/* Cuts the tree by weight, by length and by number. */
#include <errno.h>
#include <string.h>

#include "common/mem.h"
#include "emst/classes/classes.h"
#include "emst/sort.h"

void
cut_size(const struct dendrogram *d, uint64_t min_weight, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < d->n; e++)
		cut[e] = dendrogram_lighter(d, e) >= min_weight;
}

void
cut_longest(const struct emst_tree *t, size_t classes, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < t->n; e++)
		cut[e] = e + classes >= t->n;
}

void
cut_length(const struct emst_tree *t, double longest, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < t->n; e++)
		cut[e] = t->length[e] > longest;
}

int
cut_at_most(const struct dendrogram *d, size_t classes, uint8_t *cut)
{
	struct sorted *e = dendrogram_by_lighter(d);
	size_t kept = 0, i = d->n - 1;

	if (!e)
		return -ENOMEM;
	for (; i && (kept + 1 < classes || (kept && i < d->n - 1 && e[i - 1].key == e[i].key)); i--)
		kept += cut[e[i - 1].a];
	for (; i; i--)
		cut[e[i - 1].a] = 0;
	for (size_t j = 0; kept >= classes; j++) {
		kept -= cut[j];
		cut[j] = 0;
	}
	weir_free(e);
	return 0;
}
