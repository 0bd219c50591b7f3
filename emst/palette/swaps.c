#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "emst/palette/exchange.h"
#include "emst/palette/swaps.h"

/* Splitting a normal class at its mean, along the axis of largest variance, removes 2 / pi = .64 of that variance. */
static const float SPLIT = .6f, SPLIT_AT = .8f;

struct survey {
	float axis[PALETTE_MOST][3]; /* from the mean to one of the two halves */
	float gain[PALETTE_MOST], cost[PALETTE_MOST];
	int near[PALETTE_MOST]; /* the class to join with at least cost; -1: none */
};

struct trial {
	float promise;
	int drop, split;
};

static void
sum_squares(const struct lloyd *l, struct square *all)
{
	memset(all, 0, l->k * sizeof *all);
	for (size_t p = 0; p < l->cells->n; p++)
		for (int i = 0; i < 6; i++)
			all[l->label[p]].v[i] += l->cells->square[p].v[i];
}

/* Finds the longest axis of a class by power iteration on its scatter matrix q. Returns the scatter along the axis. */
static double
longest_axis(const double q[6], double axis[3])
{
	double x = 1, y = 1.1, z = .9, length = 0;

	for (int i = 0; i < 12; i++) {
		const double a = q[0] * x + q[1] * y + q[2] * z, b = q[1] * x + q[3] * y + q[4] * z,
			     c = q[2] * x + q[4] * y + q[5] * z;
		length = sqrt(a * a + b * b + c * c);
		if (length < 1e-9)
			break;
		x = a / length;
		y = b / length;
		z = c / length;
	}
	axis[0] = x;
	axis[1] = y;
	axis[2] = z;
	return length;
}

static void
survey_split(const struct lloyd *l, size_t j, const struct square *s, struct survey *v)
{
	static const int first[] = {0, 0, 0, 1, 1, 2}, second[] = {0, 1, 2, 1, 2, 2};
	const double w = (double)l->sum[j].v[3];
	double q[6], axis[3], scatter;

	v->gain[j] = 0;
	if (w == 0)
		return;
	for (int i = 0; i < 6; i++)
		q[i] = (double)s->v[i] -
		       (double)l->sum[j].v[first[i]] * (double)l->sum[j].v[second[i]] / w;
	scatter = longest_axis(q, axis);
	v->gain[j] = SPLIT * (float)scatter;
	for (int a = 0; a < 3; a++)
		v->axis[j][a] = SPLIT_AT * (float)(sqrt(scatter / w) * axis[a]);
}

/* Finds the class to join j with, and the cost. A class without colours costs 0. */
static void
survey_join(const struct lloyd *l, size_t j, struct survey *v)
{
	v->cost[j] = l->c[j].w > 0 ? INFINITY : 0;
	v->near[j] = -1;
	for (size_t i = 0; i < l->k && l->c[j].w > 0; i++) {
		if (i == j || !(l->c[i].w > 0))
			continue;
		const float cost = centre_cost(&l->c[i], &l->c[j]);
		if (cost < v->cost[j]) {
			v->cost[j] = cost;
			v->near[j] = (int)i;
		}
	}
}

/* Moves the centres to the means, and finds the gain of splitting and the cost of dropping each class. */
static void
look_around(struct lloyd *l, struct survey *v)
{
	struct square square[PALETTE_MOST];

	lloyd_assign(l);
	lloyd_update(l);
	sum_squares(l, square);
	for (size_t j = 0; j < l->k; j++) {
		survey_split(l, j, &square[j], v);
		survey_join(l, j, v);
	}
}

/* Joins class i with its nearest class, and splits class j into i and j. */
static void
swap(struct lloyd *l, const struct survey *v, size_t i, size_t j)
{
	if (v->near[i] >= 0)
		l->c[v->near[i]] = centre_join(l->c[v->near[i]], l->c[i]);
	l->c[i] = l->c[j];
	for (int a = 0; a < 3; a++) {
		l->c[i].x[a] += v->axis[j][a];
		l->c[j].x[a] -= v->axis[j][a];
	}
}

/*
 * Chooses, among the classes not used, the one that costs least to drop and the one that gains most by a split. k means that
 * there is none.
 */
static void
choose(const struct lloyd *l, const struct survey *v, const bool *used, size_t *drop, size_t *split)
{
	*drop = *split = l->k;
	for (size_t i = 0; i < l->k; i++)
		if (!used[i] && (v->near[i] < 0 || !used[v->near[i]]) &&
		    (*drop == l->k || v->cost[i] < v->cost[*drop]))
			*drop = i;
	for (size_t j = 0; j < l->k && *drop < l->k; j++)
		if (!used[j] && j != *drop && (int)j != v->near[*drop] &&
		    (*split == l->k || v->gain[j] > v->gain[*split]))
			*split = j;
}

size_t
swaps_make(struct lloyd *l, size_t most)
{
	bool used[PALETTE_MOST] = {false};
	struct survey v;
	size_t done = 0, i, j;

	look_around(l, &v);
	for (; done < most; done++) {
		choose(l, &v, used, &i, &j);
		if (j == l->k || v.gain[j] < 1.1f * v.cost[i] || v.gain[j] <= 0)
			break;
		used[i] = used[j] = true;
		if (v.near[i] >= 0)
			used[v.near[i]] = true;
		swap(l, &v, i, j);
	}
	return done;
}

static int
more_promising(const void *pa, const void *pb)
{
	const struct trial *a = pa, *b = pb;

	if (a->promise != b->promise)
		return a->promise > b->promise ? -1 : 1;
	return a->drop != b->drop ? a->drop - b->drop : a->split - b->split;
}

enum { TRIALS_K = 32 };

static size_t
list_trials(const struct lloyd *l, const struct survey *v, struct trial *t)
{
	size_t n = 0;

	for (size_t i = 0; i < l->k; i++)
		for (size_t j = 0; j < l->k; j++)
			if (i != j &&
			    (l->few || (v->near[i] != (int)j && v->gain[j] > .4f * v->cost[i])))
				t[n++] = (struct trial){v->gain[j] - v->cost[i], (int)i, (int)j};
	qsort(t, n, sizeof *t, more_promising);
	return n;
}

double
swaps_try(struct lloyd *l, int failures, double sse)
{
	struct trial t[TRIALS_K * TRIALS_K];
	struct centre keep[PALETTE_MOST];
	struct survey v;
	bool again = l->k <= TRIALS_K;

	while (again && failures > 0) {
		again = false;
		look_around(l, &v);
		memcpy(keep, l->c, sizeof keep);
		const size_t n = list_trials(l, &v, t);
		for (size_t i = 0; i < n && failures > 0 && !again; i++, failures--) {
			swap(l, &v, (size_t)t[i].drop, (size_t)t[i].split);
			double s = lloyd_run(l, 4, .001);
			if (s < 1.003 * sse)
				s = lloyd_run(l, 20, .001);
			if (l->few) {
				exchange_run(l);
				s = lloyd_assign(l);
			}
			again = s < .9999 * sse;
			if (again)
				sse = s;
			else
				memcpy(l->c, keep, sizeof keep);
			failures += again;
		}
	}
	return sse;
}
