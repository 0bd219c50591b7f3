/* emst finds the Euclidean minimum spanning tree of the colours of an image or of points, and classes by cutting it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/progress.h"
#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "emst/job.h"
#include "emst/mesh/mesh.h"
#include "gpu/emst/emst.h"

const char *const weir_prog = "emst";

/* --- outputs ------------------------------------------------------------------------------------------------------ */

struct outputs {
	struct raw_out *main, *other[KINDS];
	bool classes; /* some of them need classes */
	bool tree;    /* some of them need a tree or classes; the others need only colours */
};

static struct raw_out *
create(const char *path, int kind, int as)
{
	return kind == TEXT || kind == PALETTE
		   ? raw_create(path, RAW_AS_TEXT)
		   : raw_create(path,
				kind == LABELS || kind == MEANS ? (enum raw_as)as : RAW_AS_RAW);
}

static bool
is_of_classes(int kind)
{
	return kind == LABELS || kind == MEANS || kind == PALETTE;
}

static struct outputs
open_outputs(const struct args *args)
{
	struct outputs o = {.main = create(args->common.out, args->to, args->common.as),
			    .classes = is_of_classes(args->to),
			    .tree = args->to != COLOURS};

	for (int kind = 0; kind < KINDS; kind++) {
		if (!args->file[kind])
			continue;
		o.other[kind] = create(args->file[kind], kind, args->common.as);
		o.classes |= is_of_classes(kind);
		o.tree |= kind != COLOURS;
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

static void
insist_gpu(const struct raw_in *in, int err, const struct args *args)
{
	if (err == -EIO)
		raw_die(in, "-g: %s", gpu_why(args->gpu));
}

static int
run_tree(struct emst_tree *t, struct vertices *v, const struct raw_in *in, const struct args *args,
	 int threads)
{
	if (args->gpu)
		insist(in, vertices_lattice(v));
	insist_gpu(in, gpu_enter(args->gpu), args);
	const int err = args->gpu      ? gpu_emst_run(args->gpu, &v->set, args->method, t)
			: args->method ? emst_run_brute(&v->set, threads, t)
				       : emst_run(&v->set, threads, t);

	insist_gpu(in, err, args);
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
	struct progress bar;
	int err;

	progress_start(&bar, args->common.quiet);
	v->set.step = step_bar;
	v->set.step_of = &bar;
	if (args->has_min_pts) {
		if (v->points)
			insist(in, vertices_distinct(v));
		insist(in, vertices_weigh(v, threads));
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
		raw_die(in, "--min-pts %zu: there are only %ju %s", args->min_pts,
			(uintmax_t)v->total, v->points ? "points" : "pixels");
	insist(in, err);
	vertices_scale_back(v, t);
}

/* Makes the tree of the grid of pixels, or, with --scale, the regions of the picture. */
static void
join_neighbours(struct emst_tree *t, struct classes *c, struct vertices *v, const struct raw_in *in,
		struct shape s, const struct args *args)
{
	struct mesh g;

	insist(in, mesh_make(&g, v, s.w, s.h, args->neighbours));
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

/* The streams of a run, and what is known about all items so far. */
struct run {
	const struct args *args;
	struct raw_in *in, *trees; /* trees: NULL without --tree */
	struct outputs o;
	struct stats st;
	struct totals totals;
};

/* Finds what the options ask for and writes it. x is the item, or NULL when the vertices are those of several items. */
static void
run_vertices(struct run *r, struct vertices *v, const struct missing *missing, struct shape shape,
	     const struct img *x)
{
	const struct args *args = r->args;
	const int threads = r->st.threads;
	struct emst_tree tree = {0}, full;
	struct classes c = {0};

	relay_pass(RELAY_COMPUTE);
	if (args->has_palette)
		reduce_colours(&c, v, r->in, x, shape, args, threads);
	else if (args->neighbours)
		join_neighbours(&tree, &c, v, r->in, shape, args);
	else if (r->trees)
		saved_read(&tree, v, r->trees, args->min_pts, r->in);
	else if (r->o.tree)
		grow_tree(&tree, v, r->in, args, threads);
	if (args->gpu) {
		stats_charge(&r->st, STATS_COMPUTE);
		relay_pass(RELAY_WRITE);
	}
	if (r->o.classes && !c.label)
		classify(&c, &tree, v, r->in, args, threads);
	if (args->colours && !v->weight)
		insist(r->in, vertices_weigh(v, threads));
	full = tree;
	if (v->points && v->of)
		insist(r->in, vertices_expand(v, &tree, &full));
	add_totals(&r->totals, v, &full, &c);
	stats_charge(&r->st, STATS_COMPUTE);
	write_outputs(
	    &r->o, args,
	    &(struct result){&args->common, r->in, x, v, missing, &tree, &full, args->min_pts, &c});
	stats_charge(&r->st, STATS_WRITE);
	if (full.edge != tree.edge)
		emst_tree_free(&full);
	emst_tree_free(&tree);
	classes_free(&c);
	vertices_free(v);
}

/* Tells the GPU what the next item sends there. */
static void
tell_gpu(const struct run *r, struct vertices *v)
{
	if (!r->args->gpu || !r->o.tree)
		return;
	insist(r->in, vertices_lattice(v));
	gpu_emst_ahead(r->args->gpu, &v->set, r->args->method);
}

/* Runs on the next item. */
static bool
run_next(void *run)
{
	struct run *r = run;
	struct rows rows = {0};
	struct missing missing = {0};
	struct vertices v;
	struct img x;

	if (!raw_next(r->in, &x))
		return false;
	if (r->args->common.verbose)
		raw_say(r->in, &x);
	const struct shape shape = take_shape(r->in, &x, r->args);
	take_item(&v, &rows, &missing, r->in, &x, shape, r->args, r->st.threads);
	tell_gpu(r, &v);
	stats_charge(&r->st, STATS_READ);
	run_vertices(r, &v, &missing, shape, &x);
	missing_free(&missing);
	rows_free(&rows);
	img_free(&x);
	r->st.items++;
	relay_flush(r->o.main);
	for (int kind = 0; kind < KINDS; kind++)
		if (r->o.other[kind])
			relay_flush(r->o.other[kind]);
	return true;
}

/* Runs once on the colours of all items. */
static void
run_together(struct run *r)
{
	struct vertices v;
	struct rows all = {0};
	struct img x;

	for (; raw_next(r->in, &x); r->st.items++) {
		if (r->args->common.verbose)
			raw_say(r->in, &x);
		take_together(&all, r->in, &x, take_shape(r->in, &x, r->args), r->args,
			      r->st.threads);
		img_free(&x);
	}
	take_all(&v, &all, r->in, r->st.threads);
	stats_charge(&r->st, STATS_READ);
	run_vertices(r, &v, &(struct missing){0}, (struct shape){0}, NULL);
	rows_free(&all);
}

int
main(int argc, char **argv)
{
	struct args args = args_parse(argc, argv);
	struct run r = {.args = &args, .o = open_outputs(&args)};
	char *tree_path[] = {(char *)(uintptr_t)args.tree};

	r.in = raw_open(args.path, args.npath, args.common.max_bytes);
	if (args.tree)
		r.trees = raw_open(tree_path, 1, args.common.max_bytes);
	stats_start(&r.st);
	r.st.threads = par_threads(args.common.threads);
	if (args.together)
		run_together(&r);
	else
		relay_run(r.in, args.gpu, run_next, &r);
	raw_close(r.trees);
	r.st.bytes_out = finish_others(&r.o);
	stats_add(&r.st, "points", "%zu", r.totals.points);
	stats_add(&r.st, "total_weight", "%.10g", r.totals.weight);
	stats_add(&r.st, "longest_edge", "%.10g", r.totals.longest);
	if (r.o.classes)
		stats_add(&r.st, "classes", "%zu", r.totals.classes);
	gpu_report(args.gpu, &r.st);
	stats_close(&r.st, r.in, r.o.main, &args.common);
	gpu_close(args.gpu);
	return 0;
}
