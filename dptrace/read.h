/* Reads and checks the files that the command line names. All functions die with a message where something is wrong. */
#ifndef DPTRACE_READ_H
#define DPTRACE_READ_H

#include "common/stream/raw.h"
#include "common/stream/tile.h"
#include "dptrace/args.h"
#include "dptrace/text/points.h"

/* The polyline of -p, then those of -f. npath is the number of pictures on the command line. */
struct points read_points(const struct args *a, size_t npath);

/* The six numbers of --world; NULL without it. */
const double *read_world(const struct args *a, double world[6]);

/* The item of --mask, which serves all pictures; zeroed without it. The caller frees it with img_free. */
struct img read_mask(const struct args *a);

/*
 * The picture whose header is x, with the item `given` of --mask and the mask of its key nodata. The caller frees image.v
 * and image.mask.
 */
struct dptrace_image
read_image(struct raw_in *in, const struct args *a, const struct img *given, struct img *x);

/* Makes the colours of the picture count as --chroma says. */
void read_colours(struct raw_in *in, const struct args *a, struct dptrace_image *image);

/* The place of the picture whose header is x in a larger one, by its key tile; 0, 0 without that key. */
struct tile read_tile(const struct raw_in *in, const struct img *x);

/*
 * The key geotransform of that picture as a world file for pixels of the whole picture, of which it is the part t; NULL
 * without that key. Positions on its axes say which pixels a cropped picture has.
 */
const double *read_geotransform(const struct raw_in *in, const struct img *x, const struct tile *t,
				double world[6]);

/*
 * The link scores of --scores, [segments][n-1][d][d], for the only line of lines. They are the payload of x;
 * the caller frees it with img_free.
 */
struct scores {
	struct img x;
	const float *v;
	size_t n, d;
};
struct scores read_scores(const struct args *a, const struct points *lines);

#endif
