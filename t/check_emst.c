/* emst: trees by every way against the definition, colours and regions of pictures, and classes of trees of any shape. */
#include "common/base/cpu.h"
#include "emst/classes/classes.h"
#include "emst/emst.h"
#include "emst/vertices.h"
#include "t/emst_scene.h"

/* --- one tree, whatever the way --------------------------------------------------------------------------------- */

static void
compare_ways(struct check_many *c, const struct sample *m, size_t set)
{
	struct emst_tree want, got;

	emst_direct(&m->s, NULL, &want);
	same_tree(c, &want, &got, emst_run(&m->s, 1, &got), "the way that is chosen", set);
	for (int threads = 1; threads <= 3; threads++) {
		same_tree(c, &want, &got, emst_run_kd(&m->s, threads, &got), "kd", set);
		for (enum cpu_level l = 0; m->s.type != EMST_CODE && m->s.n > 1 && l <= weir_cpu;
		     l++) {
			const struct kd_input in = {.s = &m->s, .threads = threads};
			for (int way = 0; way < KD_WAYS; way++) {
				const int err = emst_kd[m->s.type == EMST_F64][l][way](&in, &got);
				same_tree(c, &want, &got, err, cpu_name(l), set);
			}
		}
		same_tree(c, &want, &got, emst_run_brute(&m->s, threads, &got), "all pairs", set);
		if (m->code)
			same_tree(c, &want, &got, emst_run_lattice(&m->s, threads, &got), "lattice",
				  set);
	}
	emst_tree_free(&want);
}

void (*emst_on)(struct check_many *c, const struct sample *m, size_t set) = compare_ways;

void
emst_colours(struct check_many *c, struct check_rng *r, size_t set)
{
	static const unsigned side[] = {3, 5, 9, 16, 40, 255}, step[] = {1, 1, 2, 3, 5, 17};
	struct sample m;
	size_t n = 1 + rng_below(r, set % 10 ? 120 : 400);

	random_colours(&m, r, n, side[rng_below(r, 6)], step[rng_below(r, 6)]);
	emst_on(c, &m, set);
	sample_free(&m);
}

void
emst_points(struct check_many *c, struct check_rng *r, size_t set)
{
	struct sample m;
	unsigned k = 1 + (unsigned)((set + 1) % 16);
	/* 1100 points: on the GPU several tiles of 256, some parts of a grid */
	size_t places = set % 3 ? 2 + rng_below(r, 9) : 0, n = set ? 1 + rng_below(r, 300) : 1100;

	random_points(&m, r, n, k, places, set / 16 % 2);
	emst_on(c, &m, set);
	sample_free(&m);
}

/* Dimensions beyond the kd-tree, and so many that it gives up. */
static void
check_wide_points(struct check_many *c, struct check_rng *r, size_t set)
{
	struct sample m;
	struct emst_tree want, got;
	const bool gives_up = set >= 40;
	const unsigned k = gives_up ? 16 : set % 8 ? 17 + (unsigned)rng_below(r, 60) : 4096;
	const size_t n = gives_up ? 2600 : 2 + rng_below(r, set % 8 ? 200 : 20);

	random_points(&m, r, n, k, set % 3 || gives_up ? 0 : 2, set % 2);
	int err = emst_direct(&m.s, NULL, &want);
	err = err	 ? err
	      : gives_up ? emst_run_kd(&m.s, 2, &got)
			 : emst_run(&m.s, 1 + (int)(set % 3), &got);
	same_tree(c, &want, &got, err, gives_up ? "the kd-tree that gives up" : "all pairs", set);
	emst_tree_free(&want);
	sample_free(&m);
}

/* Mutual reachability with core radii of weight p. */
static void
compare_density(struct check_many *c, const struct emst_set *s, const uint64_t *weight, uint64_t p,
		size_t set)
{
	double *want_core = check_alloc(s->n, sizeof *want_core),
	       *core = check_alloc(s->n, sizeof *core);
	struct emst_tree want, got;

	emst_direct_core(s, weight, p, want_core);
	emst_direct(s, want_core, &want);
	for (int threads = 1; threads <= 2; threads++) {
		check_poison(core, s->n * sizeof *core);
		int err = emst_run_density(s, weight, p, threads, core, &got);
		same_tree(c, &want, &got, err, "density", set);
		check_case(c, !memcmp(core, want_core, s->n * sizeof *core), "set %zu: core radii",
			   set);
	}
	emst_tree_free(&want);
}

