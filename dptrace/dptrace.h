/*
 * The best polyline along a linear object (a road, a river, a vessel, an edge) between given points.
 *
 * Points a and b are given. The segment ab is divided by n guides, perpendicular to it; those through a and b carry one
 * sample, the inner ones d samples each, dv apart, the middle one on ab. Among all polylines with one vertex on every
 * guide whose turning angle at every vertex is at most phi, find the one of the largest sum of link scores S:
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
 * Seredin (Doklady BGUIR 4(98), 2016) does this in O(d^3 n); here it takes O(d^2 n): see recur.c. A chain of points is
 * one polyline: each point is a guide with a single sample, at which the frame turns and the same bound holds.
 *
 * The response r at a column of a link, at scale sigma, with n the normal of the link:
 *
 *	ridge	-sigma^2 n'Hn             H the Hessian
 *	edge	sigma |n'grad|
 *	sin	|n'grad| / |grad|         the paper's: |sin| of the angle between the gradient and the link
 *
 * Two objectives make the score of a link of it. The cost is an integral along the polyline: a link of length s costs
 *
 *	cost	s / (min(max(m / l, 0), 1) + k)	   m the mean of r over the link's columns, k = .3
 *
 * The level l is the smaller one of what the clicks lie on: the largest response within 3 px (1.5 sigma, if that is more) of
 * each point of the segment. Evidence counts up to the level of the clicks and no further, so that a brighter neighbour is no
 * temptation. Passes after the first do not cap it. The sum rewards evidence column by column,
 *
 *	sum	sum_c r(c) / (|r| + g0) * width	   |r| = |lambda| sigma^2 or |grad| sigma, the larger eigenvalue of H
 *
 * times the width of a column (length by columns) or the length of the link over it (length by arc, as in the paper).
 * g0 = soft * the median of |r| in the strip |v| <= w, and a quarter of the largest at least. Columns outside the image have
 * no response. On clear lines the cost follows better, in noise the sum does; see DPTRACE_AUTO.
 */
#ifndef DPTRACE_DPTRACE_H
#define DPTRACE_DPTRACE_H

#include <stdbool.h>
#include <stddef.h>

enum dptrace_score { DPTRACE_RIDGE, DPTRACE_EDGE, DPTRACE_SIN };

/*
 * AUTO: the cost for a line whose level is 5.7 times what pixel noise alone would give, or more, else the sum; of sin always
 * the sum.
 */
enum dptrace_objective { DPTRACE_AUTO, DPTRACE_COST, DPTRACE_SUM };

enum {
	DPTRACE_ERR = 256,   /* room for a sentence that says what is wrong */
	DPTRACE_MAXD = 8191, /* samples of a guide */
	DPTRACE_MAXN = 4096  /* guides of a segment */
};

/* The picture: c planes of h rows of w samples, finite. The centre of pixel (x, y) is the point (x, y). */
struct dptrace_image {
	size_t c, h, w;
	const float *v; /* [c][h][w], borrowed until the plan is freed */
};

struct dptrace_options {
	enum dptrace_score score;
	enum dptrace_objective objective;
	/*
	 * ridge: 1 bright, -1 dark; edge: 1 brighter where v > 0, -1 darker; 0 either, which for a ridge under the cost is
	 * decided by the points of each line.
	 */
	int polarity;
	bool arc;     /* sum: length by arc instead of by columns */
	double sigma; /* scale of the derivatives, px, .5..32 */
	double
	    soft; /* sum: g0 in medians, >= 0 (0: ridge and edge keep the size of the derivative) */
	size_t n; /* guides of a segment, >= 2; 0: by spacing */
	/* px between guides, >= 1; 0: 8, or 4 sigma if that is more; of a sum 15 to 30, by the length */
	double spacing;
	/* samples of a guide, >= 2; 0: a pixel or sigma / 2 apart, of a sum sigma */
	size_t d;
	/* w, px; 0: .3 |ab| within 8..96; of a sum .2 |ab| within 32..64 */
	double halfwidth;
	/* radians, (0, pi]; 0: 72 degrees at 8 px, in proportion to the spacing; of a sum 45 to 60 degrees, sin 15 */
	double phi;
	/* cost: the steepest link, |dv / du|; 0: 2.5 */
	double slope;
	/* >= 1: each after the first follows the polyline before it with a finer step */
	size_t passes;
	bool margins;	  /* fill the margins: one more pass of the recursion */
	size_t max_bytes; /* working memory of all threads, 0: any */
	int threads;
};

/* What is asked for: points of a polyline in order; closed: the last is joined to the first. */
struct dptrace_line {
	size_t n;
	const double (*xy)[2]; /* borrowed until the plan is freed */
	bool closed;
};

/* Segments of a line: one less than its points, or as many when it is closed. */
static inline size_t
dptrace_segments(const struct dptrace_line *l)
{
	return l->closed ? l->n : l->n - 1;
}

struct dptrace_vertex {
	double x, y;
	double score; /* of the link that ends here, per pixel along ab; 0 at the first vertex */
	double
	    margin; /* what the best polyline that passes elsewhere (3 px or more) loses, in pixels of full evidence;
			  infinite at a given point and where there is no other; NaN when not asked for */
	bool point;  /* one of the given points */
	bool border; /* on the first or last sample of its guide */
};

