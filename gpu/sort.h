/* Sums and sorts that several twins need, for gpu/NAME.cu alone. Arrays lie on the device; 0 or -EIO. */
#ifndef WEIR_GPU_SORT_H
#define WEIR_GPU_SORT_H

#include <stddef.h>

struct gpu;

/* Words of work space for n elements. */
size_t gpu_scan_room(size_t n);
size_t gpu_sort_room(size_t n);

/* v[i] becomes the sum of what stood before it: v[0] = 0. n < 2^31. */
int gpu_scan(struct gpu *g, unsigned *v, size_t n, unsigned *work);

/*
 * index: 0..n-1 in the order of keys that are below `limit`, equal ones as they were; both sorted. work is of
 * gpu_sort_room(n) words; key and index come back in place.
 */
int
gpu_sort(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit, unsigned *work);

#endif
