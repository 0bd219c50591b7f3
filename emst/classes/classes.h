/*
 * Classes are the parts into which a tree falls when edges are cut.
 *
 * The DENDROGRAM is the result of single linkage: the edges of the tree are taken in order, and each joins two parts.
 * The MINIMUM-SIZE FOREST cuts each edge whose two parts both weigh m or more. Taking the edges in order, and joining two
 * parts unless both already weigh m, gives the same forest. So every class weighs at least m, and the forests of all m are
 * nested.
 *
 * Sources: R. J. G. B. Campello, D. Moulavi, J. Sander 2013 (HDBSCAN*);
 * M. Gagolewski, M. Bartoszuk, A. Cena 2016 (Genie); R. Assuncao, M. Neves, G. Camara, C. Freitas 2006 (SKATER, cuts by
 * variance). Among equal edges the last in order is cut first.
 */
#ifndef WEIR_EMST_CLASSES_CLASSES_H
#define WEIR_EMST_CLASSES_CLASSES_H

#include "emst/vertices.h"

/* Part i < n is vertex i. Part n + e is the part that edge e makes by joining two. */
struct dendrogram {
	size_t n; /* vertices */
	/* [n-1]: the two parts that an edge joins; the part of its end u comes first; owned. */
	uint32_t (*part)[2];
	uint64_t *weight; /* [2n-1]: of every part; owned */
};

struct classes {
	size_t n;
	/*
	 * [vertices]: the class of each, 1..n; 0 means none; owned. Class 1 is the heaviest. Among classes of equal weight the
	 * one with the first vertex comes first.
	 */
	uint32_t *label;
	/* [n + 1]: the weight of each class; weight[0] is that of the vertices without a class; owned. */
	uint64_t *weight;
};

/* All return 0 or -ENOMEM. weight [vertices]; NULL means 1 each. The sum of all weights is below 2^46. */
int dendrogram_make(struct dendrogram *d, const struct emst_tree *t, const uint64_t *weight);
void dendrogram_free(struct dendrogram *d);

/*
 * These fill cut[n-1]: 1 where an edge is cut, else 0. cut_size() makes the minimum-size forest. cut_length() cuts all edges
 * longer than `longest`.
 */
void cut_size(const struct dendrogram *d, uint64_t min_weight, uint8_t *cut);
void cut_length(const struct emst_tree *t, double longest, uint8_t *cut);

/*
 * Keeps at most classes - 1 of the cuts: those with the largest dendrogram_lighter(). When several cuts tie for the last
 * place, all of them stay at first, and then the cuts of the shortest edges are undone. When all edges are cut on entry, the
 * minimum-size forest of `classes` trees is left, if some m makes it.
 */
int cut_at_most(const struct dendrogram *d, size_t classes, uint8_t *cut);

/*
 * Genie (Gagolewski, Bartoszuk, Cena 2016). The edges join parts in order. While the Gini index of the weights of all parts
 * is above gini, the first edge that leaves a lightest part is taken instead. Ends when `classes` parts are left.
 *
 *	Gini index of the weights w of k parts = sum over i < j of |w_i - w_j| / ((k - 1) sum of all w)
 *
 * Returns -EOVERFLOW when the number of vertices times the sum of all weights is 2^63 or more.
 */
int cut_genie(const struct emst_tree *t, const uint64_t *weight, double gini, size_t classes,
	      uint8_t *cut);

/*
 * Cuts, again and again, the edge of any part that lowers SSE most, and among equal ones the last in order; no part becomes
 * lighter than min_weight. Ends at `classes` parts. With lambda, or with neither, takes the first cuts after which SSE +
 * lambda K SST is least, or the root of SSE / SST plus price K^power. K is the number of classes, SSE the sum of weighted
 * squared distances to the means of the classes, SST to the mean of all. A cut takes one walk over the part that it cuts.
 *
 * The prices were chosen by the segments that people drew in BSDS500; t/bench/emst.md has the table.
 */
#define VARIANCE_PRICE	       .1
#define VARIANCE_POWER	       .5
#define VARIANCE_PRICE_REGIONS .01
#define VARIANCE_POWER_REGIONS 1
struct variance {
	size_t classes;	     /* the most; 0: any number */
	double lambda;	     /* 0: none */
	double price, power; /* of classes where lambda is 0 */
	uint64_t min_weight;
};
int cut_variance(const struct emst_tree *t, const struct vertices *v, struct variance how,
		 uint8_t *cut);

/*
 * Numbers the classes anew. On entry label[vertices] holds numbers below n, or CLASSES_NONE. The numbers become 1..K from the
 * heaviest class on, and CLASSES_NONE becomes 0. A number that no vertex has is skipped.
 */
#define CLASSES_NONE 0xffffffffu
int classes_rank(struct classes *c, size_t vertices, size_t n, const uint64_t *weight);

/* Makes a class of each part that the cuts leave. */
int classes_make(struct classes *c, const struct emst_tree *t, const uint8_t *cut,
		 const uint64_t *weight);

/*
 * HDBSCAN* makes classes of at least min_weight from the tree of mutual reachability, as emst_direct_hdbscan() in emst.h states
 * it. On a Euclidean tree the result is the classes of single linkage that last longest.
 *
 * With fill, a vertex that has dropped out gets the class that the tree joins it to first: edges join parts in order, unless
 * both have a class.
 */
struct density {
	uint64_t min_weight;
	bool fill;
};
int classes_density(struct classes *c, const struct dendrogram *d, const struct emst_tree *t,
		    struct density how);

/*
 * Returns the means of the classes [n + 1][planes]; v has been weighed. Row 0, of no class, is 0. The caller frees the result.
 * NULL: no memory.
 */
double *classes_means(const struct classes *c, const struct vertices *v);

void classes_free(struct classes *c);

#endif
