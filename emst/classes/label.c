/* From cuts to labels. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "emst/classes/classes.h"
#include "emst/roots.h"

#define NONE 0xffffffffu

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

/* label[] holds numbers below n, or NONE: they become 1..K from the heaviest on, and 0. What is not used gets no number. */
static int
rank_labels(struct classes *c, size_t vertices, size_t n, const uint32_t *weight)
{
	struct ranked *r = weir_calloc(n, sizeof *r);
	uint32_t *name = weir_alloc(n, sizeof *name);

	c->weight = weir_calloc(n + 1, sizeof *c->weight);
	bool ok = r && name && c->weight;
	for (uint32_t i = 0; ok && i < n; i++)
		r[i] = (struct ranked){0, NONE, i};
	for (uint32_t v = 0; ok && v < vertices; v++) {
		uint32_t label = c->label[v], w = weight ? weight[v] : 1;
		if (label == NONE) {
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
			c->label[v] = c->label[v] == NONE ? 0 : name[c->label[v]];
	}
	weir_free(name);
	weir_free(r);
	return ok ? 0 : -ENOMEM;
}

int
classes_make(struct classes *c, const struct emst_tree *t, const uint8_t *cut,
	     const uint32_t *weight)
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
		err = rank_labels(c, t->n, n, weight);
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
	*c = (struct classes){0};
}

/* --- HDBSCAN* ---------------------------------------------------------------------------------------------------- */

/* A class that edges, cut longest first, leave standing for a while. */
struct lasting {
	double birth;	  /* 1/length at which it began */
	double stability, /* its own, then the best of its own and of all within */
	    within;	  /* the best of those it falls into, together */
	uint32_t parent;  /* NONE: the whole */
	bool splits;	  /* it falls in two */
};

struct density {
	const struct dendrogram *d;
	const struct emst_tree *t;
	uint64_t min_weight;
	struct lasting *l; /* owned */
	size_t n;
	uint32_t *of;	 /* [2n-1]: the class that a part is or was in last; owned */
	uint8_t *fallen; /* [2n-1]: it has dropped out of it; owned */
};

/* 1/length, finite even where a length was rounded to 0. */
static double
end_of(double length)
{
	return 1 / fmax(length, 0x1p-500);
}

static uint32_t
begin_class(struct density *y, uint32_t parent, double birth)
{
	y->l[y->n] = (struct lasting){.birth = birth, .parent = parent};
	return (uint32_t)y->n++;
}

static void
drop(struct density *y, uint32_t part, uint32_t class, double at)
{
	y->l[class].stability += (double)y->d->weight[part] * (at - y->l[class].birth);
}

/* Edge e is cut: what becomes of its two parts. */
static void
split(struct density *y, size_t e)
{
	size_t n = y->t->n, part = n + e;
	uint32_t class = y->of[part];
	double at = end_of(y->t->length[e]);
	bool large[2], both;

	for (int i = 0; i < 2; i++)
		large[i] = !y->fallen[part] && y->d->weight[y->d->part[e][i]] >= y->min_weight;
	both = large[0] && large[1];
	if (both)
		y->l[class].splits = true;
	for (int i = 0; i < 2; i++) {
		uint32_t p = y->d->part[e][i];
		y->of[p] = both ? begin_class(y, class, at) : class;
		y->fallen[p] = !large[i];
		if (!y->fallen[part] && (both || !large[i] || p < n))
			drop(y, p, class, at);
	}
}

/* chosen[i]: the class that counts for what is in class i: itself, one around it, or NONE. */
static void
choose(struct density *y, bool leaves, uint32_t *chosen)
{
	for (size_t i = y->n; i-- > 0;) {
		struct lasting *l = &y->l[i];
		bool take =
		    !l->splits || (!leaves && l->parent != NONE && l->stability >= l->within);
		chosen[i] = take ? (uint32_t)i : NONE;
		if (!take)
			l->stability = l->within;
		if (l->parent != NONE)
			y->l[l->parent].within += l->stability;
	}
	for (size_t i = 0; i < y->n; i++)
		if (y->l[i].parent != NONE && chosen[y->l[i].parent] != NONE)
			chosen[i] = chosen[y->l[i].parent];
}

static int
condense(struct density *y)
{
	size_t n = y->t->n, parts = 2 * n - 1;

	y->l = weir_alloc(2 * n, sizeof *y->l);
	y->of = weir_alloc(parts, sizeof *y->of);
	y->fallen = weir_calloc(parts, sizeof *y->fallen);
	if (!y->l || !y->of || !y->fallen)
		return -ENOMEM;
	y->of[parts - 1] = begin_class(y, NONE, n > 1 ? end_of(y->t->length[n - 2]) : 0);
	for (size_t e = n - 1; e-- > 0;)
		split(y, e);
	return 0;
}

int
classes_density(struct classes *c, const struct dendrogram *d, const struct emst_tree *t,
		uint64_t min_weight, bool leaves)
{
	struct density y = {.d = d, .t = t, .min_weight = min_weight};
	int err = condense(&y);
	uint32_t *chosen = err ? NULL : weir_alloc(y.n, sizeof *chosen);

	*c = (struct classes){.label = weir_alloc(t->n, sizeof *c->label)};
	if (!chosen || !c->label) {
		err = -ENOMEM;
	} else {
		choose(&y, leaves, chosen);
		for (size_t v = 0; v < t->n; v++)
			c->label[v] = chosen[y.of[v]];
		err = rank_labels(c, t->n, y.n, d->weight);
	}
	weir_free(chosen);
	weir_free(y.l);
	weir_free(y.of);
	weir_free(y.fallen);
	if (err)
		classes_free(c);
	return err;
}
