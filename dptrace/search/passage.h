/* What the files of a chain's search share: its links where segments meet, and its passage from segment to segment. */
#ifndef DPTRACE_PASSAGE_H
#define DPTRACE_PASSAGE_H

#include "dptrace/search/chain.h"

/* The part of entry, exit or leave that belongs to segment k. */
static inline float *
links_of(const struct chain *c, float *base, int k)
{
	return base + (size_t)k * (size_t)c->maxlinks;
}

static inline int
first_links(const struct ends *e)
{
	return e->first[0] * e->first[1];
}

static inline int
last_links(const struct ends *e)
{
	return e->last[0] * e->last[1];
}

/* A link as a vector in the picture. */
struct step {
	double x, y;
};

static inline struct step
step_of(double ex, double ey, double h, double v)
{
	return (struct step){h * ex - v * ey, h * ey + v * ex};
}

static inline struct step
first_step(const struct ends *e, int i, int k)
{
	return step_of(e->ex, e->ey, e->first_h, (e->first0 - i + k) * e->dv);
}

static inline struct step
last_step(const struct ends *e, int i, int k)
{
	return step_of(e->fx, e->fy, e->last_h, (e->last0 - i + k) * e->dv);
}

static inline bool
may_follow(const struct chain *c, struct step a, struct step b)
{
	return turn_ok(c->phi, a.x, a.y, b.x, b.y);
}

/*
 * Subtracts the largest of x from all of x, so that sums over long chains keep their digits. Returns that largest value;
 * it is NEVER when all are.
 */
float links_rebase(float *x, int n);

/*
 * Runs all segments in order. Polylines enter by the first links k0..k1 (all when k1 < 0). Where no polyline goes on, the
 * bound is given up at that point, if release allows it. Returns false when no polyline reaches the end.
 */
bool passage_run(struct chain *c, int k0, int k1, bool release);

/*
 * Computes margin of segment k, in margins.c, and leave of the segment before. at and leave of segment k must be there, so
 * the segments are visited from the last one on.
 */
void passage_margin(struct chain *c, int k);

#endif
