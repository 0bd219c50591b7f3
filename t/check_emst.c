#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/kd/kd.h"
#include "t/check_emst.h"

/* --- vertices --------------------------------------------------------------------------------------------------- */

/* Colours in a box of the given side, at multiples of step; a third of the time only on a plane, a line or a shell. */
static void
random_colours(struct emst_sample *m, struct check_rng *r, size_t n, unsigned side, unsigned step)
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
	emst_sample_codes(m, code, n);
}

/* Points of k coordinates, no two equal, on a grid of the given number of places per axis (0: anywhere). */
static void
random_points(struct emst_sample *m, struct check_rng *r, size_t n, unsigned k, size_t places,
	      bool wide)
{
	size_t have = 0;

	*m = (struct emst_sample){.f = weir_alloc(n * k, sizeof *m->f),
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
d2_of(const struct emst_sample *m, size_t i, size_t j)
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
kruskal(const struct emst_sample *m, const double *core, struct emst_tree *t)
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

/* --- one tree, whatever the way --------------------------------------------------------------------------------- */

static void
compare_ways(struct check_many *c, const struct emst_sample *m, size_t set)
{
	struct emst_tree want, got;

	kruskal(m, NULL, &want);
	int err = emst_direct(&m->s, NULL, &got);
	emst_same_tree(c, &want, &got, err, "direct", set);
	err = emst_run(&m->s, 1, &got);
	emst_same_tree(c, &want, &got, err, "the way that is chosen", set);
	for (int threads = 1; threads <= 3; threads++) {
		err = emst_run_kd(&m->s, threads, &got);
		emst_same_tree(c, &want, &got, err, "kd", set);
		if (m->s.type != EMST_CODE && m->s.n > 1) {
			const struct kd_input in = {.s = &m->s, .threads = threads};
			err = (m->s.type == EMST_F32 ? emst_kd_f32_narrow
						     : emst_kd_f64_narrow)(&in, &got);
			emst_same_tree(c, &want, &got, err, "kd for CPUs without AVX2", set);
		}
		err = emst_run_brute(&m->s, threads, &got);
		emst_same_tree(c, &want, &got, err, "all pairs in every round", set);
		if (!m->code)
			continue;
		err = emst_run_lattice(&m->s, threads, &got);
		emst_same_tree(c, &want, &got, err, "lattice", set);
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
		struct emst_sample m;
		size_t n = 1 + rng_below(&r, set % 10 ? 120 : 400);
		random_colours(&m, &r, n, side[rng_below(&r, 6)], step[rng_below(&r, 6)]);
		compare_ways(&c, &m, set);
		emst_sample_free(&m);
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
		struct emst_sample m;
		unsigned k = 1 + (unsigned)(set % 16);
		size_t places = set % 3 ? 2 + rng_below(&r, 9) : 0, n = 1 + rng_below(&r, 200);
		random_points(&m, &r, n, k, places, set / 16 % 2);
		compare_ways(&c, &m, set);
		emst_sample_free(&m);
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
		struct emst_sample m;
		struct emst_tree want, got;
		const unsigned k = set % 8 ? 17 + (unsigned)rng_below(&r, 60) : 4096;
		random_points(&m, &r, 2 + rng_below(&r, set % 8 ? 200 : 20), k, set % 3 ? 0 : 2,
			      set % 2);
		kruskal(&m, NULL, &want);
		int err = emst_run(&m.s, 1 + (int)(set % 3), &got);
		emst_same_tree(&c, &want, &got, err, "all pairs", set);
		emst_tree_free(&want);
		emst_sample_free(&m);
	}
	for (size_t set = 0; set < 2; set++) {
		struct emst_sample m;
		struct emst_tree want, got;
		random_points(&m, &r, 2600, 16, 0, set);
		int err = emst_direct(&m.s, NULL, &want);
		err = err ? err : emst_run_kd(&m.s, 2, &got);
		emst_same_tree(&c, &want, &got, err, "the kd-tree that gives up", set);
		emst_tree_free(&want);
		emst_sample_free(&m);
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
		struct emst_sample m;
		struct emst_tree want, got;
		const unsigned k = 1 + (unsigned)(set % 5) + (set % 10 == 1 ? 16 : 0);
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
		emst_same_tree(&c, &want, &got, err, "direct", set);
		for (int threads = 1; threads <= 2; threads++) {
			check_poison(core, sizeof core);
			err = emst_run_density(&m.s, weight, p, threads, core, &got);
			emst_same_tree(&c, &want, &got, err, "density", set);
			check_case(&c, !memcmp(core, want_core, m.s.n * sizeof *core),
				   "set %zu: core radii", set);
		}
		emst_tree_free(&want);
		emst_sample_free(&m);
	}
	check_end(&c, "emst: mutual reachability: core radii and tree are those of the definition");
}

static void
check_limits(void)
{
	static const float twice[] = {1, 2, 3, 4, 1, 2};
	static const uint32_t black_white[] = {0, 0xffffff};
	struct emst_set s = {.type = EMST_F32, .n = 3, .k = 2, .x = twice};
	struct emst_tree t = {0};
	struct emst_sample m;

	check(emst_run(&s, 1, &t) == -EEXIST && !t.edge, "emst: equal points are refused", "ok");
	s.n = 1;
	check(!emst_run(&s, 2, &t) && t.n == 1, "emst: one point is a tree without edges", "no");
	emst_tree_free(&t);
	s.k = 4097;
	check(emst_run(&s, 1, &t) == -ERANGE && !t.edge, "emst: 4097 dimensions are refused", "ok");
	s.k = 2;
	s.n = EMST_MAXPOINTS;
	check(emst_run(&s, 1, &t) == -ERANGE && !t.edge, "emst: 2^31 points are refused", "a tree");
	check(emst_run_brute(&s, 1, &t) == -ERANGE && !t.edge,
	      "emst: 2^31 points are refused where all pairs are compared", "a tree");
	emst_sample_codes(&m, black_white, 2);
	check(emst_run_lattice(&m.s, 1, &t) == 0 && t.length[0] == sqrt(3 * 255 * 255),
	      "emst: black and white are sqrt(3) 255 apart", "%g", t.length ? t.length[0] : -1.);
	emst_tree_free(&t);
	emst_sample_free(&m);
}

void
check_emst(void)
{
	check_colours();
	check_points();
	check_wide_points();
	check_density();
	check_emst_classes();
	check_emst_pictures();
	check_emst_palette();
	check_emst_seen();
	check_emst_many();
	check_limits();
}
