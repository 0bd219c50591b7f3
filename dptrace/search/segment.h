/*
 * A segment on its way through the recursion. Inside, samples j, slopes s = k - j and rows are ints.
 *
 * All guides share one sample step, so a turn depends on two slopes alone: the one of the link before, t' = rows climbed
 * over gap g-1, and the one after, t. The windows lo[t]..hi[t] of admissible t' are tables, made by calling turn_ok().
 *
 * States are links, stored by diagonals: row s of a gap holds the links of slope s, by their end sample (F) or their
 * start sample (S, H), so that all lanes of a vector have the same slope, the same window and the same row offsets:
 *
 *	F[s][k]  the best sum of a polyline from the start whose last link is k-s -> k
 *	S[s][j]  the score of the link j -> j+s
 *	H[s][j]  the best sum from that link on to the end, itself included
 */
#ifndef DPTRACE_SEGMENT_H
#define DPTRACE_SEGMENT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	LANES =
	    64, /* start samples worked on at once: scratch of a block stays in the second-level cache */
	GROUP = 16 /* samples of one AVX-512 register: rows are read in multiples of it */
};

#define NEVER (-1e30f) /* the sum of what cannot be; sums of scores stay far above half of it */

/* Blocks of memory in one piece: taken twice, the first time (base NULL) only to count. */
struct arena {
	char *base;
	size_t used;
};
void *arena_take(struct arena *a, size_t n, size_t size);

/* The guides: guide g at distance h[g-1] from the one before, its sample j on row o[g] + j of the strip. */
struct course {
	int n, rows, maxd;
	double dv;     /* px between rows; row (rows-1)/2 lies on ab */
	double ex, ey; /* unit vector along the course at its start: along ab, if it is straight */
	double fx, fy; /* at its end */
	int steepest;  /* rows that a link may climb or fall; 0: any number */
	double *h;
	int *d, *o;
};

/* The largest number of rows that a link climbs or falls, and may. */
int course_climb(const struct course *c);

/* Admissible slopes t' of the link before (over h1) for each slope t of the link after (over h2). */
struct windows {
	double h1, h2;
	int *lo,
	    *hi; /* [2 rows - 1]; entry t + rows - 1, where a link climbs t; empty when lo > hi */
};

struct gap {
	int s0,
	    nrow; /* row 0 has slope s0 = -(d[g]-1); nrow = d[g] + d[g+1] - 1; fewer within steepest */
	int climb;	/* t = s + climb: o[g+1] - o[g] */
	int *from, *to; /* [nrow] start samples from..to-1 that some admissible polyline may use */
	float *F, *S, *H;
	size_t ldf, lds;
};

struct segment {
	struct course c;
	struct gap *gap; /* [n-1] */
	struct windows *
	    before; /* [n]: at guide g, t' of gap g-1 by t of gap g; guides with equal spacing share tables */
	struct windows *after; /* [n]: t of gap g by t' of gap g-1 */
	float *suffix;	       /* [threads][2 maxd][LANES] scratch */
	size_t suffix_len;
	float *through; /* [n][maxd] the best sum of a polyline through each sample */
	int *queue;	/* [3][2 maxd] scratch */
	int *tables;	/* [4 n][2 rows - 1] the windows */
	/*
	 * The scores of the links j..j+LANES-1 of slope s over gap g; groups [a, b) of out are asked for, a and b
	 * multiples of GROUP. ctx is what load() left there: a strip or tables.
	 */
	void (*score)(const struct segment *s, int g, int slope, int j, int a, int b, float *out);
	const void *ctx;
};

static inline size_t
lanes_up(int d)
{
	return (size_t)(d + GROUP - 1) / GROUP * GROUP;
}

/* Floats from one row of a gap to the next: an odd number of cache lines, so that the rows of a block spread over the sets. */
static inline size_t
row_length(int d)
{
	return (lanes_up(d) / GROUP | 1) * GROUP;
}

/* The angle between two steps is at most phi: |cross| cos phi <= dot sin phi, the only place where turns are judged. */
struct bound {
	double cos, sin;
};

struct bound bound_of(double phi);

static inline bool
turn_ok(struct bound b, double x1, double y1, double x2, double y2)
{
	double cross = x1 * y2 - y1 * x2, dot = x1 * x2 + y1 * y2;
	double size = sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2));

	return fabs(cross) * b.cos - dot * b.sin <= 1e-12 * size;
}

static inline float *
row_of(const struct gap *g, float *base, size_t ld, int s)
{
	return base + (size_t)(s - g->s0) * ld;
}

/* Lays out everything that hangs on a course of at most n guides, rows rows and maxd samples. */
void segment_take(struct segment *s, struct arena *a, int n, int rows, int maxd, bool margins,
		  int threads);

/* Windows, reachable links and the rows of the gaps, once s->c is filled. */
void segment_shape(struct segment *s, struct bound phi);

/* F of all gaps; entry[k]: what a polyline brings that enters by the link to sample k of guide 1 (NEVER: none does). */
void recur_forward(struct segment *s, const float *entry, int threads);

/*
 * H, gap by gap from the last, of which two are kept, and through. leave[j]: what a polyline that leaves by the link from
 * sample j of guide n-2 still earns. Needs F and S.
 */
void recur_backward(struct segment *s, const float *leave, int threads);

/* The polyline whose last link starts at at[n-2]: fills at[n-3] .. at[0]. */
void recur_trace(const struct segment *s, int *at);

#endif
