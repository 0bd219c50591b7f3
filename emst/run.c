/* Trees and classes as the options of emst say. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/stats.h"
#include "common/base/roots.h"
#include "emst/args.h"
#include "emst/vertices.h"
#include "gpu/emst/emst.h"

/* --- trees that --to=tree has written --------------------------------------------------------------------------------- */

static void
check_tree_header(const struct raw_in *in, const struct img *y, size_t min_pts)
{
	const char *columns = img_key(y, "columns"), *pts = img_key(y, "min_pts");
	size_t made_with = 0;

	if (y->type != IMG_F64 || y->dim != 2 || y->axis[0].n != 3 || !columns ||
	    strcmp(columns, "u v length"))
		raw_die(in, "not a tree written by --to=tree");
	if (pts && !opt_size(pts, &made_with))
		raw_die(in, "min_pts:=%s is no number", pts);
	if (made_with != min_pts)
		raw_die(in,
			made_with ? "this tree was made with --min-pts %zu; give the same"
				  : "this tree was not made with --min-pts; leave it out",
			made_with);
}

/* Turns rows (u, v, length) into edges between vertices. Edges between equal points are left out. */
static void
fill_edges(struct emst_tree *t, const struct raw_in *in, const double (*row)[3], size_t n,
	   const struct vertices *v)
{
	uint32_t *up = weir_xalloc(t->n, sizeof *up), a, b;
	size_t have = 0;

	roots_single(up, t->n);
	for (size_t i = 0; i < n; i++) {
		if (!vertices_named(v, row[i][0], &a) || !vertices_named(v, row[i][1], &b))
			raw_die(in, "edge %zu joins %.17g and %.17g, which are not both there", i,
				row[i][0], row[i][1]);
		if (a == b && row[i][0] != row[i][1])
			continue;
		uint32_t ra = roots_find(up, a), rb = roots_find(up, b);
		if (ra == rb || !(row[i][2] >= (i ? row[i - 1][2] : 0)) || isinf(row[i][2]))
			raw_die(in, "edge %zu closes a ring or is out of order", i);
		roots_join(up, ra, rb);
		t->edge[have] = a < b ? (struct emst_edge){a, b} : (struct emst_edge){b, a};
		t->length[have++] = row[i][2];
	}
	if (have + 1 < t->n)
		raw_die(in, "%zu edges do not join %zu vertices", have, t->n);
	weir_free(up);
}

/*
 * Reads the next tree of `from`. Dies unless it is a tree of the vertices v that was made with this --min-pts (0: none). Equal
 * points are made one vertex.
 */
static void
read_tree(struct emst_tree *t, struct vertices *v, struct raw_in *from, size_t min_pts,
	  const struct raw_in *in)
{
	struct img y;

	if (!raw_next(from, &y))
		raw_die(in, "%s has no tree for it", raw_name(from));
	check_tree_header(from, &y, min_pts);
	if (v->points && !v->of && vertices_distinct(v))
		raw_die(in, "no memory");
	raw_load(from, &y);
	*t = (struct emst_tree){v->set.n, weir_xalloc(v->set.n, sizeof *t->edge),
				weir_xalloc(v->set.n, sizeof *t->length)};
	fill_edges(t, from, y.data, y.axis[1].n, v);
	img_free(&y);
}

/* --- trees ------------------------------------------------------------------------------------------------------------- */

static void
insist_gpu(const struct raw_in *in, int err, const struct args *args)
{
	if (err == -EIO)
		raw_die(in, "-g: %s", gpu_why(args->gpu));
}

static int
run_engine(struct emst_tree *t, struct vertices *v, const struct raw_in *in,
	   const struct args *args)
{
	const int threads = args->reading.threads;

	struct gpu *const gpu = gpu_now(args->gpu);

	if (gpu)
		insist(in, vertices_lattice(v));
	insist_gpu(in, gpu_enter(gpu), args);
	const int err = gpu	       ? gpu_emst_run(gpu, &v->set, args->method, t)
			: args->method ? emst_run_brute(&v->set, threads, t)
				       : emst_run(&v->set, threads, t);
	insist_gpu(in, err, args);
	return err;
}

