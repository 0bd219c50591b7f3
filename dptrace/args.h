/* What the files of the program share: its options, its points, the files that it reads and what it writes. */
#ifndef WEIR_DPTRACE_ARGS_H
#define WEIR_DPTRACE_ARGS_H

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"
#include "common/stream/share.h"
#include "dptrace/dptrace.h"
#include "gpu/use.h"

/* --- the command line --------------------------------------------------------------------------------------------- */

struct args {
	struct opt_common common;
	struct gpu *gpu; /* NULL: the CPU */
	struct opt_list point;
	const char *lines, *scores, *overlay, *world, *mask, *like;
	bool has_score, has_objective, has_length, has_sigma;
	int score, objective, length, method, to, points;
	double sigma, chroma, spacing, halfwidth, angle, snap;
	size_t n, d;
};

enum { POINTS_WORLD = 1 }; /* the index of world among the words of --points */
/* The indices of ridge+, edge and sin among the words of --score; edge+ and edge- lie between. */
enum { SCORE_BRIGHT = 1, SCORE_EDGE = 3, SCORE_SIN = 6 };
/* Those of the words of --to. */
enum report_format {
	REPORT_TEXT,
	REPORT_WKT,
	REPORT_GEOJSON,
	REPORT_CSV,
	REPORT_GEOJSONL,
	REPORT_EWKT
};

static inline bool
args_edge(const struct args *a)
{
	return a->score >= SCORE_EDGE && a->score < SCORE_SIN;
}

/* Reads and checks the command line. Dies on wrong usage, and where -g finds no GPU. */
struct args dptrace_args(int argc, char **argv, char ***path, size_t *npath);

/* The options of the engine that these arguments stand for. */
struct dptrace_options dptrace_args_options(const struct args *a);

/* --- points: parsers and other pure functions ----------------------------------------------------------------------- */

/* Lines and their points. All points are in one array, the lines' xy point into it. */
struct points {
	struct dptrace_line *line;
	double (*xy)[2];
	size_t nline, nxy, line_room, xy_room;
	unsigned epsg; /* the system of their places that the text names; 0: none */
};

/*
 * Adds the polylines of a text. Each line of text is one polyline `x y x y ...`, or WKT's `LINESTRING (x y, x y, ...)`,
 * where a third and a fourth number of a position are skipped.
 * Blanks, tabs and a CR before the newline separate numbers. # begins a comment. A line without numbers is skipped. A text
 * that begins with { is GeoJSON. Returns 0, or -1 with a sentence in why.
 */
int points_parse(struct points *p, const char *text, size_t n, struct why *why);

/* Adds a point of the next line; makes a line of the last n points. */
void points_point(struct points *p, double x, double y);
void points_line(struct points *p, size_t n);

/* Sets the xy of all lines. Call it once all lines are added. */
void points_finish(struct points *p);

/* The polylines of this share of all. *first receives the number of its first one. The points stay where they are. */
struct points points_share(const struct points *all, const struct share *mine, size_t *first);

/*
 * The lines of p in pixels of a picture whose corner in the whole is (x0, y0). The points of p are places of world (NULL: pixels
 * of the whole already).
 */
struct points points_place(const struct points *p, const double *world, double x0, double y0);

void points_free(struct points *p);

/*
 * Parses a world file, six numbers A D B E C F. Pixel (x, y) lies at (A x + B y + C, D x + E y + F). Returns 0, or -1 with
 * a sentence in why.
 */
int world_parse(double world[6], const char *text, struct why *why);

/*
 * Parses the key geotransform:= x0 dx rx y0 ry dy into the six numbers of a world file. The outer corner of pixel (i, j)
 * lies at (x0 + dx i + rx j, y0 + ry i + dy j). Its centre lies half a pixel further in i and j. Returns 0, or -1 with a
 * sentence in why.
 */
int geotransform_parse(double world[6], const char *text, struct why *why);

/* --- files that the command line names: all functions die where something is wrong ----------------------------------- */

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

/*
 * Makes the colours of the picture count as --chroma says: the samples of a pixel move from their mean by that factor, so that
 * differences of colour count more in a gradient of all planes, and those of the mean as before.
 */
void read_colours(struct raw_in *in, const struct args *a, struct dptrace_image *image);

/* The place of the picture whose header is x in a larger one, by its key tile; 0, 0 without that key. */
struct place read_tile(const struct raw_in *in, const struct img *x);

