/* emst's kernels against the definition: the same edges in the same order. */
#include <errno.h>
#include <string.h>

#include "common/mem.h"
#include "emst/lattice.h"
#include "gpu/emst.h"
#include "t/check.h"
#include "t/check_gpu.h"

enum { MOST = 1100 }; /* points: several tiles of 256, some parts of a grid */

/* The edges of g's tree and the definition's. */
static void
tree_check(struct gpu *g, const struct emst_set *s, struct check_many *m, const char *what)
{
	const int order = (int)m->cases % check_orders();
	struct emst_tree got, want;
	size_t i = 0;

	check_order(order);
	const int err = gpu_emst_run(g, s, &got), direct = emst_direct(s, NULL, &want);
	while (!err && !direct && i + 1 < s->n && got.length[i] == want.length[i] &&
	       !memcmp(&got.edge[i], &want.edge[i], sizeof *got.edge))
		i++;
	check_case(m, !err && !direct && got.n == s->n && i + 1 == s->n,
		   "%s, %zu points of %u coordinates, order %d: error %d (%s), edge %zu", what,
		   s->n, s->k, order, err, err ? gpu_why(g) : "", i);
	emst_tree_free(&got);
	emst_tree_free(&want);
}

static void
colours_agree(struct gpu *g)
{
	struct check_rng r = {21};
	struct check_many m = {0};
	uint32_t code[MOST];

	for (int i = 0; i < 12; i++) {
		const size_t n = 1 + rng_below(&r, i < 6 ? 40 : 600), side = 3 + rng_below(&r, 253);
		struct lattice l = {0};
		for (size_t k = 0; k < n; k++)
			code[k] = (uint32_t)(rng_below(&r, side) << 16 | rng_below(&r, side) << 8 |
					     rng_below(&r, side));
		if (lattice_init(&l) == 0) {
			lattice_add_codes(&l, code, n);
			lattice_index(&l);
			const struct emst_set s = {
			    .type = EMST_CODE, .n = l.n, .k = 3, .lattice = &l};
			tree_check(g, &s, &m, "colours");
		}
		lattice_free(&l);
	}
	check_end(&m, "gpu: emst of colours, full of ties, is the definition's tree");
}

/* n distinct points, on a coarse grid half of the time, so that lengths are equal. */
static void
points_make(struct check_rng *r, double *x, size_t n, unsigned k, bool grid)
{
	for (size_t i = 0; i < n; i++) {
		for (unsigned a = 0; a < k; a++)
			x[i * k + a] =
			    grid ? (double)rng_below(r, 5) : (double)(float)rng_normal(r);
		x[i * k] += grid ? 5 * (double)i : 0;
	}
}

static void
points_agree(struct gpu *g)
{
	static const unsigned dims[] = {2, 3, 1, 4, 5, 9, 16};
	struct check_rng r = {22};
	struct check_many m = {0};
	double *x = weir_xalloc(MOST * 16, sizeof *x);
	float *f = weir_xalloc(MOST * 16, sizeof *f);

	for (int i = 0; i < 14; i++) {
		const unsigned k = dims[i % 7];
		const size_t n = i == 0 ? MOST : 1 + rng_below(&r, 300);
		points_make(&r, x, n, k, i % 4 == 1);
		for (size_t j = 0; j < n * k; j++)
			f[j] = (float)x[j];
		const struct emst_set s = {.type = i % 2 ? EMST_F64 : EMST_F32,
					   .n = n,
					   .k = k,
					   .x = i % 2 ? (void *)x : (void *)f};
		tree_check(g, &s, &m, i % 2 ? "doubles" : "floats");
	}
	weir_free(x);
	weir_free(f);
	check_end(&m, "gpu: emst of points in 1 to 16 dimensions is the definition's tree");
}

static void
equal_points_are_refused(struct gpu *g)
{
	static const float x[][2] = {{0, 0}, {1, 2}, {3, 1}, {1, 2}};
	const struct emst_set s = {.type = EMST_F32, .n = 4, .k = 2, .x = x};
	struct emst_tree t;
	const int err = gpu_emst_run(g, &s, &t);

	check(err == -EEXIST && !t.edge, "gpu: emst refuses equal points, as on the CPU", "%d",
	      err);
}

void
check_gpu_emst(struct gpu *g)
{
	colours_agree(g);
	points_agree(g);
	equal_points_are_refused(g);
}
