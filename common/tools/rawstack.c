/* rawstack: puts items together along a new axis, or combines them into one, or takes an item apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/par.h"
#include "common/base/stats.h"
#include "common/convert/wcs.h"
#include "common/stream/axiskeys.h"
#include "common/stream/raw.h"
#include "common/tools/places.h"
#include "common/tools/planes.h"
#include "common/tools/stacking.h"

const char *const weir_prog = "rawstack";

struct args {
	struct opt_common common;
	struct stacking stacking;
	bool split, planes;
	double spacing;
	bool has_clip, has_spacing;
	const char *label, *unit;
	char **path;
	size_t npath;
};

#define AT(member) offsetof(struct args, member)
static const struct opt table[] = {
    {0, "combine", OPT_WORD, AT(stacking.combine), "HOW",
     "median, mean, sum, min, max or clip: one number for each pixel; clip is a clipped mean",
     .words = "none|median|mean|sum|min|max|clip"},
    {0, "clip", OPT_ABOVE, AT(stacking.clip), "K",
     "standard deviations from the median beyond which a clipped mean leaves out (3)",
     .seen = AT(has_clip)},
    {0, "split", OPT_FLAG, AT(split), NULL, "an item for each place of the slowest axis"},
    {0, "planes", OPT_FLAG, AT(planes), NULL,
     "items become the planes of a picture; with --split, planes become items"},
    {0, "every", OPT_SIZE, AT(stacking.every), "N", "one result for each N items (for all)", 1,
     0x1p31},
    {0, "spacing", OPT_REAL, AT(spacing), "V", "between the places of the new axis",
     .seen = AT(has_spacing)},
    {0, "label", OPT_STR, AT(label), "TEXT", "of the new axis, such as z"},
    {0, "unit", OPT_STR, AT(unit), "TEXT", "of the new axis, such as um"},
    {0}};
#undef AT

static const struct opt_program program = {
    .what = "Stacks items along a new axis, combines them into one, or takes a stack apart.",
    .table = table,
    .common = OPT_THREADS | OPT_FORMAT,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX};

static struct args
parse(int argc, char **argv)
{
	struct args args = {.stacking.clip = 3};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	const bool axis = args.has_spacing || args.label || args.unit;

	if (args.split && (args.stacking.combine || args.stacking.every))
		die_usage("--split goes without --combine and --every");
	if (args.planes && args.stacking.combine)
		die_usage("--planes goes without --combine");
	if ((args.split || args.planes || args.stacking.combine) && axis)
		die_usage("--spacing, --label and --unit are those of a new axis");
	if (args.has_clip && args.stacking.combine != COMBINE_CLIP)
		die_usage("--clip goes with --combine=clip");
	if (args.has_spacing && args.spacing == 0)
		die_usage("--spacing: 0 is no spacing");
	return args;
}

/* --- putting together ------------------------------------------------------------------------------------------------ */

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
	} else if (!places_direct(g->x, g->n, y, y->dim - 1)) {
		warn("the items do not lie at even distances in one space: the place of the first "
		     "one is kept");
	}
	if (args->label)
		img_set_label(a, args->label);
	if (args->unit)
		img_set_unit(a, args->unit);
	places_forget(y);
	if (!axiskeys_stack_traces(y, g->x, g->n))
		warn("the items' offsets differ, and are left out");
	opt_add_history(y, &args->common);
}

static void
put_stack(const struct args *args, const struct raw_in *in, const struct group *g,
	  struct raw_out *out, struct stats *st)
{
	struct img y;
	size_t count;

	if (args->planes) {
		planes_describe(in, g, &y);
		opt_add_history(&y, &args->common);
	} else {
		describe_stack(args, in, g, &y);
	}
	img_count(&g->x[0], &count);
	raw_head(out, &y);
	if (args->planes)
		planes_write(g, out);
	for (size_t i = 0; i < g->n && !args->planes; i++)
		raw_write(out, g->x[i].data, count);
	img_free(&y);
	stats_charge(st, STATS_WRITE);
}

/* Of a stack of gathers, takes the offsets of gather k. */
static void
take_offsets(struct img *y, const struct img *x, size_t k)
{
	const struct axis_choice c[2] = {{x->axis[1].n, 0, x->axis[1].n, false},
					 {x->axis[2].n, k, 1, false}};

	if (x->dim == 3)
		axiskeys_choose_traces(y, c, false);
}

/* Writes an item for each place of the slowest axis. */
static void
put_places(const struct args *args, struct raw_in *in, struct img *x, struct raw_out *out,
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
		take_offsets(&y, x, k);
		img_cut_axis(&y, last, 1, (ptrdiff_t)k);
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

/* Writes an item for each plane. */
static void
put_planes(const struct args *args, struct raw_in *in, struct img *x, struct raw_out *out,
	   struct stats *st)
{
	const size_t planes = planes_count(x);

	raw_map(in, x);
	for (size_t k = 0; k < planes; k++) {
		struct img y;

		planes_describe_one(x, k, &y);
		opt_add_history(&y, &args->common);
		raw_head(out, &y);
		img_free(&y);
		planes_write_one(x, k, out);
	}
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
		(args->planes ? put_planes : put_places)(args, in, &x, out, st);
		img_free(&x);
		return true;
	}
	if (args->stacking.combine && !combine_needs_all((enum combine)args->stacking.combine))
		return stacking_put_running(&args->stacking, &args->common, in, out, st);
	if (!stacking_read(&args->stacking, &args->common, in, &g))
		return false;
	stats_charge(st, STATS_READ);
	if (args->stacking.combine)
		stacking_put_all(&args->stacking, &args->common, in, &g, out, st);
	else
		put_stack(args, in, &g, out, st);
	stacking_free(&g);
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
		more = args.split || args.stacking.every;
	const bool alone = args.stacking.combine && !args.stacking.every && raw_item(in) == 1;
	const char *const name = raw_name(in);
	stats_close(&st, in, out, &args.common);
	if (alone)
		warn("%s: one item has nothing to combine; --split makes items of a stack", name);
	return 0;
}