static void
check_density(struct check_many *c, struct check_rng *r, size_t set)
{
	static uint64_t weight[400];
	struct sample m;
	const unsigned k = 1 + (unsigned)(set % 5) + (set % 10 == 1 ? 16 : 0);
	uint64_t sum = 0, p;

	if (set % 2)
		random_points(&m, r, 2 + rng_below(r, 150), k, 2 + rng_below(r, 6), set % 4 == 1);
	else
		random_colours(&m, r, 2 + rng_below(r, 150), 12, 2);
	for (size_t i = 0; i < m.s.n; i++)
		sum += weight[i] = 1 + rng_below(r, set % 3 ? 1 : 5);
	p = 1 + rng_below(r, sum < 12 ? sum : 12);
	if (set % 7 == 0)
		weight[rng_below(r, m.s.n)] += (uint64_t)1 << 40;
	compare_density(c, &m.s, weight, p, set);
	sample_free(&m);
}

static void
check_bounds(void)
{
	static const float twice[] = {1, 2, 3, 4, 1, 2};
	struct emst_set s = {.type = EMST_F32, .n = 3, .k = 2, .x = twice};
	struct emst_tree t = {0};

	check(emst_run(&s, 1, &t) == -EEXIST && !t.edge, "emst: equal points are refused", "ok");
	s.n = 1;
	check(!emst_run(&s, 2, &t) && t.n == 1, "emst: one point is a tree without edges", "no");
	emst_tree_free(&t);
	s.n = EMST_MAXPOINTS;
	check(emst_run(&s, 1, &t) == -ERANGE && !t.edge, "emst: 2^31 points are refused", "a tree");
}

/* --- many points ----------------------------------------------------------------------------------------------- */

/* Sets too large for the definition: the two fast ways, which share no code, against each other. */
static void
check_large(struct check_many *c, struct check_rng *r, size_t set)
{
	struct sample m;
	struct emst_tree want, got;

	cloud_colours(&m, r, set, set % 3 ? 60000 : 6000);
	emst_run_kd(&m.s, 1, &want);
	for (int threads = 1; threads <= 2; threads++)
		same_tree(c, &want, &got, emst_run_lattice(&m.s, threads, &got), "lattice", set);
	same_tree(c, &want, &got, emst_run_kd(&m.s, 2, &got), "kd, two threads", set);
	same_tree(c, &want, &got, emst_run(&m.s, 2, &got), "the choice", set);
	emst_tree_free(&want);
	sample_free(&m);
}

/* Walks on a grid meet again and again. They are thin, so a tree often has many points far from all others. */
static size_t
walks(struct check_rng *r, double *x, size_t n, bool distinct)
{
	static uint8_t seen[1024][1024];
	size_t have = 0, at[2] = {512, 512}, axis = 0;
	bool up = false;

	memset(seen, 0, sizeof seen);
	for (size_t i = 0; have < n; i++) {
		if (i % 500 == 0)
			at[0] = rng_below(r, 1024);
		if (i % 20 == 0) {
			axis = rng_below(r, 2);
			up = rng_below(r, 2);
		}
		at[axis] = (at[axis] + (up ? 1 : 1023)) % 1024;
		if (distinct && seen[at[0]][at[1]]++)
			continue;
		x[2 * have] = (double)at[0];
		x[2 * have++ + 1] = (double)at[1];
	}
	return have;
}

static void
check_walks(struct check_many *c, struct check_rng *r, size_t set)
{
	enum { N = 2500 };
	static double x[2 * N];
	static float f[2 * N];
	static uint64_t weight[N];
	struct emst_tree want, got;
	struct emst_set s = {.type = set % 2 ? EMST_F32 : EMST_F64, .k = 2};

	s.x = set % 2 ? (const void *)f : x;
	s.n = walks(r, x, N, true);
	for (size_t i = 0; i < 2 * N; i++)
		f[i] = (float)x[i];
	for (size_t i = 0; i < N; i++)
		weight[i] = 1;
	if (set >= 4) {
		compare_density(c, &s, weight, 6, set);
		return;
	}
	emst_direct(&s, NULL, &want);
	for (int threads = 1; threads <= 2; threads++)
		same_tree(c, &want, &got, emst_run_kd(&s, threads, &got), "walks", set);
	emst_tree_free(&want);
}

