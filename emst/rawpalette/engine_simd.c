/* variants: rgb rgba */
/* The engines for three and for four coordinates: see palette.h. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/roots.h"
#include "common/base/simd.h"
#include "emst/rawpalette/palette.h"

#ifdef FOR_rgba
#define DIMS 4
#else
#define DIMS 3
#endif

#include "emst/rawpalette/cells_body.h"

/* --- the classes that Ward's method begins with -------------------------------------------------------------------- */

/*
 * Makes classes by the tree of cells_body.h. Its nodes are split while they hold `most` pixels or more, down to side 2. Where
 * that leaves fewer than `least` classes, `most` is halved and nodes of side 2 are split too. The caller frees *seed [*n]. 0 or
 * -ENOMEM.
 */
static int
seeds_make(const struct cells *c, double most, size_t least, struct centre **seed, size_t *n)
{
	uint32_t *start = weir_alloc_large(c->n + 1, sizeof *start);
	double limit[TOP + 1];

	*seed = NULL;
	if (!start)
		return -ENOMEM;
	for (int s = 0; s <= TOP; s++)
		limit[s] = s > 1 ? most : INFINITY;
	least = least < c->n ? least : c->n;
	while ((*n = cells_cut(c, limit, start)) < least) {
		most /= 2;
		for (int s = 0; s <= TOP; s++)
			limit[s] = most;
	}
	*seed = weir_alloc_large(*n, sizeof **seed);
	for (size_t i = 0; *seed && i < *n; i++) {
		struct sums sum = {{0}};
		for (uint32_t p = start[i]; p < start[i + 1]; p++)
			cells_add(&sum, c, p);
		(*seed)[i] = centre_of(&sum, c->unit);
	}
	weir_free(start);
	return *seed ? 0 : -ENOMEM;
}

/*
 * Ward's method over all pairs by the nearest-neighbour chain, in O(n^2). The chain goes from a class to its nearest class,
 * and on, until two classes are each other's nearest; these two join. The costs are sorted at the end, which gives the order
 * of joining.
 */
enum { WARD_BLOCK = 512, WIDE = 16 };

struct joining {
	float cost;
	uint32_t order, a, b;
};

struct ward {
	size_t n;
	const struct centre *c; /* [n]; borrowed */
	struct joining *join;	/* [n - 1], the cheapest first; owned */
	uint32_t *up;		/* [n]; scratch, owned */
	struct centre *part;	/* [n]; scratch, owned */
};

/* The remaining classes, by coordinate. w < 0 marks a class that has joined another, and the places up to a multiple of WIDE. */
struct chain {
	size_t n, left;
	float *x[DIMS], *w, *cost;
	uint32_t *id, *link;
	size_t nlink;
};

