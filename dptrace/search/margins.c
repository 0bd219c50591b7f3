/* How much worse the best polyline elsewhere is, guide by guide, from the end of the chain. */
#include <stdlib.h>

#include "dptrace/search/passage.h"

/* The largest H of the first links m -> i of segment s, its number k, that may follow the step a. */
static float
best_out(const struct chain *c, const struct segment *s, int k, int m, struct step a)
{
	const struct ends *e = &c->ends[k];
	const struct gap *gap = &s->gap[0];
	float best = NEVER;

	for (int i = 0; i < e->first[1]; i++) {
		const float h = row_of(gap, gap->H, gap->lds, i - m)[m];
		if (h > best && (c->released[k] || may_follow(c, a, first_step(e, m, i))))
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
			*out++ = abs(p->last0 - i + m) > p->climb
				     ? NEVER
				     : best_out(c, s, k, m, last_step(p, i, m));
	links_rebase(links_of(c, c->leave, k - 1), last_links(p));
}

/* What the best polyline through a sample at least c->apart from at loses against the best one through at. */
static float
margin_at(const struct chain *c, const float *through, int d, int at)
{
	float other = NEVER;

	for (int j = 0; j < d; j++)
		if (abs(j - at) >= c->apart && through[j] > other)
			other = through[j];
	return other > NEVER / 2 ? through[at] - other : INFINITY;
}

void
passage_margin(struct chain *c, int k)
{
	struct segment *s = chain_segment(c, k);
	float *margin = c->margin + (size_t)k * (size_t)c->maxn;

	recur_backward(s, links_of(c, c->leave, k), c->threads);
	margin[0] = margin[s->c.n - 1] = INFINITY;
	for (int g = 1; g < s->c.n - 1; g++)
		margin[g] = margin_at(c, s->through + (size_t)g * (size_t)c->maxd, s->c.d[g],
				      chain_at(c, k)[g]);
	if (k > 0)
		meet_back(c, k);
}
