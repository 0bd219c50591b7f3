/*
 * The picture along a segment, resampled once into a strip of columns along ab, or along a curve near it, and rows across,
 * differentiated there as if it were straight, and made into evidence: fields of which the score of a link is made, column
 * by column.
 *
 *	ridge		e = n'Tn = cv^2 T_uu - 2 cu cv T_uv + cu^2 T_vv	three fields; (cu, cv) the direction of the link,
 *	edge, sin	e = cu g_v - cv g_u				two fields      n = (-cv, cu) its normal
 *
 * Under the sum the fields are divided by the size of the derivative, under the cost by the level of the clicks.
 *
 * A link passes between the rows. Each field is kept in q phases, phase p of row r lying at row r + p/q, so that the
 * nearest of them stands for interpolation; lanes j, j+1, .. of a column are neighbours in memory:
 *
 *	f[((column * q + phase) * lane) + PAD + row]
 */
#ifndef DPTRACE_STRIP_H
#define DPTRACE_STRIP_H

#include "dptrace/dptrace.h"
#include "dptrace/evidence/walk.h"
#include "dptrace/search/segment.h"

enum {
	PAD = 2 * GROUP, /* rows beyond the strip that lanes without a link may read */
	SKIRT =
	    8, /* base rows beyond the strip, for interpolation and finer passes that leave it */
	MAXFINE = 512, /* fine steps to a base row */
	MAXTAPS = 384
};

/*
 * How a strip is sampled. The picture is sampled a pixel apart or less along ab, evidence taken sigma apart (sin: a
 * pixel): a field smoothed by a Gaussian of sigma has no more in it, and each column less is a row less to sum for
 * every link. Base rows, P px apart, carry the derivatives; a base row is t steps, fine enough for the nearest to stand
 * for interpolation. A row of the strip is m base rows, in q = m t phases; or, where rows are that fine themselves, one
 * step (m = 0, q = 1). Passes after the first have rows of 1/fine of a base row.
 */
struct grid {
	int per_gap, ncol; /* columns of a gap, of all gaps */
	int sub, nraw;	   /* columns of samples: to a column of evidence, in all */
	int rows, m, t, q, fine;
	int base, half; /* base rows; the one on ab */
	double P;	/* px between base rows */
	double hu;	/* px between columns of evidence */
	int ru, rv;	/* reach of the derivatives, columns of samples and base rows */
};

/* The fields at the base rows, [ncol][base_rows]; base row 0 of a column after its skirt. */
struct base {
	float *f[3];
	float g0;
	bool blank;
};

/* Scratch for making them. */
struct scratch {
	float *raw, *across, *size, *inside, *vv;
	struct walk
	    *column; /* [nraw]: across the strip at every column of samples, from its first row */
};

#define COST_K .3f /* the cost of a pixel without evidence is 1/k, on the clicks' level 1/(1 + k) */

/* How evidence becomes a score. */
struct rule {
	bool cost; /* else the sum */
	int polarity;
	float scale; /* cost: of the derivatives, so that the level of the clicks is 1 */
	float cap;   /* cost: the most that evidence counts */
};

/* Of a link of one slope: factors of the fields and of their sum, and its length. */
struct slope {
	float field[3], width, length;
};

/* The fields in phases, along one course. */
struct strip {
	struct grid g;
	size_t lane;
	float *f[3];
	int *
	    offset; /* [2 rows - 1][per_gap]: where the row that a link of slope t reaches lies, from its first row */
	struct slope *slope; /* [2 rows - 1] */
	struct rule rule;
	const struct dptrace_options *o;
};

/* The grid of a strip of that many rows, dv apart, with the chord in the middle. */
struct grid
strip_grid(double length, int gaps, int rows, double dv, const struct dptrace_options *o);

/*
 * The grid along a curve of that length, rows dv <= .3 apart; the numbers of its columns do not depend on the length, except
 * for the reach of the derivatives, which is the widest for the shortest curve.
 */
struct grid strip_curved(double length, int gaps, int per_gap, int rows, double dv,
			 const struct dptrace_options *o);

/* The same base rows under a strip whose rows are P/fine apart. */
struct grid strip_finer(struct grid g, int rows);

/* Base rows of a column with their skirts: whole pairs of registers. */
static inline size_t
base_rows(const struct grid *g)
{
	return (size_t)(g->base + 2 * SKIRT + 2 * GROUP - 1) / (2 * GROUP) * (2 * GROUP);
}

void base_take(struct base *b, struct arena *a, const struct grid *g);
void scratch_take(struct scratch *b, struct arena *a, const struct grid *g);
void strip_take(struct strip *s, struct arena *a, const struct grid *g);

/* Half a kernel, taps 0..r; the other half mirrored, or mirrored and negated when odd. */
struct kernel {
	int r;
	bool odd;
	float w[MAXTAPS];
};

/* The Gaussian (order 0) of that scale or its derivative, exact for polynomials of degree <= 2, over steps of that size. */
void strip_kernel(struct kernel *k, int order, double sigma, int r, double step);

/* The columns of a segment that starts at (x, y), in direction (ex, ey). */
struct origin {
	double x, y, ex, ey;
};
void strip_columns(struct walk *column, const struct grid *g, const struct origin *at);

/* The evidence under scratch->column. gray: the mean of the image's planes. */
void base_fill(struct base *b, const struct scratch *scratch, const struct grid *g,
	       const struct dptrace_image *image, const float *gray,
	       const struct dptrace_options *o, const struct rule *rule);

/* The walk across a strip whose middle at some column is (x, y), v's direction (nx, ny): from its first base row and reach. */
struct walk strip_walk(const struct grid *g, double x, double y, double nx, double ny);

/* Phases and offsets for the guides of c. Beyond the base rows there is no evidence. */
void strip_fill(struct strip *s, const struct base *b, const struct course *c);

/* The cubic (Catmull-Rom) between base rows b[-1], b[0], b[1] and b[2], at x past b[0]. */
void strip_weights(double x, float w[4]);

/* segment.score over a strip. */
void strip_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out);

#endif
