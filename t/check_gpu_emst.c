/* emst's kernels against the definition: the same edges in the same order. */
#include "gpu/emst/emst.h"
#include "t/check_gpu.h"
#include "t/emst_scene.h"

/* Holds the tree to the one that is wanted, in one of the orders. */
static void
tree_check(const struct emst_set *s, bool brute, const struct emst_tree *want, struct check_many *m,
	   const char *what)
{
	struct emst_tree got;

	check_order(m->cases);
	const int err = gpu_emst_run(gpu_on, s, brute, &got);
	same_tree(m, want, &got, err, err == -EIO ? gpu_why(gpu_on) : what, m->cases);
}

/* On the lattice or by a tree of boxes, and by brute force. */
static void
compare_both(struct check_many *m, const struct sample *s, size_t set)
{
	struct emst_tree want;

	if (check_large && set % 2)
		return;
	emst_direct(&s->s, NULL, &want);
	tree_check(&s->s, false, &want, m, "lattice or boxes");
	tree_check(&s->s, true, &want, m, "brute force");
	emst_tree_free(&want);
}

/* More colours, against the CPU's: clouds and sheets; then posterised, sparse, and a full cube. */
static void
pictures_agree(struct check_many *m, struct check_rng *r, size_t set)
{
	static const unsigned n[] = {9000, 3000, 20000}, side[] = {15, 255, 20},
			      step[] = {17, 1, 1};
	struct sample s;
	struct emst_tree want;

	if (check_large && set % 2)
		return;
	if (set < CLOUDS)
		cloud_colours(&s, r, set, set ? 2500 : 5000);
	else
		random_colours(&s, r, n[set - CLOUDS], side[set - CLOUDS], step[set - CLOUDS]);
	emst_run_kd(&s.s, 1, &want);
	tree_check(&s.s, false, &want, m, "picture");
	emst_tree_free(&want);
	sample_free(&s);
}

/* Coordinate a of point p: in 40 small clouds, on a grid of 8 columns, or on a line with growing steps. */
static double
cluster(struct check_rng *r, unsigned kind, size_t p, unsigned a, unsigned k)
{
	const size_t cloud = p % 40;

	if (kind == 0)
		return (double)(cloud * cloud) + 1e-3 * rng_normal(r);
	if (kind == 1 && k > 1)
		return (double)(a ? p % 8 : p / 8);
	return (double)p * (double)p;
}

/* Enough points for a deep tree of boxes, against the CPU's. */
static void
clusters_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	const unsigned k = 1 + (unsigned)i % 4;
	const size_t n = 6000 - 600 * i;
	double *x = check_alloc(n * k, sizeof *x);
	const struct emst_set s = {.type = EMST_F64, .n = n, .k = k, .x = x};
	struct emst_tree want;

	for (size_t j = 0; j < n * k; j++)
		x[j] = cluster(r, (unsigned)i % 3, j / k, (unsigned)(j % k), k);
	if (emst_run_kd(&s, 1, &want))
		check_case(m, false, "set %zu: equal points", i);
	else
		tree_check(&s, false, &want, m, "clusters");
	emst_tree_free(&want);
}

static void
equal_points_are_refused(void)
{
	static const float x[][2] = {{0, 0}, {1, 2}, {3, 1}, {1, 2}};
	const struct emst_set s = {.type = EMST_F32, .n = 4, .k = 2, .x = x};
	struct emst_tree t;
	const int err = gpu_emst_run(gpu_on, &s, false, &t);

	check(err == -EEXIST && !t.edge, "gpu: emst refuses equal points, as on the CPU", "%d",
	      err);
}

void
check_gpu_emst(void)
{
	void (*const by_cpu)(struct check_many * c, const struct sample *m, size_t set) = emst_on;

	emst_on = compare_both;
	check_each("gpu: emst of colours on their lattice, and by brute force, is the definition's "
		   "tree",
		   36, 21, emst_colours);
	check_each("gpu: emst of points in 1 to 16 dimensions is the definition's tree", 32, 22,
		   emst_points);
	emst_on = by_cpu;
	check_each("gpu: emst of clouds, sheets, posterised and sparse colours is the CPU's tree",
		   CLOUDS + 3, 23, pictures_agree);
	check_each("gpu: emst of clusters, grids and lines of points is the CPU's tree", 9, 24,
		   clusters_agree);
	equal_points_are_refused();
}
