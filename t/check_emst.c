#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "emst/classes/classes.h"
#include "emst/emst.h"
#include "emst/mesh/mesh.h"
#include "emst/lattice/lattice.h"
#include "emst/palette/lloyd.h"
#include "t/check.h"

void check_emst(void);

/* --- vertices ---------------------------------------------------------------------------------------------------- */

struct sample {
	struct emst_set s;
	struct lattice l;
	float *f;
	double *d;
	uint32_t *code;
};

static void
free_sample(struct sample *m)
{
	lattice_free(&m->l);
	weir_free(m->f);
	weir_free(m->d);
	weir_free(m->code);
}

static void
from_codes(struct sample *m, const uint32_t *code, size_t n)
{
	*m = (struct sample){0};
	lattice_init(&m->l);
	lattice_add_codes(&m->l, code, n);
	lattice_index(&m->l);
	m->code = weir_alloc(m->l.n, sizeof *m->code);
	lattice_codes(&m->l, m->code, 1);
	m->s = (struct emst_set){.type = EMST_CODE, .n = m->l.n, .k = 3, .lattice = &m->l};
}

/* Colours in a box of the given side, at multiples of step; a third of the time only on a plane, a line or a shell. */
static void
random_colours(struct sample *m, struct check_rng *r, size_t n, unsigned side, unsigned step)
{
	uint32_t code[4096];
	size_t kind = rng_below(r, 9);
	unsigned most = 255 / step < side ? 255 / step : side;
	unsigned shift = (unsigned)rng_below(r, 256 - most * step);

	for (size_t i = 0; i < n; i++) {
		unsigned x[3];
		for (int a = 0; a < 3; a++)
			x[a] = shift + step * (unsigned)rng_below(r, most + 1);
		if (kind == 0)
			x[0] = shift;
		if (kind == 1)
			x[0] = x[1] = shift;
		if (kind == 2)
			x[2] = x[1] = x[0];
		if (kind == 3 && rng_below(r, 20) == 0)
			x[0] = 255 * (unsigned)rng_below(r, 2);
		code[i] = x[0] << 16 | x[1] << 8 | x[2];
	}
	from_codes(m, code, n);
}

/* Points of k coordinates, no two equal, on a grid of the given number of places per axis (0: anywhere). */
static void
random_points(struct sample *m, struct check_rng *r, size_t n, unsigned k, size_t places, bool wide)
{
	size_t have = 0;

	*m = (struct sample){.f = weir_alloc(n * k, sizeof *m->f),
			     .d = weir_alloc(n * k, sizeof *m->d)};
	for (size_t tries = 0; have < n && tries < 4 * n; tries++) {
		float *x = m->f + have * k;
		size_t same = 0;
		for (size_t a = 0; a < k; a++)
			x[a] = places ? (float)rng_below(r, places) : (float)rng_normal(r);
		while (same < have && memcmp(m->f + same * k, x, k * sizeof *x))
			same++;
		have += same == have;
	}
	for (size_t i = 0; i < have * k; i++)
		m->d[i] = (double)m->f[i];
	m->s = (struct emst_set){.type = wide ? EMST_F64 : EMST_F32, .n = have, .k = k};
	m->s.x = wide ? (const void *)m->d : m->f;
}

/* --- Kruskal by brute force: all edges sorted, none pruned ---------------------------------------------------------- */

struct edge {
	double d2;
	uint64_t span;
	uint32_t lo, u, v;
};

static int
order(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->d2 != b->d2)
		return a->d2 < b->d2 ? -1 : 1;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

static double
d2_of(const struct sample *m, size_t i, size_t j)
{
	double d2 = 0;
	float f2 = 0;

	for (unsigned a = 0; a < m->s.k; a++)
		if (m->code) {
			int t = (int)(m->code[i] >> 8 * a & 255) - (int)(m->code[j] >> 8 * a & 255);
			d2 += t * t;
		} else if (m->s.type == EMST_F32) {
			float t = m->f[i * m->s.k + a] - m->f[j * m->s.k + a];
			f2 += t * t;
		} else {
			double t = m->d[i * m->s.k + a] - m->d[j * m->s.k + a];
			d2 += t * t;
		}
	return d2 + (double)f2;
}

