/*
 * Classes: the parts into which a tree falls when edges are cut.
 *
 * The DENDROGRAM is what single linkage makes of the tree: its edges join two parts each, in order. An edge whose parts
 * both weigh m or more is cut by the MINIMUM-SIZE FOREST: the same as going through the edges in order and joining two
 * parts unless both are of that size already, so every class weighs m at least, and the forests of all m are nested.
 *
 * Sources: C. T. Zahn 1971 (inconsistent edges); R. J. G. B. Campello, D. Moulavi, J. Sander 2013 (HDBSCAN*). Ties are
 * cut latest in the order first.
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

/* cut[n-1]: 1 where an edge is cut. */
void cut_size(const struct dendrogram *d, uint64_t min_weight, uint8_t *cut);
void cut_count(const struct emst_tree *t, size_t classes, uint8_t *cut);
void cut_length(const struct emst_tree *t, double longest, uint8_t *cut);

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
 * is one class.
 */
int classes_density(struct classes *c, const struct dendrogram *d, const struct emst_tree *t,
		    uint64_t min_weight, bool leaves);

void classes_free(struct classes *c);

#endif
