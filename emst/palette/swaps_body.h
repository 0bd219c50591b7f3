/* Joins and splits classes between the rounds of Lloyd's method. */

/* Splitting a normal class at its mean, along the axis of largest variance, removes 2 / pi = .64 of that variance. */
static const float SPLIT = .6f, SPLIT_AT = .8f;

struct survey {
	float axis[PALETTE_MOST][DIMS]; /* from the mean to one of the two halves */
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
		for (int i = 0; i < PAIRS; i++)
			all[l->label[p]].v[i] += l->cells->square[p].v[i];
}

/* Finds the longest axis of a class by power iteration on its scatter matrix q. Returns the scatter along the axis. */
static double
longest_axis(double q[DIMS][DIMS], double axis[DIMS])
{
	static const double start[] = {1, 1.1, .9, 1.05};
	double length = 0;

	memcpy(axis, start, DIMS * sizeof *axis);
	for (int i = 0; i < 12; i++) {
		double to[DIMS] = {0}, square = 0;
		for (int a = 0; a < DIMS; a++) {
			for (int b = 0; b < DIMS; b++)
				to[a] += q[a][b] * axis[b];
			square += to[a] * to[a];
		}
		length = sqrt(square);
		if (length < 1e-9)
			break;
		for (int a = 0; a < DIMS; a++)
			axis[a] = to[a] / length;
	}
	return length;
}

static void
survey_split(const struct lloyd *l, size_t j, const struct square *s, struct survey *v)
{
	const double w = (double)l->sum[j].v[DIMS], unit = (double)l->cells->unit;
	double q[DIMS][DIMS], axis[DIMS], scatter;

	v->gain[j] = 0;
	if (w == 0)
		return;
	for (int a = 0, at = 0; a < DIMS; a++)
		for (int b = a; b < DIMS; b++)
			q[a][b] = q[b][a] = s->v[at++] - (double)l->sum[j].v[a] * unit *
							     ((double)l->sum[j].v[b] * unit) / w;
	scatter = longest_axis(q, axis);
	v->gain[j] = SPLIT * (float)scatter;
	for (int a = 0; a < DIMS; a++)
		v->axis[j][a] = SPLIT_AT * (float)(sqrt(scatter / w) * axis[a]);
}

/* Finds the class to join j with, and the cost. A class without colours costs 0. Opaque classes join only each other. */
static void
survey_join(const struct lloyd *l, size_t j, struct survey *v)
{
	const bool pinned = l->pinned && (l->c.opaque[j] || j == l->c.clear);

	v->cost[j] = l->c.at[j].w > 0 || pinned ? INFINITY : 0;
	v->near[j] = -1;
	for (size_t i = 0; i < l->k && l->c.at[j].w > 0; i++) {
		if (i == j || !(l->c.at[i].w > 0) || (pinned && !l->c.opaque[i]))
			continue;
		const float cost = centre_cost(&l->c.at[i], &l->c.at[j]);
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

/*
 * Turns the axis so that class j may stay pinned: class i gets the side that is farther from it. The part i of an opaque class
 * is opaque too, unless the class is split by alpha.
 */
static void
orient(struct lloyd *l, size_t i, size_t j, float axis[DIMS])
{
	const float alpha = axis[DIMS - 1];
	float square = 0;

	for (int a = 0; a < DIMS; a++)
		square += axis[a] * axis[a];
	l->c.opaque[i] = l->c.opaque[j] && 2 * alpha * alpha < square;
	if (l->c.opaque[j] ? alpha > 0 : j == l->c.clear && alpha < 0)
		for (int a = 0; a < DIMS; a++)
			axis[a] = -axis[a];
}

/* Joins class i with its nearest class, and splits class j into i and j. */
static void
swap(struct lloyd *l, const struct survey *v, size_t i, size_t j)
{
	float axis[DIMS];

	memcpy(axis, v->axis[j], sizeof axis);
	if (v->near[i] >= 0)
		l->c.at[v->near[i]] = centre_join(l->c.at[v->near[i]], l->c.at[i]);
	l->c.at[i] = l->c.at[j];
	if (l->pinned)
		orient(l, i, j, axis);
	for (int a = 0; a < DIMS; a++) {
		l->c.at[i].x[a] += axis[a];
		l->c.at[j].x[a] -= axis[a];
	}
	if (l->pinned)
		pin_centres(l);
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

/*
 * Makes up to `most` swaps at once. A swap joins the class that costs least with its nearest class, and splits the class that
 * gains most along its longest axis. Swaps end when the gain is less than 1.1 times the cost. No class takes part twice.
 * Returns the number of swaps.
 */
static size_t
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

/* Joins the class that costs least with its nearest one. Returns its number, which has no colours now. */
static size_t
swaps_vacate(struct lloyd *l)
{
	struct survey v;
	size_t least = 0;

	for (size_t j = 0; j < l->k; j++) {
		survey_join(l, j, &v);
		if (v.cost[j] < v.cost[least])
			least = j;
	}
	if (v.near[least] >= 0)
		l->c.at[v.near[least]] = centre_join(l->c.at[v.near[least]], l->c.at[least]);
	return least;
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
			if (i != j && !(l->pinned && isinf(v->cost[i])) &&
			    (l->few || (v->near[i] != (int)j && v->gain[j] > .4f * v->cost[i])))
				t[n++] = (struct trial){v->gain[j] - v->cost[i], (int)i, (int)j};
	qsort(t, n, sizeof *t, more_promising);
	return n;
}

/*
 * Tries swaps one at a time, the most promising first. A swap is kept when four or more rounds of Lloyd's method bring the
 * SSE below sse. Ends after `failures` swaps that were not kept, or when no promising swap is left. Where colours are few, all
 * swaps are promising, and an exchange (exchange_body.h) follows each. Returns the SSE.
 */
static double
swaps_try(struct lloyd *l, int failures, double sse)
{
	struct trial t[TRIALS_K * TRIALS_K];
	struct centres keep;
	struct survey v;
	bool again = l->k <= TRIALS_K;

	while (again && failures > 0) {
		again = false;
		look_around(l, &v);
		keep = l->c;
		const size_t n = list_trials(l, &v, t);
		for (size_t i = 0; i < n && failures > 0 && !again; i++, failures--) {
			swap(l, &v, (size_t)t[i].drop, (size_t)t[i].split);
			double s = lloyd_run(l, 4, .001);
			if (s < 1.003 * sse)
				s = lloyd_run(l, 20, .001);
			if (l->few && !l->pinned) {
				exchange_run(l);
				s = lloyd_assign(l);
			}
			again = s < .9999 * sse;
			if (again)
				sse = s;
			else
				l->c = keep;
			failures += again;
		}
	}
	return sse;
}
