/* emst finds the Euclidean minimum spanning tree of the colours of an image or of points, and classes by cutting it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "common/progress.h"
#include "common/stats.h"
#include "emst/args.h"
#include "emst/mesh/mesh.h"
#include "emst/io/classify.h"
#include "emst/io/saved.h"
#include "gpu/emst/emst.h"

const char *const weir_prog = "emst";

/* --- outputs ------------------------------------------------------------------------------------------------------ */

struct outputs {
	struct raw_out *main, *other[KINDS];
	bool classes; /* some of them need classes */
};

static struct raw_out *
create(const char *path, int kind, int as)
{
	return kind == TEXT || kind == PALETTE
		   ? raw_create_text(path)
		   : raw_create(path, kind < LABELS ? RAW_AS_RAW : (enum raw_as)as);
}

static struct outputs
open_outputs(const struct args *args)
{
	struct outputs o = {.main = create(args->common.out, args->to, args->common.as),
			    .classes = args->to >= LABELS};

	for (int kind = 0; kind < KINDS; kind++) {
		if (!args->file[kind])
			continue;
		o.other[kind] = create(args->file[kind], kind, args->common.as);
		o.classes |= kind >= LABELS;
	}
	return o;
}

/* Finishes all outputs except the main one; returns their bytes. */
static uint64_t
finish_others(const struct outputs *o)
{
	uint64_t bytes = 0;

	for (int kind = 0; kind < KINDS; kind++)
		if (o->other[kind]) {
			bytes += raw_bytes_out(o->other[kind]);
			raw_finish(o->other[kind]);
		}
	return bytes;
}

static void
write_outputs(const struct outputs *o, const struct args *args, const struct result *r)
{
	write_result(o->main, (enum kind)args->to, r);
	for (int kind = 0; kind < KINDS; kind++)
		if (o->other[kind])
			write_result(o->other[kind], (enum kind)kind, r);
}

/* --- an item ------------------------------------------------------------------------------------------------------ */

/* The shape of an item: it is a list of points, or pictures whose pixels are points. */
struct shape {
	bool points;
	size_t inputs, planes;
	size_t w, h; /* of a picture */
};

/* Returns true for few columns and many rows in a format that does not tell pictures from lists. */
static bool
is_table(const struct img *x)
{
	return x->format != IMG_PNM && x->dim == 2 && x->axis[0].n <= EMST_MAXDIM &&
	       x->axis[1].n >= 8 * x->axis[0].n;
}

static struct shape
shape_of(const struct raw_in *in, const struct img *x, const struct args *args)
{
	struct shape s = {.points =
			      args->points || (x->dim == 2 && !strcmp(x->axis[0].kind, "list"))};
	struct img_picture p;
	size_t count;

	if (!img_count(x, &count) || (!s.points && !img_picture(x, &p)))
		raw_die(in, "neither a picture nor a list of points");
	if (!s.points && !args->image && is_table(x))
		raw_die(in,
			"%zu columns and %zu rows: give --points if the rows are points, --image "
			"if this is a gray picture",
			x->axis[0].n, x->axis[1].n);
	if (img_key(x, "tile") && !args->common.quiet)
		warn("%s: item %zu: tile:= says that this is part of a picture; only that part "
		     "is looked at, and what is written has no tile:=",
		     raw_name(in), raw_item(in));
	if (!s.points) {
		s.w = p.w;
		s.h = p.h;
	}
	if (args->neighbours && (s.points || p.n > 1))
		raw_die(in, "--neighbours takes items of one picture");
	s.planes = s.points ? x->axis[0].n : p.c;
	s.inputs = count / s.planes;
	const int most = args->has_min_pts || args->gpu ? EMST_MAXDIM : EMST_MOSTDIM;
	if (s.planes > (size_t)most)
		raw_die(in, "%zu coordinates; at most %d%s", s.planes, most,
			most < EMST_MOSTDIM ? " with --min-pts or -g" : "");
	if (args->neighbours && s.inputs >= MESH_MOST)
		raw_die(in, "%zu pixels; --neighbours takes at most 1073741823", s.inputs);
	if (s.inputs >= EMST_MAXPOINTS)
		raw_die(in, "%zu %s; at most 2147483647", s.inputs, s.points ? "points" : "pixels");
	return s;
}

static void
make_vertices(struct vertices *v, const struct raw_in *in, const struct img *x, struct shape s,
	      bool grid, int threads)
{
	size_t at = 0;
	int err =
	    grid ? vertices_pixels(v, x->data, x->type, s.inputs, s.planes, &at)
		 : vertices_make(v, x->data, x->type, s.inputs, s.planes, s.points, threads, &at);

	if (err == VERTICES_NOT_FINITE)
		raw_die(in, "coordinate %zu of %s %zu is not finite", at % s.planes,
			s.points ? "point" : "pixel", at / s.planes);
	insist(in, err);
}

static int
run_tree(struct emst_tree *t, const struct vertices *v, const struct raw_in *in,
	 const struct args *args, int threads)
{
	const int err = args->gpu      ? gpu_emst_run(args->gpu, &v->set, args->method, t)
			: args->method ? emst_run_brute(&v->set, threads, t)
				       : emst_run(&v->set, threads, t);

	if (err == -EIO)
		raw_die(in, "-g: %s", gpu_why(args->gpu));
	return err;
}