static void
kruskal(const struct sample *m, const double *core, struct emst_tree *t)
{
	size_t n = m->s.n, have = 0, k = 0;
	struct edge *e = weir_alloc(n * (n - 1) / 2, sizeof *e);
	uint32_t *tree = weir_alloc(n, sizeof *tree);

	*t =
	    (struct emst_tree){n, weir_alloc(n, sizeof *t->edge), weir_alloc(n, sizeof *t->length)};
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = (tree[i] = i) + 1; j < n; j++) {
			uint32_t a = m->code ? m->code[i] : i, b = m->code ? m->code[j] : j;
			double d2 = d2_of(m, i, j);
			if (core)
				d2 = fmax(d2, fmax(core[i], core[j]));
			e[have++] = (struct edge){d2, b - a, a, i, j};
		}
	qsort(e, have, sizeof *e, order);
	for (size_t i = 0; i < have; i++) {
		uint32_t a = tree[e[i].u], b = tree[e[i].v];
		if (a == b)
			continue;
		t->edge[k] = (struct emst_edge){e[i].u, e[i].v};
		t->length[k++] = sqrt(e[i].d2);
		for (size_t j = 0; j < n; j++)
			tree[j] = tree[j] == b ? a : tree[j];
	}
	weir_free(tree);
	weir_free(e);
}

/* The first edge in which two trees differ, or -1. */
static long
difference(const struct emst_tree *a, const struct emst_tree *b)
{
	if (a->n != b->n || !a->edge || !b->edge)
		return 0;
	for (size_t i = 0; i + 1 < a->n; i++)
		if (a->edge[i].u != b->edge[i].u || a->edge[i].v != b->edge[i].v ||
		    a->length[i] != b->length[i])
			return (long)i;
	return -1;
}

static void
expect(struct check_many *c, const struct emst_tree *want, struct emst_tree *got, int err,
       const char *what, size_t set)
{
	long at = err ? 0 : difference(want, got);

	check_case(c, at < 0, "set %zu, %s: %s, edge %ld of %zu", set, what, strerror(-err), at,
		   want->n - 1);
	emst_tree_free(got);
}

/* --- one tree, whatever the way --------------------------------------------------------------------------------- */

static void
compare_ways(struct check_many *c, const struct sample *m, size_t set)
{
	struct emst_tree want, got;

	kruskal(m, NULL, &want);
	int err = emst_direct(&m->s, NULL, &got);
	expect(c, &want, &got, err, "direct", set);
	err = emst_run(&m->s, 1, &got);
	expect(c, &want, &got, err, "the way that is chosen", set);
	for (int threads = 1; threads <= 3; threads++) {
		err = emst_run_kd(&m->s, threads, &got);
		expect(c, &want, &got, err, "kd", set);
		err = emst_run_brute(&m->s, threads, &got);
		expect(c, &want, &got, err, "all pairs in every round", set);
		if (!m->code)
			continue;
		err = emst_run_lattice(&m->s, threads, &got);
		expect(c, &want, &got, err, "lattice", set);
	}
	emst_tree_free(&want);
}

static void
check_colours(void)
{
	static const unsigned side[] = {3, 5, 9, 16, 40, 255}, step[] = {1, 1, 2, 3, 5, 17};
	struct check_many c = {0};
	struct check_rng r = {1};

	for (size_t set = 0; set < 240; set++) {
		struct sample m;
		size_t n = 1 + rng_below(&r, set % 10 ? 120 : 400);
		random_colours(&m, &r, n, side[rng_below(&r, 6)], step[rng_below(&r, 6)]);
		compare_ways(&c, &m, set);
		free_sample(&m);
	}
	check_end(&c, "emst: colours full of ties have one tree, by brute force, lattice and "
		      "kd-tree, for any threads");
}

