/* rawlabel: finds the connected components of pictures and volumes, and writes labels or a table. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/progress.h"
#include "common/base/sample.h"
#include "common/base/stats.h"
#include "common/picture/label.h"
#include "common/picture/peaks.h"
#include "common/picture/table.h"
#include "common/picture/world.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawlabel";

/* --- a second stream ------------------------------------------------------------------------------------------------ */

/* A stream that an option names, with one item of the same shape for each item of the input. */
struct beside {
	const char *path;  /* the value of the option; NULL: it is not given */
	struct raw_in *in; /* owned; NULL before the first item */
	struct img x;	   /* the item; the caller frees it */
};

/* Goes to the item that belongs to item x of in, and dies when its shape or its part of a picture is another. */
static void
beside_next(struct beside *b, const char *option, const struct raw_in *in, const struct img *x,
	    size_t max_bytes)
{
	const struct img *y = &b->x;

	if (!b->path)
		return;
	if (!b->in)
		b->in = raw_open((char *const *)(uintptr_t)&b->path, 1, max_bytes);
	if (!raw_next(b->in, &b->x))
		raw_die(in, "%s has no more items", option);
	for (int i = 0; i < x->dim || i < y->dim; i++)
		if (x->dim != y->dim || x->axis[i].n != y->axis[i].n)
			raw_die(in, "%s: the shapes differ", option);
	if (!place_same(x, y))
		raw_die(in, "%s: it is another part of a picture", option);
	place_compare(y, x, .1, raw_name(b->in), raw_name(in));
}

/* Dies when items are left. */
static void
beside_close(struct beside *b, const struct raw_in *in)
{
	if (b->in && raw_next(b->in, &b->x))
		die("%s: it has more items than %s", raw_name(b->in), raw_name(in));
	raw_close(b->in);
}

/* --- arguments ------------------------------------------------------------------------------------------------------ */

enum to { LABELS, TABLE, CSV };

struct args {
	struct opt_common common;
	int connectivity; /* 4, 8, 6, 18 or 26; while options are parsed, the index of the word */
	bool chosen;	  /* it was given */
	double above;
	bool has_above;
	size_t min_size;
	double split;
	bool has_split;
	struct beside markers, values;
	bool map;
	int to;

	size_t components, dims; /* of the items so far */
	char sky[20];		 /* the names of its columns; "": none */
};

static const struct opt table[] = {
    {'c', "connectivity", OPT_WORD, AT(connectivity), "N",
     "4 or 8 in pictures, 6, 18 or 26 in volumes (8)", .words = "4|8|6|18|26", .seen = AT(chosen)},
    {0, "above", OPT_REAL, AT(above), "T",
     "samples greater than T are chosen (those that are not 0)", .seen = AT(has_above)},
    {0, "min-size", OPT_SIZE, AT(min_size), "N", "components of fewer samples are left out (1)", 1,
     0x1p52},
    {0, "split", OPT_REAL, AT(split), "H",
     "cut components between peaks that stand H above their saddle", .seen = AT(has_split)},
    {0, "markers", OPT_STR, AT(markers.path), "FILE",
     "numbers that spread over the components, from the highest samples down"},
    {0, "values", OPT_STR, AT(values.path), "FILE",
     "what is measured, of the same shape (the input itself)"},
    {0, "map", OPT_FLAG, AT(map), NULL, "places on the map or in the sky, in the table"},
    {0, "to", OPT_WORD, AT(to), "WHAT", "%s (labels)", .words = "labels|table|csv",
     .group = OPT_DATA},
    {0}};

static const struct opt_program program = {
    .what = "Finds the connected components of pictures and volumes, and measures them.",
    .example = "rawlabel --above=100 --min-size=9 coins.pgm | rawtopnm --labels >coins.ppm",
    .table = table};

static const int connectivities[] = {4, 8, 6, 18, 26};

static void
check_args(void *options)
{
	struct args *args = options;

	args->connectivity = connectivities[args->connectivity];
	if (args->has_split && !(args->split >= 0 && args->split < INFINITY))
		die_usage("--split: %g is not 0 or more", args->split);
	if (args->has_split && args->markers.path)
		die_usage("only one of --split and --markers can be given");
	if (args->values.path && args->to == LABELS)
		die_usage("--values: goes with --to=csv and --to=table; labels have no values");
	if (args->map && args->to == LABELS)
		die_usage("--map: goes with --to=csv and --to=table; labels have no places");
	if (args->to == CSV)
		args->common.as = RAW_AS_TEXT;
}

/* --- rows ----------------------------------------------------------------------------------------------------------- */

/* Buffers for one row. */
struct row {
	void *from;	 /* samples as they are stored */
	uint8_t *chosen; /* 0 or 1 */
	double *values;
};

