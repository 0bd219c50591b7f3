/* Primitives that the twins share: prim.cu. Arrays lie on the device. Functions return 0 or -EIO. */
#ifndef WEIR_GPU_PRIM_H
#define WEIR_GPU_PRIM_H

#include "gpu/device.h"

/* v[i] becomes v[0] + .. + v[i-1]; n < 2^30. scratch has prim_scan_words(n) elements. */
int prim_scan(struct gpu *g, unsigned *v, size_t n, unsigned *scratch);
size_t prim_scan_words(size_t n);

/*
 * A stable sort: sorts the keys, which are below `limit` (0: any), and fills index with 0..n-1 in the order of the keys; again: the
 * index has an order already, and key[i] belongs to index[i]. scratch has prim_sort_words(n) elements.
 */
int prim_sort(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit,
	      unsigned *scratch, bool again);
size_t prim_sort_words(size_t n);

/*
 * *sum, on the device, becomes a[0] b[0] + .. + a[n-1] b[n-1]. The order of the sum depends on n alone. scratch has
 * PRIM_DOT_PARTS elements.
 */
enum { PRIM_DOT_PARTS = 1024 };
int
prim_dot(struct gpu *g, const double *a, const double *b, size_t n, double *sum, double *scratch);

#endif
