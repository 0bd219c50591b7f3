/*
 * The best polyline along a linear object (a road, a river, a vessel, an edge) between given points.
 *
 * Points a and b are given. n guides perpendicular to the segment ab divide it. The guides through a and b carry one
 * sample each. The inner guides carry d samples each, dv apart, the middle one on ab; those outside the picture are left
 * out. A polyline has one vertex on every guide, and its turning angle at every vertex is at most phi. Find the polyline
 * of the largest sum of link scores S:
 *
 *	max  sum_g S_g(j_g, j_g+1)   where |angle(link g-1, link g)| <= phi
 *
 *	        guide 0    1     2     3     4
 *	  v = +w   .      o     o     o      .
 *	           .      o    _*-----*_     .       u runs along ab, v across it: v = (-eu_y, eu_x),
 *	   ab  a --*----- o --/ o - - o \----* b     to the right of a walker from a to b, as y points down
 *	           .  \---*     o     o      .
 *	  v = -w   .      o     o     o      .       u, v and the lengths below are in pixels
 *
 * E. N. Seredin (Doklady BGUIR 4(98), 2016) solves this in O(d^3 n); recur.c solves it in O(d^2 n). A chain of points gives
 * one polyline: each point is a guide with a single sample. There the frame (u, v) turns, and the same bound phi holds.
 *
 * The response r is taken at each column of a link, at scale sigma. n is the normal of the link:
 *
 *	ridge	-sigma^2 n'Hn             H the Hessian
 *	edge	sigma |n'grad|
 *	sin	|n'grad| / |grad|         the paper's: |sin| of the angle between the gradient and the link
 *
 * Under the cost the response of an edge is multiplied by a gain: it counts against the edges around it, see
 * dptrace/evidence/strip.h. Noise and levels are multiplied by it, too.
 *
 * An objective turns the responses into the score of a link. There are two. The cost is an integral along the polyline;
 * its score is minus what the link costs. A link of length s costs
 *
 *	cost	s / (min(max((m - f) / (l - f), 0), 1) + k)	   m the mean of r over the link's columns, k = .3
 *
 * Under the cost the guides need not stand on ab. dptrace/resolve.h finds the cheapest way from a to b over cells of about
 * sigma. Where no polyline in the strip can follow it, the first pass is also made along the way, smoothed: its guides stand
 * across the way, as far apart as those across ab, and carry the same samples within 12 px (6 sigma if that is more). The
 * polyline follows the way if that costs less than .97 of the polyline along ab; so it may double back.
 *
 * The floor f is twice the typical response to the noise of the pixels, and at most l / 2. The level of a point is the
 * largest response within 3 px of it (within 1.5 sigma, if that is more). The level l of a segment is the smaller level of
 * its two points. In the first pass a mean above l counts as l, so that a brighter line nearby does not attract the
 * polyline. Later passes do not cap the mean, and .5 sigma |grad| is subtracted from the response of a ridge: it vanishes
 * on the middle of a line, not on its flank or on an edge. The sum rewards evidence column by column:
 *
 *	sum	sum_c r(c) / (|r| + g0) * width	   |r| = |lambda| sigma^2 or |grad| sigma
 *
 * lambda is the eigenvalue of H that is larger in size.
 * The width is that of a column (length by columns) or the length of the link over it (length by arc, as in the paper).
 * g0 is DPTRACE_SOFT times the median of |r| in the strip |v| <= w, and at least a quarter of the largest |r| there. Columns
 * outside the image have no response. The cost follows clear lines better, the sum follows lines in noise better; see
 * DPTRACE_AUTO.
 */
#ifndef WEIR_DPTRACE_DPTRACE_H
#define WEIR_DPTRACE_DPTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/why.h"

enum dptrace_score { DPTRACE_RIDGE, DPTRACE_EDGE, DPTRACE_SIN };

/*
 * AUTO takes the cost for a line when the smallest level of its points is at least 4.3 times the response to pixel noise
 * alone, at the scale 2 or at that of the line. For other lines, and always for the score sin, it takes the sum.
 */
enum dptrace_objective { DPTRACE_AUTO, DPTRACE_COST, DPTRACE_SUM };

/* How the best link before a link is found: by sliding windows in O(d^2) a guide, or as in the paper in O(d^3). */
enum dptrace_method { DPTRACE_WINDOW, DPTRACE_D3 };

