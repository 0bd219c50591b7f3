/* What twins share: prim.cu. Arrays lie on the device; 0 or -EIO. */
#ifndef WEIR_GPU_PRIM_H
#define WEIR_GPU_PRIM_H

#include "gpu/device.h"

/* v[i] becomes v[0] + .. + v[i-1], for n < 2^30. scratch: prim_scan_words(n) of them. */
int prim_scan(struct gpu *g, unsigned *v, size_t n, unsigned *scratch);
size_t prim_scan_words(size_t n);

/*
 * index: 0..n-1 in the order of keys that are below `limit`, equal ones as they were; both sorted. scratch is of
 * prim_sort_words(n) words; key and index come back in place.
 */
int prim_sort(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit,
	      unsigned *scratch);
size_t prim_sort_words(size_t n);

/* The same of an index that has an order already, by a key that says more: keys of equal ones stay as they are. */
int prim_sort_again(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit,
		    unsigned *scratch);

/*
 * *sum = a[0] b[0] + .. + a[n-1] b[n-1] on the device, added in an order that n alone decides. scratch is of PRIM_DOT_PARTS.
 */
enum { PRIM_DOT_PARTS = 1024 };
int
prim_dot(struct gpu *g, const double *a, const double *b, size_t n, double *sum, double *scratch);

#endif
