/* dptrace's recursion on given tables: the CPU's bytes, which check_dptrace.c holds to the definition. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "gpu/dptrace/dptrace.h"
#include "t/check.h"
#include "t/check_gpu.h"

enum { SEGMENTS = 3, GUIDES = 7, SAMPLES = 40, WIDE_SAMPLES = 67 };

/* A chain of tables. */
struct chain_of {
	struct dptrace_table seg[SEGMENTS];
	size_t n;
	bool uneven;
	double phi;
	double h[SEGMENTS][GUIDES];
	int d[SEGMENTS][GUIDES], o[SEGMENTS][GUIDES];
	const float *score[SEGMENTS][GUIDES];
	float table[SEGMENTS][GUIDES][WIDE_SAMPLES * WIDE_SAMPLES];
};

/* Guides of one size, or each of its own; whole scores, so that many polylines are equally good, or any. */
static void
random_table(struct chain_of *c, size_t s, struct check_rng *r, size_t mind, size_t maxd,
	     bool uneven, bool whole, const int ends[2])
{
	const double heading = 2 * M_PI * rng_unit(r), h = .3 + 6 * rng_unit(r);
	const size_t n = 2 + rng_below(r, GUIDES - 1), d = mind + rng_below(r, maxd - mind + 1);

	c->seg[s] = (struct dptrace_table){.n = n,
					   .dv = .5 + rng_unit(r),
					   .ex = cos(heading),
					   .ey = sin(heading),
					   .h = c->h[s],
					   .d = c->d[s],
					   .o = c->o[s],
					   .score = c->score[s]};
	for (size_t g = 0; g < n; g++) {
		const int end = g == 0 ? ends[0] : g + 1 == n ? ends[1] : 0;
		c->d[s][g] = end ? end : uneven ? 1 + (int)rng_below(r, maxd) : (int)d;
		c->o[s][g] =
		    end ? -(end / 2) : -c->d[s][g] / 2 + (uneven ? (int)rng_below(r, 5) - 2 : 0);
		c->h[s][g] = uneven ? .3 + 6 * rng_unit(r) : h;
	}
	for (size_t g = 0; g + 1 < n; g++) {
		for (int i = 0; i < c->d[s][g] * c->d[s][g + 1]; i++)
			c->table[s][g][i] =
			    whole ? (float)rng_below(r, 5) - 1 : (float)(rng_unit(r) - .3);
		c->score[s][g] = c->table[s][g];
	}
}

/*
 * Both, bit by bit. Guides of sizes of their own may allow no polyline at all, and then at holds nothing: where the bound was
 * given up, their sums alone are compared.
 */
static bool
same_tables(struct gpu *g, const struct chain_of *c, enum dptrace_method method, bool margins)
{
	int at[2][SEGMENTS * GUIDES] = {{0}};
	double best[2], margin[2][SEGMENTS * GUIDES] = {{0}};
	const int a = dptrace_tables(c->seg, c->n, c->phi, DPTRACE_WINDOW, 1, at[0], &best[0],
				     margins ? margin[0] : NULL),
		  b = gpu_dptrace_tables(g, c->seg, c->n, c->phi, method, at[1], &best[1],
					 margins ? margin[1] : NULL);
	size_t first = 0;

	if (a != b || best[0] != best[1])
		return false;
	if (a == 1 && c->uneven)
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
		const enum dptrace_method method = i % 16 == 7 ? DPTRACE_D3 : DPTRACE_WINDOW;
		c.n = 1 + rng_below(&r, SEGMENTS);
		c.uneven = uneven;
		c.phi = bounds[i % 6];
		int ends[2] = {1 + (int)rng_below(&r, 4)};
		for (size_t s = 0; s < c.n; s++, ends[0] = ends[1]) {
			ends[1] = 1 + (int)rng_below(&r, 4);
			random_table(&c, s, &r, 1, i % 10 ? 12 : SAMPLES, uneven, whole, ends);
		}
		check_order(i % check_orders());
		check_case(&m, same_tables(g, &c, method, margins),
			   "%d: %zu segments, phi %g, uneven %d, whole %d, method %d", i, c.n,
			   c.phi, uneven, whole, (int)method);
	}
	check_end(&m, "gpu: dptrace, on given tables path, sum and margins are the CPU's");
}

/* All turns are allowed, so that the best sample before a link may be in any warp. */
static void
more_samples_than_lanes_agree(struct gpu *g)
{
	static struct chain_of c = {.n = 1, .phi = M_PI};
	struct check_many m = {0};
	struct check_rng r = {42};

	for (int i = 0; i < 4; i++) {
		const int ends[2] = {3, 2};
		do
			random_table(&c, 0, &r, SAMPLES, SAMPLES, false, false, ends);
		while (c.seg[0].n < 4);
		check_case(&m, same_tables(g, &c, DPTRACE_D3, true), "%d: %zu guides", i,
			   c.seg[0].n);
	}
	check_end(&m, "gpu: dptrace by the paper's recursion takes more samples than lanes");
}

/* Links that climb in more than 128 ways have a kernel of their own. */
static void
many_climbs_agree(struct gpu *g)
{
	static const double bounds[] = {.1, .8, M_PI};
	static struct chain_of c = {.n = 1};
	struct check_many m = {0};
	struct check_rng r = {44};

	for (int i = 0; i < 3; i++) {
		const int ends[2] = {3, 2};
		c.phi = bounds[i];
		do
			random_table(&c, 0, &r, WIDE_SAMPLES - 2, WIDE_SAMPLES, false, i == 1,
				     ends);
		while (c.seg[0].n < 5);
		check_order(i % check_orders());
		check_case(&m, same_tables(g, &c, DPTRACE_WINDOW, true), "%d: %zu guides", i,
			   c.seg[0].n);
	}
	check_end(&m, "gpu: dptrace, links that climb in many ways give the CPU's sums");
}

/* Two rows of a guide lie in the shared memory of a block, which has 64 KB here, 228 at most on any GPU. */
static void
long_guides_are_said(struct gpu *g)
{
	static const int d[] = {1, 30000, 1}, o[] = {0, -15000, 0};
	static const double h[] = {1, 1};
	const struct dptrace_table t = {.n = 3, .dv = 1, .ex = 1, .h = h, .d = d, .o = o};
	int at[3];
	double best;
	const int err = gpu_dptrace_tables(g, &t, 1, 1, DPTRACE_WINDOW, at, &best, NULL);

	check(err == -EIO && strstr(gpu_why(g), "shared memory"),
	      "gpu: dptrace says that guides are too long for it", "%d: %s", err, gpu_why(g));
}

void
check_gpu_dptrace_tables(struct gpu *g)
{
	tables_agree(g);
	more_samples_than_lanes_agree(g);
	many_climbs_agree(g);
	if (!check_large)
		long_guides_are_said(g);
}
