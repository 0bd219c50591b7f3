/* Finds the Euclidean tree of points by comparing all pairs in every round. Returns what emst_run() returns. */
#ifndef WEIR_EMST_BRUTE_BRUTE_H
#define WEIR_EMST_BRUTE_BRUTE_H

#include "emst/kd/kd.h"

/* The type of the set is EMST_F32 or EMST_F64. */
int emst_brute(const struct kd_input *in, struct emst_tree *t);

#endif
