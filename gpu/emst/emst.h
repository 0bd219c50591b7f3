/* emst on the GPU: emst/emst.h. */
#ifndef WEIR_GPU_EMST_H
#define WEIR_GPU_EMST_H

#include "emst/emst.h"
#include "gpu/gpu.h"

/*
 * emst_run() on g; it finds the same tree. Colours are joined on their lattice, as on the CPU. Other points, and colours too
 * with brute, are joined as by Barsuk and Ivanov: O(n^2) a round, at most log2(n) rounds. Returns 0, -ENOMEM, -ERANGE and
 * -EEXIST as emst_run(), or -EIO: see gpu_why().
 */
int gpu_emst_run(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *t);

/*
 * Tells gpu_ahead() what gpu_emst_run() will read of such a set: a lattice. For other sets it does nothing, since the run makes
 * anew what goes up.
 */
void gpu_emst_ahead(struct gpu *g, const struct emst_set *s, bool brute);

#endif
