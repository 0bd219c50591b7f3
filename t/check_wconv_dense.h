/* Deconvolutions of small pictures against dense matrices made of the definition, on the CPU and on the GPU. */
#ifndef WEIR_CHECK_WCONV_DENSE_H
#define WEIR_CHECK_WCONV_DENSE_H

#include "t/check_wconv.h"
#include "wconv/restore/restore.h"

/* wconv_restore_run(), or its twin; `with` is the twin's device. */
typedef int dense_run(void *with, struct wconv_restore *r, const void *y, void *x,
		      struct wconv_restored *done, char err[WCONV_ERR]);

/*
 * Runs both methods of deconvolution at all edges, with unknown samples, with both directions, precisions and methods of
 * convolution, and holds them to the dense matrix. on_device: plans for `run`, which has its own memory.
 */
void
dense_hold(struct check_many *m, bool least_squares, bool on_device, dense_run *run, void *with);

#endif
