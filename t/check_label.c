/* rawlabel's parts against their definitions: components by flood fill, parts by all saddles, watersheds, numbers by printf. */
#include "common/picture/distance.h"
#include "common/picture/label.h"
#include "common/picture/outline.h"
#include "common/picture/peaks.h"
#include "common/picture/ranks.h"
#include "common/picture/shape.h"
#include "common/picture/table.h"
#include "t/check.h"

enum { MOST = 4000 };

/* A picture or volume, with what is chosen of it and where it belongs. */
struct scene {
	struct order_shape s;
	size_t n;
	uint8_t chosen[MOST];
	double v[MOST];
	uint32_t part[MOST];
};

/* The number of axes along which two neighbours differ; 0 when they do not touch. */
static int
axes_between(const struct order_shape *s, size_t a, size_t b)
{
	const size_t w = s->w, wh = s->w * s->h;
	const long dx = labs((long)(a % w) - (long)(b % w)),
		   dy = labs((long)(a % wh / w) - (long)(b % wh / w)),
		   dz = labs((long)(a / wh) - (long)(b / wh));
	const int axes = (int)(dx + dy + dz), c = s->connectivity;

	if (dx > 1 || dy > 1 || dz > 1)
		return 0;
	return axes <= (c == 4 || c == 6 ? 1 : c == 8 || c == 18 ? 2 : 3) ? axes : 0;
}

/* Every sample that touches one of component k gets k, until none is left. */
static uint32_t
flood(const struct scene *a, uint32_t *label)
{
	uint32_t k = 0;

	memset(label, 0, a->n * sizeof *label);
	for (size_t i = 0; i < a->n; i++) {
		if (!a->chosen[i] || label[i])
			continue;
		label[i] = ++k;
		for (bool more = true; more;) {
			more = false;
			for (size_t p = 0; p < a->n; p++)
				for (size_t q = 0; label[p] == k && q < a->n; q++)
					if (a->chosen[q] && !label[q] &&
					    axes_between(&a->s, p, q)) {
						label[q] = k;
						more = true;
					}
		}
	}
	return k;
}

/*
 * The definition of the parts where all values differ. Each sample belongs to the peak that one reaches by going to the highest
 * neighbour again and again. The saddle between two sets of peaks is the highest of the lower samples of all pairs of
 * neighbours between them. From the highest saddle down, the set with the lower peak is joined to the other unless it rises
 * high enough. Sets are named by their highest sample.
 */
static void
parts(const struct scene *a, double rise, uint32_t *top)
{
	for (size_t i = 0; i < a->n; i++)
		top[i] = (uint32_t)i;
	for (size_t i = 0; i < a->n; i++)
		for (size_t q = 0; q < a->n; q++)
			if (a->chosen[i] && a->chosen[q] && axes_between(&a->s, i, q) &&
			    a->v[q] > a->v[top[i]])
				top[i] = (uint32_t)q;
	for (size_t i = 0; i < a->n; i++)
		while (top[top[i]] != top[i])
			top[i] = top[top[i]];
	for (;;) {
		double saddle = -INFINITY;
		size_t p = 0, q = 0;
		for (size_t i = 0; i < a->n; i++)
			for (size_t k = 0; k < a->n; k++)
				if (a->chosen[i] && a->chosen[k] && top[i] != top[k] &&
				    a->v[i] < a->v[k] && a->v[i] > saddle &&
				    axes_between(&a->s, i, k) &&
				    fmin(a->v[top[i]], a->v[top[k]]) - a->v[i] < rise) {
					saddle = a->v[i];
					p = i;
					q = k;
				}
		if (saddle == -INFINITY)
			return;
		const uint32_t x = top[p], y = top[q], high = a->v[x] > a->v[y] ? x : y;

		for (size_t i = 0; i < a->n; i++)
			if (top[i] == x || top[i] == y)
				top[i] = high;
	}
}

