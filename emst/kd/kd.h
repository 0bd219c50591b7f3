/*
 * The engines for points. Each is compiled for floats and for doubles, and for every level of the CPU (common/base/simd.h); emst.c
 * has the table of them.
 */
#ifndef WEIR_EMST_KD_KD_H
#define WEIR_EMST_KD_KD_H

#include "common/base/cpu.h"
#include "emst/emst.h"

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