static void
check_points(void)
{
	struct check_many c = {0};
	struct check_rng r = {2};

	for (size_t set = 0; set < 160; set++) {
		struct sample m;
		unsigned k = 1 + (unsigned)(set % 16);
		size_t places = set % 3 ? 2 + rng_below(&r, 9) : 0, n = 1 + rng_below(&r, 200);
		random_points(&m, &r, n, k, places, set / 16 % 2);
		compare_ways(&c, &m, set);
		free_sample(&m);
	}
	check_end(
	    &c,
	    "emst: points of 1 to 16 dimensions, floats and doubles, have one tree by every way");
}

/* Dimensions beyond the kd-tree, and so many that it gives up. */
static void
check_wide_points(void)
{
	struct check_many c = {0};
	struct check_rng r = {11};

	for (size_t set = 0; set < 40; set++) {
		struct sample m;
		struct emst_tree want, got;
		const unsigned k = set % 8 ? 17 + (unsigned)rng_below(&r, 60) : 4096;
		random_points(&m, &r, 2 + rng_below(&r, set % 8 ? 200 : 20), k, set % 3 ? 0 : 2,
			      set % 2);
		kruskal(&m, NULL, &want);
		int err = emst_run(&m.s, 1 + (int)(set % 3), &got);
		expect(&c, &want, &got, err, "all pairs", set);
		emst_tree_free(&want);
		free_sample(&m);
	}
	for (size_t set = 0; set < 2; set++) {
		struct sample m;
		struct emst_tree want, got;
		random_points(&m, &r, 2600, 16, 0, set);
		int err = emst_direct(&m.s, NULL, &want);
		err = err ? err : emst_run_kd(&m.s, 2, &got);
		expect(&c, &want, &got, err, "the kd-tree that gives up", set);
		emst_tree_free(&want);
		free_sample(&m);
	}
	check_end(&c, "emst: points of 17 to 4096 dimensions, and those that a kd-tree gives up, "
		      "have the tree of the definition");
}

static void
check_density(void)
{
	struct check_many c = {0};
	struct check_rng r = {3};
	static uint64_t weight[400];
	static double core[400], want_core[400];

	for (size_t set = 0; set < 120; set++) {
		struct sample m;
		struct emst_tree want, got;
		unsigned k = 1 + (unsigned)(set % 5);
		uint64_t sum = 0, p;
		if (set % 2)
			random_points(&m, &r, 2 + rng_below(&r, 150), k, 2 + rng_below(&r, 6),
				      set % 4 == 1);
		else
			random_colours(&m, &r, 2 + rng_below(&r, 150), 12, 2);
		for (size_t i = 0; i < m.s.n; i++)
			sum += weight[i] = 1 + rng_below(&r, set % 3 ? 1 : 5);
		p = 1 + rng_below(&r, sum < 12 ? sum : 12);
		if (set % 7 == 0)
			weight[rng_below(&r, m.s.n)] += (uint64_t)1 << 40;
		emst_direct_core(&m.s, weight, p, want_core);
		kruskal(&m, want_core, &want);
		int err = emst_direct(&m.s, want_core, &got);
		expect(&c, &want, &got, err, "direct", set);
		for (int threads = 1; threads <= 2; threads++) {
			check_poison(core, sizeof core);
			err = emst_run_density(&m.s, weight, p, threads, core, &got);
			expect(&c, &want, &got, err, "density", set);
			check_case(&c, !memcmp(core, want_core, m.s.n * sizeof *core),
				   "set %zu: core radii", set);
		}
		emst_tree_free(&want);
		free_sample(&m);
	}
	check_end(&c, "emst: mutual reachability: core radii and tree are those of the definition");
}

