/* A picture that is assembled from parts. Every function here dies on failure, with a line that names the file and the item. */
#ifndef WEIR_PICTURE_MOSAIC_H
#define WEIR_PICTURE_MOSAIC_H

#include "common/base/opt.h"
#include "common/picture/gap.h"
#include "common/stream/raw.h"
#include "common/stream/tile.h"

struct mosaic_how {
	int overlap;			 /* enum overlap: what overlapping pixels become */
	const char *fill;		 /* NULL: missing pixels are an error */
	double value;			 /* the number that fill states */
	bool map;			 /* all parts are of one picture, a map */
	size_t max_mem;			 /* 0: pictures are held in memory */
	const struct opt_common *common; /* of the command line */
};

struct mosaic {
	struct img y; /* data is NULL when there is no picture */
	struct img_picture p;
	bool *have;	    /* [h][w]: pixels that have arrived */
	bool in_file;	    /* y.data and have are mapped from temporary files */
	bool keyless;	    /* an item without tile:= was the whole */
	bool map;	    /* samples may be missing: these take no part where parts overlap */
	struct gap gap;	    /* what a missing sample is */
	bool written;	    /* parts may still follow, which add nothing */
	size_t touched;	    /* bytes of y.data and have that may be in memory */
	size_t missing;	    /* pixels */
	unsigned most;	    /* the greatest level, maxval; 0: that of the type */
	struct place *part; /* where the parts lie; owned */
	size_t parts, room;
};

/* Begins a picture; x is the head of its first part, which lies at t. */
void mosaic_start(struct mosaic *w, const struct raw_in *in, const struct img *x,
		  const struct img_picture *p, const struct tile *t, const struct mosaic_how *how);

/*
 * Whether part x at t begins another picture. Nothing does before the picture is complete. After that, a part of another
 * shape does, and so does a part of a place that has arrived already. An item without tile:= is a picture of its own.
 */
bool mosaic_is_another(const struct mosaic *w, const struct img *x, const struct img_picture *p,
		       const struct tile *t, const struct mosaic_how *how);

/* Lays part x, which has its samples. */
void mosaic_add(struct mosaic *w, const struct raw_in *in, const struct img *x,
		const struct img_picture *p, const struct tile *t, const struct mosaic_how *how);

/* Writes the picture when it is complete, and no part that follows can change it. */
void mosaic_put_early(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how);

/* Writes the picture if that was not done, and frees it. Missing pixels are filled, or an error. */
void mosaic_finish(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how);

#endif