/* Whether two numberings name the same sets, and the first one in the order of first samples. */
static bool
same_sets(const struct scene *a, const uint32_t *name, const uint32_t *other)
{
	static uint32_t of[MOST + 1];
	uint32_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (!a->chosen[i] != !name[i] || name[i] > n + 1)
			return false;
		if (!name[i])
			continue;
		if (name[i] == n + 1) {
			n++;
			for (uint32_t k = 1; k < n; k++)
				if (of[k] == other[i])
					return false;
			of[n] = other[i];
		}
		if (of[name[i]] != other[i])
			return false;
	}
	return true;
}

/* Draws a scene of at most `most` samples, whose values are multiples of 1 / levels; 0: of any size. */
static void
make_scene(struct check_rng *r, struct scene *a, size_t most, double levels)
{
	static const int kinds[] = {4, 8, 6, 18, 26};
	const double share = rng_unit(r);

	a->s.connectivity = kinds[rng_below(r, 5)];
	a->s.depth = a->s.connectivity == 4 || a->s.connectivity == 8 ? 1 : 1 + rng_below(r, 4);
	a->s.w = 1 + rng_below(r, most < 300 ? 12 : rng_below(r, 4) ? 20 : 200);
	/* Widths around those at which words of 64 samples end. */
	if (most >= 300 && !rng_below(r, 6))
		a->s.w = 63 + rng_below(r, 3) + 64 * rng_below(r, 2);
	a->s.h = 1 + rng_below(r, most / a->s.depth / a->s.w ? most / a->s.depth / a->s.w : 1);
	a->n = a->s.w * a->s.h * a->s.depth;
	for (size_t i = 0; i < a->n; i++) {
		a->chosen[i] = rng_unit(r) < share;
		a->v[i] = rng_unit(r) - .5;
		a->v[i] = levels > 0 ? rint(a->v[i] * levels) / levels : a->v[i];
	}
}