/* A tree of any shape, its lengths tie-free, or few; and weights. */
enum { TREE_MOST = 90 };
struct any_tree {
	struct emst_edge edge[TREE_MOST];
	double length[TREE_MOST];
	uint64_t weight[TREE_MOST];
	struct emst_tree t;
	struct dendrogram d;
};

static int
make_tree(struct any_tree *a, struct check_rng *r, size_t set)
{
	a->t = (struct emst_tree){1 + rng_below(r, TREE_MOST), a->edge, a->length};
	for (uint32_t i = 0; i < a->t.n; i++) {
		a->weight[i] = (1 + rng_below(r, set % 4 < 2 ? 1 : 15)) << (set % 7 ? 0 : 33);
		if (i)
			a->edge[i - 1] = (struct emst_edge){(uint32_t)rng_below(r, i), i};
		a->length[i] = (i ? a->length[i - 1] : .1) +
			       (set % 5 ? rng_unit(r) * rng_unit(r) : (double)rng_below(r, 2));
	}
	for (size_t i = a->t.n; i > 2; i--) {
		const size_t j = rng_below(r, i - 1);
		struct emst_edge x = a->edge[j];
		a->edge[j] = a->edge[i - 2];
		a->edge[i - 2] = x;
	}
	return dendrogram_make(&a->d, &a->t, a->weight);
}

static void
compare_classes(struct check_many *c, struct check_rng *r, size_t set)
{
	uint32_t want[TREE_MOST];
	struct any_tree a;
	struct classes got = {0};
	int err = make_tree(&a, r, set);
	const struct density how = {1 + rng_below(r, 12), set % 2, false};

	if (!err)
		err = emst_direct_hdbscan(&a.t, a.weight, how.min_weight, how.leaves, want);
	if (!err)
		err = classes_density(&got, &a.d, &a.t, how);
	check_case(c, !err && !memcmp(got.label, want, a.t.n * sizeof *want),
		   "set %zu, %zu vertices, at least %ju, %s: error %d", set, a.t.n,
		   (uintmax_t)how.min_weight, how.leaves ? "leaves" : "eom", err);
	dendrogram_free(&a.d);
	classes_free(&got);
}

static void
check_hdbscan(void)
{
	struct check_many c = {0};
	struct check_rng r = {5};

	for (size_t set = 0; set < 2000; set++)
		compare_classes(&c, &r, set);
	check_end(&c, "emst: the classes of HDBSCAN* are those of the definition, heavy vertices "
		      "and equal lengths included");
}

/* Joining as Genie does, by heaps and by looking at everything. */
static void
check_genie(void)
{
	struct check_many c = {0};
	struct check_rng r = {6};
	uint8_t want[TREE_MOST], got[TREE_MOST];
	struct any_tree a;

	for (size_t set = 0; set < 600; set++) {
		int err = make_tree(&a, &r, set);
		const double gini = rng_unit(&r);
		const size_t classes = 1 + rng_below(&r, a.t.n < 12 ? a.t.n : 12);
		if (set % 7 == 0)
			for (size_t v = 0; v < a.t.n; v++)
				a.weight[v] *= 300; /* some parts are large, some small */
		if (!err)
			err = emst_direct_genie(&a.t, a.weight, gini, classes, want);
		if (!err)
			err = cut_genie(&a.t, a.weight, gini, classes, got);
		check_case(&c, !err && !memcmp(got, want, a.t.n - 1),
			   "set %zu, %zu vertices, gini %g, %zu classes: error %d", set, a.t.n,
			   gini, classes, err);
		dendrogram_free(&a.d);
	}
	check_end(&c, "emst: Genie joins the parts of the definition, heavy vertices and equal "
		      "lengths included");
}