static void
step_bar(void *bar, double done)
{
	progress_step(bar, done);
}

/* Makes the tree of the vertices; joins equal points first if there are any. */
static void
grow_tree(struct emst_tree *t, struct vertices *v, const struct raw_in *in, const struct args *args,
	  int threads)
{
	int err = -EEXIST;
	struct progress bar;

	progress_start(&bar, args->common.quiet);
	v->set.step = step_bar;
	v->set.step_of = &bar;
	if (args->has_min_pts && v->points)
		insist(in, vertices_distinct(v));
	if (args->has_min_pts) {
		insist(in, vertices_weigh(v));
		double *core = weir_xalloc(v->set.n, sizeof *core);
		err = emst_run_density(&v->set, v->weight, args->min_pts, threads, core, t);
		weir_free(core);
	} else {
		err = run_tree(t, v, in, args, threads);
	}
	if (err == -EEXIST) {
		insist(in, vertices_distinct(v));
		err = run_tree(t, v, in, args, threads);
	}
	progress_end(&bar);
	if (err == -EDOM)
		raw_die(in, "--min-pts %zu: there are only %zu %s", args->min_pts, v->inputs,
			v->points ? "points" : "pixels");
	insist(in, err);
	vertices_scale_back(v, t);
}

/* Makes the tree of the grid of pixels, or, with --scale, the regions of the picture. */
static void
join_neighbours(struct emst_tree *t, struct classes *c, struct vertices *v, const struct raw_in *in,
		struct shape s, const struct args *args, int threads)
{
	struct mesh g;

	insist(in, mesh_make(&g, v, s.w, s.h, args->neighbours, threads));
	if (args->has_scale)
		find_regions(c, &g, v, in, args);
	else
		insist(in, mesh_tree(&g, t));
	mesh_free(&g);
}

/* --- the stream --------------------------------------------------------------------------------------------------- */

struct totals {
	size_t points, classes;
	double weight, longest;
};

static void
add_totals(struct totals *s, const struct vertices *v, const struct emst_tree *full,
	   const struct classes *c)
{
	double longest = full->n > 1 ? full->length[full->n - 2] : 0;

	s->points += full->n ? full->n : v->set.n;
	s->weight += emst_total(full);
	s->longest = longest > s->longest ? longest : s->longest;
	s->classes += c->n;
}

static void
run_item(const struct args *args, struct raw_in *in, struct raw_in *trees, const struct outputs *o,
	 struct img *x, struct stats *st, struct totals *totals)
{
	struct vertices v;
	struct emst_tree tree = {0}, full;
	struct classes c = {0};

	const struct shape shape = shape_of(in, x, args);
	raw_load(in, x);
	stats_charge(st, STATS_READ);
	make_vertices(&v, in, x, shape, args->neighbours, st->threads);
	if (args->has_palette)
		reduce_colours(&c, &v, in, args, st->threads);
	else if (args->neighbours)
		join_neighbours(&tree, &c, &v, in, shape, args, st->threads);
	else if (trees)
		saved_read(&tree, &v, trees, args->min_pts, in);
	else
		grow_tree(&tree, &v, in, args, st->threads);
	if (o->classes && !c.label)
		classify(&c, &tree, &v, in, args);
	full = tree;
	if (v.points && v.of)
		insist(in, vertices_expand(&v, &tree, &full));
	add_totals(totals, &v, &full, &c);
	stats_charge(st, STATS_COMPUTE);
	write_outputs(o, args,
		      &(struct result){&args->common, in, x, &v, &tree, &full, args->min_pts, &c});
	stats_charge(st, STATS_WRITE);
	if (full.edge != tree.edge)
		emst_tree_free(&full);
	emst_tree_free(&tree);
	classes_free(&c);
	vertices_free(&v);
}

int
main(int argc, char **argv)
{
	struct args args = args_parse(argc, argv);
	struct outputs o = open_outputs(&args);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes), *trees = NULL;
	char *tree_path[] = {(char *)(uintptr_t)args.tree};
	struct totals totals = {0};
	struct stats st;
	struct img x;

	stats_start(&st);
	st.threads = par_threads(args.common.threads);
	if (args.tree)
		trees = raw_open(tree_path, 1, args.common.max_bytes);
	for (; raw_next(in, &x); st.items++) {
		if (args.common.verbose)
			raw_say(in, &x);
		run_item(&args, in, trees, &o, &x, &st, &totals);
		img_free(&x);
	}
	raw_close(trees);
	st.bytes_out = finish_others(&o);
	stats_add(&st, "points", "%zu", totals.points);
	stats_add(&st, "total_weight", "%.10g", totals.weight);
	stats_add(&st, "longest_edge", "%.10g", totals.longest);
	if (o.classes)
		stats_add(&st, "classes", "%zu", totals.classes);
	gpu_report(args.gpu, &st);
	stats_close(&st, in, o.main, &args.common);
	gpu_close(args.gpu);
	return 0;
}
