/* Deconvolutions of small pictures against dense matrices made of the definition, on the CPU and on the GPU. */
#ifndef WEIR_CHECK_WCONV_DENSE_H
#define WEIR_CHECK_WCONV_DENSE_H

#include "t/check_wconv.h"
#include "wconv/restore/restore.h"

/* wconv_restore_run(), or its twin; `with` is the twin's device. */
typedef int dense_run(void *with, struct wconv_restore *r, const void *y, void *x,
		      struct wconv_restored *done, struct why *why);

/*
 * Runs the method that how.least_squares and how.accelerate name, at all edges, with unknown samples, with both directions,
 * precisions and methods of convolution, and holds it to the dense matrix. how.on_device: plans for `run`, which has its
 * own memory.
 */
void dense_hold(struct check_many *m, struct wconv_restore_options how, dense_run *run, void *with);

#endif