/* Replays the edges, as the page says: joined unless both parts have the size. Returns the trees. */
static size_t
replay(const struct any_tree *a, uint64_t m, uint8_t *cut)
{
	uint64_t weight[TREE_MOST];
	uint32_t part[TREE_MOST];
	size_t trees = a->t.n;

	for (uint32_t v = 0; v < a->t.n; v++) {
		part[v] = v;
		weight[v] = a->weight[v];
	}
	for (size_t e = 0; e + 1 < a->t.n; e++) {
		const uint32_t p = part[a->edge[e].u], q = part[a->edge[e].v];
		cut[e] = weight[p] >= m && weight[q] >= m;
		if (cut[e])
			continue;
		trees--;
		weight[p] += weight[q];
		for (size_t v = 0; v < a->t.n; v++)
			part[v] = part[v] == q ? p : part[v];
	}
	return trees;
}

static void
check_forest(void)
{
	struct check_many c = {0};
	struct check_rng r = {7};
	uint8_t want[TREE_MOST], got[TREE_MOST];
	struct any_tree a;

	for (size_t set = 0; set < 300; set++) {
		int err = make_tree(&a, &r, set);
		for (uint64_t m = 1; !err && m < 60; m++) {
			const size_t trees = replay(&a, m, want);
			memset(got, 1, sizeof got);
			err = cut_at_most(&a.d, trees, got);
			check_case(&c, !err && !memcmp(got, want, a.t.n - 1),
				   "set %zu, %zu vertices, %zu trees", set, a.t.n, trees);
		}
		dendrogram_free(&a.d);
	}
	check_end(&c, "emst: so many classes are the minimum-size forest of so many trees");
}

/* --- palettes --------------------------------------------------------------------------------------------------------- */

enum { PIXELS = 3000 };

/* Distinct colours of a few clouds, ascending, with weights. */
static size_t
random_histogram(struct check_rng *r, uint32_t *code, uint64_t *weight)
{
	struct sample m;
	size_t n;

	for (size_t i = 0; i < PIXELS; i++) {
		const double cloud = 40 * (double)rng_below(r, 6);
		code[i] = 0;
		for (int a = 0; a < 3; a++)
			code[i] = code[i] << 8 |
				  (uint32_t)fmin(fmax(20 + cloud + 9 * rng_normal(r), 0), 255);
		weight[i] = 1 + (uint64_t)rng_below(r, 50) * rng_below(r, 50);
	}
	weight[0] = 1u << 30; /* a sky of one colour */
	from_codes(&m, code, PIXELS);
	n = m.l.n;
	memcpy(code, m.code, n * sizeof *code);
	free_sample(&m);
	return n;
}

static double
distance2(const struct centre *c, uint32_t code)
{
	double d2 = 0;

	for (int a = 0; a < 3; a++) {
		const double d = (double)c->x[a] - (code >> 8 * (2 - a) & 255);
		d2 += d * d;
	}
	return d2;
}

/* Every colour against every centre. */
static bool
all_nearest(const struct lloyd *l, const struct cells *cells, const uint32_t *code,
	    const uint64_t *weight, double sse)
{
	double sum = 0;

	for (size_t i = 0; i < cells->n; i++) {
		double least = INFINITY;
		const double got = distance2(&l->c[l->label[cells->at[i]]], code[i]);
		for (size_t j = 0; j < l->k; j++)
			least = fmin(least, distance2(&l->c[j], code[i]));
		if (got > least + .1)
			return false;
		sum += (double)weight[i] * got;
	}
	return fabs(sum - sse) <= 1e-9 * cells->squares;
}

