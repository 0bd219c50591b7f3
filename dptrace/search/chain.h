/*
 * A segment in the recursion. Samples j, slopes s = k - j and rows are ints.
 *
 * All guides share one sample step, so two slopes decide whether a turn is admissible: t', the rows that the link before
 * climbs over gap g-1, and t, the rows that the link after climbs over gap g. For each t the admissible t' are a window
 * lo[t]..hi[t]. The windows are tables, made by calling turn_ok().
 *
 * The states are links, stored by diagonals. Row s of a gap holds the links of slope s, by their end sample (F) or their
 * start sample (S, H). So all lanes of a vector have the same slope, the same window and the same row offsets:
 *
 *	F[s][k]  the best sum of a polyline from the start whose last link is k-s -> k
 *	S[s][j]  the score of the link j -> j+s
 *	H[s][j]  the best sum from that link on to the end, itself included
 */
#ifndef WEIR_DPTRACE_SEARCH_CHAIN_H
#define WEIR_DPTRACE_SEARCH_CHAIN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/base/both.h"
#include "dptrace/dptrace.h"

enum {
	/* start samples processed at once; the scratch of such a block stays in the second-level cache */
	LANES = 64,
	GROUP = 16, /* samples of one AVX-512 register; rows are read in multiples of it */
	/* Threads share a gap of this many links or more. In smaller ones, waking them (50 us) costs more than they save. */
	WORTH_SHARING = 1 << 18
};

/* The sum of an impossible polyline. Sums of scores stay far above half of it. */
#define NEVER (-1e30f)

/*
 * Blocks of memory in one piece. A caller takes all blocks twice: first with base NULL, which only counts the bytes, then
 * with base at that many bytes.
 */
struct arena {
	char *base;
	size_t used;
};
void *arena_take(struct arena *a, size_t n, size_t size);

/* The guides. Guide g lies h[g-1] px from the guide before. Its sample j lies on row o[g] + j of the strip. */
struct course {
	int n, rows, maxd;
	double dv;     /* px between rows; row (rows-1)/2 lies on ab */
	double ex, ey; /* unit vector along the course at its start; along ab, if it is straight */
	double fx, fy; /* the same at its end */
	int steepest;  /* rows that a link may climb or fall; 0: any number */
	double *h;
	int *d, *o;
};

/* The largest number of rows that a link climbs or falls, given the guides and steepest. */
int course_climb(const struct course *c);

/* Admissible slopes t' of the link before (over h1) for each slope t of the link after (over h2). */
struct windows {
	double h1, h2;
	/* [2 rows - 1]: entry t + rows - 1 is for links that climb t rows; empty when lo > hi */
	int *lo, *hi;
};

/* The links between guide g and guide g+1. */
struct gap {
	/* Row 0 has slope s0. s0 = -(d[g]-1) and nrow = d[g] + d[g+1] - 1; steepest leaves fewer rows. */
	int s0, nrow;
	int climb;	/* o[g+1] - o[g], so that t = s + climb */
	int *from, *to; /* [nrow] start samples from..to-1 that some admissible polyline may use */
	float *F, *S, *H;
	size_t ldf, lds;
};

struct segment {
	struct course c;
	struct gap *gap; /* [n-1] */
	/* [n]: at guide g, the t' of gap g-1 for each t of gap g; guides with equal spacing share tables */
	struct windows *before;
	struct windows *after; /* [n]: at guide g, the t of gap g for each t' of gap g-1 */
	float *suffix;	       /* [threads][2 maxd][LANES] scratch */
	size_t suffix_len;
	float *through; /* [n][maxd] the best sum of a polyline through each sample */
	int *queue;	/* [3][2 maxd] scratch */
	int *tables;	/* [4 n][2 rows - 1] the windows */
	/*
	 * Writes out[a] .. out[b-1]; a and b are multiples of GROUP, at most LANES. out[x] is the score of the link of
	 * that slope over gap g that starts at sample j + x. ctx is what load() left there: a strip or tables.
	 */
	void (*score)(const struct segment *s, int g, int slope, int j, int a, int b, float *out);
	const void *ctx;
};

