/* emst on the GPU: emst/emst.h. */
#ifndef WEIR_GPU_EMST_H
#define WEIR_GPU_EMST_H

#include "emst/emst.h"
#include "gpu/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * emst_run() on g, by Barsuk's and Ivanov's brute force: O(n^2) a round, at most log2(n) rounds, whatever the vertices are;
 * the same tree. 0, -ENOMEM, -ERANGE and -EEXIST as there; -EIO: gpu_why().
 */
int gpu_emst_run(struct gpu *g, const struct emst_set *s, struct emst_tree *t);

#ifdef __cplusplus
}
#endif

#endif
