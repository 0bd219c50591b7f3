/* wconv on the GPU: wconv/wconv.h. */
#ifndef WEIR_GPU_WCONV_H
#define WEIR_GPU_WCONV_H

#include "gpu/gpu.h"
#include "wconv/restore/restore.h"
#include "wconv/wconv.h"

/*
 * wconv_run() on the devices of g, which share out the rows of each step's results. Steps run one after the other, of one
 * plan at a time, by the plan's method and tiles. |error| <= 3e-7 max|F| in float, 1e-14 in double; most of it is the
 * definition's own error. For transforms this was checked with FFTW in place of cuFFT. The results have come after
 * gpu_settle(). Returns 0, -ENOMEM, or -EIO: see gpu_why().
 */
int gpu_wconv_run(struct gpu *g, struct wconv_plan *p, const void *in, void *out);

/*
 * wconv_adjoint_run() on the first device of g, for a plan of one plane and of samples and results of its own precision.
 * in: all results. out: all pixels of the item. |error| <= 3e-7 max|F| by sums and 1e-6 by transforms in float, 1e-14 in double.
 * Returns what gpu_wconv_run() returns.
 */
int gpu_wconv_adjoint(struct gpu *g, const struct wconv_plan *p, const void *in, void *out);

/*
 * wconv_restore_run() on the first device of g, for a plan made with `on_device`. y, x and *done are as there. The data go to the
 * device once, and all steps run there. Sums of squares are in double; convolutions have the bounds above.
 * Returns 0; -1 with a sentence in why when the data cannot be deconvolved; or what gpu_wconv_run() returns.
 */
int gpu_wconv_restore(struct gpu *g, struct wconv_restore *r, const void *y, void *x,
		      struct wconv_restored *done, struct why *why);

#endif
