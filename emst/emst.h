/*
 * Euclidean minimum spanning tree.
 *
 *	vertices   x[0..n-1], vectors of k coordinates; all pairs are joined
 *	d2(i,j) =  sum over a = 0..k-1 of (x[i][a] - x[j][a])^2
 *	tree       the n-1 edges of least total length that join all vertices, length = sqrt(d2)
 *
 * One rule decides between edges of equal length, everywhere: with lo < hi the numbers of its ends, an edge comes before
 * another when (d2, hi - lo, lo) is smaller. The order is strict, so the tree is unique: every algorithm, any number of
 * threads and any CPU give the same edges in the same order. The number of a colour is r<<16 | g<<8 | b; that of a point
 * is its place in the input. d2 is an integer for colours; for points it is summed in the type of the coordinates, axis
 * by axis, each operation rounded (no fused multiply-add).
 *
 * With core radii c2 (HDBSCAN*) d2(i,j) is replaced by max(d2(i,j), c2[i], c2[j]).
 *
 * Sources: M. N. Barsuk, A. I. Ivanov (Belgorod State University), the minimum spanning tree of the colours of an image
 * by Boruvka's algorithm on a GPU, and classification by cutting it: direct.c. J. B. Kruskal 1956, O. Boruvka 1926.
 * Single-tree Boruvka on a spatial tree: March, Ram, Gray 2010; lower bounds kept across rounds: Prokopenko, Sao,
 * Lebrun-Grandie 2022.
 *
 * Limits: 1 <= n < 2^31, 1 <= k <= EMST_MOSTDIM.
 */
#ifndef WEIR_EMST_H
#define WEIR_EMST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EMST_MAXDIM = 16, /* of the kd-tree, of mutual reachability and of the GPU */
	EMST_MOSTDIM = 4096
};
#define EMST_MAXPOINTS ((size_t)1 << 31)

enum emst_type {
	EMST_CODE, /* 8-bit colours of 1..3 planes: a lattice */
	EMST_F32,
	EMST_F64
};

struct lattice;

/* The vertices. */
struct emst_set {
	enum emst_type type;
	size_t n;
	unsigned k;
	const struct lattice *lattice; /* EMST_CODE: the colours present, in ascending order */
	const void *x;	    /* else float or double [n][k]: finite, no -0.0, no two vectors equal */
	const uint32_t *id; /* else the numbers of the tie rule [n], ascending; NULL: 0..n-1 */
	void (*step)(void *step_of,
		     double done); /* told, by one thread, how much is done of 1; NULL: nobody */
	void *step_of;
};

/* An edge: indices of its ends, u < v. */
struct emst_edge {
	uint32_t u, v;
};

/* The tree; owned. */
struct emst_tree {
	size_t n;		/* vertices */
	struct emst_edge *edge; /* [n-1], in the order of the rule */
	double *length;		/* [n-1] */
};

/*
 * The fast ones. 0; -ENOMEM; -ERANGE for n or k out of the limits; -EEXIST when two points are equal (emst_distinct()
 * joins them). On failure the tree is empty. Unlike the run of other programs these allocate, and there is no plan:
 * how many colours are exposed, how many trees the shells leave and how many pairs a shell has is known from the data
 * alone, and bounds that hold for all data are several times as much. The lattice alone has a fixed size.
 *
 * emst_run chooses; the two ways are here so that the checks can compare them.
 */
int emst_run(const struct emst_set *s, int threads, struct emst_tree *t);
int emst_run_lattice(const struct emst_set *s, int threads, struct emst_tree *t); /* EMST_CODE */
int emst_run_kd(const struct emst_set *s, int threads, struct emst_tree *t);

/*
 * The tree of mutual reachability: an edge is as long as the larger of its length and the core radii of its ends. The
 * core radius of a vertex is the least r with at least min_weight weight within r of it, itself included. weight [n];
 * core [n] is filled with the SQUARED radii. When all the weight together is less than min_weight: -EDOM.
 */
int emst_run_density(const struct emst_set *s, const uint32_t *weight, uint64_t min_weight,
		     int threads, double *core, struct emst_tree *t);

/* Definitions, in direct.c and direct_classes.c: O(n^2 log n) and no tricks. core may be NULL. */
int emst_direct(const struct emst_set *s, const double *core, struct emst_tree *t);
int emst_direct_core(const struct emst_set *s, const uint32_t *weight, uint64_t min_weight,
		     double *core);

/*
 * HDBSCAN* (Campello, Moulavi, Sander 2013) on a tree of mutual reachability, a recursion over sets of vertices, O(n^3).
 * A class lasts while edges are cut, longest first, until it falls into two parts of at least min_weight. Smaller parts drop
 * out of it, a single vertex drops out at its last edge. Stability of a class: the sum over the weight that drops out, or that
 * its two parts take over, of 1/length then minus 1/length when the class began. Chosen are the classes that do not fall in
 * two (leaves), or those with the largest total stability. The whole is chosen only when it never falls in two.
 * label[n]: 1.. from the heaviest class on, of equal ones the one with the first vertex; 0: none.
 */
int emst_direct_hdbscan(const struct emst_tree *t, const uint32_t *weight, uint64_t min_weight,
			bool leaves, uint32_t *label);

/* Genie (Gagolewski, Bartoszuk, Cena 2016), as cut_genie() of classes.h states it: O(n^3). cut[n-1]. */
int emst_direct_genie(const struct emst_tree *t, const uint32_t *weight, double gini,
		      size_t classes, uint8_t *cut);

/*
 * Regions of a picture px[h][w][planes] by Felzenszwalb and Huttenlocher, as mesh.h states them; label[w h]: any numbers,
 * equal in a region. O((w h)^2).
 */
int emst_direct_regions(const uint8_t *px, size_t w, size_t h, size_t planes, int neighbours,
			double scale, uint64_t min_size, uint32_t *label);

/* The sum of the lengths, shortest first. */
double emst_total(const struct emst_tree *t);

void emst_tree_free(struct emst_tree *t);

#endif
