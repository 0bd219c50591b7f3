/*
 * The definition: the recursion as Seredin states it. For every link it finds the best polyline that ends with this link,
 * and takes the maximum anew over all links before it. The guides of all segments stand in one row. Where a segment ends,
 * the next one begins on the same sample. Below them stands the cheapest way over a grid of cells.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "dptrace/dptrace.h"
#include "dptrace/search/segment.h"

/* The direction of the link from sample j to sample k of gap g, an angle in the picture. */
static double
direction(const struct dptrace_table *t, size_t g, int j, int k)
{
	double v = (t->o[g + 1] + k - t->o[g] - j) * t->dv;

	return atan2(t->ey, t->ex) + atan2(v, t->h[g]);
}

static bool
admissible(double before, double after, double phi)
{
	return fabs(remainder(after - before, 2 * M_PI)) <= phi + 1e-12;
}

/* The links of one gap between guides. */
struct link {
	const struct dptrace_table *t;
	size_t g;
	double *best; /* [d][e]: the best sum of a polyline that ends with the link j -> k */
	int *from;    /* [d][e]: the sample before j; -1: none */
};

/* Fills gap l from the gap before, p (NULL: l is the first gap). */
static void
extend(const struct link *p, const struct link *l, double phi)
{
	const int d = l->t->d[l->g], e = l->t->d[l->g + 1];

	for (int j = 0; j < d; j++)
		for (int k = 0; k < e; k++) {
			size_t at = (size_t)(j * e + k);
			l->best[at] = p ? -INFINITY : 0;
			l->from[at] = -1;
			for (int i = 0; p && i < p->t->d[p->g]; i++) {
				double before = p->best[i * p->t->d[p->g + 1] + j];
				if (before > l->best[at] &&
				    admissible(direction(p->t, p->g, i, j),
					       direction(l->t, l->g, j, k), phi)) {
					l->best[at] = before;
					l->from[at] = i;
				}
			}
			l->best[at] += (double)l->t->score[l->g][at];
		}
}

/*
 * Traces the best polyline back through n gaps. at receives the sample at the start of each link, and at the end of each
 * segment. Returns 1 when there is no polyline.
 */
static int
follow(const struct link *l, size_t n, int *at, double *best)
{
	const struct dptrace_table *last = l[n - 1].t;
	const int e = last->d[last->n - 1];
	int k = 0, j = 0, *end = at;

	*best = -INFINITY;
	for (int i = 0; i < last->d[last->n - 2] * e; i++)
		if (l[n - 1].best[i] > *best) {
			*best = l[n - 1].best[i];
			j = i / e;
			k = i % e;
		}
	if (isinf(*best))
		return 1;
	for (size_t m = 0; m < n; m++)
		end += l[m].g == 0 ? 2 : 1;
	for (size_t m = n; m-- > 0;) {
		if (l[m].g + 2 == l[m].t->n)
			*--end = k;
		*--end = j;
		const int i = l[m].from[j * l[m].t->d[l[m].g + 1] + k];
		k = j;
		j = i;
	}
	return 0;
}

int
dptrace_direct(const struct dptrace_table *seg, size_t nseg, double phi, int *at, double *best)
{
	size_t gaps = 0, n = 0;
	struct link *l;
	int r = -ENOMEM;

	for (size_t s = 0; s < nseg; s++)
		gaps += seg[s].n - 1;
	if (!(l = weir_calloc(gaps, sizeof *l)))
		return r;
	for (size_t s = 0; s < nseg; s++)
		for (size_t g = 0; g + 1 < seg[s].n; g++, n++) {
			size_t links = (size_t)(seg[s].d[g] * seg[s].d[g + 1]);
			l[n] = (struct link){&seg[s], g, weir_alloc(links, sizeof(double)),
					     weir_alloc(links, sizeof(int))};
			if (!l[n].best || !l[n].from)
				goto out;
			extend(n ? &l[n - 1] : NULL, &l[n], phi);
		}
	r = follow(l, gaps, at, best);
out:
	for (n = 0; n < gaps; n++) {
		weir_free(l[n].best);
		weir_free(l[n].from);
	}
	weir_free(l);
	return r;
}

/* Lowers the sum of cell i to that of a way over one of its neighbours. Returns whether it fell. */
static bool
lower_sum(const uint8_t *cost, int w, int h, int i, uint32_t *sum)
{
	const int x = i % w, y = i / w;
	bool fell = false;

	for (int ny = y - 1; ny <= y + 1; ny++)
		for (int nx = x - 1; nx <= x + 1; nx++) {
			const int j = ny * w + nx, length = nx == x || ny == y ? 5 : 7;
			if (nx < 0 || ny < 0 || nx >= w || ny >= h || j == i ||
			    sum[j] == UINT32_MAX)
				continue;
			const uint32_t over = sum[j] + (uint32_t)(length * (cost[i] + cost[j]));
			if (over < sum[i]) {
				sum[i] = over;
				fell = true;
			}
		}
	return fell;
}

int
dptrace_direct_way(const uint8_t *cost, int w, int h, int from, int to, uint32_t *sum)
{
	const int n = w * h;
	uint32_t *all = weir_alloc((size_t)n, sizeof *all);
	bool fell = true;

	if (!all)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		all[i] = i == from ? 0 : UINT32_MAX;
	while (fell) {
		fell = false;
		for (int i = 0; i < n; i++)
			fell |= lower_sum(cost, w, h, i, all);
	}
	*sum = all[to];
	weir_free(all);
	return 0;
}
