/*
 * The minimum spanning tree of the pixels of a picture: only neighbours are joined, by edges as long as their colours differ.
 * Its classes are connected regions.
 *
 * Order of the edges: squared length, direction, pixel. The directions from a pixel are right, down, down-right, down-left, of
 * 4 neighbours only the first two; pixels are in raster order.
 */
#ifndef EMST_MESH_H
#define EMST_MESH_H

#include "emst/vertices.h"

/* Edges of one length, up to edge[end - 1]. */
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

/* v: of vertices_pixels(), w h < MESH_MOST of them. 0 or -ENOMEM; mesh_free() in either case. */
int mesh_make(struct mesh *g, const struct vertices *v, size_t w, size_t h, int neighbours,
	      int threads);
void mesh_free(struct mesh *g);

/* The tree; vertices are pixels in raster order. 0 or -ENOMEM. */
int mesh_tree(const struct mesh *g, struct emst_tree *t);

/*
 * Felzenszwalb and Huttenlocher 2004: in order, an edge joins two regions A and B if it is shorter than I(A) + scale/|A| and
 * I(B) + scale/|B|. I is the edge that joined a region last, which is its longest, 0 of a pixel; |A| the pixels. Then, in
 * order, an edge joins two regions of which one has less than min_size pixels. label[w h]: from 0 in raster order of first
 * pixels; *regions: how many. 0 or -ENOMEM.
 */
int mesh_regions(const struct mesh *g, double scale, uint64_t min_size, uint32_t *label,
		 size_t *regions);

#endif