/* One pair of equal points among many is found, wherever it is; and so are many pairs. */
static void
check_equal(struct check_many *c, struct check_rng *r, size_t set)
{
	enum { N = 2500 };
	static double x[2 * N];
	struct emst_set s = {.type = EMST_F64, .k = 2, .x = x};
	struct emst_tree t;

	s.n = walks(r, x, N, set);
	const size_t i = rng_below(r, N), j = (i + 1 + rng_below(r, N - 1)) % N;
	memcpy(x + 2 * i, x + 2 * j, 2 * sizeof *x);
	int err = emst_run(&s, 1 + (int)(set % 2), &t);
	check_case(c, err == -EEXIST && !t.edge, "set %zu: %d", set, err);
	emst_tree_free(&t);
}

enum { SETS = 6 };

/*
 * The longest edge is one of very many pairs of equal or nearly equal length: between two circles in orthogonal planes (set 0), and
 * between groups so far apart that distances are rounded to a few numbers; their points come in runs. One set has ten groups on
 * both sides of the axes, so that most are at the same place of any axis. The last set is random.
 */
static void
check_ties(struct check_many *c, struct check_rng *r, size_t set)
{
	enum { N = 8000, TEN = 4 };
	static const size_t run[SETS] = {0, N / 2, 1, 100, 1, N};
	static const double group[] = {0, 0x1p30, 0x1p33};
	static double x[4 * N], core[N];
	static float f[4 * N];
	static uint64_t weight[N];
	const bool wide = set >= SETS;
	const size_t length = run[set % SETS];
	struct emst_set s = {.type = wide ? EMST_F64 : EMST_F32, .n = N, .k = 4};
	struct emst_tree want, got;
	size_t looks = 0;
	const struct kd_input in = {.s = &s,
				    .threads = 1 + (int)(set % 2),
				    .weight = weight,
				    .min_weight = set % 4 < 2 ? 0 : 5,
				    .core = core,
				    .looks = &looks};

	s.x = wide ? (const void *)x : f;
	for (size_t i = 0; i < N; i++) {
		for (size_t a = 0; a < 4; a++)
			x[4 * i + a] = length		    ? rng_unit(r)
				       : a / 2 != 2 * i / N ? 0
				       : a % 2		    ? sin((double)i)
							    : cos((double)i);
		if (set % SETS == TEN)
			x[4 * i + i % 10 % 4] += (double)(i % 10) * 0x1p32 - 0x1.2p34;
		else
			x[4 * i] += length ? group[i / length % 3] : 0;
		weight[i] = 1;
	}
	for (size_t i = 0; i < 4 * N; i++)
		f[i] = (float)x[i];
	int err = emst_kd[wide][weir_cpu][KD_PRIM](&in, &want);
	err = err ? err : emst_kd[wide][weir_cpu][KD_TREE](&in, &got);
	same_tree(c, &want, &got, err, "kd", set);
	check_case(c, looks < 40 * N, "set %zu: %.1f looks at leaves for each point", set,
		   (double)looks / N);
	emst_tree_free(&want);
}

/* --- pictures ---------------------------------------------------------------------------------------------------- */