static const char *
wrong_region(const struct scene *a, const int32_t *label, const struct region *g, int32_t k)
{
	/* Sums of v^weight x_i x_j about the first sample, where axis 3 is 1. */
	static const int axes[10][2] = {{3, 3}, {0, 3}, {1, 3}, {2, 3}, {0, 0},
					{1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
	const double mean = g->light.s / (double)g->size;
	size_t size = 0, top = MOST, low = MOST;
	double squares = 0, sum[2][10] = {{0}};

	for (size_t i = 0; i < a->n; i++) {
		const double x[4] = {(double)(i % a->s.w) - (double)g->first[0],
				     (double)(i / a->s.w % a->s.h) - (double)g->first[1],
				     (double)(i / a->s.w / a->s.h) - (double)g->first[2], 1};
		if (label[i] != k)
			continue;
		size++;
		squares += (a->v[i] - mean) * (a->v[i] - mean);
		top = top == MOST || a->v[i] > a->v[top] ? i : top;
		low = low == MOST || a->v[i] < a->v[low] ? i : low;
		for (int m = 0; m < 20; m++)
			sum[m / 10][m % 10] +=
			    (m < 10 ? 1 : a->v[i]) * x[axes[m % 10][0]] * x[axes[m % 10][1]];
	}
	for (int w = 0; w < 2; w++)
		for (int m = 0; m < 10; m++) {
			const struct moments *q = w ? &g->light : &g->shape;
			const double got = !m ? q->s : m < 4 ? q->m[m - 1] : q->q[m - 4];
			if (fabs(got - sum[w][m]) > (m < 4 ? 1e-9 : 1e-7))
				return "a moment";
		}
	if (g->size != size || g->least != a->v[low] || fabs(g->squares - squares) > 1e-9)
		return "the size, the least value or the squares";
	if (g->peak != a->v[top] || g->top[0] + a->s.w * (g->top[1] + a->s.h * g->top[2]) != top)
		return "the peak";
	return NULL;
}

enum how { KNOWN, MEASURED, UNMEASURED };

/* Labels a scene row by row. KNOWN: its parts are given. UNMEASURED: its values are not. */
static void
open_label(const struct scene *a, enum how how, uint64_t least, struct label *l)
{
	bool good = !label_open(l, a->s.w, a->s.h, a->s.depth, a->s.connectivity);

	for (size_t at = 0; good && at < a->n; at += a->s.w)
		good = !(how == KNOWN
			     ? label_parts(l, a->part + at, a->v + at)
			     : label_row(l, a->chosen + at, how == MEASURED ? a->v + at : NULL));
	if (!good || label_close(l, least))
		abort();
}

static const char *
run_label(const struct scene *a, enum how how, uint64_t least, int32_t *label, size_t *n)
{
	const char *why = NULL;
	int32_t row[MOST + LABEL_PAD];
	struct label l;

	open_label(a, how, least, &l);
	for (size_t y = 0; y < l.rows; y++) {
		label_write(&l, y, row);
		memcpy(label + y * l.w, row, l.w * sizeof *row);
	}
	for (size_t i = 0; i < l.n && !why && how != UNMEASURED; i++)
		why = wrong_region(a, label, label_region(&l, i), (int32_t)i + 1);
	*n = l.n;
	label_free(&l);
	return why;
}

/* Leaves out the components of fewer than `least` samples, and returns the number of the others. */
static uint32_t
keep_large(const struct scene *a, uint32_t all, uint64_t least, uint32_t *label)
{
	uint32_t kept = 0;

	for (uint32_t k = 1; k <= all; k++) {
		uint64_t size = 0;
		for (size_t i = 0; i < a->n; i++)
			size += label[i] == k;
		kept += size >= least;
		for (size_t i = 0; i < a->n; i++)
			if (label[i] == k)
				label[i] = size >= least ? kept : 0;
	}
	return kept;
}

static void
check_components(struct check_many *m, struct check_rng *r, size_t round)
{
	static struct scene a;
	static uint32_t want[MOST];
	static int32_t got[MOST];
	size_t n;

	(void)round;
	make_scene(r, &a, 600, 0);
	const uint32_t all = flood(&a, want);

	for (uint64_t least = 1; least < 5; least += 1 + rng_below(r, 4)) {
		const uint32_t kept = keep_large(&a, all, least, want);
		for (enum how how = MEASURED; how <= UNMEASURED; how++) {
			const char *why = run_label(&a, how, least, got, &n);
			check_case(m, !why && n == kept && !memcmp(want, got, a.n * sizeof *want),
				   "%zux%zux%zu, %d, min-size %zu: %s", a.s.w, a.s.h, a.s.depth,
				   a.s.connectivity, (size_t)least, why ? why : "labels");
		}
	}
}

static void
check_split(struct check_many *m, struct check_rng *r, size_t round)
{
	static struct scene a;
	static uint32_t want[MOST];
	static int32_t got[MOST];
	const double rise = rng_below(r, 4) ? rng_unit(r) * .6 : 0;
	size_t n;

	(void)round;
	make_scene(r, &a, 120, 0);
	if (split(&a.s, a.v, a.chosen, rise, a.part))
		abort();
	parts(&a, rise, want);
	const char *why = run_label(&a, KNOWN, 1, got, &n);
	for (size_t i = 0; i < a.n; i++)
		a.part[i] = (uint32_t)got[i];
	check_case(m, !why && same_sets(&a, a.part, want), "%zux%zux%zu, %d, rise %g: %s", a.s.w,
		   a.s.h, a.s.depth, a.s.connectivity, rise, why ? why : "parts");
}

/* The definition of peaks.h. marker[i] becomes the marker of sample i. */
static void
spread(const struct scene *a, const uint32_t *given, uint32_t *marker)
{
	size_t turn[MOST], turns = 0; /* when the sample began to wait */
	bool taken[MOST] = {false};

	for (size_t i = 0; i < a->n; i++) {
		marker[i] = a->chosen[i] ? given[i] : 0;
		turn[i] = turns++;
	}
	for (;;) {
		size_t i = a->n;
		for (size_t k = 0; k < a->n; k++)
			if (marker[k] && !taken[k] &&
			    (i == a->n || a->v[k] > a->v[i] ||
			     (a->v[k] == a->v[i] && turn[k] < turn[i])))
				i = k;
		if (i == a->n)
			return;
		taken[i] = true;
		for (int axes = 1; axes <= 3; axes++)
			for (size_t k = 0; k < a->n; k++)
				if (a->chosen[k] && !marker[k] &&
				    axes_between(&a->s, i, k) == axes) {
					marker[k] = marker[i];
					turn[k] = turns++;
				}
	}
}

static void
check_watershed(struct check_many *m, struct check_rng *r, size_t round)
{
	static struct scene a;
	static uint32_t given[MOST], want[MOST];
	const double seeds = rng_unit(r) * .3;

	(void)round;
	make_scene(r, &a, 200, rng_below(r, 2) ? 4 : 1e6);
	for (size_t i = 0; i < a.n; i++)
		given[i] = rng_unit(r) < seeds ? 1 + (uint32_t)rng_below(r, 5) * 500000000 : 0;
	spread(&a, given, want);
	memcpy(a.part, given, sizeof given);
	if (watershed(&a.s, a.v, a.chosen, a.part))
		abort();
	check_case(m, !memcmp(want, a.part, a.n * sizeof *want), "%zux%zux%zu, %d", a.s.w, a.s.h,
		   a.s.depth, a.s.connectivity);
}

/* Whether sample x y z belongs to component k. Nothing does outside. */
static bool
has(const struct scene *a, const uint32_t *label, uint32_t k, long x, long y, long z)
{
	const size_t w = a->s.w, h = a->s.h;

	return x >= 0 && y >= 0 && z >= 0 && (size_t)x < w && (size_t)y < h &&
	       (size_t)z < a->s.depth && label[((size_t)z * h + (size_t)y) * w + (size_t)x] == k;
}

/* Crofton's sum of changes along the 13 directions, in voxels of 1 by 1 by 1. */
static double
surface_of(const struct scene *a, const uint32_t *label, uint32_t k)
{
	static const double share[] = {0, 2 * 0.04577789120476, 2 * 0.03698062787608,
				       2 * 0.03519563978232};
	double sum = 0;

	for (int d = 14; d < 27; d++) {
		const long dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
		const int axes = (dx != 0) + (dy != 0) + (dz != 0);
		long changes = 0;
		for (long z = -1; z <= (long)a->s.depth; z++)
			for (long y = -1; y <= (long)a->s.h; y++)
				for (long x = -1; x <= (long)a->s.w; x++)
					changes += has(a, label, k, x, y, z) !=
						   has(a, label, k, x + dx, y + dy, z + dz);
		sum += 2 * share[axes] * (double)changes / sqrt(axes);
	}
	return sum;
}

static const long side[6][3] = {{0, 1, 0},  {1, 0, 0}, {0, -1, 0},
				{-1, 0, 0}, {0, 0, 1}, {0, 0, -1}};

/* The border's pixels, weighed by 1 + 2 for each neighbour by a side + 10 by a corner: the table of scikit-image. */
static double
perimeter_of(const struct scene *a, const uint32_t *label, uint32_t k)
{
	double weight[50] = {[5] = 1, [7] = 1, [15] = 1, [17] = 1, [25] = 1, [27] = 1}, sum = 0;
	const struct order_shape square = {a->s.w, a->s.h, 1, 8};
	bool edge[MOST] = {false};

	weight[21] = weight[33] = sqrt(2);
	weight[13] = weight[23] = (1 + sqrt(2)) / 2;
	for (size_t i = 0; i < a->n; i++)
		for (int n = 0; n < 4; n++)
			edge[i] |=
			    label[i] == k && !has(a, label, k, (long)(i % a->s.w) + side[n][0],
						  (long)(i / a->s.w) + side[n][1], 0);
	for (size_t i = 0; i < a->n; i++) {
		int code = 1;
		for (size_t j = 0; edge[i] && j < a->n; j++)
			if (edge[j] && i != j) {
				const int axes = axes_between(&square, i, j);
				code += axes == 1 ? 2 : axes == 2 ? 10 : 0;
			}
		sum += weight[code];
	}
	return sum;
}

/* The place of sample i, in half samples. */
static void
place(const struct scene *a, size_t i, long x[3])
{
	x[0] = 2 * (long)(i % a->s.w);
	x[1] = 2 * (long)(i / a->s.w % a->s.h);
	x[2] = 2 * (long)(i / a->s.w / a->s.h);
}

/* Lists the middles of the sides that samples do not share. */
static size_t
list_sides(const struct scene *a, const bool *of, long (*p)[3])
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		for (int m = 0; of[i] && m < 6; m++) {
			size_t k = 0;
			place(a, i, p[n]);
			for (int d = 0; d < 3; d++)
				p[n][d] += side[m][d];
			while (memcmp(p[k], p[n], sizeof *p))
				k++;
			if (k == n++)
				continue;
			n -= 2;
			memcpy(p[k], p[n], sizeof *p);
		}
	return n;
}

/* On which side of a plane through `on` x lies: 1, 2, or 0 in it. */
static int
side_of(const long normal[3], const long on[3], const long x[3])
{
	const long sum =
	    normal[0] * (x[0] - on[0]) + normal[1] * (x[1] - on[1]) + normal[2] * (x[2] - on[2]);

	return sum > 0 ? 1 : sum < 0 ? 2 : 0;
}

/*
 * The greatest distance of the middles of sides of the samples in the hull, and *filled, how many these are. The hull is at that side
 * of a plane through three points that has all others.
 */
static double
feret_of(const struct scene *a, const uint32_t *label, uint32_t c, bool flat, size_t *filled)
{
	static long p[6 * MOST][3];
	long x[3], normal[3];
	bool in[MOST];
	double most = 0;

	for (size_t i = 0; i < a->n; i++)
		in[i] = label[i] == c;
	size_t n = list_sides(a, in, p);

	memset(in, true, sizeof in);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			for (size_t k = 0; k < j; k++) {
				int sides = 0;
				for (int d = 0, e = 1, f = 2; d < 3; d++, e = f, f = (d + 2) % 3)
					normal[d] = (p[j][e] - p[i][e]) * (p[k][f] - p[i][f]) -
						    (p[j][f] - p[i][f]) * (p[k][e] - p[i][e]);
				for (size_t q = 0; sides < 3 && q < n; q++)
					sides |= side_of(normal, p[i], p[q]);
				for (size_t q = 0; sides < 3 && q < a->n; q++) {
					place(a, q, x);
					in[q] &= !(side_of(normal, p[i], x) & ~sides);
				}
			}
	*filled = 0;
	for (size_t i = 0; i < a->n; i++)
		*filled += in[i];
	n = list_sides(a, in, p);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			for (int d = 0; d < 3; d++)
				x[d] = p[i][d] - p[j][d];
			most = fmax(most, hypot(hypot((double)x[0], (double)x[1]),
						flat ? 0 : (double)x[2]));
		}
	return most / 2;
}

