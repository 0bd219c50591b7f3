/*
 * Turns an image, or a list of points, into the vertices of the tree, and vertices back into samples.
 *
 * The vertices of an image are its distinct colours, and the weight of a colour is its number of pixels. The vertices of a
 * list are its distinct points. 8-bit images of one to three planes become a lattice. Other samples become floats if floats
 * are exact and their squares do not overflow or underflow; otherwise they become doubles.
 */
#ifndef WEIR_EMST_VERTICES_H
#define WEIR_EMST_VERTICES_H

#include "common/stream/img.h"
#include "emst/emst.h"
#include "emst/lattice/lattice.h"

struct vertices {
	struct emst_set set;
	const void *data;      /* [inputs][planes], the samples of the input; borrowed */
	enum img_type type;    /* of data */
	size_t inputs, planes; /* pixels or points; samples of each */
	bool points;	       /* the input is a list: the output has every point as a vertex */
	/* [inputs]: the pixels or points that an input counts as; borrowed. NULL: 1 */
	const uint64_t *count;
	uint64_t total; /* pixels or points: the sum of the counts */
	double opaque;	/* alpha, the last plane, in opaque pixels; 0: there is no alpha */

	/* Of 8-bit images of up to 3 planes: the lattice, empty for small images; the colours in ascending order [n]; owned. */
	struct lattice lattice;
	uint32_t *code;
	/* Of all other input: the coordinates [n][k]; set.x points at them; owned. NULL: vertices_get() reads data. */
	void *x;

	/* [n]: the first input that is this vertex; owned. NULL: vertex i is input i. */
	uint32_t *first;
	uint32_t *place; /* [n]: the numbers of the vertices, if they are not first[]; owned */
	/* [inputs]: the vertex of an input; owned. NULL: the lattice knows it, or input i is vertex i. */
	uint32_t *of;
	/* [n]: the sum of the counts of the inputs that are this vertex; owned. NULL before vertices_weigh(). */
	uint64_t *weight;
	/* x was divided by scale, a power of two; vertices_scale_back() multiplies the lengths by it. */
	double scale;
};

/* vertices_make() returns this, besides 0 and -errno, when sample *at is NaN or infinite. */
enum { VERTICES_NOT_FINITE = 1 };

/* What the vertices are. */
enum vertices_of {
	VERTICES_COLOURS, /* the distinct colours of pictures */
	VERTICES_POINTS,  /* every row of a list; vertices_distinct() joins equal ones */
	VERTICES_PIXELS,  /* every pixel, equal ones too; emst_run() cannot take the set */
	/*
	 * The distinct colours; those of 1..4 planes of 8 or 16 bits may have no coordinates, so that emst_run() cannot take the
	 * set: vertices_get() reads the samples.
	 */
	VERTICES_SAMPLES
};

/* Makes the vertices. inputs is below EMST_MAXPOINTS, planes is at most EMST_MOSTDIM. */
int vertices_make(struct vertices *v, const void *data, enum img_type type, size_t inputs,
		  size_t planes, enum vertices_of of, int threads, size_t *at);

/*
 * Gives every input a count and, unless place is NULL, a number; total is the sum of the counts. count [inputs] is borrowed;
 * place [inputs] ascends and is copied. 0 or -ENOMEM, and then v is empty.
 */
int
vertices_count(struct vertices *v, const uint64_t *count, const uint32_t *place, uint64_t total);

/* Makes the lattice if the vertices are colours without one: a GPU wants it. 0 or -ENOMEM. */
int vertices_lattice(struct vertices *v);

void vertices_free(struct vertices *v);

/* Makes equal points, or equal colours without coordinates, one vertex. Call it when emst_run() has returned -EEXIST. 0 or -ENOMEM. */
int vertices_distinct(struct vertices *v);

/* Computes weight. 0 or -ENOMEM. */
int vertices_weigh(struct vertices *v, int threads);

/* Fills vertex[count] with the vertices of the inputs from..from + count - 1. */
void vertices_find(const struct vertices *v, size_t from, size_t count, uint32_t *vertex);

/* Fills x[k] with the coordinates of vertex i, divided by scale: their squares neither overflow nor vanish. */
void vertices_get(const struct vertices *v, size_t i, double *x);

/* Returns the number of vertex i in the output: its colour r<<16|g<<8|b, or the place of the first input that is it. */
uint32_t vertices_number(const struct vertices *v, size_t i);

/* Finds the vertex that has this number; returns false when there is none. */
bool vertices_named(const struct vertices *v, double number, uint32_t *i);

/* Multiplies the lengths by scale, which gives them in units of the input. */
void vertices_scale_back(const struct vertices *v, struct emst_tree *t);

/* Makes the tree `to` of all points of a list: edges of length 0 join equal points to the first of them. 0 or -ENOMEM. */
int vertices_expand(const struct vertices *v, const struct emst_tree *t, struct emst_tree *to);

/*
 * The minimum spanning tree of the pixels of a picture. Edges join only neighbours, and the length of an edge is the distance
 * of the two colours. The classes of this tree are connected regions.
 *
 * Edges are ordered by squared length, then direction, then pixel. The directions from a pixel are right, down, down-right,
 * down-left; with 4 neighbours only the first two are used. Pixels are in raster order.
 */

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
