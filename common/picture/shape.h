/*
 * Measures of the outlines of components, from a map of their labels (label_map() of common/picture/label.h). Pure.
 *
 *	perimeter	of pictures, in pixels: the pixels with a neighbour outside count 1, (1 + sqrt 2) / 2 or sqrt 2, by how the
 *			line of them goes on: Benkrid, Crookes, Design and FPGA implementation of a perimeter estimator, 2000, as
 *			perimeter() of scikit-image, of 4 neighbours
 *	filled, feret	the samples whose centres lie in the convex hull of the middles of the sides of a component's samples,
 *			and the greatest distance of the middles of the sides of those, as regionprops()
 *	surface		of volumes: 2 sum_k c_k V / d_k N_k, Crofton's formula over the 13 directions of a voxel's neighbours, as
 *			MorphoLibJ: N_k sides of voxels are crossed along direction k, whose steps are d_k long; V is the volume of a
 *			voxel, and c_k the share of the sphere that is nearer to direction k than to others (Lang, Ohser, 2001)
 */
#ifndef WEIR_PICTURE_SHAPE_H
#define WEIR_PICTURE_SHAPE_H

#include "common/picture/label.h"

struct shape {
	double perimeter, surface;
	double filled, feret;
};

/*
 * Sets shape[i] for each component of l, which has been measured. The columns of `to` are the steps along x, y and z.
 * Returns 0 or -ENOMEM; the hulls die when there is no memory.
 */
int shape_measure(struct label *l, double to[3][3], size_t dims, int threads, struct shape *shape);

#endif