/* What is wrong with the outlines of a map: each pixel must lie in the rings of its label alone, and rings must be simple. */
static const char *
wrong_outlines(const struct scene *a, const uint32_t *label, const struct outlines *o)
{
	for (size_t r = 0; r < o->rings; r++) {
		const struct ring *ring = &o->ring[r];
		const bool first = !r || ring[-1].polygon != ring->polygon;
		if (ring->hole == first)
			return "a polygon does not begin with its outer ring";
		for (size_t i = 0; i < ring->n; i++)
			for (size_t j = 0; j < i; j++)
				if (!memcmp(o->corner[ring->first + i], o->corner[ring->first + j],
					    8))
					return "a ring touches itself";
	}
	for (size_t i = 0; i < a->n; i++)
		for (uint32_t k = 1; k <= a->n; k++) {
			int turns = 0;
			/* Edges left of the pixel, which cross its middle line, count by their direction. */
			for (size_t r = 0; r < o->rings; r++)
				for (size_t c = 0; o->ring[r].label == k && c < o->ring[r].n; c++) {
					const uint32_t *p = o->corner[o->ring[r].first + c],
						       *q = o->corner[o->ring[r].first +
								      (c + 1) % o->ring[r].n];
					const bool above = p[1] <= i / a->s.w,
						   next = q[1] <= i / a->s.w;
					if (above != next && p[0] <= i % a->s.w)
						turns += next ? 1 : -1;
				}
			if (turns != (label[i] == k))
				return "a pixel lies in another polygon";
		}
	return NULL;
}

