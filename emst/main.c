/* emst finds the Euclidean minimum spanning tree of the colours of an image or of points, and classes by cutting it. */
#include <errno.h>
#include <math.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "emst/args.h"
#include "emst/vertices.h"
#include "gpu/emst/emst.h"

const char *const weir_prog = "emst";

/* The streams of a run, and what is known about all items so far. */
struct run {
	const struct args *args;
	struct raw_in *in, *trees; /* trees: NULL without --tree */
	struct outputs o;
	bool tree;	/* some output needs a tree */
	struct map map; /* of --map, or of all items together; no rows: none */
	struct stats st;
	size_t points, classes;
	double weight, longest;
};

/* Finds what the options ask for and writes it. */
static void
run_item(struct run *r, struct item *item)
{
	const struct args *args = r->args;
	struct emst_tree tree = {0}, full;
	struct classes c = {0};
	double *mean = NULL;
	const bool mapped = r->map.n > 0;

	pipeline_pass(PIPELINE_COMPUTE);
	if (r->tree)
		run_tree(&tree, item, r->in, r->trees, args);
	if (args->gpu) {
		stats_charge(&r->st, STATS_COMPUTE);
		pipeline_pass(PIPELINE_WRITE);
	}
	if (mapped)
		map_apply(&c, &r->map, &item->v, r->in, &args->reading, &r->o);
	else if (r->o.classes)
		run_classes(&c, &tree, item, r->in, args);
	if (!mapped && r->o.means && !(mean = classes_means(&c, &item->v)))
		insist(r->in, -ENOMEM);
	if (r->o.which == TABLES)
		map_make(&r->map, &item->v, c.label, mean);
	full = tree;
	if (item->v.points && item->v.of)
		insist(r->in, vertices_expand(&item->v, &tree, &full));
	if (r->o.which != PICTURES) { /* those have been counted together */
		r->points += full.n ? full.n : item->v.set.n;
		r->weight += args->common.stats ? emst_total(&full) : 0;
		r->longest = full.n > 1 ? fmax(r->longest, full.length[full.n - 2]) : r->longest;
		r->classes += c.n;
	}
	stats_charge(&r->st, STATS_COMPUTE);
	outputs_write(&r->o, &(struct result){.common = &args->common,
					      .in = r->in,
					      .item = item,
					      .tree = &full,
					      .min_pts = args->min_pts,
					      .classes = &c,
					      .mean = mapped ? r->map.mean : mean});
	stats_charge(&r->st, STATS_WRITE);
	if (full.edge != tree.edge)
		emst_tree_free(&full);
	emst_tree_free(&tree);
	classes_free(&c);
	weir_free(mean);
	item_free(item);
}

/* Runs on the next item. */
static bool
run_next(void *run)
{
	struct run *r = run;
	struct item item;

	if (!item_next(&item, r->in, &r->args->reading))
		return false;
	if (r->args->neighbours && item.shape.pictures != 1)
		raw_die(r->in, "--neighbours takes items of one picture");
	if (r->args->neighbours && item.shape.inputs >= MESH_MOST)
		raw_die(r->in, "%zu pixels; --neighbours takes at most 1073741823",
			item.shape.inputs);
	item_fill(&item, r->in, &r->args->reading);
	if (gpu_now(r->args->gpu) && r->tree) {
		insist(r->in, vertices_lattice(&item.v));
		gpu_emst_ahead(r->args->gpu, &item.v.set, r->args->method);
	}
	stats_charge(&r->st, STATS_READ);
	run_item(r, &item);
	r->st.items++;
	outputs_flush(&r->o);
	return true;
}

int
main(int argc, char **argv)
{
	struct args args;
	struct run r = {.args = &args};
	struct item all;
	char *trees;

	args_parse(&args, argc, argv);
	r.o = outputs_open(&args.common, args.to, args.file);
	r.tree = (args.to != COLOURS || r.o.classes) && !args.has_scale && !args.map;
	r.in = raw_open(args.path, args.npath, args.common.max_bytes);
	trees = (char *)(uintptr_t)args.tree;
	if (trees)
		r.trees = raw_open(&trees, 1, args.common.max_bytes);
	stats_start(&r.st);
	r.st.threads = args.reading.threads;
	if (args.map)
		map_read(&r.map, args.map, &args.reading);
	if (args.together) {
		r.o.which = r.o.pictures ? TABLES : EVERYTHING;
		r.st.items = item_load_all(&all, r.in, &args.reading);
		stats_charge(&r.st, STATS_READ);
		run_item(&r, &all);
		r.o.which = PICTURES;
		r.tree = false;
	}
	if (!args.together || r.o.pictures) {
		if (args.together)
			raw_rewind(r.in);
		r.st.items = 0;
		pipeline_items(r.in, args.gpu, run_next, &r);
	}
	map_free(&r.map);
	raw_close(r.trees);
	r.st.bytes_out = outputs_finish(&r.o);
	stats_add(&r.st, "points", "%zu", r.points);
	stats_add(&r.st, "total_weight", "%.10g", r.weight);
	stats_add(&r.st, "longest_edge", "%.10g", r.longest);
	if (r.o.classes)
		stats_add(&r.st, "classes", "%zu", r.classes);
	gpu_report(args.gpu, &r.st);
	stats_close(&r.st, r.in, r.o.main, &args.common);
	gpu_close(args.gpu);
	return 0;
}
