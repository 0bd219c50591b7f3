/* emst: the Euclidean minimum spanning tree of the colours of an image or of points, and classes by cutting it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "common/progress.h"
#include "common/stats.h"
#include "emst/args.h"
#include "emst/io/saved.h"
#include "emst/palette/palette.h"
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

static uint64_t
finish_outputs(struct outputs *o)
{
	uint64_t bytes = raw_bytes_out(o->main);

	raw_finish(o->main);
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

/* Dies where memory has run out, or the input is beyond the limits. */
static void
insist(const struct raw_in *in, int err)
{
	if (err)
		raw_die(in, "%s", err == -ENOMEM ? "no memory" : strerror(-err));
}

/* What an item is: a list of points, or pictures whose pixels are points. */
struct shape {
	bool points;
	size_t inputs, planes;
};

/* Numbers in few columns and many rows, of a format that does not say what they are. */
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
	s.planes = s.points ? x->axis[0].n : p.c;
	s.inputs = count / s.planes;
	if (s.planes > EMST_MAXDIM)
		raw_die(in, "%zu coordinates; at most %d", s.planes, EMST_MAXDIM);
	if (s.inputs >= EMST_MAXPOINTS)
		raw_die(in, "%zu %s; at most 2147483647", s.inputs, s.points ? "points" : "pixels");
	return s;
}

static void
make_vertices(struct vertices *v, const struct raw_in *in, const struct img *x, struct shape s,
	      int threads)
{
	size_t at = 0;
	int err = vertices_make(v, x->data, x->type, s.inputs, s.planes, s.points, threads, &at);

	if (err == VERTICES_NOT_FINITE)
		raw_die(in, "coordinate %zu of %s %zu is not finite", at % s.planes,
			s.points ? "point" : "pixel", at / s.planes);
	insist(in, err);
}

static int
run_tree(struct emst_tree *t, const struct vertices *v, const struct raw_in *in,
	 const struct args *args, int threads)
{
	const int err = args->gpu ? gpu_emst_run(args->gpu, &v->set, args->method, t)
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

/* The tree of the vertices, which are made distinct if need be. */
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

/* --- classes ------------------------------------------------------------------------------------------------------ */

static uint64_t
weight_of(struct args_size s, const char *option, const struct raw_in *in, const struct vertices *v)
{
	const double all = (double)v->inputs;

	if (s.percent >= 0)
		return (uint64_t)fmax(ceil(s.percent / 100 * all), 1);
	if (s.number == 0)
		return (uint64_t)fmax(ceil(sqrt(all)), 2);
	if (s.number > all)
		raw_die(in, "%s %.0f: there are only %zu %s", option, s.number, v->inputs,
			v->points ? "points" : "pixels");
	return (uint64_t)s.number;
}

/* The edges that the options cut; *m: the least weight of a class, where there is one. */
static void
cut_tree(uint8_t *cut, uint64_t *m, const struct emst_tree *t, const struct dendrogram *d,
	 const struct vertices *v, const struct raw_in *in, const struct args *args)
{
	if (args->has_genie)
		insist(in, cut_genie(t, v->weight, args->genie, args->k, cut));
	else if (args->linkage)
		cut_longest(t, args->k, cut);
	else if (args->has_distance)
		cut_length(t, args->distance, cut);
	else if (args->has_zahn)
		insist(in, cut_zahn(t, args->zahn, cut));
	else if (args->has_functional)
		insist(in, cut_functional(d, t, v, args->functional, cut, m));
	else if (args->has_k && !args->min_size)
		memset(cut, 1, t->n);
	else
		cut_size(d, *m = weight_of(args->m, "--min-size", in, v), cut);
	if (args->has_k)
		insist(in, cut_at_most(d, args->k, cut));
}

static void
make_classes(struct classes *c, const struct emst_tree *t, const struct dendrogram *d,
	     const struct vertices *v, const struct raw_in *in, const struct args *args)
{
	const bool by_cuts = args->has_k || args->min_size || args->has_distance ||
			     args->has_zahn || args->has_functional;
	uint8_t *cut = weir_xalloc(t->n, 1);
	uint64_t m = 0;

	if (args->has_k && args->k > t->n)
		raw_die(in, "--classes %zu: there are only %zu vertices", args->k, t->n);
	if (args->has_min_pts && !args->has_k) {
		insist(in, classes_density(
			       c, d, t,
			       (struct density){args->min_pts, args->select == 1, args->fill}));
	} else if (args->stable || (v->points && !by_cuts)) {
		m = weight_of(args->least, "--stable", in, v);
		insist(in, classes_density(c, d, t, (struct density){m, false, true}));
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

static void
classify(struct classes *c, const struct emst_tree *t, struct vertices *v, const struct raw_in *in,
	 const struct args *args)
{
	struct dendrogram d;

	if (!v->weight)
		insist(in, vertices_weigh(v));
	insist(in, dendrogram_make(&d, t, v->weight));
	make_classes(c, t, &d, v, in, args);
	dendrogram_free(&d);
}

/* The colours of --palette as classes. */
static void
reduce_colours(struct classes *c, struct vertices *v, const struct raw_in *in,
	       const struct args *args, int threads)
{
	if (!v->code)
		raw_die(in, "--palette is for pictures of one to three planes of 8 bits");
	insist(in, vertices_weigh(v));
	*c = (struct classes){.label = weir_xalloc(v->set.n, sizeof *c->label)};
	insist(in, palette_make(v->code, v->weight, v->set.n, args->palette, threads, c->label));
	insist(in, classes_rank(c, v->set.n, args->palette, v->weight));
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
	stats_lap(st, STATS_READ);
	make_vertices(&v, in, x, shape, st->threads);
	if (args->has_palette)
		reduce_colours(&c, &v, in, args, st->threads);
	else if (trees)
		saved_read(&tree, &v, trees, args->min_pts, in);
	else
		grow_tree(&tree, &v, in, args, st->threads);
	if (o->classes && !args->has_palette)
		classify(&c, &tree, &v, in, args);
	full = tree;
	if (v.points && v.of)
		insist(in, vertices_expand(&v, &tree, &full));
	add_totals(totals, &v, &full, &c);
	stats_lap(st, STATS_COMPUTE);
	write_outputs(o, args,
		      &(struct result){&args->common, in, x, &v, &tree, &full, args->min_pts, &c});
	stats_lap(st, STATS_WRITE);
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
	st.bytes_in = raw_bytes_in(in);
	raw_close(in);
	if (trees)
		raw_close(trees);
	st.bytes_out = finish_outputs(&o);
	stats_add(&st, "points", "%zu", totals.points);
	stats_add(&st, "total_weight", "%.10g", totals.weight);
	stats_add(&st, "longest_edge", "%.10g", totals.longest);
	if (o.classes)
		stats_add(&st, "classes", "%zu", totals.classes);
	gpu_report(args.gpu, &st);
	stats_print(&st, &args.common);
	gpu_close(args.gpu);
	return 0;
}