struct dptrace_trace {
	size_t n;
	struct dptrace_vertex *v; /* a closed line repeats its first vertex at the end */
	double score;		  /* the optimum */
	double margin;		  /* the smallest of its vertices */
	double low;		  /* a margin below it is a doubt: .2 (cost), .3 (sum) */
	size_t border;		  /* vertices on the border of the strip */
	size_t sharp;		  /* vertices that turn by more than .9 phi; of given tables 0 */
	size_t
	    released; /* given points at which no polyline keeps the bound: it was given up there; the first is */
	size_t released_at; /* this one */
	bool blank; /* some segment had no evidence at all (a constant picture): it is its chord */
};

struct dptrace_plan {
	struct dptrace_image image;
	struct dptrace_options o;
	const struct dptrace_line *line;
	size_t nline;
	struct dptrace_trace *trace; /* [nline]: the results of the last run */
	struct dptrace_vertex *vertex;
	struct segment_shape *shape; /* of all segments, those of line i from first[i] on */
	size_t *first;
	struct work *work; /* one per thread that shares the lines */
	int outer, inner;  /* threads over lines, threads within one */
	int nslot;	   /* segments of a line held at once */
	const float *gray; /* the mean of the planes */
	float *own_gray;
	size_t bytes; /* of all threads */
	size_t bad;   /* the line that err is about; nline: none in particular */
};

/*
 * Resolves the options for every segment and allocates all that run needs. Returns 0, or -1 with a sentence in err
 * (coinciding points, points outside the image, more guides than pixels, a strip wider than the image, memory over
 * max_bytes ...) and a plan that is zeroed but for bad.
 */
int dptrace_plan(struct dptrace_plan *p, const struct dptrace_image *image,
		 const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
		 char err[DPTRACE_ERR]);

/* Traces all lines into p->trace. The same result for any number of threads and on any CPU. */
void dptrace_run(struct dptrace_plan *p);

/* What was resolved for a segment, for those who explain. */
struct dptrace_resolved {
	size_t n, d;
	double length, halfwidth, phi;
	bool cost;
	int polarity;
	double level, noise; /* 0 where nobody asked: --objective=sum */
};
struct dptrace_resolved dptrace_resolved(const struct dptrace_plan *p, size_t line, size_t segment);

void dptrace_free(struct dptrace_plan *p);

/* --- given tables ----------------------------------------------------------------------------------------------- */

/*
 * The recursion on given link scores. A segment: n guides, guide g at u = h[0] + .. + h[g-1] with d[g] samples, sample j
 * at v = (o[g] + j) dv; d[0] == d[n-1] == 1. Table g is [d[g]][d[g+1]]. (ex, ey) is the unit vector along ab. Whole
 * numbers below 2^24 in sum give the exact optimum.
 */
struct dptrace_table {
	size_t n;
	double dv, ex, ey;
	const double *h;
	const int *d, *o;
	const float *const *score;
};

/*
 * The optimum over a chain of such segments: at[] receives a sample per guide, segment after segment (n of each), *best
 * the sum. Ties: the straightest, then the lowest sample, from the end backwards. margin, if not NULL, receives for
 * every guide what the best polyline through another sample loses. Returns 0, 1 when the bound had to be given up at a
 * point or no polyline keeps it even so, -ENOMEM.
 */
int dptrace_tables(const struct dptrace_table *seg, size_t nseg, bool closed, double phi,
		   int threads, int *at, double *best, double *margin);

/* Another dptrace_tables(), ctx its own. Returns what that does, or another -errno. */
struct dptrace_solver {
	int (*tables)(void *ctx, const struct dptrace_table *seg, size_t nseg, bool closed,
		      double phi, int *at, double *best, double *margin);
	void *ctx;
};

/*
 * A line over given scores: S is [segments of l][n-1][d][d], of which the ends use the middle sample alone; o gives
 * halfwidth, phi and threads, where 0 is w = |ab| / 5 and 45 degrees. t->v is allocated; caller frees it with weir_free.
 * by: who solves it, NULL: dptrace_tables(). Returns 0, or -1 with a sentence in err, which is empty after a failure of by's.
 */
int dptrace_given(const float *S, size_t n, size_t d, const struct dptrace_line *l,
		  const struct dptrace_options *o, const struct dptrace_solver *by,
		  struct dptrace_trace *t, char err[DPTRACE_ERR]);

/* The same by definition: the paper's recursion, O(d^3) per guide; returns 1 when no polyline keeps the bound. */
int dptrace_direct(const struct dptrace_table *seg, size_t nseg, double phi, int *at, double *best);

/*
 * The score of the link from (u, v) = from to (u, v) = to of the segment ab, over that many columns, by definition, with
 * o->objective COST or SUM. g0 is as at the top of this page; of a cost it is the level l, and capped says whether evidence
 * counts up to it only.
 */
double dptrace_direct_score(const struct dptrace_image *image, const struct dptrace_options *o,
			    const double a[2], const double b[2], const double from[2],
			    const double to[2], size_t columns, double g0, bool capped);

/* What a point of a line lies on, by definition: the largest response of that polarity around it. */
double dptrace_direct_level(const struct dptrace_image *image, const struct dptrace_options *o,
			    const double p[2]);

#endif
