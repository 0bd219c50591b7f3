/*
 * The picture along a segment, resampled once into a strip of columns along ab and rows across it, differentiated there,
 * and made into evidence: fields from which the score of a link is a sum over columns.
 *
 *	ridge		e = n'Tn = cv^2 T_uu - 2 cu cv T_uv + cu^2 T_vv	three fields; (cu, cv) the direction of the link,
 *	edge, sin	e = cu g_v - cv g_u				two fields      n = (-cv, cu) its normal
 *
 * A link passes between the rows. Each field is kept in q phases, phase p of row r lying at row r + p/q, so that the
 * nearest of them stands for interpolation; lanes j, j+1, .. of a column are neighbours in memory:
 *
 *	f[((column * q + phase) * lane) + PAD + row]
 */
#ifndef DPTRACE_STRIP_H
#define DPTRACE_STRIP_H

#include "dptrace/dptrace.h"
#include "dptrace/segment.h"

enum {
	PAD = 2 * GROUP, /* rows beyond the strip that lanes without a link may read */
	SKIRT = GROUP,	 /* base rows beyond the strip, for interpolation (2) and whole registers */
	MAXTAPS = 256
};

/*
 * How a strip is sampled. Base rows, P px apart, carry the derivatives; a base row is t fine steps, fine enough for the
 * nearest to stand for interpolation. A row of the strip is m base rows, in q = m t phases; or, where rows are that
 * fine themselves, one fine step (m = 0, q = 1).
 */
struct grid {
	int per_gap, ncol; /* columns of a gap, of all gaps */
	int rows, m, t, q;
	int base, half; /* base rows; the one on ab */
	double P;	/* px between base rows */
	double hu;	/* px between columns */
	int ru, rv;	/* reach of the derivatives, columns and base rows */
};

struct strip {
	struct grid g;
	size_t lane;
	float *f[3];
	int *
	    offset; /* [2 rows - 1][per_gap]: where the row that a link of slope t reaches lies, from its first row */
	const struct dptrace_options *o;
	float g0;
	bool blank;
};

/* Scratch of a thread, for the largest strip. */
struct bench {
	float *raw, *across[3], *base[3], *size, *inside;
};

struct grid strip_grid(double length, int gaps, int rows, double dv, double sigma);
void strip_take(struct strip *s, struct arena *a, const struct grid *g);
void bench_take(struct bench *b, struct arena *a, const struct grid *g);

/* The evidence along the course c that starts at (ax, ay). gray: the mean of the planes of image, or its only one. */
void strip_fill(struct strip *s, struct bench *b, const struct course *c, double ax, double ay,
		const struct dptrace_image *image, const float *gray);

/* segment.score over a strip. */
void strip_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out);

#endif
