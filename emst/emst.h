/*
 * Euclidean minimum spanning tree.
 *
 *	vertices   x[0..n-1], vectors of k coordinates; all pairs are joined
 *	d2(i,j) =  sum over a = 0..k-1 of (x[i][a] - x[j][a])^2
 *	tree       the n-1 edges of least total length that join all vertices, length = sqrt(d2)
 *
 * One rule orders the edges everywhere. Let lo < hi be the numbers of an edge's ends: the edge with the smaller
 * (d2, hi - lo, lo) comes first. The order is strict, so the tree is unique: every algorithm, any number of threads and
 * any CPU give the same edges in the same order. The number of a colour is r<<16 | g<<8 | b. The number of a point is its
 * place in the input. For colours d2 is an integer. For points d2 is summed in the type of the coordinates, axis by axis,
 * and each operation is rounded (no fused multiply-add).
 *
 * With core radii c2 (HDBSCAN*) d2(i,j) is replaced by max(d2(i,j), c2[i], c2[j]).
 *
 * Sources: A. A. Barsuk, O. N. Ivanov (Belgorod State University) compute the minimum spanning tree of the colours of an
 * image by Boruvka's algorithm on a GPU, and classify the colours by cutting it; direct.c does the same.
 * J. B. Kruskal 1956, O. Boruvka 1926. Boruvka's algorithm on a spatial tree: March, Ram, Gray 2010. On a single tree, with
 * lower bounds kept across rounds: Prokopenko, Sao, Lebrun-Grandie 2022.
 *
 * Limits: 1 <= n < 2^31, 1 <= k <= EMST_MOSTDIM.
 */
#ifndef WEIR_EMST_EMST_H
#define WEIR_EMST_EMST_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/cpu.h"

enum {
	/* The most coordinates that the kd-tree, mutual reachability and the GPU take. */
	EMST_MAXDIM = 16,
	/* The most coordinates that emst_run takes. */
	EMST_MOSTDIM = 4096
};
#define EMST_MAXPOINTS ((size_t)1 << 31)

enum emst_type {
	EMST_CODE, /* 8-bit colours of 1..3 planes */
	EMST_F32,
	EMST_F64
};

struct lattice;

