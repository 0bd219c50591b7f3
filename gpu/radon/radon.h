/* radon on the GPU: radon/radon.h. */
#ifndef WEIR_GPU_RADON_H
#define WEIR_GPU_RADON_H

#include <stddef.h>

#include "gpu/gpu.h"
#include "radon/radon.h"

/*
 * radon_run() for n gathers of one plan, on the devices of g, which share out the gathers. in[i] and out[i] belong to gather
 * i. The plan must be made with o.unfactored, for RADON_ADJOINT, RADON_LSQ or RADON_MODEL, by any method except RADON_TIME
 * and RADON_USFFT2D. Adjoint and modelling always use transforms of nonequispaced points; the error is as on the CPU,
 * relative l2 <= 2e-6. Least squares factors its matrices in each call, once for all n gathers. The bytes are the same in
 * every run. For another n, cuFFT may sum in another order. report is NULL or has n elements; the steps of all gathers that
 * are held at once are counted in the report of the first of them. The results have come after gpu_settle(). Returns 0,
 * -ENOMEM, or -EIO: see gpu_why().
 */
int gpu_radon_run(struct gpu *g, const struct radon_plan *p, size_t n, const float *const *in,
		  float *const *out, struct radon_report *report);

#endif
