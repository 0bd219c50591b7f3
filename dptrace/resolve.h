/* Resolves the options for each segment. */
#ifndef WEIR_DPTRACE_RESOLVE_H
#define WEIR_DPTRACE_RESOLVE_H

#include "dptrace/dptrace.h"
#include "dptrace/evidence/strip.h"

/* The level of a line's points, and the noise around the line. */

/*
 * The largest responses near a point. A ridge has one for bright and one for dark lines; for an edge both are the same.
 * near_bright and near_dark weigh responses by their nearness to the point, less COST_FLANK of the gradient's. They decide
 * the polarity, because the flanks of a line respond with the other polarity.
 */
struct level {
	double bright, dark;
	double near_bright, near_dark;
};

/* The responses at scale sigma within reach px of p, at most LEVEL_REACH. o->sigma is not read. */
enum { LEVEL_REACH = 48 };
struct level
level_at(const struct dptrace_image *image, const float *gray, const struct dptrace_options *o,
	 double sigma, double reach, const double p[2]);

/* The sum of n sizes of second differences of neighbouring pixels. Lines hardly change these, noise does. */
struct noise {
	double sum;
	size_t n;
};

/* The longest stretch of links, px, whose brighter side is the other one than along most of the polyline. */
double level_turned(const struct dptrace_trace *t, const struct dptrace_image *image,
		    const float *gray, double sigma);

/* Fills in flanks and flank_at of a trace of ridges at that scale. */
void level_flanks(struct dptrace_trace *t, const struct dptrace_image *image, const float *gray,
		  double sigma);

/*
 * The guides along a curve. Under the cost, passes after the first search along one, and so does the first pass of a segment
 * that has a way.
 */
struct tube_shape {
	int n, d;      /* guides; samples of an inner one */
	double dv;     /* px between samples */
	int per_gap;   /* columns of a gap */
	int points;    /* of the curve */
	double smooth; /* the Gaussian that smooths it, px */
	double phi;    /* radians */
};

/*
 * What is measured at a scale: levels by polarity and the response to pixel noise. With DPTRACE_SUM or DPTRACE_SIN all are
 * 0.
 */
struct levels {
	double sigma, bright, dark, noise;
	double near_bright, near_dark; /* the smaller ones of its points, see struct level */
};

/* A segment of a line, resolved. Values of the whole line are repeated in each of its segments. */
struct segment_shape {
	double ax, ay, ex, ey, length;
	int n, d;
	double halfwidth, dv;
	double phi;
	bool cost; /* the objective is the cost; else it is the sum */
	int polarity;
	struct levels fine; /* at the scale 2 or the given one */
	struct levels own;  /* cost: at the scale of the line */
	double vote;	    /* of the points, for bright (1) or dark (-1) */
	double sigma;	    /* the scale of the derivatives, px */
	double level;	    /* cost: l, at least noise */
	double noise;	    /* the response to the pixel noise around the line */
	double floor;	    /* cost: f, the response that counts as none */
	int steepest;	    /* cost: rows that a link may climb; 0: any number */
	int snap[2]; /* samples to either side that the polyline may move the start and the end */
	struct tube_shape tube;
	struct tube_shape
	    spine;	  /* cost: the guides of the first pass along the way; n = 0: along ab */
	struct curve way; /* borrowed from the plan */
};

/* Says whether a line can be traced in a picture. Returns 0, or -1 with a sentence in err. */
int dptrace_check(const struct dptrace_line *l, const struct dptrace_image *im,
		  const struct dptrace_options *o, struct why *why);

/*
 * Checks a line, and takes from the picture what its shape depends on: it fills in the ends, levels, vote and noise of the
 * segments. gray is the mean of the planes. Returns 0, or -1 with a sentence in err.
 */
int dptrace_measure(struct segment_shape *s, const struct dptrace_line *l,
		    const struct dptrace_image *im, const float *gray,
		    const struct dptrace_options *o, struct why *why);

/*
 * Resolves the other members of the segments, which dptrace_measure() has been through. Where the polarity is open, it is
 * that of the vote. Returns 0, or -1 with a sentence in err.
 */
int dptrace_shape(struct segment_shape *s, const struct dptrace_line *l,
		  const struct dptrace_image *im, const struct dptrace_options *o, struct why *why);

/* Fills in snap. All segments must have their samples. */
void dptrace_shape_ends(struct segment_shape *s, const struct dptrace_line *l,
			const struct dptrace_image *im, const struct dptrace_options *o);

/* Lets the first pass of a shaped segment follow that way. dptrace_shape_ends() must follow for its line. */
void dptrace_shape_way(struct segment_shape *s, const struct curve *way,
		       const struct dptrace_options *o);

/*
 * The cheapest way from a to b over a grid of cells: a first look at a segment, which may double back as its polyline may not.
 *
 *	 . . . . . . . .	Cells are c x c pixels, c = sigma rounded down. The grid covers both points and
 *	 . . ####. . . .	the half-width around them. A step leads to one of eight neighbours. It costs
 *	 .b# . . # . . .	its length times the mean cost of its two cells.
 *	 . . . . # . . .
 *	 .a######. . . .	A cell costs 1 / (min(max((r - f) / (l - f), 0), 1) + k), as a pixel does in the
 *	 . . . . . . . .	first pass. r is the response in its best direction at the middle of the cell.
 *
 * Costs are whole numbers, so that the way is the same on any CPU.
 */

enum {
	WAY_UNIT = 24,	/* the cost of a pixel of cost 1 */
	WAY_SIDE = 5,	/* a step to the side costs so much times the sum of the two cells' costs */
	WAY_CORNER = 7, /* a step across a corner */
	WAY_CELLS = 1 << 18,	/* cells of a grid, at most: a segment that needs more has no way */
	WAY_MOST = 4 * WAY_UNIT /* the cost of a cell is below it */
};

/*
 * Fills cost[h][w] of the grid over segment s. x0 and y0 are the middle of the upper left cell, step the px between cells.
 * Returns 0; 1 when the grid is too large; or -ENOMEM. The caller frees cost.
 */
struct way_grid {
	int w, h, step;
	double x0, y0;
	uint8_t *cost; /* [h][w] */
};
int way_costs(struct way_grid *g, const struct dptrace_image *image, const float *gray,
	      const struct dptrace_options *o, const struct segment_shape *s);

/* The bytes that the way of segment s needs while it is sought: way_costs() takes them, way_search() fewer. 0: no way. */
size_t way_bytes(const struct dptrace_image *image, const struct segment_shape *s);

/*
 * Finds the cheapest way from one cell to another. cell[] has room for w h cells; it receives their numbers y w + x in order.
 * *sum receives what the way costs. Returns the number of cells, or 0 when there is no memory. Costs are 1 to WAY_MOST - 1.
 * Ties are decided by the order of the search, which is the same everywhere.
 */
size_t way_search(const struct way_grid *g, int from, int to, int *cell, uint32_t *sum);

/*
 * The way along segment s as points of the picture, from a to b. *n receives their number. NULL: there is none, and *err
 * receives 0 or -ENOMEM. The caller frees the points.
 */
double (*way_of(const struct dptrace_image *image, const float *gray,
		const struct dptrace_options *o, const struct segment_shape *s, size_t *n,
		int *err))[2];

#endif