struct dptrace_plan;

/*
 * A replacement of dptrace_run(); ctx is its own. It returns 0, -ENOMEM or another -errno. It also runs the plans of the tries by
 * which polarities and ways are settled, before the plan that asks for them.
 */
struct dptrace_runner {
	int (*run)(void *ctx, struct dptrace_plan *p);
	void *ctx;
};

enum {
	DPTRACE_MAXD = 8191, /* samples of a guide */
	DPTRACE_SOFT = 4,    /* medians in g0, the soft normalisation of the sum */
	DPTRACE_MAXN = 4096, /* guides of a segment */
	DPTRACE_BARE = 60,   /* px without a line, from which on a polyline is doubtful */
	DPTRACE_DOUBT = 120, /* the doubt from which on a segment is doubtful */
	DPTRACE_TURNED = 50 /* px with the other side brighter, from which on an edge is doubtful */
};

/* What the responses of edges are multiplied by, in cells of cell x cell pixels: dptrace/evidence/strip.h. v NULL: by 1. */
struct dptrace_gain {
	const float *v; /* [ceil(h / cell)][w] */
	size_t w, cell;
};

/* The gains of a picture of h rows. */
static inline size_t
dptrace_gains(const struct dptrace_gain *g, size_t h)
{
	return g->v ? ((h - 1) / g->cell + 1) * g->w : 0;
}

/* The picture: c planes of h rows of w samples, finite. The centre of pixel (x, y) is the point (x, y). */
struct dptrace_image {
	size_t c, h, w;
	const float *v; /* [c][h][w], borrowed until the plan is freed */
	/* [h][w], borrowed too: where it is 0 there is no evidence. The picture goes on there without an edge. NULL: none */
	const unsigned char *mask;
	struct dptrace_gain gain; /* a plan makes its own; others borrow it */
};

/* Whether the place (x, y) lies in the picture. */
static inline bool
dptrace_has(const struct dptrace_image *im, double x, double y)
{
	return x >= -.5 && y >= -.5 && x <= (double)im->w - .5 && y <= (double)im->h - .5;
}

struct dptrace_options {
	enum dptrace_score score;
	enum dptrace_objective objective;
	/*
	 * ridge: 1 bright, -1 dark; edge: 1 brighter where v > 0, -1 darker; 0: either. With 0, the points of each line
	 * vote for the polarity of a ridge under the cost. Where the vote is close, the costs of both decide with it.
	 */
	int polarity;
	bool arc; /* sum: length by arc instead of by columns */
	/* scale of the derivatives, px, .5..32; 0: 2, and for a ridge under the cost 2 to 11.3, by the points of each line */
	double sigma;
	size_t n; /* guides of a segment, >= 2; 0: by spacing */
	/* px between guides, >= 1; 0: cost 8, or 4 sigma if that is more; sum 15 to 30, by the length */
	double spacing;
	/* samples of a guide, >= 2; 0: cost a pixel apart, or sigma / 2 if that is more; sum about sigma apart */
	size_t d;
	/* w, px; 0: cost .4 |ab| within 8..128; sum .2 |ab| within 32..64 */
	double halfwidth;
	/* radians, (0, pi]; 0: cost 72 degrees at a spacing of 8 px, in proportion to it; sum 45 to 60 degrees; sin 15 */
	double phi;
	/*
	 * px that the polyline may move a given point, across its course; 0: none; < 0: cost 2, or sigma if that is
	 * more; sum none
	 */
	double snap;
	/* >= 1; each pass after the first follows the polyline of the pass before with a finer step */
	size_t passes; /* the program makes two */
	enum dptrace_method method;
	bool margins;	  /* fill the margins; this costs one more sweep of the recursion */
	size_t max_bytes; /* limit for the working memory of all threads; 0: none */
	int threads;
	/* traces the lines: the plan takes no memory for that. NULL: dptrace_run(). Borrowed until the plan is freed */
	const struct dptrace_runner *runner;
};

/* The points of one polyline, in order. */
struct dptrace_line {
	size_t n;
	const double (*xy)[2]; /* borrowed until the plan is freed */
};

/* Segments of a line: one less than its points. Without points there are none. */
static inline size_t
dptrace_segments(const struct dptrace_line *l)
{
	return l->n ? l->n - 1 : 0;
}

