/*
 * The struct that five files share: gathers.c reads gathers from items, rows.c reads their samples, keys.c reads the keys of
 * panels, offsets.c finds the offsets of traces, and heads.c makes the heads of results.
 */
#ifndef RADON_HEADS_H
#define RADON_HEADS_H

#include "radon/stream/gathers.h"

/* The names of curves in --curve and radon_curve:=, indexed by enum radon_curve. */
enum { RADON_CURVES = RADON_HYPERBOLIC + 1 };
extern const char *const radon_curve_names[RADON_CURVES];

struct gathers {
	struct raw_in *in;
	const struct gathers_options *o;
	struct img item;      /* the current item's head; dim 0: none */
	bool stack;	      /* its last axis counts gathers */
	size_t planes, plane; /* of the item */
	size_t from, to;      /* those of its planes that are in the share */
	size_t per;	      /* the numbers of an offset: x, or with two axes of curves x and y */
	double *offset; /* owned: the item's offsets, of nx traces for each plane or for all */
	size_t noffset; /* numbers */
	double *file;	/* owned: all numbers of the offsets file */
	/* at: the numbers used so far, when the file has offsets for more than one gather. */
	size_t nfile, at;
	struct radon_options shape; /* of the item's gathers; without g */
	enum radon_curve curve;
	double reference, depth, azimuth;
	size_t rows, n; /* of a plane of the input: traces or curves, samples */
	size_t skip;	/* the place of its first sample in a row of the transform */
	float peak;	/* the largest magnitude of the plane */
	void *raw;	/* owned: one row in the item's type */
	double *wide;	/* owned: the same row in double */
};

/* Reads the keys of a panel: curve, reference, depth and the shape of the gather. */
void keys_read(struct gathers *s);

/* Dies when other options do not suit two axes of curves. */
void keys_have_two_axes(struct gathers *s);

/* Hyperbolic curves go with --method=time alone, which has no band. Sets the method, and dies when other options do not suit. */
void keys_be_hyperbolic(struct gathers *s);

/* Reads all numbers of the file of offsets into s->file. */
void offsets_read(struct gathers *s, const char *path);

/* Finds the item's offsets from its keys or its trace axis, into s->offset. It finds none when a file gives them instead. */
void offsets_of_item(struct gathers *s);

/*
 * Returns the number of traces of a plane. A panel without the key radon_gather has one trace for each offset. Dies when the
 * number of offsets does not suit the traces.
 */
size_t offsets_count(const struct gathers *s);

/* Finds the range of moveouts over the item, into s->shape, so that all panels of the item have one time axis. */
void offsets_range(struct gathers *s);

/* Sets g and h of the next plane. Its offsets come from the file, or are those of all planes, or the plane's own. */
void offsets_take(struct gathers *s, struct gather *g);

/* Makes room for rows of n samples in *x, which has room for *has samples. Dies when there is no memory. */
void rows_room(float **x, size_t *has, size_t rows, size_t n);

/* Multiplies n samples by a power of 2. Returns false when one is then too large for a float. */
bool rows_multiply(float *x, size_t n, double by);

/* Reads the samples of the next plane into g->in, and finds g->live and g->exponent. */
void rows_read(struct gathers *s, struct gather *g);

/* Makes g->head, the head of the result of the current item. g is the item's first gather. */
void head_of_result(const struct gathers *s, struct gather *g);

#endif
