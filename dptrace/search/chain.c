/* The whole search: from segment to segment, and back. */
#include <stdlib.h>
#include <string.h>

#include "dptrace/search/chain.h"

/* The part of entry, exit or leave that belongs to segment k. */
static inline float *
links_of(const struct chain *c, float *base, int k)
{
	return base + c->door[k];
}

/* ---- passages ---- */

void
chain_take(struct chain *c, struct arena *a, int n, int nslot, int maxn, int maxd, int rows,
	   size_t nodes, size_t links)
{
	c->n = n;
	c->maxn = maxn;
	c->maxd = maxd;
	c->nslot = n < nslot ? n : nslot;
	for (int i = 0; i < c->nslot; i++)
		segment_take(&c->slot[i], a, maxn, rows, maxd, c->margins, c->threads);
	c->ends = arena_take(a, (size_t)n, sizeof *c->ends);
	c->door = arena_take(a, (size_t)n, sizeof *c->door);
	c->entry = arena_take(a, links, sizeof *c->entry);
	c->exit = arena_take(a, links, sizeof *c->exit);
	c->leave = arena_take(a, links, sizeof *c->leave);
	c->released = arena_take(a, (size_t)n, sizeof *c->released);
	c->at = arena_take(a, nodes, sizeof *c->at);
	c->link = arena_take(a, nodes, sizeof *c->link);
	c->margin = arena_take(a, nodes, sizeof *c->margin);
}

struct ends
chain_ends(const struct course *c)
{
	const int n = c->n;

	return (struct ends){.ex = c->ex,
			     .ey = c->ey,
			     .fx = c->fx,
			     .fy = c->fy,
			     .dv = c->dv,
			     .first_h = c->h[0],
			     .last_h = c->h[n - 2],
			     .first = {c->d[0], c->d[1]},
			     .last = {c->d[n - 2], c->d[n - 1]},
			     .first0 = c->o[1] - c->o[0],
			     .last0 = c->o[n - 1] - c->o[n - 2],
			     .climb = course_climb(c)};
}

/* Puts segment k into its slot, with its course and windows. Returns true when it had to be loaded. */
static bool
hold(struct chain *c, int k, struct segment **out)
{
	const int i = k % c->nslot;

	*out = &c->slot[i];
	if (c->held[i] == k)
		return false;
	c->held[i] = k;
	c->load(c, k, *out);
	(*out)->c.maxd = c->maxd;
	segment_shape(*out, c->phi);
	c->ends[k] = chain_ends(&(*out)->c);
	return true;
}

/* Segment k with its sums F. It is loaded and computed again if another segment took its slot. */
static struct segment *
chain_segment(struct chain *c, int k)
{
	struct segment *s;

	if (hold(c, k, &s))
		recur_forward(s, links_of(c, c->entry, k), c->method, c->threads);
	return s;
}

static float
largest(const float *x, int n)
{
	float m = NEVER;

	for (int i = 0; i < n; i++)
		m = x[i] > m ? x[i] : m;
	return m;
}

/*
 * Subtracts the largest of x from all of x, so that sums over long chains keep their digits. Returns that largest value;
 * it is NEVER when all are.
 */
static float
links_rebase(float *x, int n)
{
	float m = largest(x, n);

	if (m > NEVER / 2)
		for (int i = 0; i < n; i++)
			x[i] = x[i] > NEVER / 2 ? x[i] - m : NEVER;
	return m;
}

/*
 * The largest of the sums in[i e + m] of the last links i -> m of p, those whose step may be followed by the step to, or
 * of all of them where the bound is released.
 */
static float
best_into(const struct chain *c, const struct ends *p, const float *in, int m, struct step to,
	  bool released)
{
	const int e = p->last[1];
	float best = NEVER;

	for (int i = 0; i < p->last[0]; i++)
		if (in[i * e + m] > best &&
		    (released || may_follow(c->phi, last_step(p, i, m), to)))
			best = in[i * e + m];
	return best;
}

/* Computes entry[k] from exit[k-1]. */
static void
meet(struct chain *c, int k)
{
	const struct ends *p = &c->ends[k - 1], *e = &c->ends[k];
	const float *in = links_of(c, c->exit, k - 1);
	float *out = links_of(c, c->entry, k);

	for (int i = 0; i < e->first[0]; i++)
		for (int m = 0; m < e->first[1]; m++) {
			*out++ = is_steep(e, e->first0, i, m)
				     ? NEVER
				     : best_into(c, p, in, i, first_step(e, i, m), c->released[k]);
		}
}

/* Runs segment k from its entry to its exit. Returns the largest sum at its exit. */
static float
pass(struct chain *c, int k)
{
	struct segment *s;
	const struct gap *last;
	float *out = links_of(c, c->exit, k);

	hold(c, k, &s);
	recur_forward(s, links_of(c, c->entry, k), c->method, c->threads);
	last = &s->gap[s->c.n - 2];
	for (int i = 0; i < c->ends[k].last[0]; i++)
		for (int m = 0; m < c->ends[k].last[1]; m++)
			*out++ = row_of(last, last->F, last->ldf, m - i)[m];
	return largest(links_of(c, c->exit, k), last_links(&c->ends[k]));
}

