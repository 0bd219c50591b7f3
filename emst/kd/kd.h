/*
 * Finds the tree of points by a kd-tree: f32.c holds the engine for floats, f64.c that for doubles. They define REAL and
 * include the files *_body.h of this directory. CPUs without AVX2 have the same engines with vectors of 16 bytes,
 * f32_narrow.c and f64_narrow.c.
 */
#ifndef WEIR_EMST_KD_KD_H
#define WEIR_EMST_KD_KD_H

#include "emst/emst.h"

struct kd_input {
	const struct emst_set *s; /* EMST_F32 for kd_f32, EMST_F64 for kd_f64 */
	int threads;
	/* weight, min_weight and core are for mutual reachability. For the Euclidean tree they are NULL, 0, NULL.
	 * min_weight is below 2^32. */
	const uint64_t *weight;
	uint64_t min_weight;
	double *core; /* [n], output: the squared core radii */
};

int emst_kd_f32(const struct kd_input *in, struct emst_tree *t);
int emst_kd_f64(const struct kd_input *in, struct emst_tree *t);
int emst_kd_f32_narrow(const struct kd_input *in, struct emst_tree *t);
int emst_kd_f64_narrow(const struct kd_input *in, struct emst_tree *t);

/*
 * Finds the Euclidean tree by Prim's algorithm over all pairs, in any number of dimensions. It is faster than the kd-tree for
 * at most EMST_PRIM points.
 */
enum { EMST_PRIM = 1536 };
int emst_prim_f32(const struct kd_input *in, struct emst_tree *t);
int emst_prim_f64(const struct kd_input *in, struct emst_tree *t);

#endif
