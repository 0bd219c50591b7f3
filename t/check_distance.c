/* The distance transform against its definition: the nearest of all samples that are not chosen. */
#include "common/picture/distance.h"
#include "t/check.h"

enum { MOST = 3000 };

static double
away(const struct distance_shape *s, size_t p, size_t q)
{
	const size_t n[3] = {s->w, s->h, s->depth};
	double sum = 0;

	for (int k = 0; k < 3; k++) {
		const double d = s->step[k] * ((double)(p % n[k]) - (double)(q % n[k]));
		sum += d * d;
		p /= n[k];
		q /= n[k];
	}
	return sum;
}

static double
definition(const struct distance_shape *s, const uint8_t *chosen, size_t p)
{
	const size_t n = s->w * s->h * s->depth;
	double best = INFINITY;

	for (size_t q = 0; q < n; q++)
		if (!chosen[q])
			best = fmin(best, away(s, p, q));
	return sqrt(best);
}

/* Draws a shape with steps, and what of it is chosen: from nothing to all, and lines without a gap. */
static struct distance_shape
draw(struct check_rng *r, int round, uint8_t *chosen)
{
	const double share[] = {0, .5, .9, .99, .999, 1};
	struct distance_shape s = {.w = 1 + rng_below(r, 40), .h = 1 + rng_below(r, 30)};
	const double most = share[rng_below(r, 6)];

	s.depth = 1 + rng_below(r, MOST / s.w / s.h < 20 ? MOST / s.w / s.h : 20);
	for (int k = 0; k < 3; k++)
		s.step[k] = round % 2 ? 1 : .1 + 3 * rng_unit(r);
	for (size_t i = 0; i < s.w * s.h * s.depth; i++)
		chosen[i] = rng_unit(r) < most;
	return s;
}

void
check_distance(void)
{
	static uint8_t chosen[MOST];
	static double D[MOST];
	struct check_many exact = {0}, scaled = {0};
	struct check_rng r = {3};

	for (int round = 0; round < 120; round++) {
		const struct distance_shape s = draw(&r, round, chosen);
		const int threads = 1 + round % 3;
		check_poison(D, sizeof D);
		check_case(&exact, !distance(&s, threads, chosen, D), "no memory");
		for (size_t p = 0; p < s.w * s.h * s.depth; p++) {
			const double want = definition(&s, chosen, p);
			if (round % 2)
				check_case(&exact, D[p] == want, "%zux%zux%zu: %.17g, want %.17g",
					   s.w, s.h, s.depth, D[p], want);
			else
				check_case(&scaled,
					   D[p] == want || fabs(D[p] - want) <= 1e-15 * 4 * want,
					   "%zux%zux%zu: %.17g, want %.17g", s.w, s.h, s.depth,
					   D[p], want);
		}
	}
	check_end(&exact, "distance: with equal steps, it is exactly that of the nearest sample");
	check_end(&scaled, "distance: with other steps, it is that within 4e-15");
}