static void
check(const struct raw_in *in, int r)
{
	if (r == -EOVERFLOW)
		raw_die(in, "it has more components than 32 bits can number");
	if (r)
		raw_die(in, "%s", strerror(-r));
}

static void
free_row(struct row *r)
{
	weir_free(r->from);
	weir_free(r->chosen);
	weir_free(r->values);
}

/* Reads the numbers of markers: whole, 0 or more. */
static void
read_markers(const struct beside *m, uint32_t *part, struct row *r, size_t w, size_t rows)
{
	for (size_t i = 0; i < rows * w; i += w) {
		raw_read(m->in, r->from, w);
		sample_load(r->values, r->from, m->x.type, w);
		for (size_t k = 0; k < w; k++) {
			if (!(r->values[k] >= 0 && r->values[k] <= INT32_MAX &&
			      r->values[k] == rint(r->values[k])))
				raw_die(m->in,
					"--markers: sample %zu is %g, not a whole number "
					"from 0 to 2147483647",
					i + k, r->values[k]);
			part[i + k] = (uint32_t)r->values[k];
		}
	}
}

/*
 * Reads the whole item, cuts it into parts, and gives these to l, together with the item of values if that is another one.
 * Returns the numbers of the parts, which the caller frees, or NULL for 1, 2 ..
 */
static uint32_t *
read_parts(const struct args *args, struct raw_in *in, const struct img *x, struct label *l,
	   struct stats *st)
{
	const struct order_shape s = {l->w, l->h, l->depth, l->connectivity};
	const size_t rows = l->h * l->depth, n = rows * l->w;
	struct row r = {.from = weir_xalloc(l->w, 8),
			.chosen = weir_xalloc(n, 1),
			.values = weir_xalloc(n, sizeof(double))};
	uint32_t *part = weir_xalloc_large(n, sizeof *part), *name = NULL;
	struct row at = r;

	if (args->markers.path)
		read_markers(&args->markers, part, &r, l->w, rows);
	for (size_t i = 0; i < rows; i++, at.chosen += l->w, at.values += l->w) {
		raw_read(in, at.from, l->w);
		sample_threshold(at.chosen, at.values, at.from, x->type, l->w,
				 args->has_above ? args->above : NAN);
		sample_load(at.values, at.from, x->type, l->w);
		for (size_t k = 0;
		     img_type_size(x->type) == 8 && !img_is_float(x->type) && k < l->w; k++)
			if (fabs(at.values[k]) >= 0x1p53)
				raw_die(in,
					"sample %zu is an integer from 2^53 on, which doubles "
					"cannot tell from the next",
					i * l->w + k);
	}
	stats_charge(st, STATS_READ);
	check(in, args->markers.path
		      ? watershed(&s, r.values, r.chosen, args->min_size, part, &name)
		      : split(&s, r.values, r.chosen, args->split, part));
	stats_charge(st, STATS_COMPUTE);
	for (size_t i = 0; i < rows; i++) {
		double *v = r.values + i * l->w;

		if (args->values.in) {
			raw_read(args->values.in, r.from, l->w);
			sample_load(v, r.from, args->values.x.type, l->w);
		}
		check(in, label_parts(l, part + i * l->w, args->to == LABELS ? NULL : v));
	}
	weir_free(part);
	free_row(&r);
	return name;
}

/* Reads the item a row at a time, together with the item of values if that is another one. */
static void
read_rows(const struct args *args, struct raw_in *in, const struct img *x, struct label *l,
	  struct stats *st)
{
	struct row r = {.from = weir_xalloc(l->w, 8),
			.chosen = weir_xalloc(l->w, 1),
			.values = weir_xalloc(l->w, sizeof(double))};
	const double above = args->has_above ? args->above : NAN;
	const size_t rows = l->h * l->depth;
	const struct beside *values = &args->values;
	struct progress bar;

	progress_start(&bar, args->common.quiet);
	for (size_t i = 0; i < rows; i++) {
		raw_read(in, r.from, l->w);
		sample_threshold(r.chosen, r.values, r.from, x->type, l->w, above);
		if (values->in)
			raw_read(values->in, r.from, l->w);
		if (args->to != LABELS)
			sample_load(r.values, r.from, (values->in ? &values->x : x)->type, l->w);
		stats_charge(st, STATS_READ);
		check(in, label_row(l, r.chosen, args->to == LABELS ? NULL : r.values));
		stats_charge(st, STATS_COMPUTE);
		progress_step(&bar, (double)i / (double)rows);
	}
	progress_end(&bar);
	free_row(&r);
}

/* --- output ---------------------------------------------------------------------------------------------------------- */

