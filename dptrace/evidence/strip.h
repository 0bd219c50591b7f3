/*
 * The evidence of a segment. The picture is resampled once into a strip. Its columns follow one another along ab, or along
 * a curve near ab; its rows lie across. The strip is differentiated as if it were straight. The derivatives give fields,
 * and the score of a link is summed from them column by column:
 *
 *	ridge		e = n'Tn = cv^2 T_uu - 2 cu cv T_uv + cu^2 T_vv	three fields; (cu, cv) the direction of the link,
 *	edge, sin	e = cu g_v - cv g_u				two fields      n = (-cv, cu) its normal
 *
 * Under the sum the fields are divided by the size of the derivative plus g0, under the cost by the level l.
 *
 * A link passes between the rows. Each field is kept in q phases; phase p of row r lies at row r + p/q. A link reads the
 * nearest phase instead of interpolating. Samples j, j+1, .. of a column are neighbours in memory:
 *
 *	f[((column * q + phase) * lane) + PAD + row]
 */
#ifndef WEIR_DPTRACE_EVIDENCE_STRIP_H
#define WEIR_DPTRACE_EVIDENCE_STRIP_H

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/base/both.h"
#include "dptrace/dptrace.h"
#include "dptrace/search/chain.h"

/* Samples of a picture along a straight line. */

/* A walk over the picture: sample i lies at (x + i dx, y + i dy). */
struct walk {
	double x, y, dx, dy;
};

/*
 * Whether a walk of n samples stays within a picture of h rows of w, with a pixel of room, in a box whose places an int holds.
 * (x0, y0) is the corner of that box.
 */
static WEIR_BOTH inline bool
walk_stays(const struct walk *k, int n, size_t w, size_t h, double *x0, double *y0)
{
	const double x1 = k->x + (n - 1) * k->dx, y1 = k->y + (n - 1) * k->dy;

	*x0 = floor(k->x < x1 ? k->x : x1) - 1;
	*y0 = floor(k->y < y1 ? k->y : y1) - 1;
	return *x0 >= 0 && *y0 >= 0 && k->x < (double)w - 2 && x1 < (double)w - 2 &&
	       k->y < (double)h - 2 && y1 < (double)h - 2 &&
	       (y1 - *y0 + k->y - *y0) * (double)w < INT_MAX / 2;
}

/* The bilinear sample at (x, y), less ref. Beyond the picture it is that of the nearest place on the border. */
static WEIR_BOTH inline float
sample_clamped(const float *p, size_t w, size_t h, double x, double y, float ref)
{
	const double xmax = (double)(w - 1), ymax = (double)(h - 1);
	const size_t right = w > 1, down = h > 1 ? w : 0;

	x = x < 0 ? 0 : x > xmax ? xmax : x;
	y = y < 0 ? 0 : y > ymax ? ymax : y;
	const size_t xi = (size_t)x - (x == xmax && w > 1), yi = (size_t)y - (y == ymax && h > 1);
	const float a = (float)(x - (double)xi), b = (float)(y - (double)yi);
	const float *at = p + yi * w + xi;
	const float top = at[0] + a * (at[right] - at[0]);
	const float low = at[down] + a * (at[down + right] - at[down]);

	return (top + b * (low - top)) - ref;
}

/* The pixel of n in which the place x >= -.5 lies. */
static WEIR_BOTH inline size_t
pixel_at(double x, size_t n)
{
	const size_t i = (size_t)(x + .5);

	return i < n ? i : n - 1;
}

/* Di Zenzo's gradient of such a tensor: the direction in which colours change fastest, as long as the change is large. */
static WEIR_BOTH inline __attribute__((always_inline)) void
find_direction(float uu, float uv, float vv, float *gu, float *gv)
{
	const float half = .5f * (uu - vv), root = sqrtf(half * half + uv * uv),
		    x = half > 0 ? half + root : uv, y = half > 0 ? uv : root - half,
		    square = x * x + y * y,
		    scale = square > 0 ? sqrtf((.5f * (uu + vv) + root) / square) : 0;

	*gu = x * scale;
	*gv = y * scale;
}

enum {
	PAD = 2 * GROUP, /* rows beyond the strip that lanes without a link may read */
	/* base rows beyond the strip: interpolation needs them, and finer passes may leave the strip */
	SKIRT = 8,
	MAXFINE = 512, /* fine steps to a base row, at most */
	MAXTAPS = 384  /* taps of half a kernel, at most */
};

/*
 * How a strip is sampled. Along ab the samples of the picture are a pixel apart or less. Columns of evidence are sigma
 * apart or less (sin: a pixel), because a field smoothed by a Gaussian of sigma holds no finer detail, and every link sums
 * one row for each column. Base rows are P px apart and carry the derivatives. A base row has t fine steps, so fine that
 * the nearest step replaces interpolation. A row of the strip is m base rows, in q = m t phases. Where rows are as fine as
 * steps, a row is one step (m = 0, q = 1). In passes after the first, rows are 1/fine of a base row apart.
 */