/* The colours that are found by sorting are those of the lattice. */
static void
check_small(struct check_many *m, struct check_rng *r, size_t set)
{
	enum { MOST = 3000 };
	static uint8_t px[3 * MOST];
	static uint32_t of[MOST], code[MOST], want[MOST];
	static struct sorted work[2 * MOST];
	const size_t planes = 1 + set % 3, n = 1 + rng_below(r, MOST),
		     levels = 1 + rng_below(r, 256);
	struct lattice l;

	for (size_t i = 0; i < n * planes; i++)
		px[i] = (uint8_t)(255 - rng_below(r, levels));
	check_case(m, !lattice_init(&l) && !lattice_add(&l, px, n, planes, 1), "no memory");
	lattice_index(&l);
	lattice_codes(&l, want, 1);
	const size_t have = small_colours(px, n, planes, of, code, work);
	bool same = have == l.n && !memcmp(code, want, have * sizeof *code);
	for (size_t i = 0; same && i < n; i++) {
		uint32_t x = 0;
		for (size_t a = 0; a < planes; a++)
			x = x << 8 | px[i * planes + a];
		same = want[of[i]] == x;
	}
	check_case(m, same, "set %zu: %zu pixels of %zu planes", set, n, planes);
	lattice_free(&l);
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
check_regions(struct check_many *c, struct check_rng *r, size_t set)
{
	enum { MOST = 150 };
	uint8_t px[3 * MOST];
	uint16_t wide[3 * MOST];
	uint32_t want[MOST], got[MOST];
	const size_t w = 1 + rng_below(r, 12), h = 1 + rng_below(r, 12),
		     planes = 1 + rng_below(r, 3), values = 1 + rng_below(r, 60);
	const int neighbours = set % 2 ? 8 : 4;
	const double scale = 100 * rng_unit(r) * rng_unit(r);
	const uint64_t least = 1 + rng_below(r, 12);
	struct vertices v;
	struct mesh g = {0};
	size_t regions = 0, at;

	for (size_t i = 0; i < w * h * planes; i++)
		wide[i] = px[i] = (uint8_t)(rng_below(r, values) + (i % w > w / 2 ? 90 : 0));
	int err = emst_direct_regions(px, w, h, planes, neighbours, scale, least, want);
	if (!err)
		err = vertices_make(&v, set % 3 ? (void *)px : wide, set % 3 ? IMG_U8 : IMG_U16,
				    w * h, planes, VERTICES_PIXELS, 1, &at);
	if (!err)
		err = mesh_make(&g, &v, w, h, neighbours);
	if (!err)
		err = mesh_regions(&g, scale, least, got, &regions);
	check_case(c, !err && same_partition(want, got, w * h),
		   "set %zu, %zu x %zu of %zu planes, %d neighbours, scale %g, at least %ju: "
		   "error %d, %zu regions",
		   set, w, h, planes, neighbours, scale, (uintmax_t)least, err, regions);
	mesh_free(&g);
	vertices_free(&v);
}

/* --- classes ----------------------------------------------------------------------------------------------------- */

/* A tree of any shape, its lengths tie-free, or few; and weights. */
enum { TREE_MOST = 90 };
struct any_tree {
	struct emst_edge edge[TREE_MOST];
	double length[TREE_MOST];
	uint64_t weight[TREE_MOST];
	struct emst_tree t;
	struct dendrogram d;
};

/* Returns a tree that lasts until the next one is made. */
static const struct any_tree *
make_tree(struct check_rng *r, size_t set)
{
	static struct any_tree tree;
	struct any_tree *const a = &tree;

	dendrogram_free(&a->d);
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
	if (dendrogram_make(&a->d, &a->t, a->weight))
		die("no memory");
	return a;
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
check_hdbscan(struct check_many *c, struct check_rng *r, size_t set)
{
	const struct any_tree *const a = make_tree(r, set);
	const struct density how = {.min_weight = 1 + rng_below(r, 12)};
	uint32_t want[TREE_MOST];
	struct classes got = {0};
	int err = emst_direct_hdbscan(&a->t, a->weight, how.min_weight, want);

	err = err ? err : classes_density(&got, &a->d, &a->t, how);
	check_case(c, !err && !memcmp(got.label, want, a->t.n * sizeof *want),
		   "set %zu, %zu vertices, at least %ju: error %d", set, a->t.n,
		   (uintmax_t)how.min_weight, err);
	classes_free(&got);
}

/* Joining as Genie does, by heaps and by looking at everything. */
static void
check_genie(struct check_many *c, struct check_rng *r, size_t set)
{
	const struct any_tree *const a = make_tree(r, set);
	const double gini = rng_unit(r);
	const size_t classes = 1 + rng_below(r, a->t.n < 12 ? a->t.n : 12);
	uint64_t weight[TREE_MOST];
	uint8_t want[TREE_MOST], got[TREE_MOST];

	for (size_t v = 0; v < a->t.n; v++) /* some parts are large, some small */
		weight[v] = a->weight[v] * (set % 7 ? 1 : 300);
	int err = emst_direct_genie(&a->t, weight, gini, classes, want);
	err = err ? err : cut_genie(&a->t, weight, gini, classes, got);
	check_case(c, !err && !memcmp(got, want, a->t.n - 1),
		   "set %zu, %zu vertices, gini %g, %zu classes: error %d", set, a->t.n, gini,
		   classes, err);
}

static void
check_forests(struct check_many *c, struct check_rng *r, size_t set)
{
	const struct any_tree *const a = make_tree(r, set);
	uint8_t want[TREE_MOST], got[TREE_MOST];

	for (uint64_t m = 1; m < 60; m++) {
		const size_t trees = replay(a, m, want);
		memset(got, 1, sizeof got);
		const int err = cut_at_most(&a->d, trees, got);
		check_case(c, !err && !memcmp(got, want, a->t.n - 1),
			   "set %zu, %zu vertices, %zu trees", set, a->t.n, trees);
	}
}

/* Makes the first cuts of the definition: classes - 1 of them, or those that cost least. */
static void
first_cuts(uint8_t *cut, size_t n, struct variance how, double all, const uint32_t *edge,
	   const double *gain, size_t cuts)
{
	double left = all, least = INFINITY;
	size_t best = how.classes - 1;

	for (size_t i = 0; !how.classes && i <= cuts; left -= gain[i++]) {
		const double classes = (double)i + 1,
			     cost = how.lambda > 0 ? left + how.lambda * classes * all
						   : sqrt(fmax(left, 0) / all) +
							 how.price * pow(classes, how.power);
		if (cost < least) {
			least = cost;
			best = i;
		}
	}
	memset(cut, 0, n);
	for (size_t i = 0; i < cuts && i < best; i++)
		cut[edge[i]] = 1;
}

/* Cuts by variance. Coordinates and weights are whole and so small that the gains are exact and their ties are real. */
static void
check_variance(struct check_many *c, struct check_rng *r, size_t set)
{
	const struct any_tree *const a = make_tree(r, set);
	const size_t n = a->t.n, k = 1 + set % 4;
	const uint64_t least = set % 3 ? 0 : 1 + rng_below(r, 20);
	const struct variance how[] = {{1 + rng_below(r, n), 0, .1, 1, least},
				       {0, rng_unit(r) / 20, .1, 1, least},
				       {0, 0, .1, .5, least}};
	double x[4 * TREE_MOST], gain[TREE_MOST], all = 0;
	float f[4 * TREE_MOST];
	uint64_t weight[TREE_MOST];
	uint32_t edge[TREE_MOST];
	uint8_t want[TREE_MOST], got[TREE_MOST];
	const struct vertices v = {
	    .set = {.type = EMST_F32, .n = n, .k = (unsigned)k}, .x = f, .weight = weight};
	size_t cuts;

	for (size_t i = 0; i < n; i++)
		weight[i] = a->weight[i] >> (set % 7 ? 0 : 33);
	for (size_t i = 0; i < k; i++) {
		double w = 0, sum = 0, squares = 0;
		for (size_t j = i; j < n * k; j += k) {
			x[j] = f[j] = (float)rng_below(r, set % 2 ? 3 : 60);
			w += (double)weight[j / k];
			sum += (double)weight[j / k] * x[j];
			squares += (double)weight[j / k] * x[j] * x[j];
		}
		all += squares - sum * sum / w;
	}
	int err = emst_direct_variance(&a->t, x, k, weight, least, edge, gain, &cuts);
	for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
		first_cuts(want, n, how[i], all, edge, gain, cuts);
		err = err ? err : cut_variance(&a->t, &v, how[i], got);
		check_case(c, !err && !memcmp(got, want, n - 1),
			   "set %zu, %zu vertices of %zu numbers, %zu classes, lambda %g: error %d",
			   set, n, k, how[i].classes, how[i].lambda, err);
	}
}

void
check_emst(void)
{
	check_each("emst: colours and gray levels full of ties have the tree of the definition by "
		   "every way, for any threads",
		   240, 1, emst_colours);
	check_each(
	    "emst: points of 1 to 16 dimensions, floats and doubles, have one tree by every way",
	    160, 2, emst_points);
	check_each("emst: points of 17 to 4096 dimensions, and those that a kd-tree gives up, have "
		   "the tree of the definition",
		   42, 11, check_wide_points);
	check_each("emst: mutual reachability: core radii and tree are those of the definition",
		   120, 3, check_density);
	check_each(
	    "emst: the classes of HDBSCAN* are those of the definition, heavy vertices and equal "
	    "lengths included",
	    2000, 5, check_hdbscan);
	check_each(
	    "emst: Genie joins the parts of the definition, heavy vertices and equal lengths "
	    "included",
	    600, 6, check_genie);
	check_each("emst: so many classes are the minimum-size forest of so many trees", 300, 7,
		   check_forests);
	check_each(
	    "emst: cuts by variance are those of the definition, ties included: so many, or the "
	    "cheapest",
	    150, 8, check_variance);
	check_each("emst: the colours of a small picture are found by sorting as on the lattice",
		   60, 31, check_small);
	check_each("emst: regions of Felzenszwalb and Huttenlocher are those of the definition",
		   300, 10, check_regions);
	check_each("emst: clouds, sheets, sparse colours: lattice and kd-tree agree", CLOUDS, 4,
		   check_large);
	check_each("emst: points along walks have the tree of the definition", 6, 12, check_walks);
	check_each("emst: one pair of equal points among 2500 is found", 40, 13, check_equal);
	check_each("emst: many edges of one length cost few more looks than other points do",
		   2 * SETS, 14, check_ties);
	check_bounds();
}
