/* usfft on the GPU: usfft/usfft.h. */
#ifndef WEIR_GPU_USFFT_H
#define WEIR_GPU_USFFT_H

#include "gpu/gpu.h"
#include "usfft/usfft.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * usfft_points(), usfft_type1() and usfft_type2() on g, with p's window, grid and tables. g holds the points of the last
 * gpu_usfft_points() only, until gpu_release() or until another twin runs on g, and the CPU's transforms cannot use
 * them. Errors as on the CPU: within the tolerance of p; the same bytes in every run. Besides the errors of the CPU's:
 * -EIO, gpu_why(), also for grids of 2^31 cells and more.
 */
int gpu_usfft_points(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt,
		     const void *c, size_t cstride, size_t *bad);
int
gpu_usfft_type1(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes);
int
gpu_usfft_type2(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c);

#ifdef __cplusplus
}
#endif

#endif
