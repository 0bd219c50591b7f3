/*
 * dptrace: the recursion against brute force and against the paper's, on whole-number tables.
 */
#include "t/check_dptrace.h"

enum { MAXD = 15, MAXLINK = CHAIN_SEGMENTS * CHAIN_GUIDES };

static const double bounds[] = {.05, .1, .2, .35, .5, .8, 1.2, M_PI / 2, 1.7, 2.2, 3, M_PI};

struct search {
	const struct check_chain *p;
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
	const struct check_chain *p = q->p;

	if (s == p->nseg) {
		q->best = sum > q->best ? sum : q->best;
		return;
	}
	const struct dptrace_table *t = &p->seg[s];
	for (int k = 0; k < t->d[g + 1]; k++) {
		double here = heading_of(t, g, j, k);
		const bool end = g + 2 == t->n;
		if ((s || g) && turn(before, here) > p->phi + 1e-12)
			continue;
		try_all(q, end ? s + 1 : s, end ? 0 : g + 1, k, here,
			sum + (double)t->score[g][j * t->d[g + 1] + k]);
	}
}

/* Finds the best sum of all polylines from each sample of the first guide. */
static void
try_starts(struct search *q)
{
	for (int start = 0; start < q->p->seg[0].d[0]; start++)
		try_all(q, 0, 0, start, 0, 0);
}

/* The sum of the polyline at, or NaN when it breaks the bound or where its segments do not meet. */
static double
sum_of(const struct check_chain *p, const int *at)
{
	double sum = 0, before = NAN;
	int here_at = at[0];

	for (size_t s = 0; s < p->nseg; at += p->seg[s++].n) {
		const struct dptrace_table *t = &p->seg[s];
		if (at[0] != here_at)
			return NAN;
		here_at = at[t->n - 1];
		for (size_t g = 0; g + 1 < t->n; g++) {
			if (at[g] < 0 || at[g] >= t->d[g])
				return NAN;
			double here = heading_of(t, g, at[g], at[g + 1]);
			if (!isnan(before) && turn(before, here) > p->phi + 1e-9)
				return NAN;
			before = here;
			sum += (double)t->score[g][at[g] * t->d[g + 1] + at[g + 1]];
		}
	}
	return sum;
}

static void
compare(struct check_many *brute, struct check_many *paper, struct check_many *legal,
	struct check_chain *p)
{
	struct search q = {.p = p, .best = -INFINITY};
	int at[MAXLINK], at2[MAXLINK];
	double best, direct = -INFINITY;
	int r = dptrace_tables(p->seg, p->nseg, p->phi, DPTRACE_WINDOW, 1, at, &best, NULL);

	try_starts(&q);
	const bool none = q.best == -INFINITY;
	check_case(brute, r == none, "phi %g, %zu segments: given up %d, brute force finds %g",
		   p->phi, p->nseg, r, q.best);
	const int r2 = dptrace_direct(p->seg, p->nseg, p->phi, at2, &direct);
	check_case(paper, r2 == none && direct == q.best && (r2 || sum_of(p, at2) == direct),
		   "phi %g: %g for %g", p->phi, direct, q.best);
	if (none)
		return;
	check_case(brute, best == q.best, "phi %g n %zu segments %zu: %g for %g", p->phi,
		   p->seg[0].n, p->nseg, best, q.best);
	check_case(legal, sum_of(p, at) == best, "phi %g: the polyline sums to %g, not %g", p->phi,
		   sum_of(p, at), best);
}

/* Whether both methods give the same polyline, sum and margins. */
static void
compare_methods(struct check_many *m, const struct dptrace_table *seg, size_t nseg, double phi)
{
	int at[2][MAXLINK] = {{0}}, r[2];
	double best[2] = {0}, margin[2][MAXLINK] = {{0}};

	for (int i = 0; i < 2; i++)
		r[i] = dptrace_tables(seg, nseg, phi, i ? DPTRACE_D3 : DPTRACE_WINDOW, 1, at[i],
				      &best[i], margin[i]);
	check_case(m,
		   r[0] == r[1] && best[0] == best[1] && !memcmp(at[0], at[1], sizeof at[0]) &&
		       !memcmp(margin[0], margin[1], sizeof margin[0]),
		   "phi %g n %zu segments %zu: %g for %g", phi, seg->n, nseg, best[1], best[0]);
}

static void
check_tables(void)
{
	struct check_many brute = {0}, paper = {0}, legal = {0}, methods = {0};
	struct check_rng r = {1};
	static struct check_chain p;

	for (int i = 0; i < 6000; i++) {
		size_t n = 2 + rng_below(&r, 5), maxd = n < 5 ? MAXD : n == 5 ? 9 : 6;
		p.nseg = i % 3 ? 1 : 2 + rng_below(&r, 2);
		p.phi = bounds[rng_below(&r, sizeof bounds / sizeof *bounds)];
		if (p.nseg > 1) {
			n = 2 + rng_below(&r, 2);
			maxd = 6;
		}
		const struct check_shape of = {n, 1, maxd, i % 4 < 2, i % 5 ? 64 : 3};
		check_chain(&p, &r, &of);
		compare(&brute, &paper, &legal, &p);
		compare_methods(&methods, p.seg, p.nseg, p.phi);
		check_free();
	}
	check_end(&brute, "the optimum is that of brute force: uneven spacings and samples, phi "
			  ".05 to pi, chains, free ends");
	check_end(&paper, "the paper's recursion finds the same");
	check_end(&legal, "the polyline keeps the bound and sums to the optimum");
	check_end(&methods,
		  "the method d3 gives the polyline, sum and margins of the method window");
}