struct dptrace_vertex {
	double x, y;
	double score; /* of the link that ends here, per pixel along ab; 0 at the first vertex */
	/*
	 * What the best other polyline loses, in pixels of full evidence. The other one passes the guide 3 px or more away
	 * (cost: 8). The margin is infinite at a given point and where there is no other polyline. It is NaN when margins
	 * were not asked for.
	 */
	double margin;
	bool point;  /* one of the given points, perhaps moved */
	bool border; /* on the first or last sample of its guide */
};

struct dptrace_trace {
	size_t n;
	struct dptrace_vertex *v;
	double score;  /* the optimum */
	double margin; /* the smallest margin of its vertices */
	double low;    /* sum: a margin below this one is doubtful, .3; cost: 0 */
	/*
	 * cost: the largest doubt of a segment, and that segment. The doubt is what the segment costs, times the square
	 * of the largest mean cost of a px over four links in a row, over the harmonic mean of its margins. A margin counts
	 * as .05 at least. The doubt is 0 without margins and of a blank line.
	 */
	double doubt;
	size_t doubt_at;
	double bare; /* cost: px of the longest stretch of links that cost 1.5 a px or more */
	/*
	 * edge of either polarity: px of the longest stretch of links whose brighter side is the other one than along
	 * most of the polyline
	 */
	double turned;
	/*
	 * ridge: stretches of the polyline that lie on a flank or on an edge, and the segment where the first begins. From 1.5 to 3
	 * sigma off, the mean picture on one side differs from the middle less than a third as much as on the other side,
	 * or the other way: brighter here and darker there. A stretch is a segment, or some that are 40 px long together.
	 */
	size_t flanks;
	size_t flank_at;
	size_t lopsided; /* stretches where it is so at the distance that tells most */
	/*
	 * Segments with hardly any evidence. cost: a px costs 2 or more on average. sum: a px earns .14 or less on
	 * average, where polylines in noise alone earn .16 and more; or a px of the first or of the last link earns
	 * .3 of the average or less, so that a point lies beside what the polyline follows.
	 */
	size_t unsupported;
	size_t unsupported_at; /* the first of them */
	size_t border;	       /* vertices on the border of the strip */
	/*
	 * sum: vertices that turn by more than .9 phi. cost: vertices of the first pass that turn by more than .97 phi, and
	 * its links that are as steep as they may be. 0 for given tables.
	 */
	size_t sharp;
	size_t
	    released; /* given points where no polyline keeps the bound, so that it was given up */
	size_t released_at; /* the first of them */
	/* Some segment had no evidence at all (a constant picture). Its polyline is the chord. */
	bool blank;
	bool like; /* it was found by the likeness of colours */
};

struct dptrace_plan {
	struct dptrace_image image;
	struct dptrace_options o;
	const struct dptrace_line *line;
	size_t nline;
	struct dptrace_trace *trace; /* [nline]: the results of the last run */
	struct dptrace_vertex *vertex;
	struct segment_shape *shape; /* of all segments; those of line i begin at first[i] */
	size_t *first;
	struct work *work;  /* one per thread that shares the lines */
	int outer, inner;   /* threads over lines, threads within one */
	int nslot;	    /* segments of a line held at once */
	const float *gray;  /* the mean of the planes */
	float *own_gray;    /* gray, where the plan owns it */
	float *own_gain;    /* image.gain.v, where the plan owns it */
	double (**way)[2];  /* [segments]: the points of the ways that are followed; NULL: none */
	struct curve *bent; /* [segments]: ways to try, while the plan is made */
	size_t bytes;	    /* working memory of all threads */
	size_t bad;	    /* the line that why is about; nline: none in particular */
};

/*
 * Resolves the options for every segment and allocates all that run needs. Returns 0, or -1 with a sentence in why
 * (coinciding points, points outside the image, more guides than pixels, a strip wider than the image, memory over
 * max_bytes ...). After a failure all members of the plan are zero, except bad. why is empty where the runner failed with
 * anything except -ENOMEM.
 */
int dptrace_plan(struct dptrace_plan *p, const struct dptrace_image *image,
		 const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
		 struct why *why);

/*
 * The two halves of dptrace_plan(): what needs no runner, and what is settled by it. The first does most of the checks. The
 * second is called once, after the first has returned 0. Both return what dptrace_plan() does.
 */
int dptrace_plan_lines(struct dptrace_plan *p, const struct dptrace_image *image,
		       const struct dptrace_line *line, size_t nline,
		       const struct dptrace_options *o, struct why *why);