/*
 * Runs all segments in order. Where no polyline goes on, the bound is given up at that point. Returns false when no polyline
 * reaches the end.
 */
static bool
passage_run(struct chain *c)
{
	struct segment *s;

	hold(c, 0, &s);
	for (int i = 0; i < first_links(&c->ends[0]); i++)
		c->entry[i] = 0;
	c->best = 0;
	for (int k = 0; k < c->n; k++) {
		hold(c, k, &s);
		for (;; c->released[k] = true) {
			if (k > 0)
				meet(c, k);
			float top =
			    links_rebase(links_of(c, c->entry, k), first_links(&c->ends[k]));
			if (pass(c, k) > NEVER / 2) {
				c->best += (double)top;
				break;
			}
			if (k == 0 || c->released[k])
				return false;
		}
	}
	return true;
}

/* ---- margins: how much worse the best polyline elsewhere is, guide by guide, from the end of the chain ---- */

/* The largest H of the first links m -> i of segment s, its number k, that may follow the step a. */
static float
best_out(const struct chain *c, const struct segment *s, int k, int m, struct step a)
{
	const struct ends *e = &c->ends[k];
	const struct gap *gap = &s->gap[0];
	float best = NEVER;

	for (int i = 0; i < e->first[1]; i++) {
		const float h = row_of(gap, gap->H, gap->lds, i - m)[m];
		if (h > best && (c->released[k] || may_follow(c->phi, a, first_step(e, m, i))))
			best = h;
	}
	return best;
}

/* Computes leave[k-1] from the first links of segment k. H of its gap 0 must be there. */
static void
meet_back(struct chain *c, int k)
{
	const struct segment *s = chain_segment(c, k);
	const struct ends *p = &c->ends[k - 1];
	float *out = links_of(c, c->leave, k - 1);

	for (int i = 0; i < p->last[0]; i++)
		for (int m = 0; m < p->last[1]; m++)
			*out++ = is_steep(p, p->last0, i, m)
				     ? NEVER
				     : best_out(c, s, k, m, last_step(p, i, m));
	links_rebase(links_of(c, c->leave, k - 1), last_links(p));
}

/*
 * Computes margin of segment k and leave of the segment before. at and leave of segment k must be there, so
 * the segments are visited from the last one on.
 */
static void
passage_margin(struct chain *c, int k)
{
	struct segment *s = chain_segment(c, k);
	float *margin = c->margin + c->node[k];

	recur_backward(s, links_of(c, c->leave, k), c->threads);
	margin[0] = margin[s->c.n - 1] = INFINITY;
	for (int g = 1; g < s->c.n - 1; g++) {
		const float *through = s->through + (size_t)g * (size_t)c->maxd;
		const int at = chain_at(c, k)[g];
		float other = NEVER;
		for (int j = 0; j < s->c.d[g]; j++)
			if (abs(j - at) >= c->apart && through[j] > other)
				other = through[j];
		margin[g] = other > NEVER / 2 ? through[at] - other : INFINITY;
	}
	if (k > 0)
		meet_back(c, k);
}

/* ---- chains ---- */

/* The best last link of segment k before the step next from sample start (NULL: the chain ends). */
static int
best_last(const struct chain *c, int k, const struct step *next, int start)
{
	const struct ends *e = &c->ends[k];
	const struct step along = {e->fx, e->fy}, to = next ? *next : along;
	const bool free = !next || c->released[k + 1];
	const float *sum = links_of(c, c->exit, k);
	struct choice best = {2 * NEVER, -INFINITY, 0, 0};

	for (int link = 0; link < last_links(e); link++) {
		const int i = link / e->last[1], m = link % e->last[1];
		if (sum[link] < best.sum || (next && m != start))
			continue;
		if (!free && !may_follow(c->phi, last_step(e, i, m), to))
			continue;
		const struct choice by = last_choice(e, i, m, sum[link], to);
		if (is_better(&by, &best))
			best = by;
	}
	return best.link;
}

/* Fills at and link of all segments, and margin where it is asked for. One sweep from the end serves them all. */
static void
trace_back(struct chain *c)
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
		for (int g = 0; g < n - 1; g++) {
			float room[GROUP];
			s->score(s, g, at[g + 1] - at[g], at[g], 0, GROUP, room);
			c->link[c->node[k] + (size_t)g] = room[0];
		}
		start = at[0];
		next = first_step(&c->ends[k], at[0], at[1]);
		if (c->margins)
			passage_margin(c, k);
	}
}

bool
chain_solve(struct chain *c)
{
	for (int i = 0; i < c->nslot; i++)
		c->held[i] = -1;
	memset(c->released, 0, (size_t)c->n * sizeof *c->released);
	if (!passage_run(c))
		return false;
	const struct ends *e = &c->ends[c->n - 1];
	c->best += (double)largest(links_of(c, c->exit, c->n - 1), last_links(e));
	for (int i = 0; i < last_links(e); i++)
		links_of(c, c->leave, c->n - 1)[i] = 0;
	trace_back(c);
	return true;
}