static int
cheaper(const void *pa, const void *pb)
{
	const struct joining *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/*
 * Fills cost[] with the costs of joining class i with the classes from..to-1, in groups of WIDE; class i itself costs 1e30.
 * Returns the least cost.
 */
WEIR_CLONES_OF(float, find_costs,
	       (const struct chain *c, size_t i, size_t from, size_t to, float *restrict cost),
	       (c, i, from, to, cost))
{
	const float *restrict w = c->w;
	const float wi = w[i];
	const float *x[DIMS];
	float xi[DIMS], least[WIDE];

	for (int a = 0; a < DIMS; a++) {
		x[a] = c->x[a];
		xi[a] = x[a][i];
	}
	for (size_t l = 0; l < WIDE; l++)
		least[l] = 1e30f;
	for (size_t j = from; j < to; j += WIDE)
		for (size_t l = 0; l < WIDE; l++) {
			const float wj = w[j + l];
			float d2 = 0;
			for (int a = 0; a < DIMS; a++)
				d2 += (x[a][j + l] - xi[a]) * (x[a][j + l] - xi[a]);
			const float q = d2 * (wi * wj) / (wi + wj);
			const float p = ((wj < 0) | (j + l == i)) ? 1e30f : q;
			cost[j + l] = p;
			least[l] = p < least[l] ? p : least[l];
		}
	for (size_t l = 1; l < WIDE; l++)
		least[0] = least[l] < least[0] ? least[l] : least[0];
	return least[0];
}

/* Returns the class that costs least to join with i; among equal ones the class before i in the chain, else the first. */
static size_t
nearest(const struct chain *c, size_t i, float *cost)
{
	size_t best = i;

	*cost = 1e30f;
	for (size_t from = 0; from < c->n; from += WARD_BLOCK) {
		const size_t all = (c->n + WIDE - 1) / WIDE * WIDE,
			     to = from + WARD_BLOCK < all ? from + WARD_BLOCK : all;
		const float least = find_costs(c, i, from, to, c->cost);
		if (least >= *cost)
			continue;
		*cost = least;
		for (best = from; c->cost[best] != least; best++)
			;
	}
	if (c->nlink > 1 && c->cost[c->link[c->nlink - 2]] <= *cost)
		best = c->link[c->nlink - 2];
	return best;
}

/* Joins class b to class a, which has the smaller place. */
static void
join(struct chain *c, size_t a, size_t b)
{
	struct centre p = {.w = c->w[a]}, q = {.w = c->w[b]};

	for (int i = 0; i < DIMS; i++) {
		p.x[i] = c->x[i][a];
		q.x[i] = c->x[i][b];
	}
	p = centre_join(p, q);
	for (int i = 0; i < DIMS; i++)
		c->x[i][a] = p.x[i];
	c->w[a] = p.w;
	c->w[b] = -1;
	c->left--;
}

/* Moves the remaining classes together when half of the classes are gone. The chain must be empty. */
static void
close_ranks(struct chain *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->w[i] >= 0) {
			for (int a = 0; a < DIMS; a++)
				c->x[a][n] = c->x[a][i];
			c->w[n] = c->w[i];
			c->id[n++] = c->id[i];
		}
	for (c->n = n; n % WIDE; n++)
		c->w[n] = -1;
}

static void
run_chain(struct chain *c, struct joining *out)
{
	uint32_t done = 0;

	while (c->left > 1) {
		if (!c->nlink) {
			if (c->left < c->n / 2)
				close_ranks(c);
			uint32_t i = 0;
			while (c->w[i] < 0)
				i++;
			c->link[c->nlink++] = i;
		}
		float cost;
		const uint32_t i = c->link[c->nlink - 1];
		const uint32_t j = (uint32_t)nearest(c, i, &cost);
		if (c->nlink > 1 && j == c->link[c->nlink - 2]) {
			const uint32_t a = i < j ? i : j, b = i < j ? j : i;
			out[done] = (struct joining){cost, done, c->id[a], c->id[b]};
			done++;
			join(c, a, b);
			c->nlink -= 2;
		} else {
			c->link[c->nlink++] = j;
		}
	}
}

static int
find_joinings(struct ward *w)
{
	const size_t n = w->n, places = (n + WIDE - 1) / WIDE * WIDE;
	float *room = weir_calloc_large((DIMS + 2) * places, sizeof *room);
	uint32_t *more = weir_alloc_large(2 * n + 2, sizeof *more);
	struct chain c = {.n = n, .left = n, .id = more};

	if (room && more) {
		for (int a = 0; a < DIMS; a++)
			c.x[a] = room + (size_t)a * places;
		c.w = room + DIMS * places;
		c.cost = c.w + places;
		for (size_t i = n; i < places; i++)
			c.w[i] = -1;
		c.link = more + n;
		for (size_t i = 0; i < n; i++) {
			for (int a = 0; a < DIMS; a++)
				c.x[a][i] = w->c[i].x[a];
			c.w[i] = w->c[i].w;
			c.id[i] = (uint32_t)i;
		}
		run_chain(&c, w->join);
		qsort(w->join, n - 1, sizeof *w->join, cheaper);
	}
	weir_free_all(room, more);
	return room && more ? 0 : -ENOMEM;
}

/* Finds the order of joining n classes: always the two whose joining costs least. 0 or -ENOMEM; the caller frees w->join, up and part in either case. */
static int
ward_make(struct ward *w, const struct centre *c, size_t n)
{
	*w = (struct ward){n, c, weir_alloc(n, sizeof *w->join), weir_alloc(n, sizeof *w->up),
			   weir_alloc(n, sizeof *w->part)};
	return w->join && w->up && w->part ? find_joinings(w) : -ENOMEM;
}

