/*
 * The minimum spanning tree of the pixels of a picture. Edges join only neighbours, and the length of an edge is the distance
 * of the two colours. The classes of this tree are connected regions.
 *
 * Edges are ordered by squared length, then direction, then pixel. The directions from a pixel are right, down, down-right,
 * down-left; with 4 neighbours only the first two are used. Pixels are in raster order.
 */
#ifndef WEIR_EMST_MESH_MESH_H
#define WEIR_EMST_MESH_MESH_H

#include "emst/vertices.h"

/* The edges of one length; the last is edge[end - 1]. */
struct mesh_run {
	double length;
	size_t end;
};

struct mesh {
	size_t w, h, n, nrun;
	uint32_t *edge;	      /* [n]: pixel << 2 | direction, in order; owned */
	struct mesh_run *run; /* [nrun]; owned */
};

#define MESH_MOST ((size_t)1 << 30) /* pixels */

/* Lists the edges. v is made by vertices_pixels(); w h < MESH_MOST. 0 or -ENOMEM; call mesh_free() in either case. */
int mesh_make(struct mesh *g, const struct vertices *v, size_t w, size_t h, int neighbours);
void mesh_free(struct mesh *g);

/* Makes the tree. Vertices are pixels in raster order. 0 or -ENOMEM. */
int mesh_tree(const struct mesh *g, struct emst_tree *t);

/*
 * Finds regions (Felzenszwalb and Huttenlocher 2004). In a first pass, in order, an edge joins two regions A and B if it is
 * shorter than both I(A) + scale/|A| and I(B) + scale/|B|. |A| is the number of pixels of A. I(A) is the length of the edge
 * that joined A last, which is its longest edge, or 0 for a single pixel. In a second pass, in order, an edge joins two
 * regions if one of them has less than min_size pixels. label[w h] numbers the regions from 0 in raster order of their first
 * pixels; *regions is their number. The edges are
 * overwritten. 0 or -ENOMEM.
 */
int mesh_regions(struct mesh *g, double scale, uint64_t min_size, uint32_t *label, size_t *regions);

#endif