/* The vertices. */
struct emst_set {
	enum emst_type type;
	size_t n;
	unsigned k;
	/* EMST_CODE only: the colours present. emst_run_lattice() and a GPU want the lattice, for others it may be NULL. */
	const struct lattice *lattice;
	const uint32_t *code; /* [n], ascending */
	/* EMST_F32, EMST_F64: float or double [n][k]. All are finite, none is -0.0, no two vectors are equal. */
	const void *x;
	/* EMST_F32, EMST_F64: the numbers of the vertices for the order of edges [n], ascending. NULL means 0..n-1. */
	const uint32_t *id;
	/* One thread calls step(step_of, done) with the share of the run that is done, 0..1. May be NULL. */
	void (*step)(void *step_of, double done);
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
 * The fast engines. They return 0; -ENOMEM; -ERANGE when n or k is out of the limits; -EEXIST when two points are equal
 * (vertices_distinct() joins equal points). On failure the tree is empty. There is no plan, and these functions allocate:
 * the number of exposed colours, of trees that the shells leave and of pairs in a shell depends on the data, and bounds
 * that hold for all data are several times as large. Only the lattice has a fixed size.
 *
 * emst_run chooses the engine. The two others are declared here so that the checks can compare them.
 */
int emst_run(const struct emst_set *s, int threads, struct emst_tree *t);
int emst_run_lattice(const struct emst_set *s, int threads, struct emst_tree *t); /* EMST_CODE */
int emst_run_kd(const struct emst_set *s, int threads, struct emst_tree *t);

/* Compares all pairs in every round, as the paper does. It returns what emst_run() returns. */
int emst_run_brute(const struct emst_set *s, int threads, struct emst_tree *t);

/*
 * Computes the tree of mutual reachability. The length of an edge is the maximum of its Euclidean length and the core
 * radii of its two ends. The core radius of a vertex is the least r for which the vertices within r of it, itself
 * included, weigh at least min_weight, which is below 2^32. weight [n]; core [n] is filled with the SQUARED radii. Returns
 * -EDOM when all vertices together weigh less than min_weight.
 */
int emst_run_density(const struct emst_set *s, const uint64_t *weight, uint64_t min_weight,
		     int threads, double *core, struct emst_tree *t);

/* The definitions of the tree and of the core radii, in direct.c, take O(n^2 log n). core may be NULL. */
int emst_direct(const struct emst_set *s, const double *core, struct emst_tree *t);
int emst_direct_core(const struct emst_set *s, const uint64_t *weight, uint64_t min_weight,
		     double *core);

/*
 * Computes HDBSCAN* (Campello, Moulavi, Sander 2013) on a tree of mutual reachability by a recursion over sets of vertices,
 * in O(n^3). Edges are cut, longest first, and those of one length at once. A class lasts until a cut leaves two or more parts
 * of at least min_weight each. Smaller parts drop out of the class; a single vertex drops out when its last edge is cut. The
 * stability of a class is a sum over the weight that drops out, or that passes to those parts: 1/length at that cut minus
 * 1/length at the cut where the class began. The classes with the largest total stability are chosen. The class of
 * all vertices is chosen only when it never falls into such parts.
 * Several trees of mutual reachability may have the least length; all of them give the same classes.
 * label[n] is 1, 2 .. from the heaviest class on; among equal weights the class with the first vertex comes first. 0 means
 * no class.
 */
int emst_direct_hdbscan(const struct emst_tree *t, const uint64_t *weight, uint64_t min_weight,
			uint32_t *label);

/* Computes Genie (Gagolewski, Bartoszuk, Cena 2016) as cut_genie() in classes.h states it, in O(n^3). cut[n-1]. */
int emst_direct_genie(const struct emst_tree *t, const uint64_t *weight, double gini,
		      size_t classes, uint8_t *cut);

/*
 * Makes all cuts by variance, in the order that cut_variance() in classes.h states, in O(n^2) a cut. x[n][k] are coordinates.
 * With p, q the weights of the two sides of an edge and P, Q the weighted sums of their coordinates, a cut lowers SSE by
 * |P q - Q p|^2 / (p q (p + q)). edge[n-1] and gain[n-1] are filled for each cut, which are *cuts.
 */
int
emst_direct_variance(const struct emst_tree *t, const double *x, size_t k, const uint64_t *weight,
		     uint64_t min_weight, uint32_t *edge, double *gain, size_t *cuts);

/*
 * Finds the regions of a picture px[h][w][planes] by Felzenszwalb and Huttenlocher, as vertices.h states them, in O((w h)^2).
 * label[w h]: the pixels of one region get one number; the numbers have no order.
 */
int emst_direct_regions(const uint8_t *px, size_t w, size_t h, size_t planes, int neighbours,
			double scale, uint64_t min_size, uint32_t *label);

/* Returns the sum of the lengths, added from the shortest on. */
double emst_total(const struct emst_tree *t);

void emst_tree_free(struct emst_tree *t);

/* --- the engines for points, for floats and doubles and every level of the CPU (common/base/simd.h) ------------------------- */

struct kd_input {
	const struct emst_set *s; /* EMST_F32 or EMST_F64, as the engine */
	int threads;
	/* weight, min_weight and core are for mutual reachability. For the Euclidean tree they are NULL, 0, NULL.
	 * min_weight is below 2^32. */
	const uint64_t *weight;
	uint64_t min_weight;
	double *core; /* [n], output: the squared core radii */
	/* KD_TREE adds to *looks how often a point looked at the points of a leaf that is not its own. May be NULL. */
	size_t *looks;
};

typedef int kd_engine(const struct kd_input *in, struct emst_tree *t);

/* The ways to the tree. */
enum {
	KD_TREE, /* by a kd-tree, in at most EMST_MAXDIM dimensions */
	/* By Prim's algorithm over all pairs, in any number of dimensions: faster for at most EMST_PRIM points. */
	KD_PRIM,
	KD_BRUTE, /* compares all pairs in every round */
	KD_WAYS
};
enum { EMST_PRIM = 1536 };

/* [doubles][level][way] */
extern kd_engine *const emst_kd[2][CPU_AVX512 + 1][KD_WAYS];

#endif
