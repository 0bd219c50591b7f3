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
 * Link i -> k of a first or last gap, whose second guide has e samples, has entry i e + k of these arrays.
 *
 * At most SLOTS segments are held in memory. Others are computed again when the backward sweep needs them.
 */
#ifndef WEIR_DPTRACE_SEARCH_CHAIN_H
#define WEIR_DPTRACE_SEARCH_CHAIN_H

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

	int nslot, maxn, maxd, maxlinks; /* maxlinks: first or last links of a segment, at most */
	struct segment slot[SLOTS];
	int held[SLOTS]; /* the segment in the slot; -1: none */
	struct ends *ends;
	float *entry, *exit, *leave; /* [n][maxlinks] */
	bool *released;		     /* [n]: the bound is given up at the start of segment k */

	int *at;       /* [n][maxn]: the samples of the optimum */
	float *link;   /* [n][maxn]: the scores of its links */
	float *margin; /* [n][maxn] */
	double best;   /* the sum of its scores */
};

/*
 * Lays out a chain of n segments, nslot of them held, of at most maxn guides, maxd samples, rows rows and maxlinks first or
 * last links each.
 */
void chain_take(struct chain *c, struct arena *a, int n, int nslot, int maxn, int maxd, int rows,
		int maxlinks);

/*
 * Finds the optimum. Returns false when no polyline keeps the bound within some segment. This cannot happen where the
 * chord is a possible polyline of each segment.
 */
bool chain_solve(struct chain *c);

static inline int *
chain_at(const struct chain *c, int k)
{
	return c->at + (size_t)k * (size_t)c->maxn;
}

#endif