static inline size_t
lanes_up(int d)
{
	return (size_t)(d + GROUP - 1) / GROUP * GROUP;
}

/*
 * Floats from one row of a gap to the next. It is an odd number of cache lines, so that the rows of a block spread over
 * the sets of the cache.
 */
static inline size_t
row_length(int d)
{
	return (lanes_up(d) / GROUP | 1) * GROUP;
}

/* The bound phi as its cosine and sine. */
struct bound {
	double cos, sin;
};

struct bound bound_of(double phi);

/*
 * Says whether the angle between two steps is at most phi: |cross| cos phi <= dot sin phi. All turns are judged here and
 * nowhere else.
 */
static WEIR_BOTH inline bool
turn_ok(struct bound b, double x1, double y1, double x2, double y2)
{
	double cross = x1 * y2 - y1 * x2, dot = x1 * x2 + y1 * y2;
	double size = sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2));

	return fabs(cross) * b.cos - dot * b.sin <= 1e-12 * size;
}

/*
 * A link before or at the end: its sum, how straight the polyline goes on, how far from the middle it ends, and its number. Ties
 * go to the straightest link, then to the middle, then to the lowest number.
 */
struct choice {
	float sum;
	double straight;
	int aside, link;
};

static WEIR_BOTH inline bool
is_better(const struct choice *a, const struct choice *b)
{
	if (a->sum != b->sum)
		return a->sum > b->sum;
	if (a->straight != b->straight)
		return a->straight > b->straight;
	return a->aside != b->aside ? a->aside < b->aside : a->link < b->link;
}

/* The cosine of the turn from the step (h1, y1) to (h2, y2), times a factor that is the same for all links before. */
static WEIR_BOTH inline double
straightness(double h1, double y1, double h2, double y2)
{
	return (h1 * h2 + y1 * y2) / sqrt(h1 * h1 + y1 * y1);
}

static inline float *
row_of(const struct gap *g, float *base, size_t ld, int s)
{
	return base + (size_t)(s - g->s0) * ld;
}

/* Lays out the arrays of a segment of at most n guides, rows rows and maxd samples. */
void segment_take(struct segment *s, struct arena *a, int n, int rows, int maxd, bool margins,
		  int threads);

/* Makes the windows, the rows of the gaps and the ranges of reachable links. s->c must be filled. */
void segment_shape(struct segment *s, struct bound phi);

/*
 * Computes F of all gaps. entry[j * d[1] + k] is the sum up to the segment's start of a polyline that enters by the link
 * from sample j of guide 0 to sample k of guide 1; NEVER: none enters there.
 */
void recur_forward(struct segment *s, const float *entry, enum dptrace_method method, int threads);

/*
 * Computes H, gap by gap from the last one, and through. H of two gaps is kept. leave[j * d[n-1] + k] is the sum from the
 * segment's end on of a polyline that leaves by the link from sample j of guide n-2 to sample k. F and S must be there.
 */
void recur_backward(struct segment *s, const float *leave, int threads);

/* Fills at[n-3] .. at[0] with the best polyline that goes through at[n-2] and at[n-1]. */
void recur_trace(const struct segment *s, int *at);

/*
 * A chain is a line's segments one after the other. Each point of the line is a guide with one sample, or with a few where
 * the polyline may move it. Two segments that meet share this guide, so its samples are as many in both. The recursion
 * runs through the chain as through one row of guides. At a point the frame turns, and turn_ok() judges each pair of links
 * that meet in one sample there.
 *
 *	entry[k]  for each first link of segment k: the best sum up to the segment's start that may go on by that link
 *	exit[k]   for each last link of segment k: the best sum up to the segment's end
 *	leave[k]  for each last link of segment k: the best sum from the segment's end on
 *
 * Link i -> k of a first or last gap, whose second guide has e samples, has entry i e + k of its segment in these arrays.
 *
 * At most SLOTS segments are held in memory. Others are computed again when the backward sweep needs them.
 */

enum { SLOTS = 8 };

