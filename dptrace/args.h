/* The command line of dptrace. */
#ifndef WEIR_DPTRACE_ARGS_H
#define WEIR_DPTRACE_ARGS_H

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"
#include "dptrace/dptrace.h"
#include "dptrace/text/points.h"
#include "gpu/use.h"

struct args {
	struct opt_common common;
	struct gpu *gpu; /* NULL: the CPU */
	struct opt_list point;
	const char *lines, *scores, *overlay, *world, *mask;
	bool closed;
	bool has_score, has_objective, has_length, has_sigma, has_slope, has_passes;
	int score, objective, length, method, to, points;
	double sigma, chroma, spacing, halfwidth, angle, slope, snap;
	size_t n, d, passes;
};

enum { POINTS_WORLD = 1 }; /* the index of world among the words of --points */
/* The indices of edge and sin among the words of --score; edge+ and edge- lie between. */
enum { SCORE_EDGE = 3, SCORE_SIN = 6 };

static inline bool
args_edge(const struct args *a)
{
	return a->score >= SCORE_EDGE && a->score < SCORE_SIN;
}

/* Reads and checks the command line. Dies on wrong usage, and where -g finds no GPU. */
struct args dptrace_args(int argc, char **argv, char ***path, size_t *npath);

/* The options of the engine that these arguments stand for. */
struct dptrace_options dptrace_args_options(const struct args *a);

/* Reports doubtful polylines on standard error and counts them for --stats. */

/* Polylines and vertices in total, and polylines with each kind of doubt (struct dptrace_trace). */
struct doubts {
	size_t lines, vertices, border, sharp, released, low, doubtful, bare, turned, unsupported;
};

/* Counts polyline `line` of picture `name`, and warns of its doubts. With -v it also prints every vertex. */
void doubts_of(struct doubts *d, const char *name, const struct args *a, size_t line,
	       const struct dptrace_trace *t);

/* Prints the options resolved for every segment, for -v. The first line of the plan has the number `first`. */
void doubts_explain(const char *name, size_t first, const struct dptrace_plan *p);

/* Adds the counts to the figures of --stats. */
void doubts_stats(const struct doubts *d, struct stats *st);

/* Reads and checks the files that the command line names. All functions die with a message where something is wrong. */

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
