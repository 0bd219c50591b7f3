/* wconv on the GPU: wconv/wconv.h. */
#ifndef WEIR_GPU_WCONV_H
#define WEIR_GPU_WCONV_H

#include "gpu/gpu.h"
#include "wconv/wconv.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * wconv_run() on g, shared out: the same steps, one after the other, of one plan at a time, by the plan's method and tiles. |error| <=
 * 3e-7 max|F| in float, 1e-14 in double, most of it the definition's own; held for transforms with FFTW in cuFFT's place.
 * 0, -ENOMEM, or -EIO: gpu_why().
 */
int gpu_wconv_run(struct gpu *g, struct wconv_plan *p, const void *in, void *out);

#ifdef __cplusplus
}
#endif

#endif
