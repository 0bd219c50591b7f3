/* rawstack: puts items together along a new axis, or combines them into one, or takes an item apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/opt.h"
#include "common/par.h"
#include "common/progress.h"
#include "common/raw.h"
#include "common/sample.h"
#include "common/stats.h"
#include "common/tools/combine.h"
#include "common/tools/places.h"
#include "common/tools/wcs.h"

const char *const weir_prog = "rawstack";

struct args {
	struct opt_common common;
	int combine; /* enum combine */
	bool split;
	size_t every; /* 0: all items of the stream */
	double clip, spacing;
	bool has_clip, has_spacing;
	const char *label, *unit;
	char **path;
	size_t npath;
};

#define WORDS	   "none|median|mean|sum|min|max|clip"
#define AT(member) offsetof(struct args, member)
static const struct opt table[] = {
    {0, "combine", OPT_WORD, AT(combine), "HOW",
     "median, mean, sum, min, max or clip: one number for each pixel; clip is a clipped mean",
     .words = WORDS},
    {0, "clip", OPT_REAL, AT(clip), "K",
     "standard deviations from the median beyond which a clipped mean leaves out (3)",
     .seen = AT(has_clip)},
    {0, "split", OPT_FLAG, AT(split), NULL, "an item for each place of the slowest axis"},
    {0, "every", OPT_SIZE, AT(every), "N", "one result for each N items (for all)", 1, 0x1p31},
    {0, "spacing", OPT_REAL, AT(spacing), "V", "between the places of the new axis",
     .seen = AT(has_spacing)},
    {0, "label", OPT_STR, AT(label), "TEXT", "of the new axis, such as z"},
    {0, "unit", OPT_STR, AT(unit), "TEXT", "of the new axis, such as um"},
    {0}};
#undef AT

static const struct opt_program program = {
    .what = "Puts items together along a new axis, combines them into one, or takes them apart.",
    .table = table,
    .common = OPT_THREADS | OPT_FORMAT,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX};

static struct args
parse(int argc, char **argv)
{
	struct args args = {.clip = 3};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	const bool axis = args.has_spacing || args.label || args.unit;

	if (args.split && (args.combine || args.every))
		die_usage("--split goes without --combine and --every");
	if ((args.split || args.combine) && axis)
		die_usage("--spacing, --label and --unit are those of a new axis");
	if (args.has_clip && args.combine != COMBINE_CLIP)
		die_usage("--clip goes with --combine=clip");
	if (!(args.clip > 0 && args.clip < INFINITY))
		die_usage("--clip: %g is not greater than 0", args.clip);
	if (args.has_spacing && (!isfinite(args.spacing) || args.spacing == 0))
		die_usage("--spacing: %g is no spacing", args.spacing);
	return args;
}

/* --- items that belong together ------------------------------------------------------------------------------------------ */

struct group {
	struct img *x; /* owned */
	size_t n, room, bytes;
};

static void
insist_on_same(const struct raw_in *in, const struct img *first, const struct img *x)
{
	const char *mine = img_key(x, "tile"), *theirs = img_key(first, "tile");

	if (x->type != first->type)
		raw_die(in, "its samples are %s, and those of the first item %s",
			img_type_name(x->type), img_type_name(first->type));
	for (int i = 0; i < x->dim || i < first->dim; i++)
		if (x->dim != first->dim || x->axis[i].n != first->axis[i].n)
			raw_die(in, "its shape is not that of the first item");
	if ((mine || theirs) && (!mine || !theirs || strcmp(mine, theirs)))
		raw_die(in, "it is another part of a picture than the first item");
}

/* Reads the next items, with their samples, up to the number that makes a group. Returns false when there was none. */
static bool
read_group(const struct args *args, struct raw_in *in, struct group *g)
{
	const size_t most = weir_limit(args->common.max_bytes);
	struct img x;

	*g = (struct group){0};
	while ((!args->every || g->n < args->every) && raw_next(in, &x)) {
		if (g->n)
			insist_on_same(in, &g->x[0], &x);
		if (g->n == g->room) {
			g->room = 2 * g->room + 16;
			g->x = realloc(g->x, g->room * sizeof *g->x);
			if (!g->x)
				die("no memory");
		}
		if (args->common.verbose)
			raw_say(in, &x);
		raw_map(in, &x);
		size_t bytes;
		img_bytes(&x, &bytes);
		g->bytes += x.map ? 0 : bytes;
		if (g->bytes > most)
			raw_die(in,
				"the items so far exceed the limit of %zu bytes; raise it with "
				"--max-bytes, or give files",
				most);
		g->x[g->n++] = x;
	}
	if (args->every && g->n && g->n < args->every)
		raw_die(in, "%zu items are left, fewer than --every=%zu", g->n, args->every);
	return g->n;
}

