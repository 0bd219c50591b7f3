/* HDBSCAN*: finds the classes that last while edges are cut. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "emst/classes/classes.h"
#include "emst/roots.h"

/* A class that lasts for a while when edges are cut, longest first. */
struct lasting {
	double birth; /* 1/length at which it began */
	/*
	 * stability is the class's own; choose() replaces it by the total stability of the classes chosen from it. within is the
	 * sum of these totals over the classes that it falls into.
	 */
	double stability, within;
	uint32_t parent; /* CLASSES_NONE: it is the class of all vertices */
	bool splits;	 /* it falls into two classes */
};

struct condensed {
	const struct dendrogram *d;
	const struct emst_tree *t;
	struct density how;
	struct lasting *l; /* owned */
	size_t n;
	uint32_t *of;	 /* [2n-1]: the last class that a part is or was in; owned */
	uint8_t *fallen; /* [2n-1]: the part has dropped out of that class; owned */
	/*
	 * [n-1]: the parts of at least min_weight into which a part falls when the edges of one length are cut at once; 2 stands
	 * for more, too. A part that itself falls apart at that cut has the number of the part around it. Owned.
	 */
	uint8_t *large;
};

/* Returns 1/length, which is finite even where a length was rounded to 0. */
static double
end_of(double length)
{
	return 1 / fmax(length, 0x1p-500);
}

static uint32_t
begin_class(struct condensed *y, uint32_t parent, double birth)
{
	y->l[y->n] = (struct lasting){.birth = birth, .parent = parent};
	return (uint32_t)y->n++;
}

static void
drop(struct condensed *y, uint32_t part, uint32_t class, double at)
{
	y->l[class].stability += (double)y->d->weight[part] * (at - y->l[class].birth);
}

/* Tells whether the cut of edge e also cuts the edge that joined part p, since both have one length. */
static bool
falls_too(const struct condensed *y, size_t e, uint32_t p)
{
	const size_t n = y->t->n;

	return p >= n && y->t->length[p - n] == y->t->length[e];
}

static bool
is_large(const struct condensed *y, uint32_t p)
{
	return y->d->weight[p] >= y->how.min_weight;
}

static void
count_large(struct condensed *y)
{
	for (size_t e = 0; e + 1 < y->t->n; e++) {
		unsigned large = 0;
		for (int i = 0; i < 2; i++) {
			const uint32_t p = y->d->part[e][i];
			large += falls_too(y, e, p) ? y->large[p - y->t->n] : is_large(y, p);
		}
		y->large[e] = large < 2 ? (uint8_t)large : 2;
	}
}

/* Cuts edge e: its two parts become classes, stay in their class, drop out, or fall apart at the same cut. */
static void
split(struct condensed *y, size_t e)
{
	const size_t n = y->t->n, part = n + e;
	const uint32_t class = y->of[part];
	const double at = end_of(y->t->length[e]);
	const bool splits = !y->fallen[part] && y->large[e] == 2;

	y->l[class].splits |= splits;
	for (int i = 0; i < 2; i++) {
		const uint32_t p = y->d->part[e][i];
		const bool stays = !y->fallen[part] && is_large(y, p);
		y->of[p] = class;
		if (falls_too(y, e, p)) {
			y->fallen[p] = y->fallen[part];
			y->large[p - n] = y->large[e];
			continue;
		}
		y->fallen[p] = !stays;
		if (!y->fallen[part] && (splits || !stays || p < n))
			drop(y, p, class, at);
		if (splits && stays)
			y->of[p] = begin_class(y, class, at);
	}
}

/* Sets chosen[i] to the chosen class that contains class i: itself, a class around it, or CLASSES_NONE. */
static void
choose(struct condensed *y, uint32_t *chosen)
{
	for (size_t i = y->n; i-- > 0;) {
		struct lasting *l = &y->l[i];
		bool take = !l->splits || (!y->how.leaves && l->parent != CLASSES_NONE &&
					   l->stability >= l->within);
		chosen[i] = take ? (uint32_t)i : CLASSES_NONE;
		if (!take)
			l->stability = l->within;
		if (l->parent != CLASSES_NONE)
			y->l[l->parent].within += l->stability;
	}
	for (size_t i = 0; i < y->n; i++)
		if (y->l[i].parent != CLASSES_NONE && chosen[y->l[i].parent] != CLASSES_NONE)
			chosen[i] = chosen[y->l[i].parent];
}

static int
condense(struct condensed *y)
{
	size_t n = y->t->n, parts = 2 * n - 1;

	y->l = weir_alloc(2 * n, sizeof *y->l);
	y->of = weir_alloc(parts, sizeof *y->of);
	y->fallen = weir_calloc(parts, sizeof *y->fallen);
	y->large = weir_alloc(n, sizeof *y->large);
	if (!y->l || !y->of || !y->fallen || !y->large)
		return -ENOMEM;
	count_large(y);
	y->of[parts - 1] = begin_class(y, CLASSES_NONE, n > 1 ? end_of(y->t->length[n - 2]) : 0);
	for (size_t e = n - 1; e-- > 0;)
		split(y, e);
	return 0;
}

/* Labels the vertices without a class: edges join parts in order, unless both have a class. */
static int
fill(const struct emst_tree *t, uint32_t *label)
{
	uint32_t *up = roots_new(t->n);

	if (!up)
		return -ENOMEM;
	for (size_t e = 0; e + 1 < t->n; e++) {
		uint32_t a = roots_find(up, t->edge[e].u), b = roots_find(up, t->edge[e].v);
		if (label[a] != CLASSES_NONE && label[b] != CLASSES_NONE)
			continue;
		label[a] = label[b] = label[a] != CLASSES_NONE ? label[a] : label[b];
		roots_join(up, a, b);
	}
	for (uint32_t v = 0; v < t->n; v++)
		label[v] = label[roots_find(up, v)];
	weir_free(up);
	return 0;
}

int
classes_density(struct classes *c, const struct dendrogram *d, const struct emst_tree *t,
		struct density how)
{
	struct condensed y = {.d = d, .t = t, .how = how};
	int err = condense(&y);
	uint32_t *chosen = err ? NULL : weir_alloc(y.n, sizeof *chosen);

	*c = (struct classes){.label = weir_alloc(t->n, sizeof *c->label)};
	if (!chosen || !c->label) {
		err = -ENOMEM;
	} else {
		choose(&y, chosen);
		for (size_t v = 0; v < t->n; v++)
			c->label[v] = chosen[y.of[v]];
		err = how.fill ? fill(t, c->label) : 0;
		if (!err)
			err = classes_rank(c, t->n, y.n, d->weight);
	}
	weir_free(chosen);
	weir_free(y.l);
	weir_free(y.of);
	weir_free(y.fallen);
	weir_free(y.large);
	if (err)
		classes_free(c);
	return err;
}
