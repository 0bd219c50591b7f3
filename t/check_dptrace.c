/* dptrace: the recursion against brute force and against the paper's, on whole-number tables. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dptrace/dptrace.h"
#include "t/check.h"

enum { MAXSEG = 3, MAXN = 7, MAXD = 15, MAXLINK = MAXSEG * MAXN };

/* A problem small enough to try every polyline. */
struct problem {
	struct dptrace_table seg[MAXSEG];
	size_t nseg;
	bool closed;
	double phi;
	double h[MAXSEG][MAXN];
	int d[MAXSEG][MAXN], o[MAXSEG][MAXN];
	float table[MAXSEG][MAXN][MAXD * MAXD];
	const float *score[MAXSEG][MAXN];
};

static const double bounds[] = {.05, .1, .2, .35, .5, .8, 1.2, M_PI / 2, 1.7, 2.2, 3, M_PI};

static void
random_segment(struct problem *p, size_t s, struct check_rng *r, size_t n, size_t maxd, bool uneven,
	       int values)
{
	const double heading = 2 * M_PI * rng_unit(r);
	struct dptrace_table *t = &p->seg[s];

	*t = (struct dptrace_table){.n = n,
				    .dv = .5 + rng_unit(r),
				    .ex = cos(heading),
				    .ey = sin(heading),
				    .h = p->h[s],
				    .d = p->d[s],
				    .o = p->o[s],
				    .score = p->score[s]};
	const size_t d = 1 + rng_below(r, maxd);
	const double h = .3 + 3 * rng_unit(r);
	for (size_t g = 0; g < n; g++) {
		bool end = g == 0 || g + 1 == n;
		p->d[s][g] = end ? 1 : (int)(uneven ? 1 + rng_below(r, maxd) : d);
		p->o[s][g] = end ? 0 : -p->d[s][g] / 2 + (uneven ? (int)rng_below(r, 5) - 2 : 0);
		p->h[s][g] = uneven ? .3 + 3 * rng_unit(r) : h;
	}
	for (size_t g = 0; g + 1 < n; g++) {
		for (int i = 0; i < p->d[s][g] * p->d[s][g + 1]; i++)
			p->table[s][g][i] =
			    (float)rng_below(r, (size_t)values) - (float)(values / 4);
		p->score[s][g] = p->table[s][g];
	}
}

struct search {
	const struct problem *p;
	size_t s, g;  /* the gap to be chosen next */
	double first; /* the direction of the first link */
	double best;
};

static double
turn(double a, double b)
{
	return fabs(remainder(b - a, 2 * M_PI));
}

static double
heading_of(const struct dptrace_table *t, size_t g, int j, int k)
{
	return atan2(t->ey, t->ex) + atan2((t->o[g + 1] + k - t->o[g] - j) * t->dv, t->h[g]);
}

/* Every polyline that goes on from sample j of guide g of segment s. */
static void
try_all(struct search *q, size_t s, size_t g, int j, double before, double sum)
{
	const struct problem *p = q->p;

	if (s == p->nseg) {
		if ((!p->closed || turn(before, q->first) <= p->phi + 1e-12) && sum > q->best)
			q->best = sum;
		return;
	}
	const struct dptrace_table *t = &p->seg[s];
	for (int k = 0; k < t->d[g + 1]; k++) {
		double here = heading_of(t, g, j, k);
		bool start = s == 0 && g == 0, end = g + 2 == t->n;
		if (start)
			q->first = here;
		else if (turn(before, here) > p->phi + 1e-12)
			continue;
		try_all(q, end ? s + 1 : s, end ? 0 : g + 1, end ? 0 : k, here,
			sum + (double)t->score[g][j * t->d[g + 1] + k]);
	}
}

/* The sum of the polyline at, or NaN when it breaks the bound. */
static double
sum_of(const struct problem *p, const int *at)
{
	double sum = 0, before = NAN, first = NAN;

	for (size_t s = 0; s < p->nseg; at += p->seg[s++].n) {
		const struct dptrace_table *t = &p->seg[s];
		for (size_t g = 0; g + 1 < t->n; g++) {
			if (at[g] < 0 || at[g] >= t->d[g])
				return NAN;
			double here = heading_of(t, g, at[g], at[g + 1]);
			if (isnan(before))
				first = here;
			else if (turn(before, here) > p->phi + 1e-9)
				return NAN;
			before = here;
			sum += (double)t->score[g][at[g] * t->d[g + 1] + at[g + 1]];
		}
	}
	return p->closed && turn(before, first) > p->phi + 1e-9 ? NAN : sum;
}

static void
compare(struct check_many *brute, struct check_many *paper, struct check_many *legal,
	struct problem *p)
{
	struct search q = {.p = p, .best = -INFINITY};
	int at[MAXLINK], at2[MAXLINK];
	double best, direct = -INFINITY;
	int r = dptrace_tables(p->seg, p->nseg, p->closed, p->phi, 1, at, &best, NULL);

	try_all(&q, 0, 0, 0, 0, 0);
	check_case(brute, r == (q.best == -INFINITY),
		   "phi %g, %zu segments: given up %d, brute force finds %g", p->phi, p->nseg, r,
		   q.best);
	if (!p->closed) {
		int r2 = dptrace_direct(p->seg, p->nseg, p->phi, at2, &direct);
		check_case(paper,
			   r2 == (q.best == -INFINITY) && direct == q.best &&
			       (r2 || sum_of(p, at2) == direct),
			   "phi %g: %g for %g", p->phi, direct, q.best);
	}
	if ((q.best == -INFINITY))
		return;
	check_case(brute, best == q.best, "phi %g n %zu segments %zu: %g for %g", p->phi,
		   p->seg[0].n, p->nseg, best, q.best);
	check_case(legal, sum_of(p, at) == best, "phi %g: the polyline sums to %g, not %g", p->phi,
		   sum_of(p, at), best);
}

static void
check_tables(void)
{
	struct check_many brute = {0}, paper = {0}, legal = {0};
	struct check_rng r = {1};
	static struct problem p;

	for (int i = 0; i < 6000; i++) {
		size_t n = 2 + rng_below(&r, 5), maxd = n < 5 ? MAXD : n == 5 ? 9 : 6;
		p.nseg = i % 3 ? 1 : 2 + rng_below(&r, 2);
		p.closed = p.nseg > 1 && i % 2;
		p.phi = bounds[rng_below(&r, sizeof bounds / sizeof *bounds)];
		if (p.nseg > 1) {
			n = 2 + rng_below(&r, 2);
			maxd = 6;
		}
		for (size_t s = 0; s < p.nseg; s++)
			random_segment(&p, s, &r, n, maxd, i % 4 < 2, i % 5 ? 64 : 3);
		compare(&brute, &paper, &legal, &p);
	}
	check_end(&brute, "the optimum is that of brute force: uneven spacings and samples, phi "
			  ".05 to pi, chains, closed");
	check_end(&paper, "the paper's recursion finds the same");
	check_end(&legal, "the polyline keeps the bound and sums to the optimum");
}

void
check_dptrace(void)
{
	check_tables();
}