/* Fills out [k] with the classes when k <= n of them are left. */
static void
ward_cut(const struct ward *w, size_t k, struct centre *out)
{
	size_t n = 0;

	roots_single(w->up, w->n);
	for (size_t i = 0; i < w->n; i++)
		w->part[i] = w->c[i];
	for (size_t i = 0; i + k < w->n; i++) {
		const uint32_t a = roots_find(w->up, w->join[i].a),
			       b = roots_find(w->up, w->join[i].b), to = a < b ? a : b;
		w->part[to] = centre_join(w->part[a], w->part[b]);
		roots_join(w->up, a, b);
	}
	for (size_t i = 0; i < w->n; i++)
		if (w->up[i] == i)
			out[n++] = w->part[i];
}

/*
 * Moves single colours between classes (Hartigan 1975). This leaves many local minima of Lloyd's method where classes have few
 * colours. Moving colour x of weight w from class i to class j changes the SSE by
 *
 *	w W[j] / (W[j] + w) |x - c[j]|^2 - w W[i] / (W[i] - w) |x - c[i]|^2	c means, W weights of the classes
 */

enum { SWEEPS = 50 };

struct mean {
	double x[DIMS];
};

static void
find_mean(struct mean *m, const struct sums *s, double unit)
{
	for (int a = 0; a < DIMS; a++)
		m->x[a] = s->v[DIMS] ? (double)s->v[a] * unit / (double)s->v[DIMS] : 0;
}

/* Returns |x - m|^2 for colour p. */
static double
distance(const struct cells *c, size_t p, const struct mean *m)
{
	double d2 = 0;

	for (int a = 0; a < DIMS; a++) {
		const double d = (double)cells_x(c, a, p) - m->x[a];
		d2 += d * d;
	}
	return d2;
}

/* Returns the class to which colour p should move, which may be its own. */
static size_t
best_class(const struct lloyd *l, const struct mean *m, size_t p)
{
	const size_t own = l->label[p];
	const double w = (double)cells_w(l->cells, p), rest = (double)l->sum[own].v[DIMS] - w;
	double least =
	    rest > 0 ? (1 - 1e-9) * (rest + w) / rest * distance(l->cells, p, &m[own]) : 0;
	size_t best = own;

	for (size_t j = 0; j < l->k && least > 0; j++) {
		const double all = (double)l->sum[j].v[DIMS],
			     cost = all / (all + w) * distance(l->cells, p, &m[j]);
		if (j != own && cost < least) {
			least = cost;
			best = j;
		}
	}
	return best;
}

/* Moves colours until no move lowers the SSE. label[] and sum[] are those of the last round; the centres become the means. */
static void
exchange_run(struct lloyd *l)
{
	const double unit = (double)l->cells->unit;
	struct mean m[PALETTE_MOST];
	bool moved = true;

	for (size_t j = 0; j < l->k; j++)
		find_mean(&m[j], &l->sum[j], unit);
	for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
		moved = false;
		for (size_t p = 0; p < l->cells->n; p++) {
			const size_t from = l->label[p], to = best_class(l, m, p);
			if (to == from)
				continue;
			struct sums s = {{0}};
			cells_add(&s, l->cells, p);
			for (int a = 0; a <= DIMS; a++) {
				l->sum[from].v[a] -= s.v[a];
				l->sum[to].v[a] += s.v[a];
			}
			l->label[p] = (uint8_t)to;
			find_mean(&m[from], &l->sum[from], unit);
			find_mean(&m[to], &l->sum[to], unit);
			moved = true;
		}
	}
	lloyd_update(l);
}

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
	struct square square[PALETTE_MOST] = {0};

	lloyd_assign(l);
	lloyd_update(l);
	for (size_t p = 0; p < l->cells->n; p++)
		for (int i = 0; i < PAIRS; i++)
			square[l->label[p]].v[i] += l->cells->square[p].v[i];
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
			    (l->thorough || ((l->pinned || v->near[i] != (int)j) &&
					     v->gain[j] > .4f * v->cost[i])))
				t[n++] = (struct trial){v->gain[j] - v->cost[i], (int)i, (int)j};
	qsort(t, n, sizeof *t, more_promising);
	return n;
}