/* Makes the tree of mutual reachability. */
static int
run_density(struct emst_tree *t, struct vertices *v, const struct raw_in *in,
	    const struct args *args)
{
	const int threads = args->reading.threads;

	if (v->points)
		insist(in, vertices_distinct(v));
	insist(in, vertices_weigh(v, threads));
	double *core = weir_xalloc(v->set.n, sizeof *core);
	const int err = emst_run_density(&v->set, v->weight, args->min_pts, threads, core, t);
	weir_free(core);
	return err;
}

static void
step_bar(void *bar, double done)
{
	progress_step(bar, done);
}

/* Makes the tree of the vertices; joins equal points first if there are any. */
static void
grow_tree(struct emst_tree *t, struct vertices *v, const struct raw_in *in, const struct args *args)
{
	struct progress bar;

	progress_start(&bar, args->common.quiet);
	v->set.step = step_bar;
	v->set.step_of = &bar;
	int err = (args->has_min_pts ? run_density : run_engine)(t, v, in, args);
	if (err == -EEXIST) {
		insist(in, vertices_distinct(v));
		err = run_engine(t, v, in, args);
	}
	progress_end(&bar);
	if (err == -EDOM)
		raw_die(in, "--min-pts %zu: there are only %ju %s", args->min_pts,
			(uintmax_t)v->total, v->points ? "points" : "pixels");
	insist(in, err);
	vertices_scale_back(v, t);
}

static struct mesh
make_mesh(const struct item *item, const struct raw_in *in, const struct args *args)
{
	const struct shape *s = &item->shape;
	struct mesh g;

	insist(in, mesh_make(&g, &item->v, s->w, s->h, args->neighbours));
	return g;
}

void
run_tree(struct emst_tree *t, struct item *item, const struct raw_in *in, struct raw_in *trees,
	 const struct args *args)
{
	if (args->neighbours) {
		struct mesh g = make_mesh(item, in, args);
		insist(in, mesh_tree(&g, t));
		mesh_free(&g);
	} else if (trees) {
		read_tree(t, &item->v, trees, args->min_pts, in);
	} else {
		grow_tree(t, &item->v, in, args);
	}
	if (t->n > 1 && isinf(t->length[t->n - 2])) {
		const struct emst_edge e = t->edge[t->n - 2];
		raw_die(in, "the edge from %u to %u is longer than the largest double",
			vertices_number(&item->v, e.u), vertices_number(&item->v, e.v));
	}
}

/* --- classes ----------------------------------------------------------------------------------------------------------- */

static uint64_t
weight_of(struct args_size s, const struct raw_in *in, const struct vertices *v)
{
	const double all = (double)v->total;

	/* A share is rounded up. The rounding of the double, a few units in its last place, does not count. */
	if (s.percent >= 0)
		return (uint64_t)fmax(ceil(s.percent * all / 100 * (1 - 0x1p-50)), 1);
	if (s.number > all)
		raw_die(in, "--min-size %.0f: there are only %ju %s", s.number, (uintmax_t)v->total,
			v->points ? "points" : "pixels");
	return (uint64_t)s.number;
}

/* Tells whether variance decides: for pictures, unless an option asks for something else. */
static bool
by_variance(const struct vertices *v, const struct args *args)
{
	if (args->has_cut || args->has_functional)
		return args->cut || args->has_functional;
	return !v->points && !args->min_size && !args->has_distance && !args->has_genie &&
	       !args->has_min_pts;
}

/* Tells whether Genie decides: for points with -k, unless an option asks for something else. */
static bool
by_genie(const struct vertices *v, const struct args *args)
{
	return args->has_genie || (v->points && args->has_k && !args->has_cut && !args->min_size &&
				   !args->has_distance && !args->has_min_pts);
}

