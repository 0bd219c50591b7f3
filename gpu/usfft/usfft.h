/* usfft on the GPU: usfft/usfft.h. */
#ifndef WEIR_GPU_USFFT_H
#define WEIR_GPU_USFFT_H

#include "gpu/gpu.h"
#include "usfft/inverse.h"
#include "usfft/usfft.h"

/*
 * usfft_points(), usfft_type1() and usfft_type2() on g, with p's window, grid and tables. g holds only the points of the
 * last gpu_usfft_points(), until gpu_release() or until another twin runs on g. The CPU's transforms cannot use these
 * points. The error is within the tolerance of p, as on the CPU, and the bytes are the same in every run. They return what
 * the CPU's functions return, or -EIO: see gpu_why(). The transforms' results have come after gpu_settle(). Grids of 2^31
 * cells or more give -EIO too.
 */
int gpu_usfft_points(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt,
		     const void *c, size_t cstride, size_t *bad);
int
gpu_usfft_type1(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes);
int
gpu_usfft_type2(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c);

/* usfft_type3(), usfft_inverse() and usfft_pipe() on g. The points that g held are lost. Errors are as above. */
int gpu_usfft_type3(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
		    const void *c, const struct usfft_points *targets, int sign, void *out,
		    size_t *bad);
int gpu_usfft_inverse(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
		      const double *w, const double *b, const struct usfft_inverse *how,
		      double *modes, struct usfft_outcome *got, size_t *bad);
int gpu_usfft_pipe(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
		   int rounds, double *w, size_t *bad);

#endif