/*
 * Tries swaps one at a time, the most promising first. A swap is kept when four or more rounds of Lloyd's method bring the
 * SSE below sse. Ends after `failures` swaps that were not kept, or when no promising swap is left. Where colours are few, all
 * swaps are promising, and an exchange follows each. Returns the SSE.
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
			if (l->thorough && !l->pinned) {
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

/*
 * Runs the steps of palette.h. Few classes are made from three starts, and the best result is taken, since with few classes
 * the result depends most on the start. All numbers here were tuned on the twelve odd photographs of Kodak's set; the man page
 * reports the even ones. FINE between 1/64 and 1/8 changes the mean error by less than .01 dB; a larger one is faster.
 */

enum { MOST_ROUNDS = 1000, FAILURES = 10, STARTS = 3, FEW = 16, MANY = 64, SEEDS = 4 };
/* A picture of so few colours is looked at more thoroughly. */
enum { HANDFUL = 256 };
static const double GAIN = .001; /* dB */
static const double FINE = 1. / 16;

/* The classes that one start leads to. */
struct choice {
	size_t k;
	bool pinned;
	struct centres c;
	double sse; /* negative: memory has run out */
};

/*
 * Makes the colours fewer. A node of side s and w pixels becomes one colour when w s^2 is at most FINE times the mean SSE of the
 * classes h. The weights of the classes are floats, so the SSE has an error of less than 1e-6 of the sum of squares.
 */
static int
make_thin(struct cells *thin, const struct cells *cells, const struct choice *h)
{
	uint32_t *start = weir_alloc_large(cells->n + 1, sizeof *start);
	double sse = cells->squares * (1 - 1e-6), most[TOP + 1];
	int err = -ENOMEM;

	*thin = (struct cells){0};
	for (size_t j = 0; j < h->k; j++)
		for (int a = 0; a < DIMS; a++)
			sse -= (double)h->c.at[j].w * (double)h->c.at[j].x[a] *
			       (double)h->c.at[j].x[a];
	for (int s = 0; s <= TOP; s++)
		most[s] = fmax(ldexp(FINE * sse / (double)h->k, -2 * s), 1);
	if (start)
		err = cells_thin(thin, cells, start, cells_cut(cells, most, start));
	weir_free(start);
	return err;
}

/* Makes classes opaque that hold more opaque pixels than others. There is at least one. */
static void
pin_opaque(struct lloyd *l)
{
	int64_t opaque[PALETTE_MOST] = {0};
	size_t most = l->c.clear ? 0 : 1;

	for (const struct cell *q = l->cells->cell; q < l->cells->cell + l->cells->ncell; q++)
		for (size_t p = q->start; l->cells->block[q->block].opaque && p < q[1].start; p++)
			opaque[l->label[p]] += cells_w(l->cells, p);
	for (size_t j = 0; j < l->k; j++) {
		l->c.opaque[j] = j != l->c.clear && 2 * opaque[j] > l->sum[j].v[DIMS];
		if (j != l->c.clear && opaque[j] > opaque[most])
			most = j;
	}
	l->c.opaque[most] = true;
}

/* Keeps opaque colours opaque and the clear colour clear from now on. One class for both becomes opaque. */
static void
pin(struct lloyd *l)
{
	lloyd_assign(l);
	l->c.clear = l->k;
	if (l->cells->has_clear && l->k > 1) {
		const uint32_t p = l->cells->clear;
		l->c.clear = l->label[p];
		/* It may hold little else: then the class that costs least makes room. */
		if (2 * cells_w(l->cells, p) < l->sum[l->c.clear].v[DIMS])
			l->c.clear = swaps_vacate(l);
	}
	if (l->cells->has_opaque)
		pin_opaque(l);
	l->pinned = true;
	pin_centres(l);
}

/* Runs rounds, and makes many swaps at once between them. */
static void
swap_classes(struct lloyd *l)
{
	for (int i = 0; i < 10; i++) {
		lloyd_run(l, 2, GAIN);
		if (!swaps_make(l, l->k / 8 + 1))
			break;
	}
}