/* Marks the edges that the options cut. Sets *m to the least weight of a class, where forests have one. */
static void
cut_tree(uint8_t *cut, uint64_t *m, const struct emst_tree *t, const struct dendrogram *d,
	 const struct vertices *v, const struct raw_in *in, const struct args *args)
{
	int err = 0;

	if (by_variance(v, args))
		err = cut_variance(
		    t, v,
		    (struct variance){args->k, args->functional,
				      args->neighbours ? VARIANCE_PRICE_REGIONS : VARIANCE_PRICE,
				      args->neighbours ? VARIANCE_POWER_REGIONS : VARIANCE_POWER,
				      args->min_size || args->neighbours ? weight_of(args->m, in, v)
									 : 0},
		    cut);
	else if (by_genie(v, args))
		err = cut_genie(t, v->weight, args->genie, args->k, cut);
	else if (args->has_distance)
		cut_length(t, args->distance, cut);
	else if (args->has_k && !args->min_size)
		memset(cut, 1, t->n);
	else
		cut_size(d, *m = weight_of(args->m, in, v), cut);
	if (!err && args->has_k && d->n)
		err = cut_at_most(d, args->k, cut);
	if (err == -EOVERFLOW)
		raw_die(in, "--genie: %zu vertices of %ju pixels; the product must be below 2^63",
			t->n, (uintmax_t)v->total);
	insist(in, err);
}

static void
make_classes(struct classes *c, const struct emst_tree *t, const struct dendrogram *d,
	     const struct vertices *v, const struct raw_in *in, const struct args *args)
{
	const bool by_cuts =
	    args->has_k || args->min_size || args->has_distance || by_variance(v, args);
	uint8_t *cut = weir_xalloc(t->n, 1);
	uint64_t m = 0;

	if (args->has_k && args->k > t->n)
		raw_die(in, "--classes %zu: there %s only %zu %s%s", args->k,
			t->n == 1 ? "is" : "are", t->n,
			v->points	   ? "distinct point"
			: args->neighbours ? "pixel"
					   : "colour",
			t->n == 1 ? "" : "s");
	if (args->has_min_pts && !args->has_k) {
		insist(in, classes_density(c, d, t, (struct density){args->min_pts, args->fill}));
	} else if (v->points && !by_cuts) {
		m = (uint64_t)fmax(ceil(sqrt((double)v->total)), 2);
		insist(in, classes_density(c, d, t, (struct density){m, true}));
	} else {
		cut_tree(cut, &m, t, d, v, in, args);
		insist(in, classes_make(c, t, cut, v->weight));
	}
	weir_free(cut);
	if (m && args->common.verbose)
		warn("%s: item %zu: classes of at least %ju", raw_name(in), raw_item(in),
		     (uintmax_t)m);
	if (args->has_k && c->n < args->k && !args->common.quiet)
		warn("%s: item %zu: -k %zu: there are only %zu such classes", raw_name(in),
		     raw_item(in), args->k, c->n);
}

/* Makes a class of each region of --scale. */
static void
find_regions(struct classes *c, struct item *item, const struct raw_in *in, const struct args *args)
{
	struct vertices *v = &item->v;
	struct mesh g = make_mesh(item, in, args);
	/* The default size is more than a small picture has: all of it becomes one region. */
	const uint64_t m = args->min_size ? weight_of(args->m, in, v) : (uint64_t)args->m.number;
	size_t regions;

	insist(in, vertices_weigh(v, 1));
	*c = (struct classes){.label = weir_xalloc(v->set.n, sizeof *c->label)};
	insist(in, mesh_regions(&g, args->scale, m, c->label, &regions));
	insist(in, classes_rank(c, v->set.n, regions, v->weight));
	mesh_free(&g);
}

void
run_classes(struct classes *c, const struct emst_tree *t, struct item *item,
	    const struct raw_in *in, const struct args *args)
{
	struct vertices *v = &item->v;
	struct dendrogram d = {0};

	if (args->has_scale) {
		find_regions(c, item, in, args);
		return;
	}
	if (!v->weight)
		insist(in, vertices_weigh(v, args->reading.threads));
	if (!by_variance(v, args))
		insist(in, dendrogram_make(&d, t, v->weight));
	make_classes(c, t, &d, v, in, args);
	dendrogram_free(&d);
}