static void
check_shapes(struct check_many *m, struct check_rng *r, size_t round)
{
	static struct scene a;
	static uint32_t want[MOST];
	double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	struct shape shape[MOST];
	struct label l;
	struct outlines o;
	size_t filled;

	(void)round;
	make_scene(r, &a, 70, 0);
	const bool volume = a.s.connectivity != 4 && a.s.connectivity != 8;
	const uint32_t n = flood(&a, want);

	open_label(&a, MEASURED, 1, &l);
	if (shape_measure(&l, unit, volume ? 3 : 2, 1, shape))
		abort();
	for (uint32_t k = 1; k <= n; k++) {
		const struct shape *g = &shape[k - 1];
		if (volume)
			check_case(m, fabs(g->surface - surface_of(&a, want, k)) < 1e-9,
				   "surface %g", g->surface);
		else
			check_case(m, fabs(g->perimeter - perimeter_of(&a, want, k)) < 1e-9,
				   "perimeter %g", g->perimeter);
		const double feret = feret_of(&a, want, k, !volume, &filled);

		check_case(m, g->filled == (double)filled, "%g samples in the hull of %zu",
			   g->filled, filled);
		check_case(m, fabs(g->feret - feret) < 1e-9, "feret %g of %g", g->feret, feret);
	}
	if (!volume) {
		int32_t *map = label_map(&l, false);
		outlines_find(&o, map, l.w, l.h);
		const char *why = wrong_outlines(&a, want, &o);

		check_case(m, !why, "%zux%zu, %d: %s", l.w, l.h, l.connectivity, why ? why : "");
		outlines_free(&o);
		weir_free(map);
	}
	label_free(&l);
}

