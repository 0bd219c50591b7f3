/* Classes of trees of any shape: HDBSCAN*, Genie and the minimum-size forest, against their definitions. */
#include <string.h>

#include "common/base/mem.h"
#include "emst/classes/classes.h"
#include "emst/emst.h"
#include "t/check.h"
#include "t/check_emst.h"

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

/* Reverses the edges of each length. Such a tree has the same parts at every length. */
static void
reverse_equal(struct any_tree *a)
{
	for (size_t from = 0, to; from + 1 < a->t.n; from = to) {
		for (to = from + 1; to + 1 < a->t.n && a->length[to] == a->length[from]; to++)
			;
		for (size_t i = from, j = to - 1; i < j; i++, j--) {
			const struct emst_edge x = a->edge[i];
			a->edge[i] = a->edge[j];
			a->edge[j] = x;
		}
	}
}

static void
check_equal_lengths(void)
{
	struct check_many c = {0};
	struct check_rng r = {12};
	struct any_tree a;

	for (size_t set = 0; set < 500; set++) {
		struct classes want = {0}, got = {0};
		int err = make_tree(&a, &r, 5 * set);
		const struct density how = {1 + rng_below(&r, 9), set % 2, false};
		if (!err)
			err = classes_density(&want, &a.d, &a.t, how);
		dendrogram_free(&a.d);
		reverse_equal(&a);
		if (!err)
			err = dendrogram_make(&a.d, &a.t, a.weight);
		if (!err)
			err = classes_density(&got, &a.d, &a.t, how);
		check_case(&c, !err && !memcmp(got.label, want.label, a.t.n * sizeof *got.label),
			   "set %zu, %zu vertices: error %d", set, a.t.n, err);
		dendrogram_free(&a.d);
		classes_free(&want);
		classes_free(&got);
	}
	check_end(&c, "emst: the classes of HDBSCAN* do not depend on the order of equal edges");
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

void
check_emst_classes(void)
{
	check_hdbscan();
	check_equal_lengths();
	check_genie();
	check_forest();
}