/* What the neighbours of a segment need to know about it. */
struct ends {
	/* Five members as in struct course; first_h and last_h are h of the first and the last gap. */
	double ex, ey, fx, fy, dv, first_h, last_h;
	int first[2], last[2]; /* samples of the two guides of the first gap, and of the last one */
	int first0, last0;     /* rows climbed by a link i -> k: first0 - i + k, last0 - i + k */
	int climb;	       /* rows that a link climbs or falls, at most */
};

static WEIR_BOTH inline int
first_links(const struct ends *e)
{
	return e->first[0] * e->first[1];
}

static WEIR_BOTH inline int
last_links(const struct ends *e)
{
	return e->last[0] * e->last[1];
}

/* A link as a vector in the picture. */
struct step {
	double x, y;
};

static WEIR_BOTH inline struct step
step_of(double ex, double ey, double h, double v)
{
	const struct step s = {h * ex - v * ey, h * ey + v * ex};

	return s;
}

static WEIR_BOTH inline struct step
first_step(const struct ends *e, int i, int k)
{
	return step_of(e->ex, e->ey, e->first_h, (e->first0 - i + k) * e->dv);
}

static WEIR_BOTH inline struct step
last_step(const struct ends *e, int i, int k)
{
	return step_of(e->fx, e->fy, e->last_h, (e->last0 - i + k) * e->dv);
}

/* Whether a first or last link i -> k climbs more than it may; climb0 is first0 or last0. */
static WEIR_BOTH inline bool
is_steep(const struct ends *e, int climb0, int i, int k)
{
	return abs(climb0 - i + k) > e->climb;
}

static WEIR_BOTH inline bool
may_follow(struct bound phi, struct step a, struct step b)
{
	return turn_ok(phi, a.x, a.y, b.x, b.y);
}

/* The last link i -> k, of that sum, before the step `to`. */
static WEIR_BOTH inline struct choice
last_choice(const struct ends *e, int i, int k, float sum, struct step to)
{
	const struct step s = last_step(e, i, k);
	const struct choice c = {sum, (s.x * to.x + s.y * to.y) / sqrt(s.x * s.x + s.y * s.y),
				 abs(2 * k + 1 - e->last[1]), i * e->last[1] + k};

	return c;
}

struct ends chain_ends(const struct course *c);

/* Fills in the course of a given table, except its guides h, d and o. */
void chain_course(struct course *c, const struct dptrace_table *t);

struct chain {
	int n; /* segments */
	bool margins;
	struct bound phi;
	enum dptrace_method method;
	/* apart: for margins, another polyline is one that passes this many samples away or more. */
	int threads, apart;
	/* Puts course, score and ctx of segment k into s. */
	void (*load)(struct chain *c, int k, struct segment *s);
	void *ctx; /* for load() */

	int nslot, maxn, maxd;
	const size_t *
	    node; /* [n]: where the guides of a segment begin in at, link and margin; the caller's */
	size_t *door; /* [n]: where its first and last links begin in entry, exit and leave */
	struct segment slot[SLOTS];
	int held[SLOTS]; /* the segment in the slot; -1: none */
	struct ends *ends;
	float *entry, *exit, *leave;
	bool *released; /* [n]: the bound is given up at the start of segment k */

	int *at;       /* the samples of the optimum */
	float *link;   /* the scores of its links */
	float *margin; /* what the best other polyline loses */
	double best;   /* the sum of its scores */
};

/*
 * Lays out a chain of n segments, nslot of them held, of at most maxn guides, maxd samples and rows rows each. All segments have
 * that many guides (nodes), and not more first, nor more last links. The caller sets node and fills door.
 */
void chain_take(struct chain *c, struct arena *a, int n, int nslot, int maxn, int maxd, int rows,
		size_t nodes, size_t links);

/*
 * Finds the optimum. Returns false when no polyline keeps the bound within some segment. This cannot happen where the
 * chord is a possible polyline of each segment.
 */
bool chain_solve(struct chain *c);

static inline int *
chain_at(const struct chain *c, int k)
{
	return c->at + c->node[k];
}

#endif