static void
free_group(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		img_free(&g->x[i]);
	free(g->x);
}

/* --- a stack ---------------------------------------------------------------------------------------------------- */

/* Describes the stack: the first item with a new axis. */
static void
describe_stack(const struct args *args, const struct raw_in *in, const struct group *g,
	       struct img *y)
{
	struct img_axis *a;

	img_copy_head(y, &g->x[0]);
	if (y->dim == IMG_MAXDIM)
		raw_die(in, "it has %d axes already", IMG_MAXDIM);
	y->format = IMG_RAW; /* PNM has no axis of pictures */
	img_insert_axis(y, y->dim, g->n, "domain");
	a = &y->axis[y->dim - 1];
	places_recall(g->x, g->n, a);
	if (args->has_spacing) {
		a->spacing = args->spacing;
		a->min = NAN;
	}
	if (args->label)
		img_set_label(a, args->label);
	if (args->unit)
		img_set_unit(a, args->unit);
	places_forget(y);
	opt_add_history(y, &args->common);
}

/* --- the three ways ------------------------------------------------------------------------------------------------------- */

static void
put_stack(const struct args *args, const struct raw_in *in, const struct group *g,
	  struct raw_out *out, struct stats *st)
{
	struct img y;
	size_t count;

	describe_stack(args, in, g, &y);
	img_count(&g->x[0], &count);
	raw_head(out, &y);
	for (size_t i = 0; i < g->n; i++)
		raw_write(out, g->x[i].data, count);
	img_free(&y);
	stats_charge(st, STATS_WRITE);
}

/* Describes what a combination of items like x is. */
static void
describe_result(const struct args *args, const struct raw_in *in, const struct img *x,
		struct img *y)
{
	const bool one = args->combine == COMBINE_MIN || args->combine == COMBINE_MAX;

	if (x->type == IMG_I64 || x->type == IMG_U64)
		raw_die(in, "samples of 64 bits would lose digits; convert them with rawmath");
	img_copy_head(y, x);
	if (!one) {
		y->type = x->type >= IMG_I32 && x->type != IMG_F32 ? IMG_F64 : IMG_F32;
		img_drop_key(y, "maxval");
	}
	places_forget(y);
	opt_add_history(y, &args->common);
}

static void
write_result(const struct img *y, const double *v, size_t n, char *buffer, struct raw_out *out)
{
	sample_store(buffer, v, y->type, n);
	raw_write(out, buffer, n);
}

/* Combines the items of a group, some blocks of pixels at a time. */
static void
put_all(const struct args *args, const struct raw_in *in, const struct group *g,
	struct raw_out *out, struct stats *st)
{
	enum { BLOCKS = 64 };
	const int threads = par_threads(args->common.threads);
	const size_t size = img_type_size(g->x[0].type), most = BLOCKS * COMBINE_BLOCK;
	double *result = weir_xalloc(most, sizeof *result);
	double(*work)[COMBINE_BLOCK] = weir_xalloc((size_t)threads * g->n, sizeof *work);
	char *buffer = weir_xalloc(most, 8);
	struct progress bar;
	struct img y;
	size_t count;

	describe_result(args, in, &g->x[0], &y);
	img_count(&y, &count);
	raw_head(out, &y);
	progress_start(&bar, args->common.quiet);
	for (size_t at = 0; at < count; at += most) {
		const size_t n = count - at < most ? count - at : most;

#pragma omp parallel for schedule(static) num_threads(threads) if (n > 4 * COMBINE_BLOCK)
		for (size_t b = 0; b < n; b += COMBINE_BLOCK) {
			const size_t some = n - b < COMBINE_BLOCK ? n - b : COMBINE_BLOCK;
			double(*v)[COMBINE_BLOCK] = work + (size_t)omp_get_thread_num() * g->n;

			for (size_t i = 0; i < g->n; i++)
				sample_load(v[i], (const char *)g->x[i].data + (at + b) * size,
					    g->x[i].type, some);
			combine_all((enum combine)args->combine, args->clip, v, g->n, some,
				    result + b);
		}
		stats_charge(st, STATS_COMPUTE);
		write_result(&y, result, n, buffer, out);
		stats_charge(st, STATS_WRITE);
		progress_step(&bar, (double)at / (double)count);
	}
	progress_end(&bar);
	img_free(&y);
	weir_free(result);
	weir_free(work);
	weir_free(buffer);
}

