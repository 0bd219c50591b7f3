/* What twins share: prim.cu. Everything is on the device. */
#ifndef WEIR_GPU_PRIM_H
#define WEIR_GPU_PRIM_H

#include "gpu/device.h"

/* v[i] becomes v[0] + .. + v[i-1], for n < 2^30. scratch: prim_scan_words(n) of them. */
int prim_scan(struct gpu *g, unsigned *v, size_t n, unsigned *scratch);
size_t prim_scan_words(size_t n);

#endif
