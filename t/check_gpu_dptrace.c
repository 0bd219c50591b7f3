/* dptrace's kernels: the CPU's bytes, which check_dptrace.c holds to the definition. */
#include <math.h>
#include <string.h>

#include "common/mem.h"
#include "gpu/dptrace.h"
#include "t/check.h"
#include "t/check_gpu.h"

enum { SEGMENTS = 3, GUIDES = 7, SAMPLES = 40 };

/* A chain of tables. */
struct chain_of {
	struct dptrace_table seg[SEGMENTS];
	size_t n;
	bool closed;
	double phi;
	double h[SEGMENTS][GUIDES];
	int d[SEGMENTS][GUIDES], o[SEGMENTS][GUIDES];
	const float *score[SEGMENTS][GUIDES];
	float table[SEGMENTS][GUIDES][SAMPLES * SAMPLES];
};

/* Guides of one size, or each of its own; whole scores, so that many polylines are equally good, or any. */
static void
random_table(struct chain_of *c, size_t s, struct check_rng *r, size_t maxd, bool uneven,
	     bool whole)
{
	const double heading = 2 * M_PI * rng_unit(r), h = .3 + 6 * rng_unit(r);
	const size_t n = 2 + rng_below(r, GUIDES - 1), d = 1 + rng_below(r, maxd);

	c->seg[s] = (struct dptrace_table){.n = n,
					   .dv = .5 + rng_unit(r),
					   .ex = cos(heading),
					   .ey = sin(heading),
					   .h = c->h[s],
					   .d = c->d[s],
					   .o = c->o[s],
					   .score = c->score[s]};
	for (size_t g = 0; g < n; g++) {
		const bool end = g == 0 || g + 1 == n;
		c->d[s][g] = end ? 1 : uneven ? 1 + (int)rng_below(r, maxd) : (int)d;
		c->o[s][g] = end ? 0 : -c->d[s][g] / 2 + (uneven ? (int)rng_below(r, 5) - 2 : 0);
		c->h[s][g] = uneven ? .3 + 6 * rng_unit(r) : h;
	}
	for (size_t g = 0; g + 1 < n; g++) {
		for (int i = 0; i < c->d[s][g] * c->d[s][g + 1]; i++)
			c->table[s][g][i] =
			    whole ? (float)rng_below(r, 5) - 1 : (float)(rng_unit(r) - .3);
		c->score[s][g] = c->table[s][g];
	}
}

/* Whether at is a polyline with that sum at all: where none keeps the bound it holds nothing. */
static bool
is_polyline(const struct chain_of *c, const int *at, double best)
{
	double sum = 0;

	for (size_t s = 0; s < c->n; at += c->seg[s++].n)
		for (size_t g = 0; g + 1 < c->seg[s].n; g++) {
			const int e = c->d[s][g + 1];
			if (at[g] < 0 || at[g] >= c->d[s][g] || at[g + 1] < 0 || at[g + 1] >= e)
				return false;
			sum += (double)c->table[s][g][at[g] * e + at[g + 1]];
		}
	return fabs(sum - best) < 1e-4;
}

/* Both, bit by bit. */
static bool
same_tables(struct gpu *g, const struct chain_of *c, enum gpu_dptrace_method method, bool margins)
{
	int at[2][SEGMENTS * GUIDES] = {{0}};
	double best[2], margin[2][SEGMENTS * GUIDES] = {{0}};
	const int a = dptrace_tables(c->seg, c->n, c->closed, c->phi, 1, at[0], &best[0],
				     margins ? margin[0] : NULL),
		  b = gpu_dptrace_tables(g, c->seg, c->n, c->closed, c->phi, method, at[1],
					 &best[1], margins ? margin[1] : NULL);
	size_t first = 0;

	if (a != b || best[0] != best[1])
		return false;
	if (a == 1 && !is_polyline(c, at[0], best[0]))
		return true;
	for (size_t s = 0; s < c->n; first += c->seg[s++].n)
		for (size_t i = first; i < first + c->seg[s].n; i++)
			if (at[0][i] != at[1][i] ||
			    (margins && memcmp(&margin[0][i], &margin[1][i], sizeof **margin)))
				return false;
	return true;
}

static void
tables_agree(struct gpu *g)
{
	static const double bounds[] = {.1, .35, .8, M_PI / 2, 2.2, M_PI};
	static struct chain_of c;
	struct check_many m = {0};
	struct check_rng r = {41};

	for (int i = 0; i < 150; i++) {
		const bool uneven = i % 3 == 1, whole = i % 2, margins = i % 5 < 3;
		const enum gpu_dptrace_method method =
		    i % 16 == 7 ? GPU_DPTRACE_D3 : GPU_DPTRACE_WINDOW;
		c.n = 1 + rng_below(&r, SEGMENTS);
		c.closed = c.n > 1 && i % 4 == 0;
		c.phi = bounds[i % 6];
		for (size_t s = 0; s < c.n; s++)
			random_table(&c, s, &r, i % 10 ? 12 : SAMPLES, uneven, whole);
		check_order(i % check_orders());
		check_case(&m, same_tables(g, &c, method, margins),
			   "%d: %zu segments, closed %d, phi %g, uneven %d, whole %d, method %d", i,
			   c.n, c.closed, c.phi, uneven, whole, (int)method);
	}
	check_end(&m, "gpu: dptrace, on given tables path, sum and margins are the CPU's");
}

void
check_gpu_dptrace(struct gpu *g)
{
	tables_agree(g);
}