int dptrace_plan_settle(struct dptrace_plan *p, struct why *why);

/* Traces all lines into p->trace. The result is the same for any number of threads and on any CPU. */
void dptrace_run(struct dptrace_plan *p);

void dptrace_free(struct dptrace_plan *p);

/* --- given tables ----------------------------------------------------------------------------------------------- */

/*
 * A segment of given link scores. It has n guides. Guide g lies at u = h[0] + .. + h[g-1] and has d[g] samples; sample j
 * lies at v = (o[g] + j) dv. Where two segments meet, the last guide of one is the first of the other, so they have the
 * same number of samples. Table g is [d[g]][d[g+1]]. (ex, ey) is the unit vector along
 * ab. The optimum is exact when the scores are whole numbers with sums below 2^24.
 */
struct dptrace_table {
	size_t n;
	double dv, ex, ey;
	const double *h;
	const int *d, *o;
	const float *const *score;
};

/*
 * Finds the optimum over a chain of such segments. at[] receives a sample for each guide, segment after segment (n of
 * each); *best receives the sum. From the end backwards, ties go to the straightest polyline, then to the lowest sample.
 * margin, if not NULL, receives for every guide what the best polyline through another sample loses. Returns 0; 1 when
 * the bound was given up at a point, or when no polyline keeps it within a segment, whose at[] and margins are 0; or
 * -ENOMEM.
 */
int dptrace_tables(const struct dptrace_table *seg, size_t nseg, double phi,
		   enum dptrace_method method, int threads, int *at, double *best, double *margin);

/* A replacement of dptrace_tables(); ctx is its own. It returns what dptrace_tables() does, or another -errno. */
struct dptrace_solver {
	int (*tables)(void *ctx, const struct dptrace_table *seg, size_t nseg, double phi, int *at,
		      double *best, double *margin);
	void *ctx;
};

/*
 * Traces a line over given scores. S is [segments of l][n-1][d][d]; on the first and last guide of a segment only the
 * middle sample counts. o gives halfwidth (0: |ab| / 5), phi (0: 45 degrees), method, margins and threads. by is the solver;
 * NULL: dptrace_tables(). t->v is allocated; the caller frees it with weir_free. Returns 0, or -1 with a sentence in why.
 * why is empty when by fails with anything except -ENOMEM.
 */
int dptrace_given(const float *S, size_t n, size_t d, const struct dptrace_line *l,
		  const struct dptrace_options *o, const struct dptrace_solver *by,
		  struct dptrace_trace *t, struct why *why);

/*
 * Computes dptrace_tables() by definition: the paper's recursion, O(d^3) per guide. Returns 0, 1 when no
 * polyline keeps the bound, or -ENOMEM.
 */
int dptrace_direct(const struct dptrace_table *seg, size_t nseg, double phi, int *at, double *best);

/*
 * What the cheapest way over a grid of cells costs by definition (dptrace/resolve.h): all steps are tried until no sum
 * falls. cost is [h][w]; cells are numbers y w + x. Returns 0, or -ENOMEM.
 */
int dptrace_direct_way(const uint8_t *cost, int w, int h, int from, int to, uint32_t *sum);

/*
 * The score of one link of the segment ab by definition. The link goes from (u, v) = from to (u, v) = to, over that many
 * columns. o->objective is COST or SUM. Under the sum, g0 is as at the top of this file. Under the cost, g0 is the level
 * l, floor is f, and capped says whether the mean counts up to l only, as in the first pass.
 */
double
dptrace_direct_score(const struct dptrace_image *image, const struct dptrace_options *o,
		     const double a[2], const double b[2], const double from[2], const double to[2],
		     size_t columns, double g0, double floor, bool capped);

/*
 * The gains of edges by definition (dptrace/evidence/strip.h), [ceil(h / cell)][ceil(w / cell)]. The gradient is taken at the
 * middle of each cell. n is scratch of as many doubles as there are cells; size has two more on each side.
 */
void dptrace_direct_gains(const struct dptrace_image *image, const struct dptrace_options *o,
			  size_t cell, double *size, double *n, float *out);

/* The level of a point by definition: the largest response of o->polarity around it. */
double dptrace_direct_level(const struct dptrace_image *image, const struct dptrace_options *o,
			    const double p[2]);

#endif
