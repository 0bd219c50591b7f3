/*
 * Classes: the parts into which a tree falls when edges are cut.
 *
 * The DENDROGRAM is what single linkage makes of the tree: its edges join two parts each, in order. An edge whose parts
 * both weigh m or more is cut by the MINIMUM-SIZE FOREST: the same as going through the edges in order and joining two
 * parts unless both are of that size already, so every class weighs m at least, and the forests of all m are nested.
 *
 * Sources: C. T. Zahn 1971 (inconsistent edges); R. J. G. B. Campello, D. Moulavi, J. Sander 2013 (HDBSCAN*);
 * M. Gagolewski, M. Bartoszuk, A. Cena 2016 (Genie). Of equal edges the last in order is cut first.
 */
#ifndef EMST_CLASSES_H
#define EMST_CLASSES_H

#include "emst/vertices.h"

/* Part i < n is vertex i; part n + e is what edge e joins. */
struct dendrogram {
	size_t n;	     /* vertices */
	uint32_t (*part)[2]; /* [n-1]: the two that an edge joins, that of its end u first; owned */
	uint32_t *weight;    /* [2n-1]: of every part; owned */
};

struct classes {
	size_t n;
	uint32_t *
	    label; /* [vertices]: 1..n, from the heaviest on, the one with the first vertex before others; 0: none; owned */
	uint64_t *weight; /* [n + 1]: of every class, 0: of what has none; owned */
};

/* All return 0 or -ENOMEM. weight [vertices]; NULL: 1 each. The sum of all is below 2^32. */
int dendrogram_make(struct dendrogram *d, const struct emst_tree *t, const uint32_t *weight);
void dendrogram_free(struct dendrogram *d);

/* The weight of the lighter part that edge e joins: the minimum-size forests of all m up to that cut it. */
static inline uint32_t
dendrogram_lighter(const struct dendrogram *d, size_t e)
{
	const uint32_t a = d->weight[d->part[e][0]], b = d->weight[d->part[e][1]];

	return a < b ? a : b;
}

/* The n-1 edges (a) by that weight (key), equal ones in the order of the tree; owned by the caller; NULL without memory. */
struct sorted;
struct sorted *dendrogram_by_lighter(const struct dendrogram *d);

/*
 * cut[n-1]: 1 where an edge is cut. By size: the minimum-size forest. Longest: the classes - 1 last edges of the tree, which
 * is single linkage. By length: all edges that are longer.
 */
void cut_size(const struct dendrogram *d, uint64_t min_weight, uint8_t *cut);
void cut_longest(const struct emst_tree *t, size_t classes, uint8_t *cut);
void cut_length(const struct emst_tree *t, double longest, uint8_t *cut);

/*
 * Keeps at most classes - 1 of the cuts: those with the heaviest lighter parts. Where several are as heavy as the last of
 * those, all of them stay at first, and then the shortest of all cuts are undone. Of a tree that is cut everywhere the
 * minimum-size forest of so many trees is left, where some m makes it.
 */
int cut_at_most(const struct dendrogram *d, size_t classes, uint8_t *cut);

/*
 * Genie (Gagolewski, Bartoszuk, Cena 2016): the edges join parts in order; but while the Gini index of the weights of all
 * parts is above gini, the first edge that leaves a lightest part is taken instead. Ends with that many parts.
 *
 *	Gini index of the weights w of k parts = sum over i < j of |w_i - w_j| / ((k - 1) sum of all w)
 */
int cut_genie(const struct emst_tree *t, const uint32_t *weight, double gini, size_t classes,
	      uint8_t *cut);

/*
 * An edge is cut when it is longer than factor times the mean length of the other edges within two steps of one end, and
 * the same at the other end. An end without other edges has no say; at least one end must have.
 */
int cut_zahn(const struct emst_tree *t, double factor, uint8_t *cut);

/*
 * The minimum-size forest, over all m, with the least SSE + lambda K SST: K classes, SSE the sum of weighted squared
 * distances to the means of the classes, SST that to the mean of all. Of equal ones that with fewer classes.
 * *min_weight: its m.
 */
int cut_functional(const struct dendrogram *d, const struct emst_tree *t, const struct vertices *v,
		   double lambda, uint8_t *cut, uint64_t *min_weight);

/*
 * label[vertices] holds numbers below n, or CLASSES_NONE. They become 1..K, from the heaviest class on, and 0. A number that no
 * vertex has is skipped.
 */
#define CLASSES_NONE 0xffffffffu
int classes_rank(struct classes *c, size_t vertices, size_t n, const uint32_t *weight);

/* The parts that are left. */
int classes_make(struct classes *c, const struct emst_tree *t, const uint8_t *cut,
		 const uint32_t *weight);

/*
 * HDBSCAN*: classes of at least min_weight from the tree of mutual reachability. A class lasts while edges are cut,
 * longest first, until it falls in two that are large enough; smaller parts drop out, a vertex at its last edge.
 * Stability: the sum over dropped weight of 1/length at which it drops minus 1/length at which the class began. Leaves:
 * those that do not fall in two. Otherwise the ones with the largest total stability. If nothing ever falls in two, all
 * is one class. On a Euclidean tree these are the lasting classes of single linkage.
 *
 * fill: a vertex that has dropped out takes the class that the tree joins it to first: edges join parts in order, unless both
 * have a class.
 */
struct density {
	uint64_t min_weight;
	bool leaves, fill;
};
int classes_density(struct classes *c, const struct dendrogram *d, const struct emst_tree *t,
		    struct density how);

void classes_free(struct classes *c);

#endif