/* Improves the classes h, by swaps and rounds over the fewer colours. */
static int
improve(struct choice *h, const struct cells *thin, bool thorough)
{
	struct lloyd *l = lloyd_new(thin, 1, h->k);

	if (!l)
		return -ENOMEM;
	l->thorough = thorough;
	l->c = h->c;
	swap_classes(l);
	if (thin->has_opaque || thin->has_clear) {
		pin(l);
		swap_classes(l);
	}
	h->sse = lloyd_run(l, MOST_ROUNDS, GAIN);
	h->sse = swaps_try(l, thorough ? 2 * FAILURES : FAILURES, h->sse);
	h->sse = lloyd_run(l, MOST_ROUNDS, GAIN);
	h->pinned = l->pinned;
	h->c = l->c;
	lloyd_free(l);
	return 0;
}

/* Makes k classes, starting from an octree whose nodes are split from pixels/parts pixels on. */
static void
settle(struct choice *h, const struct cells *cells, size_t k, unsigned parts)
{
	struct centre *seed = NULL;
	struct ward w = {0};
	struct cells thin = {0};
	size_t n;
	int err = seeds_make(cells, (double)cells->pixels / parts, SEEDS * k, &seed, &n);

	if (!err)
		err = ward_make(&w, seed, n);
	if (!err) {
		h->k = k < n ? k : n;
		ward_cut(&w, h->k, h->c.at);
		err = make_thin(&thin, cells, h);
	}
	if (!err)
		err = improve(h, &thin, cells->n <= HANDFUL);
	if (err)
		h->sse = -1;
	cells_free(&thin);
	weir_free_all(w.join, w.up, w.part);
	weir_free(seed);
}

/* Runs all starts. h[0] gets the best result. */
static int
settle_best(struct choice h[STARTS], const struct cells *cells, size_t k, int threads)
{
	/* With fewer colours, all starts have every colour as a seed. */
	const size_t starts = k <= FEW && cells->n > SEEDS * k ? STARTS : 1;
	const unsigned parts[STARTS] = {k <= FEW ? 300 : k <= MANY ? 250 : 500, 200, 150};

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (starts > 1)
	for (size_t i = 0; i < starts; i++)
		settle(&h[i], cells, k, parts[i]);
	for (size_t i = 0; i < starts; i++)
		if (h[i].sse < 0)
			return -ENOMEM;
	for (size_t i = 1; i < starts; i++)
		if (h[i].sse < h[0].sse)
			h[0] = h[i];
	return 0;
}

/* Ends with rounds over all colours, and labels them. */
static int
find_labels(const struct cells *cells, const struct choice *h, int threads, uint32_t *label)
{
	struct lloyd *l = lloyd_new(cells, threads, h->k);

	if (!l)
		return -ENOMEM;
	l->pinned = h->pinned;
	l->c = h->c;
	lloyd_run(l, MOST_ROUNDS, GAIN);
	if (cells->n <= HANDFUL && !l->pinned)
		exchange_run(l);
	for (size_t j = 0; j < l->k && cells->unit == 1; j++) /* the output has whole numbers */
		for (int a = 0; a < DIMS; a++)
			l->c.at[j].x[a] = rintf(fminf(fmaxf(l->c.at[j].x[a], 0), 255));
	lloyd_assign(l);
	for (size_t p = 0; p < cells->n; p++)
		label[cells->from[p]] = l->label[p];
	lloyd_free(l);
	return 0;
}

int
SIMD_NAME(palette)(const struct palette_colours *p, size_t k, int threads, uint32_t *label)
{
	struct cells cells;

	if (p->n <= k) {
		for (uint32_t i = 0; i < p->n; i++)
			label[i] = i;
		return 0;
	}
	struct choice *h = weir_alloc(STARTS, sizeof *h);
	int err = cells_make(&cells, p);
	if (!err)
		err = h ? settle_best(h, &cells, k, threads) : -ENOMEM;
	if (!err) {
		weir_free(cells.key);
		cells.key = NULL;
		err = find_labels(&cells, h, threads, label);
	}
	cells_free(&cells);
	weir_free(h);
	return err;
}
