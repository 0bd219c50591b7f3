/*
 * Gray levels in K classes with the least SSE. Classes are intervals of levels. least[k][b], the SSE of the first b levels in k
 * classes, is the minimum over a of least[k-1][a] + sse(a, b), and the best a does not fall as b grows. So the middle b of a
 * range is solved first and bounds the others (W. D. Fisher 1958; X. Wu 1991).
 */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "emst/palette/levels.h"

struct levels {
	double (*sum)[3]; /* [n + 1]: the sums of w, w x and w x^2 of the levels before; owned */
	double *least[2]; /* [n + 1]: in k - 1 classes and in k; owned */
	uint16_t *from;	  /* [k][n + 1]: where the last class begins; owned */
};

/* Returns the SSE of the levels a..b-1, whose class gets the mean as a whole number. */
static double
sse_of(const struct levels *l, size_t a, size_t b)
{
	const double w = l->sum[b][0] - l->sum[a][0], s = l->sum[b][1] - l->sum[a][1],
		     q = l->sum[b][2] - l->sum[a][2], m = floor(s / w + .5);

	return fmax(q - m * (2 * s - m * w), 0);
}

/* Finds the best starts of the last class for the first b0..b1-1 levels; they lie in a0..a1. */
static void
solve(struct levels *l, uint16_t *from, size_t b0, size_t b1, size_t a0, size_t a1)
{
	const size_t b = (b0 + b1) / 2;
	double least = INFINITY;

	if (b0 == b1)
		return;
	for (size_t a = a0; a <= a1 && a < b; a++) {
		const double sse = l->least[0][a] + sse_of(l, a, b);
		if (sse < least) {
			least = sse;
			from[b] = (uint16_t)a;
		}
	}
	l->least[1][b] = least;
	solve(l, from, b0, b, a0, from[b]);
	solve(l, from, b + 1, b1, from[b], a1);
}

static void
sum_levels(struct levels *l, const struct sorted *e, const uint64_t *weight, size_t n)
{
	for (int i = 0; i < 3; i++)
		l->sum[0][i] = 0;
	for (size_t i = 0; i < n; i++) {
		const double w = (double)weight[e[i].a], x = (double)(e[i].key - e[0].key);
		l->sum[i + 1][0] = l->sum[i][0] + w;
		l->sum[i + 1][1] = l->sum[i][1] + w * x;
		l->sum[i + 1][2] = l->sum[i][2] + w * x * x;
	}
}

/* Solves for 1 .. k classes of n >= k levels. */
static void
solve_all(struct levels *l, size_t n, size_t k)
{
	for (size_t b = 1; b <= n; b++) {
		l->least[0][b] = sse_of(l, 0, b);
		l->from[b] = 0;
	}
	for (size_t j = 1; j < k; j++) {
		solve(l, l->from + j * (n + 1), j + 1, n + 1, j, n - 1);
		double *const last = l->least[0];
		l->least[0] = l->least[1];
		l->least[1] = last;
	}
}

int
levels_make(const struct sorted *e, const uint64_t *weight, size_t n, size_t k, uint32_t *label)
{
	struct levels l = {
	    weir_alloc(n + 1, sizeof *l.sum),
	    {weir_alloc(n + 1, sizeof **l.least), weir_alloc(n + 1, sizeof **l.least)},
	    weir_alloc(k * (n + 1), sizeof *l.from)};
	const bool room = l.sum && l.least[0] && l.least[1] && l.from;

	if (room) {
		sum_levels(&l, e, weight, n);
		solve_all(&l, n, k);
		for (size_t j = k, b = n; j-- > 0;)
			for (const size_t a = l.from[j * (n + 1) + b]; b > a; b--)
				label[e[b - 1].a] = (uint32_t)j;
	}
	weir_free(l.sum);
	weir_free(l.least[0]);
	weir_free(l.least[1]);
	weir_free(l.from);
	return room ? 0 : -ENOMEM;
}
