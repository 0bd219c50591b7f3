/* The functions that every engine needs. */
#include "common/base/mem.h"
#include "emst/emst.h"

void
emst_tree_free(struct emst_tree *t)
{
	weir_free(t->edge);
	weir_free(t->length);
	*t = (struct emst_tree){0};
}

double
emst_total(const struct emst_tree *t)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < t->n; i++)
		sum += t->length[i];
	return sum;
}