struct grid {
	int per_gap, ncol; /* columns of evidence: of a gap, of all gaps */
	int sub, nraw;	   /* columns of samples: to a column of evidence, in all */
	int rows, m, t, q, fine;
	int base, half; /* base rows; the one on ab */
	double P;	/* px between base rows */
	double hu;	/* px between columns of evidence */
	double sigma;	/* the scale of the derivatives, px */
	int ru, rv;	/* reach of the derivatives, columns of samples and base rows */
};

/* The fields at the base rows, [ncol][base_rows]. Base row 0 of a column comes after SKIRT rows. */
struct base {
	float *f[3];
	float g0;
	bool blank; /* there is no evidence anywhere */
};

/* Scratch for making the fields. */
struct scratch {
	float *raw, *across, *size, *inside, *vv;
	struct walk *column; /* [nraw]: the walk across the strip at each column of samples */
};

/* k of the cost: a pixel without evidence costs 1/k, one with evidence of level l costs 1/(1 + k). */
#define COST_K .3f

/*
 * The part of sigma |grad| that is subtracted from the response of a ridge, where a line is located and where its polarity
 * is found. On the middle of a line the gradient is 0; on its flank and on an edge it is large.
 */
#define COST_FLANK .5

/* How evidence becomes a score. */
struct rule {
	bool cost; /* else the sum */
	int polarity;
	float scale; /* cost: factor of the derivatives that makes the level l 1, less the floor */
	float cap;   /* cost: the most that the mean evidence of a link counts */
	float
	    floor; /* cost: what is subtracted from the mean evidence, so that noise counts as none */
	float
	    flank; /* cost, ridge: so many sizes of the gradient count against the second derivative */
};

/* What links of one slope share: the factors of the fields, the factor of their sum, and the length. */
struct slope {
	float field[3], width, length;
};

/* The fields in phases, along one course. */
struct strip {
	struct grid g;
	size_t lane; /* floats of one phase of a column */
	float *f[3];
	/*
	 * [2 rows - 1][per_gap]: floats from the row where a link of slope t starts, in the first column of its gap, to
	 * the row that it reads in column c
	 */
	int *offset;
	struct slope *slope; /* [2 rows - 1] */
	struct rule rule;
	const struct dptrace_options *o;
};

/* The grid of a strip of that many rows, dv apart, with the chord in the middle. */
struct grid
strip_grid(double length, int gaps, int rows, double dv, enum dptrace_score score, double sigma);

/*
 * The grid along a curve of that length. The number of columns does not depend on the length,
 * except for the reach of the derivatives. A curve shorter than the chord, whose ends have moved together, has the reach of
 * one of .999 chord, which has most columns.
 */
struct grid strip_curved(double length, double chord, int gaps, int per_gap, int rows, double dv,
			 enum dptrace_score score, double sigma);

/* A grid with the base rows of g and with rows P/fine apart. */
struct grid strip_finer(struct grid g, int rows);

/* Base rows of a column with both skirts, rounded up to whole pairs of registers. */
static inline size_t
base_rows(const struct grid *g)
{
	return (size_t)(g->base + 2 * SKIRT + 2 * GROUP - 1) / (2 * GROUP) * (2 * GROUP);
}

/* These lay out the arrays of their struct in an arena. */
void base_take(struct base *b, struct arena *a, const struct grid *g);
void scratch_take(struct scratch *b, struct arena *a, const struct grid *g);
void strip_take(struct strip *s, struct arena *a, const struct grid *g);

/* Half a kernel, taps 0..r. The other half is its mirror image, negated when odd. */
struct kernel {
	int r;
	bool odd;
	float w[MAXTAPS];
};

/* out[i] = sum_t w[t] (in[i + t step] +- in[i - t step]), i < n */
void rows_convolve(float *out, const float *in, ptrdiff_t step, size_t n, const struct kernel *k);

/* Adds n gradients to sums of their products: uu += gu gu, uv += gu gv, vv += gv gv. No arrays overlap. */
void rows_add_tensor(float *uu, float *uv, float *vv, const float *gu, const float *gv, size_t n);

/*
 * A row of n cells of c x c pixels, the first of them at the pixel (x, y): each is the sum of its pixels, less ref each. Beyond
 * the border its pixels are repeated.
 */
void rows_cells(float *out, const struct dptrace_image *im, const float *plane, ptrdiff_t x,
		ptrdiff_t y, size_t n, size_t c, float ref);

/*
 * The Gaussian (order 0) or its derivative of order 1 or 2. sigma is in steps, and a step has that size in px. The kernel
 * is exact for polynomials of degree <= 2.
 */
void strip_kernel(struct kernel *k, int order, double sigma, int r, double step);

/* The columns of a segment that starts at (x, y), in direction (ex, ey). */
struct origin {
	double x, y, ex, ey;
};
void strip_columns(struct walk *column, const struct grid *g, const struct origin *at);

/* Makes the evidence along the walks of scratch->column. gray is the mean of the image's planes. */
void base_fill(struct base *b, const struct scratch *scratch, const struct grid *g,
	       const struct dptrace_image *image, const float *gray,
	       const struct dptrace_options *o, const struct rule *rule);

