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
#ifndef WEIR_DPTRACE_SEARCH_CHAIN_H
#define WEIR_DPTRACE_SEARCH_CHAIN_H

#include <stdlib.h>

#include "dptrace/search/segment.h"

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