/* --- problems of several blocks ---------------------------------------------------------------------------------- */

static void
check_large(void)
{
	static const size_t widths[] = {63, 65, 129, 191};
	struct check_many same = {0}, threads = {0}, methods = {0};
	struct check_rng r = {2};
	static const int ends[2] = {1, 1};
	static struct check_chain c;
	struct check_shape of = {CHAIN_GUIDES, 801, 801, false, 4, 400};

	check_segment(&c, 0, &r, &of, ends);
	for (int t = 1; t <= 3; t++) {
		int at[2][CHAIN_GUIDES];
		double best[2], margin[2][CHAIN_GUIDES];
		dptrace_tables(c.seg, 1, .5, DPTRACE_WINDOW, 1, at[0], &best[0], margin[0]);
		dptrace_tables(c.seg, 1, .5, DPTRACE_WINDOW, t, at[1], &best[1], margin[1]);
		check_case(&threads, !memcmp(at[0], at[1], sizeof at[0]) && best[0] == best[1],
			   "%d threads", t);
		check_case(&threads, !memcmp(margin[0], margin[1], sizeof margin[0]),
			   "%d threads: margins", t);
	}
	check_end(
	    &threads,
	    "with ties everywhere, any number of threads finds the same polyline and margins");
	for (size_t i = 0; i < 12; i++) {
		int at[CHAIN_GUIDES], at2[CHAIN_GUIDES];
		double best, direct;
		const double phi = bounds[1 + i % 8];
		of.most = widths[i % 4];
		of.least = i < 4 ? of.most : of.most / 2;
		of.uneven = i >= 4;
		of.values = i % 3 ? 1000 : 4;
		of.apart = .5 * (double)of.most;
		check_segment(&c, 0, &r, &of, ends);
		dptrace_tables(c.seg, 1, phi, DPTRACE_WINDOW, 1, at, &best, NULL);
		dptrace_direct(c.seg, 1, phi, at2, &direct);
		check_case(&same, best == direct, "d %zu phi %g: %g for %g", widths[i % 4], phi,
			   best, direct);
		compare_methods(&methods, c.seg, 1, phi);
		check_free();
	}
	check_end(
	    &same,
	    "blocks of samples meet: d from 63 to 191 finds what the paper's recursion finds");
	check_end(&methods,
		  "blocks of samples meet: the method d3 gives what the method window gives");
}

/* --- margins ------------------------------------------------------------------------------------------------------ */

/* The best sum of a polyline that avoids sample `without` of guide g of segment s, or that meets it. */
static double
best_avoiding(struct check_chain *p, size_t s, size_t g, int without)
{
	struct search w = {.p = p, .best = -INFINITY};
	const size_t n = (size_t)p->d[s][g + 1];
	float *const row = p->table[s][g] + (size_t)without * n, kept[MAXD];

	memcpy(kept, row, n * sizeof *row);
	for (size_t k = 0; k < n; k++)
		row[k] = -1e6f;
	try_starts(&w);
	memcpy(row, kept, n * sizeof *row);
	return w.best < -1e5 ? -INFINITY : w.best;
}

static void
check_margins(struct check_many *m, struct check_rng *r, size_t i)
{
	static struct check_chain p;
	int at[MAXLINK];
	double best, margin[MAXLINK];

	p.nseg = 1 + (size_t)(i % 3 == 2);
	p.phi = bounds[2 + rng_below(r, 10)];
	const struct check_shape of = {p.nseg > 1 ? 3 : 5, 1, p.nseg > 1 ? 6 : 8, i % 2, 64};
	check_chain(&p, r, &of);
	if (dptrace_tables(p.seg, p.nseg, p.phi, DPTRACE_WINDOW, 1, at, &best, margin))
		return;
	for (size_t s = 0, k = 0; s < p.nseg; k += p.seg[s++].n)
		for (size_t g = 1; g + 1 < p.seg[s].n; g++) {
			double want = best - best_avoiding(&p, s, g, at[k + g]);
			check_case(m, margin[k + g] == want, "phi %g guide %zu: %g for %g", p.phi,
				   g, margin[k + g], want);
		}
}

void
check_dptrace(void)
{
	check_tables();
	check_large();
	check_each(
	    "a margin is what the best polyline through another sample loses, by brute force", 300,
	    3, check_margins);
	check_dptrace_scores();
	check_dptrace_traces();
	check_dptrace_ways();
}
