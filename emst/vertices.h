/*
 * From an image, or a list of points, to the vertices of the tree and back.
 *
 * Vertices are the distinct colours of an image, weighed by their pixels; of a list, the distinct points. 8-bit images of
 * one to three planes become a lattice; other samples become floats where those are exact and do not over- or underflow
 * when squared, else doubles.
 */
#ifndef EMST_VERTICES_H
#define EMST_VERTICES_H

#include "common/img.h"
#include "emst/emst.h"
#include "emst/lattice/lattice.h"

struct vertices {
	struct emst_set set;
	const void *data;	/* borrowed: the samples as they came, [inputs][planes] */
	enum img_type type;	/* of data */
	size_t inputs, planes;	/* pixels or points; samples of each */
	bool points;		/* a list: every point is a vertex of what is written */
	struct lattice lattice; /* 8-bit images of up to 3 planes */
	uint32_t *code;		/* then [n]: the colours, ascending; owned */
	void *x;		/* otherwise [n][k], what set.x points at; owned */
	uint32_t
	    *first;   /* [n]: the first input that is this vertex; NULL: the input itself; owned */
	uint32_t *of; /* [inputs]: the vertex of an input; NULL: as before; owned */
	uint32_t
	    *weight;  /* [n]: how many inputs are this vertex; owned; NULL until vertices_weigh */
	double scale; /* x was divided by it, a power of two: lengths are to be multiplied */
};

/* What vertices_make returns beside 0 and -errno: a sample that is NaN or infinite, *at. */
enum { VERTICES_NOT_FINITE = 1 };

/* inputs below EMST_MAXPOINTS, planes up to EMST_MAXDIM. */
int vertices_make(struct vertices *v, const void *data, enum img_type type, size_t inputs,
		  size_t planes, bool points, int threads, size_t *at);

/* Every pixel a vertex of its own, equal ones too; set is no set of emst_run() then. Returns as vertices_make(). */
int vertices_pixels(struct vertices *v, const void *data, enum img_type type, size_t inputs,
		    size_t planes, size_t *at);

void vertices_free(struct vertices *v);

/* Joins equal points, when emst_run has found that there are some. 0 or -ENOMEM. */
int vertices_distinct(struct vertices *v);

/* Fills in weight. 0 or -ENOMEM. */
int vertices_weigh(struct vertices *v);

/* vertex[count]: those of the inputs from `from` on. */
void vertices_find(const struct vertices *v, size_t from, size_t count, uint32_t *vertex);

/* x[k]: the coordinates of vertex i, scaled back. */
void vertices_get(const struct vertices *v, size_t i, double *x);

/* The number of vertex i in what is written: its colour r<<16|g<<8|b, or the first input that it is. */
uint32_t vertices_number(const struct vertices *v, size_t i);

/* The vertex of that number; false when there is none. */
bool vertices_named(const struct vertices *v, double number, uint32_t *i);

/* Lengths as they are before x was divided by scale. */
void vertices_scale_back(const struct vertices *v, struct emst_tree *t);

/* to: the tree of all points of a list, equal ones joined to the first by edges of length 0. 0 or -ENOMEM. */
int vertices_expand(const struct vertices *v, const struct emst_tree *t, struct emst_tree *to);

#endif
