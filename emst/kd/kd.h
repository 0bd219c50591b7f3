/*
 * The way by a kd-tree, once for floats (f32.c) and once for doubles (f64.c). Both include the files *_body.h of this room
 * with REAL defined.
 */
#ifndef EMST_KD_H
#define EMST_KD_H

#include "emst/emst.h"

struct kd_input {
	const struct emst_set *s; /* EMST_F32 for kd_f32, EMST_F64 for kd_f64 */
	int threads;
	/* mutual reachability; NULL: Euclidean */
	const uint32_t *weight;
	uint64_t min_weight;
	double *core; /* [n], out: the squared radii */
};

int emst_kd_f32(const struct kd_input *in, struct emst_tree *t);
int emst_kd_f64(const struct kd_input *in, struct emst_tree *t);

/* The same tree over all pairs, of any number of dimensions, Euclidean. It is the faster way up to EMST_PRIM floats. */
enum { EMST_PRIM = 1536 };
int emst_prim_f32(const struct kd_input *in, struct emst_tree *t);
int emst_prim_f64(const struct kd_input *in, struct emst_tree *t);

#endif