/* The running result of a combination that takes one item after the other. */
struct running {
	struct img y;
	double *total;	 /* owned */
	unsigned *count; /* owned */
	size_t n;
};

/* Adds the samples of the current item. */
static void
add_item(enum combine how, struct raw_in *in, enum img_type type, const struct running *r)
{
	enum { BLOCK = 1 << 13 };
	static char from[BLOCK * 8];
	static double v[BLOCK];

	for (size_t at = 0; at < r->n; at += BLOCK) {
		const size_t n = r->n - at < BLOCK ? r->n - at : BLOCK;

		raw_read(in, from, n);
		sample_load(v, from, type, n);
		combine_add(how, r->total + at, r->count + at, v, n);
	}
}

/* Combines items as they come. Returns false when there was none. */
static bool
put_running(const struct args *args, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	const enum combine how = (enum combine)args->combine;
	struct running r = {0};
	struct img x, first = {0};
	size_t items = 0;

	for (; (!args->every || items < args->every) && raw_next(in, &x); items++) {
		if (args->common.verbose)
			raw_say(in, &x);
		if (items) {
			insist_on_same(in, &first, &x);
		} else {
			describe_result(args, in, &x, &r.y);
			img_copy_head(&first, &x);
			img_count(&x, &r.n);
			r.total = weir_xalloc_large(r.n, sizeof *r.total);
			r.count = weir_xalloc_large(r.n, sizeof *r.count);
			combine_start(how, r.total, r.count, r.n);
		}
		add_item(how, in, x.type, &r);
		stats_charge(st, STATS_COMPUTE);
		img_free(&x);
	}
	if (args->every && items && items < args->every)
		raw_die(in, "%zu items are left, fewer than --every=%zu", items, args->every);
	if (items) {
		char *buffer = weir_xalloc(r.n, img_type_size(r.y.type));

		combine_finish(how, r.total, r.count, r.n);
		raw_head(out, &r.y);
		write_result(&r.y, r.total, r.n, buffer, out);
		weir_free(buffer);
		stats_charge(st, STATS_WRITE);
	}
	weir_free(r.total);
	weir_free(r.count);
	img_free(&r.y);
	img_free(&first);
	return items;
}

/* Writes an item for each place of the slowest axis. */
static void
put_places(const struct args *args, struct raw_in *in, const struct img *x, struct raw_out *out,
	   struct stats *st)
{
	const int last = x->dim - 1;
	const size_t places = x->axis[last].n, size = img_type_size(x->type);
	size_t count;

	img_count(x, &count);
	count /= places;
	const size_t most = count < 1 << 17 ? count : 1 << 17;
	void *block = weir_xalloc(most, size);

	for (size_t k = 0; k < places; k++) {
		struct img y;

		img_copy_head(&y, x);
		places_note(&y, &x->axis[last], k);
		img_cut_axis(&y.axis[last], 1, (ptrdiff_t)k);
		wcs_slice(&y, last);
		img_drop_axis(&y, last);
		opt_add_history(&y, &args->common);
		raw_head(out, &y);
		img_free(&y);
		for (size_t at = 0, n; at < count; at += n) {
			n = count - at < most ? count - at : most;
			raw_read(in, block, n);
			raw_write(out, block, n);
		}
	}
	weir_free(block);
	stats_charge(st, STATS_WRITE);
}

/* Does the next piece of work. Returns false at the end of the input. */
static bool
convert(const struct args *args, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct group g;
	struct img x;

	if (args->split) {
		if (!raw_next(in, &x))
			return false;
		if (args->common.verbose)
			raw_say(in, &x);
		put_places(args, in, &x, out, st);
		img_free(&x);
		return true;
	}
	if (args->combine && !combine_needs_all((enum combine)args->combine))
		return put_running(args, in, out, st);
	if (!read_group(args, in, &g))
		return false;
	stats_charge(st, STATS_READ);
	(args->combine ? put_all : put_stack)(args, in, &g, out, st);
	free_group(&g);
	return true;
}

int
main(int argc, char **argv)
{
	const struct args args = parse(argc, argv);
	struct raw_out *out = raw_create(args.common.out, (enum raw_as)args.common.as);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	struct stats st;

	stats_start(&st);
	st.threads = par_threads(args.common.threads);
	/* Without --split and --every, the first result has all items. */
	for (bool more = true; more && convert(&args, in, out, &st); st.items++)
		more = args.split || args.every;
	stats_close(&st, in, out, &args.common);
	return 0;
}
