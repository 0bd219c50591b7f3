/* The whole search: closed chains by branch and bound, and the way back. */
#include <stdlib.h>
#include <string.h>

#include "dptrace/search/passage.h"

/* Says whether one of the first links k0..k1, from sample m, may follow the step by which a closed chain ends there. */
static bool
may_close(const struct chain *c, struct step s, int m, int k0, int k1)
{
	const struct ends *f = &c->ends[0];
	const int d = f->first[1], from = m * d > k0 ? m * d : k0,
		  to = m * d + d - 1 < k1 ? m * d + d - 1 : k1;

	for (int k = from; k <= to; k++)
		if (c->released[0] || may_follow(c, s, first_step(f, m, k - m * d)))
			return true;
	return false;
}

/* Computes leave of the last segment: 0, or NEVER where no first link k0..k1 of a closed chain may follow. */
static void
close_up(struct chain *c, int k0, int k1)
{
	const struct ends *e = &c->ends[c->n - 1];
	float *leave = links_of(c, c->leave, c->n - 1);

	for (int i = 0; i < e->last[0]; i++)
		for (int m = 0; m < e->last[1]; m++)
			*leave++ =
			    k1 < 0 || may_close(c, last_step(e, i, m), m, k0, k1) ? 0 : NEVER;
}

/* A last link: its sum, how straight it goes on, how far from the middle it ends, and its entry. */
struct choice {
	float sum;
	double straight;
	int aside, link;
};

/* Says whether a is better than b. Ties go to the straightest link, then to the middle of the last guide. */
static bool
is_better(const struct choice *a, const struct choice *b)
{
	if (a->sum != b->sum)
		return a->sum > b->sum;
	if (a->straight != b->straight)
		return a->straight > b->straight;
	return a->aside < b->aside;
}

/*
 * The best last link of segment k before the step next from sample start (NULL: the chain ends). Ties that is_better()
 * leaves go to the lowest link.
 */
static int
best_last(const struct chain *c, int k, const struct step *next, int start)
{
	const struct ends *e = &c->ends[k];
	const struct step along = {e->fx, e->fy}, *to = next ? next : &along;
	const bool free = !next || c->released[k + 1];
	const float *sum = links_of(c, c->exit, k), *leave = links_of(c, c->leave, k);
	struct choice best = {2 * NEVER, -INFINITY, 0, 0};

	for (int link = 0; link < last_links(e); link++) {
		const int i = link / e->last[1], m = link % e->last[1];
		const float f = next ? sum[link] : sum[link] + leave[link];
		if (f < best.sum || (next && m != start))
			continue;
		const struct step s = last_step(e, i, m);
		if (!free && !may_follow(c, s, *to))
			continue;
		const double cosine = (s.x * to->x + s.y * to->y) / sqrt(s.x * s.x + s.y * s.y);
		const struct choice by = {f, cosine, abs(2 * m + 1 - e->last[1]), link};
		if (is_better(&by, &best))
			best = by;
	}
	return best.link;
}

static void
score_links(struct chain *c, int k, const struct segment *s)
{
	const int *at = chain_at(c, k);
	float *link = c->link + (size_t)k * (size_t)c->maxn, room[GROUP];

	for (int g = 0; g < s->c.n - 1; g++) {
		s->score(s, g, at[g + 1] - at[g], at[g], 0, GROUP, room);
		link[g] = room[0];
	}
}

/* Fills at and link of all segments, and margin where it is asked for. One sweep from the end serves them all. */
static void
trace_back(struct chain *c, bool margins)
{
	struct step next;
	int start = 0;

	for (int k = c->n - 1; k >= 0; k--) {
		const struct segment *s = chain_segment(c, k);
		int *at = chain_at(c, k), n = s->c.n;

		const int link = best_last(c, k, k == c->n - 1 ? NULL : &next, start);
		at[n - 1] = link % s->c.d[n - 1];
		at[n - 2] = link / s->c.d[n - 1];
		recur_trace(s, at);
		score_links(c, k, s);
		start = at[0];
		next = first_step(&c->ends[k], at[0], at[1]);
		if (margins)
			passage_margin(c, k);
	}
}

/* The largest sum of a polyline through the whole chain, with leave of the last segment; NEVER when there is none. */
static double
reached(const struct chain *c)
{
	const float *sum = links_of(c, c->exit, c->n - 1), *leave = links_of(c, c->leave, c->n - 1);
	float top = NEVER;

	for (int j = 0; j < last_links(&c->ends[c->n - 1]); j++)
		top = sum[j] + leave[j] > top ? sum[j] + leave[j] : top;
	return top > NEVER / 2 ? c->best + (double)top : (double)NEVER;
}

/*
 * Solves a closed chain for the first links b->k0..b->k1, and sets b->bound. Returns true when the closing turn of the
 * optimum is admissible.
 */
static bool
try_branch(struct chain *c, struct branch *b)
{
	bool through = passage_run(c, b->k0, b->k1, false);

	close_up(c, b->k0, b->k1);
	b->bound = through ? reached(c) : (double)NEVER;
	if (b->bound <= (double)NEVER / 2)
		return false;
	trace_back(c, false);

	const struct segment *s = chain_segment(c, c->n - 1);
	const int *first = chain_at(c, 0), *last = chain_at(c, c->n - 1) + s->c.n - 2;
	return last[1] == first[0] &&
	       (c->released[0] || may_follow(c, last_step(&c->ends[c->n - 1], last[0], last[1]),
					     first_step(&c->ends[0], first[0], first[1])));
}

/*
 * Solves a closed chain, whose turn at its start is bounded too, by branch and bound over its first link. A range of first
 * links allows every last link that any of them allows. So the optimum over the range is an upper bound. It is exact when
 * the turn between its own last and first link is admissible. The range of the largest bound is halved until that is so.
 * Returns the range that holds the optimum, or one with k1 < 0 when there is no admissible polyline.
 */
static struct branch
close_best(struct chain *c)
{
	int n = 1;

	c->branch[0] = (struct branch){0, first_links(&c->ends[0]) - 1, 0};
	if (try_branch(c, &c->branch[0]))
		return c->branch[0];
	for (;;) {
		int i = 0;
		for (int m = 1; m < n; m++)
			if (c->branch[m].bound > c->branch[i].bound)
				i = m;
		struct branch b = c->branch[i];
		if (b.bound <= (double)NEVER / 2)
			return (struct branch){0, -1, 0};
		if (b.k0 == b.k1 || try_branch(c, &b))
			return b;
		c->branch[i] = (struct branch){b.k0, (b.k0 + b.k1) / 2, 0};
		c->branch[n] = (struct branch){(b.k0 + b.k1) / 2 + 1, b.k1, 0};
		try_branch(c, &c->branch[i]);
		try_branch(c, &c->branch[n++]);
	}
}

bool
chain_solve(struct chain *c)
{
	struct branch b = {0, -1, 0};

	for (int i = 0; i < c->nslot; i++)
		c->held[i] = -1;
	memset(c->released, 0, (size_t)c->n * sizeof *c->released);
	if (c->closed && passage_run(c, 0, -1, true)) {
		b = close_best(c);
		if (b.k1 < 0) {
			c->released[0] = true;
			b = close_best(c);
		}
	}
	if (!passage_run(c, b.k0, b.k1, true))
		return false;
	close_up(c, b.k0, b.k1);
	c->best = reached(c);
	trace_back(c, c->margins);
	return true;
}
