#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "morphrec/value.h"
#include "t/check_morphrec.h"

struct oracle {
	const struct job *a;
	size_t *order, *parent, *root; /* root: of the union-find; parent: the tree of level sets */
	double *top;
	double sign;
};

static struct oracle *sorting;

static double
oracle_mask(const struct oracle *o, size_t p)
{
	return o->sign * value_get(o->a->what.type, o->a->I, p);
}

static int
by_mask(const void *a, const void *b)
{
	const size_t p = *(const size_t *)a, q = *(const size_t *)b;
	const double x = oracle_mask(sorting, p), y = oracle_mask(sorting, q);

	return x != y ? (x < y) - (x > y) : (p > q) - (p < q);
}

static size_t
oracle_find(struct oracle *o, size_t p)
{
	while (o->root[p] != p)
		p = o->root[p] = o->root[o->root[p]];
	return p;
}

/* Joins pixel p, just placed, with its placed neighbour at z, y, x. */
static void
oracle_join(struct oracle *o, size_t p, size_t z, size_t y, size_t x)
{
	const struct morphrec_problem *w = &o->a->what;

	if (z >= w->d || y >= w->h || x >= w->w)
		return;
	const size_t q = (z * w->h + y) * w->w + x;
	if (o->root[q] == SIZE_MAX)
		return;
	const size_t r = oracle_find(o, q);
	if (r == p)
		return;
	o->root[r] = o->parent[r] = p;
	o->top[p] = fmax(o->top[p], o->top[r]);
}

static void
oracle_place(struct oracle *o, size_t p)
{
	const struct morphrec_problem *a = &o->a->what;
	const size_t x = p % a->w, y = p / a->w % a->h, z = p / a->w / a->h;
	const int reach = a->conn == 4 || a->conn == 6 ? 1 : a->conn == 18 ? 2 : 3;
	const int depth = morphrec_is_volume(a->conn);

	o->root[p] = o->parent[p] = p;
	o->top[p] = o->sign * value_get(a->type, o->a->J, p);
	for (int k = 0; k < 27; k++) {
		const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
		if (abs(dx) + abs(dy) + abs(dz) <= reach && (depth || !dz))
			oracle_join(o, p, z + (size_t)dz, y + (size_t)dy, x + (size_t)dx);
	}
}

/* A pixel has the highest marker of the largest set that is at least as high as it. */
void
oracle(struct job *a)
{
	struct oracle o = {.a = a,
			   .order = weir_xalloc(a->n, sizeof(size_t)),
			   .parent = weir_xalloc(a->n, sizeof(size_t)),
			   .root = weir_xalloc(a->n, sizeof(size_t)),
			   .top = weir_xalloc(a->n, sizeof(double)),
			   .sign = a->what.erode ? -1 : 1};
	double *result = weir_xalloc(a->n, sizeof *result);

	for (size_t i = 0; i < a->n; i++) {
		o.order[i] = i;
		o.root[i] = SIZE_MAX;
	}
	sorting = &o;
	qsort(o.order, a->n, sizeof *o.order, by_mask);
	for (size_t i = 0; i < a->n; i++)
		oracle_place(&o, o.order[i]);
	for (size_t i = a->n; i-- > 0;) {
		const size_t p = o.order[i];
		const double own = fmin(oracle_mask(&o, p), o.top[p]);
		result[p] = o.parent[p] == p ? own : fmax(own, result[o.parent[p]]);
		value_set(a->what.type, a->want, p, o.sign * result[p] + 0.0);
	}
	weir_free(o.order);
	weir_free(o.parent);
	weir_free(o.root);
	weir_free(o.top);
	weir_free(result);
}