/*
 * The walk across a strip at one column: (x, y) is the middle of the strip there, (nx, ny) the direction of v. The walk
 * begins at the first base row, less the skirt and the reach of the derivatives.
 */
struct walk strip_walk(const struct grid *g, double x, double y, double nx, double ny);

/* Fills the phases and offsets for the guides of c. Beyond the base rows there is no evidence. */
void strip_fill(struct strip *s, const struct base *b, const struct course *c);

/* The weights of base rows b[-1], b[0], b[1] and b[2] in their cubic (Catmull-Rom) at x past b[0], 0 <= x < 1. */
void strip_weights(double x, float w[4]);

/* Interpolates between rows b[0] and b[1] with those weights. */
static WEIR_BOTH inline __attribute__((always_inline)) float
strip_cubic(const float *b, const float *w)
{
	return (w[0] * b[-1] + w[3] * b[2]) + (w[1] * b[0] + w[2] * b[1]);
}

static WEIR_BOTH inline int
floor_div(int a, int b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/*
 * Floats from row r of the first column of a gap to the place in its column c of the link that climbs t rows from r. It is the
 * nearest step. Halves round up to the middle of a link, and down after it. So the mean of its columns lies on it, and
 * mirrored pictures and reversed points give the same scores.
 */
static WEIR_BOTH inline int
strip_offset(const struct grid *g, size_t lane, int t, int c)
{
	const double rise = (double)abs(t) * g->q / g->per_gap,
		     half = 2 * c + 1 > g->per_gap ? .5 - 1e-9 : .5 + 1e-9;
	const int up = (int)(rise * (c + .5) + half), fine = t < 0 ? -up : up,
		  row = g->q == 1 ? fine : floor_div(fine, g->q);

	return (int)((size_t)(c * g->q + fine - row * g->q) * lane) + row;
}

/* What links share that climb v px over a gap h px wide, of per_gap columns. */
static WEIR_BOTH inline struct slope
strip_slope(const struct dptrace_options *o, const struct rule *r, double h, double v, int per_gap)
{
	const bool ridge = o->score == DPTRACE_RIDGE;
	const double length = sqrt(h * h + v * v), cu = h / length, cv = v / length,
		     sign = ridge || r->polarity >= 0 ? 1 : -1,
		     width = r->cost  ? 1
			     : o->arc ? length
				      : h;
	const struct slope s = {
	    {(float)(ridge ? cv * cv : cv), (float)(ridge ? -2 * cu * cv : cu), (float)(cu * cu)},
	    (float)(sign * width / per_gap),
	    (float)length};

	return s;
}

/* The score() of a segment (struct segment) whose ctx is a strip. */
void strip_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out);

/*
 * A smooth curve along a polyline, and places on it by their distance from its start. Under the cost, passes after the
 * first sample the picture along such a curve.
 */

/* n points the same distance apart. */
struct curve {
	int n;
	double length;
	const double (*xy)[2];
};

/* The length of a polyline. */
double curve_length(const double (*xy)[2], int n);

/*
 * The curve of n points along a polyline of m vertices, smoothed by a Gaussian of smooth px. Its ends are those of the
 * polyline. xy and spare have room for n points each; xy holds the curve, spare is scratch.
 */
struct curve curve_along(const double (*vertex)[2], int m, int n, double smooth, double (*xy)[2],
			 double (*spare)[2]);

/*
 * The place on the curve at distance s from its start, and the unit vector to the right of a walker there. Beyond its ends
 * the curve goes straight on.
 */
struct spot {
	double x, y, nx, ny;
};

struct spot curve_place(const struct curve *c, double s);

/* The columns of a strip along the curve. */
void curve_columns(struct walk *column, const struct grid *g, const struct curve *c);

/*
 * The gains of edges. Many pictures have strong edges beside the weak one that is asked for, and texture that is as strong.
 * A person sees an edge by what is around it. So under the cost the response of an edge is multiplied by
 *
 *	gain = 1 / (N / M + .3)		N  the mean of sigma |grad| over a square of 5 x 5 cells around the place
 *					M  the mean of N over a square of 257 x 257 cells
 *
 * Only cells of the picture count for M. As the mean over the picture it would follow as many boundaries; but then the whole
 * picture has to be looked at for one line, and a part that was cut out gives another course. Squares of 65 x 65 follow fewer.
 *
 * Cells are c x c pixels, c = sigma rounded down. The gradient is that of one sample a cell, the mean of its pixels. Beyond
 * the border the pixels of the border are repeated. All places of a cell have one gain.
 */

/*
 * Makes the gains of a picture for the scale and the polarity of o, where the lines may read them; elsewhere they are 0. gray
 * is the mean of the planes. image->gain is not read. Returns 0, or -ENOMEM. The caller frees to->v.
 */
int gain_make(struct dptrace_gain *to, const struct dptrace_image *image, const float *gray,
	      const struct dptrace_options *o, const struct dptrace_line *line, size_t nline);

/* The gain at a pixel; 1 where there are no gains. */
static WEIR_BOTH inline float
gain_at(const struct dptrace_gain *g, size_t x, size_t y)
{
	return g->v ? g->v[y / g->cell * g->w + x / g->cell] : 1;
}

#endif