static void
check_rounds(void)
{
	static uint64_t weight[PIXELS];
	static uint32_t code[PIXELS];
	struct check_many m = {0};
	struct check_rng r = {8};

	for (size_t set = 0; set < 40; set++) {
		struct cells cells;
		struct lloyd l;
		const size_t n = random_histogram(&r, code, weight);
		int err = cells_make(&cells, code, weight, n);
		if (!err)
			err = lloyd_init(&l, &cells, 1 + (int)(set % 3));
		l.k = 1 + rng_below(&r, set % 2 ? 20 : PALETTE_MOST);
		for (size_t j = 0; j < l.k; j++)
			for (int a = 0; a < 3; a++)
				l.c[j].x[a] = (float)(255 * rng_unit(&r));
		const double sse = lloyd_assign(&l);
		check_case(&m, !err && all_nearest(&l, &cells, code, weight, sse),
			   "set %zu, %zu centres", set, l.k);
		const double less = lloyd_run(&l, 30, 0);
		check_case(&m, less <= sse, "set %zu: %g grows to %g", set, sse, less);
		lloyd_free(&l);
		cells_free(&cells);
	}
	check_end(&m, "emst: every colour goes to its nearest centre, whatever the boxes drop, and "
		      "rounds lose nothing");
}

static void
check_palette(void)
{
	static uint64_t weight[PIXELS];
	static uint32_t code[PIXELS], label[PIXELS], again[PIXELS];
	struct check_many m = {0};
	struct check_rng r = {9};

	for (size_t set = 0; set < 24; set++) {
		const size_t n = random_histogram(&r, code, weight), k = 1 + rng_below(&r, 256);
		uint32_t most = 0;
		check_poison(label, sizeof label);
		int err = palette_make(code, weight, n, k, 1, label);
		if (!err)
			err = palette_make(code, weight, n, k, 2 + (int)(set % 3), again);
		for (size_t i = 0; i < n; i++)
			most = label[i] > most ? label[i] : most;
		check_case(&m, !err && most < k && !memcmp(label, again, n * sizeof *label),
			   "set %zu, %zu colours in %zu: error %d, label %u", set, n, k, err, most);
	}
	check_end(&m, "emst: a palette is the same for any threads, and no larger than was asked");
	const uint32_t few[] = {7, 65536, 0xffffff};
	const uint64_t one[] = {3, 1, 2};
	check(!palette_make(few, one, 3, 8, 2, label) && label[0] != label[1] &&
		  label[1] != label[2] && label[0] != label[2],
	      "emst: a picture of few colours keeps them all", "%u %u %u", label[0], label[1],
	      label[2]);
}

/* --- regions ---------------------------------------------------------------------------------------------------------- */

/* Whether two partitions are one. */
static bool
same_partition(const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if ((a[i] == a[j]) != (b[i] == b[j]))
				return false;
	return true;
}

static void
check_regions(void)
{
	enum { MOST = 150 };
	struct check_many c = {0};
	struct check_rng r = {10};
	uint8_t px[3 * MOST];
	uint16_t wide[3 * MOST];
	uint32_t want[MOST], got[MOST];

	for (size_t set = 0; set < 300; set++) {
		const size_t w = 1 + rng_below(&r, 12), h = 1 + rng_below(&r, 12),
			     planes = 1 + rng_below(&r, 3), values = 1 + rng_below(&r, 60);
		const int neighbours = set % 2 ? 8 : 4;
		const double scale = 100 * rng_unit(&r) * rng_unit(&r);
		const uint64_t least = 1 + rng_below(&r, 12);
		struct vertices v;
		struct mesh g = {0};
		size_t regions = 0, at;
		for (size_t i = 0; i < w * h * planes; i++)
			wide[i] = px[i] =
			    (uint8_t)(rng_below(&r, values) + (i % w > w / 2 ? 90 : 0));
		int err = emst_direct_regions(px, w, h, planes, neighbours, scale, least, want);
		if (!err)
			err = set % 3 ? vertices_pixels(&v, px, IMG_U8, w * h, planes, &at)
				      : vertices_pixels(&v, wide, IMG_U16, w * h, planes, &at);
		if (!err)
			err = mesh_make(&g, &v, w, h, neighbours, 1 + (int)(set % 4));
		if (!err)
			err = mesh_regions(&g, scale, least, got, &regions);
		check_case(
		    &c, !err && same_partition(want, got, w * h),
		    "set %zu, %zu x %zu of %zu planes, %d neighbours, scale %g, at least %ju: "
		    "error %d, %zu regions",
		    set, w, h, planes, neighbours, scale, (uintmax_t)least, err, regions);
		mesh_free(&g);
		vertices_free(&v);
	}
	check_end(&c, "emst: regions of Felzenszwalb and Huttenlocher are those of the definition");
}