static void
check_grow(struct check_many *m, struct check_rng *r, size_t round)
{
	static struct scene a;
	static int32_t map[MOST];
	const double most = 4 * rng_unit(r), z = rng_below(r, 2) ? 1 : 2.5;

	(void)round;
	make_scene(r, &a, 300, 0);
	for (size_t i = 0; i < a.n; i++)
		map[i] =
		    (int32_t)(a.part[i] = rng_below(r, 20) ? 0 : 1 + (uint32_t)rng_below(r, 9));
	if (grow_labels(&(struct distance_shape){a.s.w, a.s.h, a.s.depth, {1, 1, z}}, most, map))
		abort();
	for (size_t i = 0; i < a.n; i++) {
		double best = most * most;
		uint32_t label = 0;
		for (size_t k = 0; k < a.n; k++) {
			const size_t w = a.s.w, wh = w * a.s.h;
			const double x = (double)(i % w) - (double)(k % w),
				     y = (double)(i % wh / w) - (double)(k % wh / w),
				     dz = z * ((double)(i / wh) - (double)(k / wh)),
				     d = x * x + y * y + dz * dz;
			if (a.part[k] &&
			    (d < best || (d == best && (!label || a.part[k] < label)))) {
				best = d;
				label = a.part[k];
			}
		}
		check_case(m, map[i] == (int32_t)label, "sample %zu: %d, and %u is nearest", i,
			   map[i], label);
	}
}