/*
 * The map of that picture, whose place is t: given, that of --world, or, if one is needed, that of its key; NULL: none. Warns
 * where it is not that of the points, whose system is `epsg` (0: not known), or where readers will not know it.
 */
const double *read_map(const struct raw_in *in, const struct args *a, const double *given,
		       const struct img *x, const struct place *t, unsigned epsg, double own[6]);

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

/* --- what is written: text, WKT, GeoJSON and CSV, warnings, and drawings over the picture ----------------------------- */

enum { REPORT_FIGURES = 11 };

struct report {
	struct raw_out *out;
	const struct args *a;
	const double *world; /* NULL: pixels */
	const char *crs;     /* the key crs of the picture; NULL: none */
	size_t first;	     /* polylines of the outputs before this one, of a run with --part */
	size_t written;	     /* polylines so far */
	size_t figure[REPORT_FIGURES];
};

/* Opens the output. first is there already. */
void report_open(struct report *r, const struct args *a, const double *world);

/* Writes the beginning of the whole output. */
void report_begin(struct report *r);

/*
 * Writes polyline `line` (counted from 0) of item `item`, whose picture has that name. Warns of its doubts, and counts it for
 * --stats. With -v it also prints every vertex.
 */
void report_line(struct report *r, const char *name, const struct dptrace_trace *t, size_t item,
		 size_t line);

/* Writes the end of the output, and adds the counts to the figures of --stats. */
void report_end(struct report *r, struct stats *st);

/* Prints the options resolved for every segment, for -v. The first line of the plan has the number `first`. */
void report_explain(const char *name, size_t first, const struct dptrace_plan *p);

/* Moves the vertices. */
void report_shift(const struct dptrace_trace *t, double dx, double dy);

/* Whether programs that know maps read the format: its places are those of the map, where the picture has one. */
static inline bool
report_is_map(int format)
{
	return format == REPORT_WKT || format == REPORT_EWKT || format == REPORT_GEOJSON ||
	       format == REPORT_GEOJSONL;
}

/*
 * Makes an 8-bit RGB picture in *y (owned by the caller) from the image, gray or colour, to draw on. The range of the
 * image is 0..maxval, or that of its samples when maxval is 0. Returns 0 or -errno.
 */
int overlay_make(struct img *y, const struct dptrace_image *image, unsigned maxval);

/* Draws a polyline in red and its given points in yellow. */
void overlay_draw(struct img *y, const struct dptrace_trace *t);

/* --- the run: all functions die where something is wrong -------------------------------------------------------------- */

/* A plan on the CPU or the GPU. The caller sets in and first, and calls trace_free(). */
struct trace {
	const struct raw_in *in;
	size_t first; /* the number of the first line */
	struct gpu *gpu;
	bool held; /* the picture is on the device, from the run before */
	struct dptrace_runner runner;
	struct dptrace_plan p;
	struct dptrace_vertex *
	    *again; /* [lines]: vertices of those that were traced again; NULL: none were */
	unsigned char *vain; /* [lines]: 1: the trial of a long one failed; 2: a round did */
};

/* The two halves of the plan; the second may run on the GPU. */
void trace_plan(struct trace *t, const struct args *a, const struct dptrace_image *image,
		const struct points *lines);
void trace_settle(struct trace *t);

/* Traces the lines, and those that lie on a flank once more, as the page says. */
void trace_run(struct trace *t);

/* Takes line j of the plan q, which was run, for line i, of as many segments. */
void trace_take(struct trace *t, size_t i, const struct dptrace_plan *q, size_t j);
void trace_free(struct trace *t);

/*
 * The likeness of the pixels of im to the colour that --like gives, or, for a polyline, to that of its points: a picture of one plane.
 * It holds what the search for the polyline looks at: it begins at the pixel `corner` of im. l NULL: all of im. The caller frees v
 * and mask.
 * Without --like v is NULL where the colour is not far from those around it, or all are gray.
 */
struct dptrace_image
like_make(const struct raw_in *in, const struct args *a, const struct dptrace_image *im,
	  const struct dptrace_line *l, size_t corner[2]);

/*
 * How much and how evenly the colours along polyline i of a plan stand out from those 2.5 sigma to either side of it: the square
 * of their mean difference over its variance.
 */
double like_contrast(const struct dptrace_image *im, const struct dptrace_plan *p, size_t i);

/* Runs the recursion alone, on the link scores of --scores, and writes its line. */
void
trace_scores(const struct args *a, const struct points *lines, struct report *r, struct stats *st);

#endif