/* Sets too large for brute force: the two fast ways, which share no code, against each other. */
static void
check_large(void)
{
	struct check_many c = {0};
	struct check_rng r = {4};
	static uint32_t code[60000];

	for (size_t set = 0; set < 8; set++) {
		struct sample m;
		struct emst_tree want, got;
		size_t n = sizeof code / sizeof *code;
		for (size_t i = 0; i < n; i++) {
			double v[3];
			for (int a = 0; a < 3; a++)
				v[a] = set < 3	 ? 256 * rng_unit(&r)
				       : set < 6 ? 128 + 8 * (double)set * rng_normal(&r)
						 : 20 + 60 * (double)rng_below(&r, 4) +
						       4 * rng_normal(&r);
			if (set % 3 == 1)
				v[0] = .5 * v[1] + .3 * v[2] + 20 * (double)rng_below(&r, 3);
			code[i] = 0;
			for (int a = 0; a < 3; a++)
				code[i] = code[i] << 8 | (uint32_t)fmin(fmax(v[a], 0), 255);
		}
		from_codes(&m, code, set % 3 ? n : n / 10);
		emst_run_kd(&m.s, 1, &want);
		int err = emst_run_lattice(&m.s, 1, &got);
		expect(&c, &want, &got, err, "lattice", set);
		err = emst_run_lattice(&m.s, 2, &got);
		expect(&c, &want, &got, err, "lattice, two threads", set);
		err = emst_run_kd(&m.s, 2, &got);
		expect(&c, &want, &got, err, "kd, two threads", set);
		err = emst_run(&m.s, 2, &got);
		expect(&c, &want, &got, err, "the choice", set);
		emst_tree_free(&want);
		free_sample(&m);
	}
	check_end(
	    &c, "emst: clouds, sheets and sparse colours: lattice and kd-tree agree edge by edge");
}

static void
check_limits(void)
{
	static const float twice[] = {1, 2, 3, 4, 1, 2};
	static const uint32_t black_white[] = {0, 0xffffff};
	struct emst_set s = {.type = EMST_F32, .n = 3, .k = 2, .x = twice};
	struct emst_tree t = {0};
	struct sample m;

	check(emst_run(&s, 1, &t) == -EEXIST && !t.edge, "emst: equal points are refused", "%zu",
	      t.n);
	s.n = 1;
	check(emst_run(&s, 2, &t) == 0 && t.n == 1, "emst: one point is a tree without edges",
	      "%zu", t.n);
	emst_tree_free(&t);
	s.k = 4097;
	check(emst_run(&s, 1, &t) == -ERANGE && !t.edge, "emst: 4097 dimensions are refused", "%zu",
	      t.n);
	s.k = 2;
	s.n = EMST_MAXPOINTS;
	check(emst_run(&s, 1, &t) == -ERANGE && !t.edge, "emst: 2^31 points are refused", "%zu",
	      t.n);
	from_codes(&m, black_white, 2);
	check(emst_run_lattice(&m.s, 1, &t) == 0 && t.length[0] == sqrt(3 * 255 * 255),
	      "emst: black and white are sqrt(3) 255 apart", "%g", t.length ? t.length[0] : -1.);
	emst_tree_free(&t);
	free_sample(&m);
}

void
check_emst(void)
{
	check_colours();
	check_points();
	check_wide_points();
	check_density();
	check_hdbscan();
	check_genie();
	check_forest();
	check_rounds();
	check_palette();
	check_regions();
	check_large();
	check_limits();
}
