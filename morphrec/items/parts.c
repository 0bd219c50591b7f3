#include <string.h>

#include "morphrec/items/parts.h"

bool
parts_of(const struct img *x, struct parts *p)
{
	const int first = img_row_axis(x);
	size_t n[4] = {1, 1, 1, 1};

	if (x->dim < 1 || x->dim - first > 4)
		return false;
	for (int i = first; i < x->dim; i++)
		n[i - first] = x->axis[i].n;
	*p = (struct parts){first ? x->axis[0].n : 1, n[0], n[1], n[2], n[3]};
	return true;
}

void
parts_take(const struct parts *p, size_t i, size_t size, void *part, const void *all)
{
	const size_t n = p->w * p->h * p->d;
	const char *from = (const char *)all + (i / p->c * n * p->c + i % p->c) * size;

	for (size_t k = 0; k < n; k++)
		memcpy((char *)part + k * size, from + k * p->c * size, size);
}

void
parts_put(const struct parts *p, size_t i, size_t size, const void *part, void *all)
{
	const size_t n = p->w * p->h * p->d;
	char *to = (char *)all + (i / p->c * n * p->c + i % p->c) * size;

	for (size_t k = 0; k < n; k++)
		memcpy(to + k * p->c * size, (const char *)part + k * size, size);
}
