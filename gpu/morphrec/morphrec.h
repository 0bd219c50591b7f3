/* morphrec on the GPU: morphrec/morphrec.h. */
#ifndef WEIR_GPU_MORPHREC_H
#define WEIR_GPU_MORPHREC_H

#include "gpu/gpu.h"
#include "morphrec/morphrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * morphrec_run() on g: J, as morphrec_clip() left it, becomes the reconstruction under I, with the same bytes as on the CPU.
 * The method must be MORPHREC_TILE or MORPHREC_HEAP. Arrays larger than the device's memory are processed in bands. Fills
 * p->figures. Returns 0; -EIO: see gpu_why(); -ENOTSUP for another method; -ENOMEM.
 */
int gpu_morphrec_run(struct gpu *g, struct morphrec_plan *p, void *J, const void *I);

#ifdef __cplusplus
}
#endif

#endif
