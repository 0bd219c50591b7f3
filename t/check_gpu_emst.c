/* emst's kernels against the definition: the same edges in the same order. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/lattice/lattice.h"
#include "gpu/emst/emst.h"
#include "t/check.h"
#include "t/check_gpu.h"

enum { MOST = 1100 }; /* points: several tiles of 256, some parts of a grid */

/* Whether g's tree has those edges; want is freed. */
static void
tree_check(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *want,
	   struct check_many *m, const char *what)
{
	const int order = (int)m->cases % check_orders();
	struct emst_tree got;
	size_t i = 0;

	check_order(order);
	const int err = gpu_emst_run(g, s, brute, &got);
	while (!err && i + 1 < s->n && got.length[i] == want->length[i] &&
	       !memcmp(&got.edge[i], &want->edge[i], sizeof *got.edge))
		i++;
	check_case(m, !err && want->n == s->n && got.n == s->n && i + 1 == s->n,
		   "%s%s, %zu points of %u coordinates, order %d: error %d (%s), edge %zu", what,
		   brute ? ", brute" : "", s->n, s->k, order, err, err ? gpu_why(g) : "", i);
	emst_tree_free(&got);
	emst_tree_free(want);
}

/* A colour of a kind of picture. r: 0 all over, 1 cloud, 2 a plane, 3 a line, 4 corners, 5 a shell, else four clouds. */
static uint32_t
colour(struct check_rng *r, size_t kind, size_t side, size_t step)
{
	const size_t most = 255 / step < side ? 255 / step : side, cloud = 60 * rng_below(r, 4);
	double x[3];
	uint32_t code = 0;

	for (int a = 0; a < 3; a++) {
		x[a] = (double)(step * rng_below(r, most + 1));
		if (kind == 1 || kind > 5)
			x[a] = kind == 1 ? 128 + 12 * rng_normal(r)
					 : 20 + (double)cloud + 4 * rng_normal(r);
	}
	if (kind == 2)
		x[0] = floor(.5 * x[1] + .3 * x[2]);
	if (kind == 3)
		x[2] = x[1] = x[0];
	if (kind == 4 && rng_below(r, 20) == 0)
		x[0] = 255 * (double)rng_below(r, 2);
	if (kind == 5)
		x[rng_below(r, 3)] = 0;
	for (int a = 0; a < 3; a++)
		code = code << 8 | (uint32_t)fmin(fmax(x[a], 0), 255);
	return code;
}

static bool
lattice_make(struct lattice *l, struct check_rng *r, size_t n, size_t kind, size_t side,
	     size_t step)
{
	uint32_t *code = weir_xalloc(n, sizeof *code);
	const bool ok = lattice_init(l) == 0;

	for (size_t i = 0; ok && i < n; i++)
		code[i] = colour(r, kind, side, step);
	if (ok) {
		lattice_add_codes(l, code, n);
		lattice_index(l);
	}
	weir_free(code);
	return ok;
}

/* Few colours, many of them equally far apart, on the lattice and by brute force. */
static void
colours_agree(struct gpu *g)
{
	static const size_t side[] = {3, 5, 9, 16, 40, 255}, step[] = {1, 1, 2, 3, 5, 17};
	struct check_rng r = {21};
	struct check_many m[2] = {{0}};

	for (size_t i = 0; i < 36; i += check_large ? 2 : 1) {
		const size_t n = 1 + rng_below(&r, i % 6 ? 120 : 600);
		struct lattice l = {0};
		if (lattice_make(&l, &r, n, i % 7, side[rng_below(&r, 6)], step[rng_below(&r, 6)]))
			for (int brute = 0; brute <= (i % 3 == 0); brute++) {
				const struct emst_set s = {
				    .type = EMST_CODE, .n = l.n, .k = 3, .lattice = &l};
				struct emst_tree want;
				emst_direct(&s, NULL, &want);
				tree_check(g, &s, brute, &want, &m[brute], "colours");
			}
		lattice_free(&l);
	}
	check_end(&m[0], "gpu: emst of colours on their lattice is the definition's tree");
	check_end(&m[1], "gpu: emst of colours by brute force is the definition's tree");
}

/* More of them: clouds, sheets, posterised and sparse ones, against the CPU's. */
static void
pictures_agree(struct gpu *g)
{
	static const struct {
		size_t n, kind, side, step;
		const char *what;
	} sets[] = {{9000, 1, 255, 1, "a cloud"},     {9000, 6, 255, 1, "four clouds"},
		    {9000, 2, 255, 1, "a sheet"},     {9000, 0, 15, 17, "posterised"},
		    {3000, 0, 255, 1, "sparse"},      {20000, 0, 24, 1, "a full cube"},
		    {6000, 5, 255, 1, "three sheets"}};
	struct check_rng r = {23};
	struct check_many m = {0};

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		struct lattice l = {0};
		struct emst_tree want;
		if (lattice_make(&l, &r, sets[i].n, sets[i].kind, sets[i].side, sets[i].step)) {
			uint32_t *code = weir_alloc(l.n, sizeof *code);
			const struct emst_set s = {
			    .type = EMST_CODE, .n = l.n, .k = 3, .lattice = &l, .code = code};
			lattice_codes(&l, code, 1);
			emst_run_kd(&s, 1, &want);
			tree_check(g, &s, false, &want, &m, sets[i].what);
			weir_free(code);
		}
		lattice_free(&l);
	}
	check_end(&m,
		  "gpu: emst of clouds, sheets, posterised and sparse colours is the CPU's tree");
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
		struct emst_tree want;
		for (int brute = 0; brute < 2; brute++) {
			emst_direct(&s, NULL, &want);
			tree_check(g, &s, brute, &want, &m, i % 2 ? "doubles" : "floats");
		}
	}
	weir_free(x);
	weir_free(f);
	check_end(&m, "gpu: emst of points in 1 to 16 dimensions is the definition's tree");
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
clusters_agree(struct gpu *g)
{
	enum { N = 6000 };
	struct check_rng r = {24};
	struct check_many m = {0};
	double *x = weir_xalloc(N * 4, sizeof *x);

	for (unsigned i = 0; i < 9; i++) {
		const unsigned k = 1 + i % 4;
		const size_t n = N - 600 * i;
		for (size_t j = 0; j < n * k; j++)
			x[j] = cluster(&r, i % 3, j / k, (unsigned)(j % k), k);
		const struct emst_set s = {.type = EMST_F64, .n = n, .k = k, .x = x};
		struct emst_tree want;
		if (emst_run_kd(&s, 1, &want))
			check_case(&m, false, "set %u: equal points", i);
		else
			tree_check(g, &s, false, &want, &m, "clusters");
	}
	weir_free(x);
	check_end(&m, "gpu: emst of clusters, grids and lines of points is the CPU's tree");
}

static void
equal_points_are_refused(struct gpu *g)
{
	static const float x[][2] = {{0, 0}, {1, 2}, {3, 1}, {1, 2}};
	const struct emst_set s = {.type = EMST_F32, .n = 4, .k = 2, .x = x};
	struct emst_tree t;
	const int err = gpu_emst_run(g, &s, false, &t);

	check(err == -EEXIST && !t.edge, "gpu: emst refuses equal points, as on the CPU", "%d",
	      err);
}

void
check_gpu_emst(struct gpu *g)
{
	colours_agree(g);
	pictures_agree(g);
	points_agree(g);
	clusters_agree(g);
	equal_points_are_refused(g);
}
