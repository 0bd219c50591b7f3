/* morphrec on the GPU: morphrec/morphrec.h. */
#ifndef WEIR_GPU_MORPHREC_H
#define WEIR_GPU_MORPHREC_H

#include "gpu/gpu.h"
#include "morphrec/morphrec.h"

/*
 * morphrec_run() on g: J, as morphrec_clip() left it, becomes the reconstruction under I, with the same bytes as on the CPU.
 * Arrays larger than the device's memory are processed in bands. Fills p->figures. Returns 0; -EIO: see gpu_why(); -ENOMEM.
 */
int gpu_morphrec_run(struct gpu *g, struct morphrec_plan *p, void *J, const void *I);

/*
 * The whole operator on picture f, marker and result included, with the same bytes as on the CPU: one array goes to the device
 * and one comes back. J may be f. walls: NaN are walls. Returns as gpu_morphrec_run(), and with J as it was: -ENOTSUP, where
 * the operator is not made sample by sample or the devices' memory does not hold a share at a time; -EDOM: f has a NaN that is
 * no wall.
 */
int gpu_morphrec_operate(struct gpu *g, struct morphrec_plan *p, const struct morphrec_operator *op,
			 bool walls, void *J, const void *f);

#endif
