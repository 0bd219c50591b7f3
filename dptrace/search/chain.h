/*
 * A chain: segments one after the other, each point a guide with one sample. The recursion runs through it as through
 * one row of guides; at a point the frame turns, and links meet pair by pair, O(d^2), by turn_ok().
 *
 *	entry[k]  by first link of segment k: the best polyline up to its start that may go on by it
 *	exit[k]   by last link: the best polyline up to its end      leave[k]  the best one from there on
 *
 * Only SLOTS segments are held; others are computed again when the way back comes to them.
 */
#ifndef DPTRACE_CHAIN_H
#define DPTRACE_CHAIN_H

#include "dptrace/search/segment.h"

enum { SLOTS = 8 };

/* What the neighbours of a segment must know of it. */
struct ends {
	double ex, ey, fx, fy, dv, first_h, last_h;
	int nfirst, nlast; /* first and last links */
	int first0, last0; /* rows climbed by first link k: first0 + k; by last link j: last0 - j */
};

/* Some first links of a closed chain and a bound for what a polyline by one of them can reach. */
struct branch {
	int k0, k1;
	double bound;
};

struct chain {
	int n; /* segments */
	bool closed, margins;
	struct bound phi;
	int threads,
	    apart; /* margins: against polylines that pass this many samples away or more */
	void (*load)(struct chain *c, int k,
		     struct segment *s); /* course, score and ctx of segment k into s */
	void *ctx;

	int nslot, maxn, maxd;
	struct segment slot[SLOTS];
	int held[SLOTS]; /* the segment in it, -1: none */
	struct ends *ends;
	float *entry, *exit, *leave; /* [n][maxd] */
	bool *released;		     /* [n]: the bound is given up at the start of segment k */
	struct branch *branch;	     /* [2 maxd] */

	int *at;       /* [n][maxn]: the samples of the optimum */
	float *link;   /* [n][maxn]: the scores of its links */
	float *margin; /* [n][maxn] */
	double best;   /* the sum of its scores */
};

/* Room for n segments of at most maxn guides, maxd samples, rows rows, of which nslot are held. */
void chain_take(struct chain *c, struct arena *a, int n, int nslot, int maxn, int maxd, int rows);

/* The optimum; false when no polyline keeps the bound within the first segment (never, if its chord is one). */
bool chain_solve(struct chain *c);

/* Segment k with its scores at hand: the one solved, loaded anew if its slot is taken. */
struct segment *chain_segment(struct chain *c, int k);

static inline int *
chain_at(const struct chain *c, int k)
{
	return c->at + (size_t)k * (size_t)c->maxn;
}

#endif