/* The variance between the n bytes up to t and those above, or how far count[t] is below the line from the peak to the further end. */
static double
merit(const uint8_t *v, size_t n, bool otsu, size_t t)
{
	double size[2] = {0, 0}, sum[2] = {0, 0}, count[256] = {0};
	size_t lo = 255, hi = 0, peak = 0;

	for (size_t i = 0; i < n; i++) {
		size[v[i] > t]++;
		sum[v[i] > t] += v[i];
		count[v[i]]++;
		lo = v[i] < lo ? v[i] : lo;
		hi = v[i] > hi ? v[i] : hi;
	}
	for (size_t i = 0; i < 256; i++)
		peak = count[i] > count[peak] ? i : peak;
	const double foot = (double)(peak - lo < hi - peak ? hi : lo),
		     apart = sum[0] / size[0] - sum[1] / size[1],
		     along = ((double)t - foot) / ((double)peak - foot);

	if (otsu)
		return t < lo || t >= hi ? -1 : size[0] * size[1] * apart * apart;
	return lo == hi			 ? t == lo
	       : along >= 0 && along < 1 ? count[peak] * along - count[t]
					 : -INFINITY;
}

static void
check_thresholds(struct check_many *m, struct check_rng *r, size_t round)
{
	const size_t n = 1 + rng_below(r, 500), sizes[1] = {n};
	const double wide = 1 + (double)rng_below(r, 200);
	const bool otsu = round % 2;
	struct img x;
	uint8_t v[500];

	for (size_t i = 0; i < n; i++)
		v[i] = (uint8_t)(wide * rng_unit(r) * (rng_below(r, 3) ? rng_unit(r) : 1) + 30);
	img_init(&x, IMG_U8, 1, sizes);
	x.data = v;
	struct ranks ranks = ranks_start(&x, false, 1);
	const double t = ranks_threshold(&ranks, true, otsu), got = merit(v, n, otsu, (size_t)t);

	for (size_t i = 0; i < 256; i++)
		check_case(m, merit(v, n, otsu, i) <= got + 1e-9 * fabs(got),
			   "%zu is better than %g", i, t);
	ranks_free(&ranks);
	x.data = NULL;
	img_free(&x);
}

static void
check_numbers(struct check_many *m, struct check_rng *r, size_t i)
{
	static const double special[] = {
	    0,	  -0.,	    1,	      9.9999999995, 99999.99995, 999999999,   999999998.9999999,
	    1e-4, 1e-5,	    1e9,      .5,	    4294967295,	 -0x1p53 + 1, 0x1p53,
	    NAN,  INFINITY, -INFINITY};
	char want[64], got[NUMBER_ROOM];
	double v = exp(40 * rng_unit(r) - 12) * (rng_below(r, 5) ? 1 : -1);

	v = i % 3 ? v : rint(v * 8) / 8;
	v = i % 11 ? v : rint(v * 1e6) / 1e6;
	v = i < sizeof special / sizeof *special ? special[i] : v;
	got[number_print(got, v)] = 0;
	snprintf(want, sizeof want, fabs(v) < 0x1p53 && v == rint(v) ? "%.16g" : "%.9g", v);
	check_case(m, !strcmp(isnan(v) ? "nan" : want, got), "%s, and printf has %s", got, want);
}

void
check_label(void)
{
	struct check_rng r = {7};

	check_each_from("label: components and their measures are those of a flood fill", 300, &r,
			check_components);
	check_each_from("split: parts are those of the definition", 300, &r, check_split);
	check_each_from("watershed: every sample gets the marker of the definition", 500, &r,
			check_watershed);
	check_each_from(
	    "shape: perimeters, hulls, surfaces and outlines are those of the definitions", 200, &r,
	    check_shapes);
	check_each_from("grow: every sample gets the nearest label, and the lowest of equals", 100,
			&r, check_grow);
	check_each_from("thresholds are those of the definitions", 300, &r, check_thresholds);
	check_each_from("numbers are printed as by printf", 300000, &r, check_numbers);
}
