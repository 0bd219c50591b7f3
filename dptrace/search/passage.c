/* The search from segment to segment. */
#include <stdlib.h>

#include "dptrace/search/passage.h"

void
chain_take(struct chain *c, struct arena *a, int n, int nslot, int maxn, int maxd, int rows,
	   int maxlinks)
{
	const size_t links = (size_t)n * (size_t)maxlinks, nodes = (size_t)n * (size_t)maxn;

	c->n = n;
	c->maxn = maxn;
	c->maxd = maxd;
	c->maxlinks = maxlinks;
	c->nslot = n < nslot ? n : nslot;
	for (int i = 0; i < c->nslot; i++)
		segment_take(&c->slot[i], a, maxn, rows, maxd, c->margins, c->threads);
	c->ends = arena_take(a, (size_t)n, sizeof *c->ends);
	c->entry = arena_take(a, links, sizeof *c->entry);
	c->exit = arena_take(a, links, sizeof *c->exit);
	c->leave = arena_take(a, links, sizeof *c->leave);
	c->released = arena_take(a, (size_t)n, sizeof *c->released);
	c->branch = arena_take(a, 2 * (size_t)maxlinks, sizeof *c->branch);
	c->at = arena_take(a, nodes, sizeof *c->at);
	c->link = arena_take(a, nodes, sizeof *c->link);
	c->margin = arena_take(a, nodes, sizeof *c->margin);
}

static struct ends
ends_of(const struct course *c)
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
	c->ends[k] = ends_of(&(*out)->c);
	return true;
}

struct segment *
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

float
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
		if (in[i * e + m] > best && (released || may_follow(c, last_step(p, i, m), to)))
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
			const bool steep = abs(e->first0 - i + m) > e->climb;
			*out++ = steep
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

bool
passage_run(struct chain *c, int k0, int k1, bool release)
{
	struct segment *s;

	hold(c, 0, &s);
	for (int i = 0; i < first_links(&c->ends[0]); i++)
		c->entry[i] = k1 < 0 || (k0 <= i && i <= k1) ? 0 : NEVER;
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
			if (!release || k == 0 || c->released[k])
				return false;
		}
	}
	return true;
}
