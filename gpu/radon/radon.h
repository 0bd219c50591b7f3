/* radon on the GPU: radon/radon.h. */
#ifndef WEIR_GPU_RADON_H
#define WEIR_GPU_RADON_H

#include <stddef.h>

#include "gpu/gpu.h"
#include "radon/radon.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * radon_run() on g, shared out, of n gathers of one plan, made with o.unfactored and for RADON_ADJOINT, RADON_LSQ or
 * RADON_MODEL by any method but RADON_TIME and RADON_USFFT2D: in[i] and out[i] are those of gather i. Adjoint and
 * modelling by transforms of nonequispaced points whatever the size, |error| as on the CPU: relative l2 <= 2e-6. lsq factors
 * its matrices in each call, once for all n gathers. The same bytes in every run and for any n. report: NULL or n of
 * them; of steps, those of all gathers that were held at once stand with the first. 0, -ENOMEM, or -EIO: gpu_why().
 */
int gpu_radon_run(struct gpu *g, const struct radon_plan *p, size_t n, const float *const *in,
		  float *const *out, struct radon_report *report);

#ifdef __cplusplus
}
#endif

#endif
