/* A picture that is assembled from parts. Every function here dies on failure, with a line that names the file and the item. */
#ifndef WEIR_PICTURE_MOSAIC_H
#define WEIR_PICTURE_MOSAIC_H

#include "common/stream/nodata.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

/*
 * The place of a picture on a map: the key geotransform:= with the positions of the axes, which count pixels of the page that
 * the key is of. Pure.
 *
 *	x = g0 + g1 i + g2 j
 *	y = g3 + g4 i + g5 j
 *
 * i and j are columns and rows of samples of the item, counted from the outer corner of its first sample: the centre of that
 * sample is i = j = .5, as in GDAL's geotransform.
 */

/*
 * Fills g from the key alone: i and j count pixels of the page. A position p along an axis is the centre of pixel p, at p + .5.
 * Returns false when x has no such key that gives every pixel a place of its own.
 */
bool map_of_page(const struct img *x, double g[6]);

/* Changes g, the transform of pixels of the page, to that of the samples of x. */
void map_follow(const struct img *x, double g[6]);

/* The place of i, j; and i, j of a place. */
void map_place(const double g[6], double i, double j, double place[2]);
void map_find(const double g[6], const double place[2], double sample[2]);

/* Dies where x, an item of in, has another coordinate system than `of`, which is in `where`. */
void map_insist_on_system(const struct raw_in *in, const struct img *x, const struct img *of,
			  const char *where);

/* Where samples along an axis lie on the page: sample i is its pixel first + step i. An axis that x does not have: 0, 1. */
struct map_cut {
	double first, step;
};
struct map_cut map_cut_of(const struct img *x, int axis);

/* The outer corner of the first sample, half a step before its centre, in pixels from the outer corner of the page. */
double map_corner(struct map_cut c);

/*
 * The smallest picture that holds all parts of a map, each where its geotransform says. Its grid of pixels is that of the first
 * part. Every function here dies on failure, with a line that names the file and the item.
 */

struct map_frame {
	struct img first;      /* the head of the first part; owned */
	double g[6];	       /* its transform */
	int64_t left, top;     /* the corners of the picture, in pixels of the first part */
	int64_t right, bottom; /* exclusive */
};

/*
 * Reads the heads of all items, of which x is the first, and goes back to before the first one. The input is regular files.
 * Refuses items that are no pictures, have no place on a map, or have another coordinate system or grid than the first one.
 */
struct map_frame map_frame_of(struct raw_in *in, struct img *x);

/* Returns where the part x, of p, lies. Gives x the positions that a part has by itself when it has none. */
struct place map_frame_place(const struct map_frame *f, const struct raw_in *in, struct img *x,
			     const struct img_picture *p);

void map_frame_free(struct map_frame *f);

/* What becomes of samples where parts of a picture overlap. Pure. */

enum overlap { OVERLAP_SAME, OVERLAP_FIRST, OVERLAP_LAST, OVERLAP_SUM, OVERLAP_MAX, OVERLAP_MIN };

/* Whether each part counts where parts overlap: of sum, max and min. */
bool overlap_combines(enum overlap how);

struct mosaic_how {
	int overlap;			 /* enum overlap: what overlapping pixels become */
	const char *fill;		 /* a number; NULL: missing pixels are an error */
	bool map;			 /* all parts are of one picture, a map */
	size_t max_mem;			 /* 0: pictures are held in memory */
	const struct opt_common *common; /* of the command line */
};

struct mosaic {
	struct img y; /* data is NULL when there is no picture */
	struct img_picture p;
	bool *have;	     /* [h][w]: pixels that have arrived */
	bool in_file;	     /* y.data and have are mapped from temporary files */
	bool keyless;	     /* an item without tile:= was the whole */
	bool map;	     /* samples may be missing: these take no part where parts overlap */
	struct nodata gap;   /* what a missing sample is: of floats NaN alone */
	bool written;	     /* parts may still follow, which add nothing */
	size_t touched;	     /* bytes of y.data and have that may be in memory */
	size_t missing;	     /* pixels */
	unsigned most;	     /* the greatest level, maxval; 0: that of the type */
	struct extent *part; /* where the parts lie; owned */
	size_t parts, room;
};

/* Begins a picture; x is the head of its first part, which lies at t. */
void mosaic_start(struct mosaic *w, const struct raw_in *in, const struct img *x,
		  const struct img_picture *p, const struct place *t, const struct mosaic_how *how);

/*
 * Whether part x at t begins another picture. Nothing does before the picture is complete. After that, a part of another
 * shape does, and so does a part of a place that has arrived already. An item without tile:= is a picture of its own.
 */
bool mosaic_is_another(const struct mosaic *w, const struct img *x, const struct img_picture *p,
		       const struct place *t, const struct mosaic_how *how);

/* Lays part x, which has its samples. */
void mosaic_add(struct mosaic *w, const struct raw_in *in, const struct img *x,
		const struct img_picture *p, const struct place *t, const struct mosaic_how *how);

/* Writes the picture when it is complete, and no part that follows can change it. */
void mosaic_put_early(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how);

/* Writes the picture if that was not done, and frees it. Missing pixels are filled, or an error. */
void mosaic_finish(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how);

#endif
