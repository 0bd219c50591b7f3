/* dptrace: cheapest ways over cells, and what cells cost. */
#include "t/check_dptrace.h"

/* The sum of the steps between cells; UINT32_MAX when two of them are no neighbours. */
static uint32_t
sum_of(const struct way_grid *g, const int *cell, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 1; i < n; i++) {
		const int a = cell[i - 1], b = cell[i], dx = abs(a % g->w - b % g->w),
			  dy = abs(a / g->w - b / g->w);
		if (dx > 1 || dy > 1 || a == b)
			return UINT32_MAX;
		sum += (uint32_t)((dx && dy ? 7 : 5) * (g->cost[a] + g->cost[b]));
	}
	return sum;
}

static void
compare_searches(struct check_many *m, struct check_rng *rng, size_t t)
{
	enum { MOST = 24 };
	uint8_t cost[MOST * MOST];
	int cell[MOST * MOST];
	struct way_grid g = {.w = 1 + (int)(MOST * rng_unit(rng)),
			     .h = 1 + (int)(MOST * rng_unit(rng)),
			     .cost = cost};
	const int cells = g.w * g.h, from = (int)(cells * rng_unit(rng)),
		  to = (int)(cells * rng_unit(rng)), few = (int)(t % 3);

	for (int i = 0; i < cells; i++)
		cost[i] = (uint8_t)(few ? rng_unit(rng) < .7 ? 80 : 18
					: 1 + (int)((WAY_MOST - 1) * rng_unit(rng)));
	uint32_t want, got = 0;
	const size_t n = way_search(&g, from, to, cell, &got);
	check_case(m,
		   dptrace_direct_way(cost, g.w, g.h, from, to, &want) == 0 && n &&
		       cell[0] == from && cell[n - 1] == to && got == want &&
		       sum_of(&g, cell, n) == want,
		   "%d x %d cells: %u, not %u", g.w, g.h, got, want);
}

enum { SIDE = 96 };

/* A dark and a bright line, and some noise. */
static void
paint(float *v)
{
	struct check_rng rng = {2};

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			const double a = (y - 30 - 8 * sin(x / 9.)) / 2.5, b = (x - 60) / 3.;
			v[y * SIDE + x] =
			    (float)(100 + 40 * exp(-a * a) - 30 * exp(-b * b) + rng_unit(&rng));
		}
}

/* The picture whose pixels are the cells of g, whose steps are whole px. */
static void
shrink(const struct way_grid *g, const float *v, float *out)
{
	for (int y = 0; y < g->h; y++)
		for (int x = 0; x < g->w; x++) {
			double sum = 0;
			for (int i = 0; i < g->step * g->step; i++)
				sum += (double)v
				    [(int)(g->y0 - (g->step - 1) / 2. + y * g->step + i / g->step) *
					 SIDE +
				     (int)(g->x0 - (g->step - 1) / 2. + x * g->step + i % g->step)];
			out[y * g->w + x] = (float)(sum / (g->step * g->step));
		}
}

/* Compares cells at least five from the rim, where the borders of the picture and of the cells do not count. */
static void
compare_costs_at(struct check_many *m, enum dptrace_score score, int polarity, double sigma)
{
	static float v[SIDE * SIDE], small[SIDE * SIDE];
	const struct dptrace_image im = {1, SIDE, SIDE, v, NULL, {0}};
	const struct dptrace_options o = {.score = score, .polarity = polarity};
	const struct segment_shape s = {.ax = 8,
					.ay = 30,
					.ex = 1,
					.length = 80,
					.halfwidth = 200,
					.sigma = sigma,
					.polarity = polarity,
					.level = 12,
					.floor = 2};
	struct way_grid g = {0};

	paint(v);
	const int r = way_costs(&g, &im, v, &o, &s);
	check_case(m, r == 0, "costs: %d", r);
	if (r)
		return;
	shrink(&g, v, small);
	const struct dptrace_image cells = {1, (size_t)g.h, (size_t)g.w, small, NULL};
	const double fine = sqrt(sigma * sigma - (g.step * g.step - 1) / 12.) / g.step,
		     ratio = score == DPTRACE_RIDGE ? pow(sigma / g.step / fine, 2)
						    : sigma / g.step / fine;
	for (int y = 5; y < g.h - 5; y++)
		for (int x = 5; x < g.w - 5; x++) {
			const struct level l =
			    level_at(&cells, small, &o, fine, 0, (double[2]){x, y});
			const double e_at = ratio * (polarity < 0 ? l.dark : l.bright),
				     e = fmin(fmax((e_at - 2) / 10, 0), 1), want = 24 / (e + .3);
			const int got = g.cost[y * g.w + x];
			check_case(m, fabs(got - want) <= .52,
				   "score %d polarity %d sigma %g cell %d,%d: %d for %g", score,
				   polarity, sigma, x, y, got, want);
		}
	weir_free(g.cost);
}

static void
compare_costs(void)
{
	struct check_many m = {0};

	for (int polarity = -1; polarity < 2; polarity += 2)
		for (double sigma = 1.5; sigma < 5; sigma += 1)
			compare_costs_at(&m, DPTRACE_RIDGE, polarity, sigma);
	compare_costs_at(&m, DPTRACE_EDGE, 0, 2);
	check_end(&m, "a cell costs what the response at its middle says");
}

void
check_dptrace_ways(void)
{
	check_each("the cheapest way costs what the definition says", 300, 1, compare_searches);
	compare_costs();
}
