#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/picture/region.h"

void
region_begin(struct region *g, const size_t at[3])
{
	*g = (struct region){.peak = -INFINITY};
	for (int k = 0; k < 3; k++)
		g->lo[k] = g->hi[k] = g->first[k] = g->top[k] = at[k];
}

static bool
comes_before(const size_t a[3], const size_t b[3])
{
	return a[2] != b[2] ? a[2] < b[2] : a[1] != b[1] ? a[1] < b[1] : a[0] < b[0];
}

static void
raise_peak(struct region *g, double v, const size_t at[3])
{
	if (v > g->peak || (v == g->peak && comes_before(at, g->top))) {
		g->peak = v;
		memcpy(g->top, at, sizeof g->top);
	}
}

void
region_add(struct region *g, const size_t at[3], size_t n, const double *values)
{
	const double len = (double)n;
	double d[3], s0 = 0, s1 = 0, s2 = 0, peak = -INFINITY;
	size_t top = 0;

	for (size_t i = 0; i < n; i++) {
		const double v = values[i], x = (double)i;

		s0 += v;
		s1 += v * x;
		s2 += v * x * x;
		if (v > peak) {
			peak = v;
			top = i;
		}
	}
	for (int k = 0; k < 3; k++) {
		d[k] = (double)at[k] - (double)g->first[k];
		g->lo[k] = at[k] < g->lo[k] ? at[k] : g->lo[k];
		g->hi[k] = at[k] > g->hi[k] ? at[k] : g->hi[k];
		g->shape[k] += d[k] * len;
		g->moment[k] += d[k] * s0;
	}
	g->hi[0] = at[0] + n - 1 > g->hi[0] ? at[0] + n - 1 : g->hi[0];
	g->shape[0] += len * (len - 1) / 2;
	g->xx += s2 + 2 * d[0] * s1 + d[0] * d[0] * s0;
	g->yy += d[1] * d[1] * s0;
	g->xy += d[1] * (s1 + d[0] * s0);
	g->moment[0] += s1;
	g->size += n;
	g->sum += s0;
	raise_peak(g, peak, (size_t[3]){at[0] + top, at[1], at[2]});
}

/* b's moments are moved to a's first sample. */
void
region_merge(struct region *a, const struct region *b)
{
	double d[3];

	for (int k = 0; k < 3; k++) {
		d[k] = (double)b->first[k] - (double)a->first[k];
		a->lo[k] = b->lo[k] < a->lo[k] ? b->lo[k] : a->lo[k];
		a->hi[k] = b->hi[k] > a->hi[k] ? b->hi[k] : a->hi[k];
		a->shape[k] += b->shape[k] + d[k] * (double)b->size;
	}
	a->xx += b->xx + 2 * d[0] * b->moment[0] + d[0] * d[0] * b->sum;
	a->yy += b->yy + 2 * d[1] * b->moment[1] + d[1] * d[1] * b->sum;
	a->xy += b->xy + d[0] * b->moment[1] + d[1] * b->moment[0] + d[0] * d[1] * b->sum;
	for (int k = 0; k < 3; k++)
		a->moment[k] += b->moment[k] + d[k] * b->sum;
	a->size += b->size;
	a->sum += b->sum;
	raise_peak(a, b->peak, b->top);
}