static void
put_labels(const struct args *args, const struct img *x, struct label *l, const uint32_t *name,
	   size_t first, struct raw_out *out)
{
	int32_t *row = weir_xalloc(l->w + LABEL_PAD, sizeof *row);
	struct img y;

	if (!first) {
		img_copy_head(&y, x);
		y.type = IMG_I32;
		img_drop_key(&y, "maxval");
		img_drop_key(&y, "tiff.ColorMap");
		bands_renew(&y);
		opt_add_history(&y, &args->common);
		raw_head(out, &y);
		img_free(&y);
	}
	for (size_t i = 0; i < l->rows; i++) {
		label_write(l, i, row);
		for (size_t k = 0; name && k < l->w; k++)
			row[k] = row[k] ? (int32_t)name[row[k] - 1] : 0;
		raw_write(out, row, l->w);
	}
	weir_free(row);
}

/* --- items ----------------------------------------------------------------------------------------------------------- */

static struct img_picture
shape_of(const struct args *args, const struct raw_in *in, const struct img *x)
{
	struct img_picture p;

	if (!img_picture(x, &p) || p.c != 1)
		raw_die(in, "components are those of pictures and volumes of one plane; "
			    "rawaxes --slice takes one of several");
	if (p.w > UINT32_MAX)
		raw_die(in, "its rows have 2^32 samples or more");
	if (args->to != LABELS && (args->connectivity == 4 || args->connectivity == 8) && p.n > 1)
		raw_die(in, "a stack of pictures has a table each: cut it with rawaxes, or use "
			    "--connectivity=26");
	return p;
}

/* Says where x lies, which has pictures p. A part with directions in a space has no positions that say it. */
static void
check_place(const struct raw_in *in, struct img *x, const struct img_picture *p)
{
	struct img_axis *a = &x->axis[img_row_axis(x)];
	struct place t;
	struct why why;

	if (place_of(x, p->w, p->h, &t, &why))
		raw_die(in, "%s", why.text);
	if (t.W == p->w && t.H == p->h)
		return;
	warn(
	    "%s: a part of a picture (tile:=%s): components end at its sides, and other parts have "
	    "the same numbers; see rawjoin",
	    raw_name(in), img_key(x, "tile"));
	for (int i = 0; i < 2; i++)
		if (a[i].directed)
			a[i].min = a[i].spacing * (double)(i ? t.y0 : t.x0);
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct args *args = options;
	const struct img_picture p = shape_of(args, in, x);
	const bool volume = args->connectivity != 4 && args->connectivity != 8;
	const size_t dims = volume && x->dim - img_row_axis(x) > 2 ? 3 : 2;

	struct table rows = {.x = x, .item = st->items, .dims = dims};
	if (args->map)
		world_open(&rows.world, in, x, WORLD_MUST);
	if (args->to == CSV && args->dims &&
	    (args->dims != dims || strcmp(args->sky, rows.world.names) != 0))
		raw_die(in, "its table has other columns than that of the item before");
	args->dims = dims;
	strcpy(args->sky, rows.world.names);
	raw_doubt_stack(in, x, volume, args->chosen ? NULL : "-c 26");
	check_place(in, x, &p);

	beside_next(&args->values, "--values", in, x, args->common.max_bytes);
	beside_next(&args->markers, "--markers", in, x, args->common.max_bytes);
	for (size_t k = 0; k < (volume ? 1 : p.n); k++) {
		uint32_t *name = NULL;
		struct label l;

		check(in, label_open(&l, p.w, p.h, volume ? p.n : 1, args->connectivity));
		if (args->has_split || args->markers.path)
			name = read_parts(args, in, x, &l, st);
		else
			read_rows(args, in, x, &l, st);
		check(in, label_close(&l, args->min_size));
		stats_charge(st, STATS_COMPUTE);
		args->components += l.n;
		rows.l = &l;
		rows.name = name;
		if (args->to == LABELS)
			put_labels(args, x, &l, name, k, out);
		else if (args->to == CSV)
			table_put_csv(&rows, out);
		else
			table_put(&rows, in, &args->common, out);
		stats_charge(st, STATS_WRITE);
		label_free(&l);
		weir_free(name);
	}
	img_free(&args->values.x);
	img_free(&args->markers.x);
	world_close(&rows.world);
}

static void
finish(void *options, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct args *args = options;

	(void)out;
	beside_close(&args->values, in);
	beside_close(&args->markers, in);
	stats_add(st, "components", "%zu", args->components);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check_args, convert_item, finish};
	struct args args = {.common.as = RAW_AS_RAW, .connectivity = 1, .min_size = 1};

	return raw_each(&filter, argc, argv, &args);
}
