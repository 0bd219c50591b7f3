/*
 * The Euclidean distance transform of a picture or volume, from centre to centre:
 *
 *	D(p) = min |p - q|  over the samples q that are not chosen
 *
 * It is 0 where p is not chosen, and inf where every sample is. Squares of distances along x, y and z are added: along y by
 * counting, along x and z as the lower envelope of parabolas, one for each sample of a line (Felzenszwalb and Huttenlocher,
 * Distance transforms of sampled functions, Theory of Computing 8, 2012, 415-428). Time and memory are linear. Pure.
 */
#ifndef WEIR_PICTURE_DISTANCE_H
#define WEIR_PICTURE_DISTANCE_H

#include <stddef.h>
#include <stdint.h>

struct distance_shape {
	size_t w, h, depth; /* a picture has depth 1 */
	double step[3];	    /* between samples along x, y, z: above 0, finite */
};

/*
 * Sets D[p] for all samples. Where the steps are equal, D is their multiple of the root of an integer, which is exact before
 * the root; otherwise it is rounded in a few operations on doubles. D is the same for any number of threads. Returns 0 or
 * -ENOMEM.
 */
int distance(const struct distance_shape *s, int threads, const uint8_t *restrict chosen,
	     double *restrict D);

/*
 * Gives every sample that is 0 the label of the nearest sample that is not, or of equally near ones the lowest label. It stays 0
 * where that sample is more than `most` away, in the units of the steps. Work is 16 bytes a sample. Returns 0 or -ENOMEM.
 */
int grow_labels(const struct distance_shape *s, double most, int32_t *map);

#endif
