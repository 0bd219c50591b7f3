/* rawlabel: finds the connected components of pictures and volumes, and writes labels or a table. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/picture/distance.h"
#include "common/picture/label.h"
#include "common/picture/outline.h"
#include "common/picture/peaks.h"
#include "common/picture/ranks.h"
#include "common/picture/shape.h"
#include "common/picture/table.h"
#include "common/picture/world.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawlabel";

/* --- arguments ------------------------------------------------------------------------------------------------------ */

enum { LARGE = 1 << 20 }; /* samples of an item in a file that is mapped, to read it faster */
enum to { LABELS, TABLE, CSV, GEOJSON, WKT };

struct args {
	struct opt_common common;
	int connectivity; /* 4, 8, 6, 18 or 26; while options are parsed, the index of the word */
	bool chosen;	  /* it was given */
	int depth;	  /* of enum img_depth */
	const char *how;  /* --above, as given; NULL: it is not */
	bool found;	  /* it is found from the samples of the item */
	double above, percent; /* the threshold, NaN: what is not 0; of --above=P% */
	size_t min_size;
	struct opt_list drop;
	bool inside;  /* --drop=border */
	double below; /* --drop=BELOW */
	double grow;
	bool labels, shape;
	bool named; /* components keep numbers that were given */
	double split;
	bool has_split, fill;
	int by; /* --split: 1 is the distance */
	struct raw_beside markers, values;
	bool map;
	int to;

	size_t components, tables, dims; /* of the items so far */
	char sky[20];			 /* the names of its columns; "": none */
	struct outline_text text;
	size_t taken; /* samples of an item that is in memory */
};

static const struct opt table[] = {
    {'c', "connectivity", OPT_WORD, AT(connectivity), "N",
     "4 or 8 in pictures (8), 6, 18 or 26 in volumes (26)", .words = "4|8|6|18|26",
     .seen = AT(chosen)},
    {0, "volume", OPT_SET, AT(depth), NULL, "a stack is a volume", .value = IMG_VOLUME},
    {0, "slices", OPT_SET, AT(depth), NULL, "a stack is no volume", .value = IMG_SLICES},
    {0, "above", OPT_STR, AT(how), "T", "samples > T, otsu, triangle or P% are chosen (not 0)",
     .words = "otsu|triangle"},
    {0, "min-size", OPT_SIZE, AT(min_size), "N", "components of fewer samples are left out (1)", 1,
     0x1p52},
    {0, "drop", OPT_LIST, AT(drop), "WHAT", "left out, too: border, or an area in the axes' units",
     .words = "border"},
    {0, "split", OPT_REAL, AT(split), "H",
     "cut components between peaks that stand H above their saddle", .seen = AT(has_split)},
    {0, "by", OPT_WORD, AT(by), "WHAT", "split by values, or by the distance to the outside",
     .words = "values|distance"},
    {0, "fill-holes", OPT_FLAG, AT(fill), NULL, "the holes of components are chosen, too"},
    {0, "markers", OPT_STR, AT(markers.path), "FILE",
     "numbers that spread over the components, from the highest samples down"},
    {0, "labels", OPT_FLAG, AT(labels), NULL, "the input is labels, which stay as they are"},
    {0, "grow", OPT_ABOVE, AT(grow), "D", "components grow by D, and do not merge"},
    {0, "values", OPT_STR, AT(values.path), "FILE",
     "what is measured, of the same shape (the input itself)"},
    {0, "shape", OPT_FLAG, AT(shape), NULL,
     "columns of outlines: perimeter, Feret, solidity, surface"},
    {0, "map", OPT_FLAG, AT(map), NULL, "places on the map or in the sky, in the table"},
    {0, "to", OPT_WORD, AT(to), "WHAT", "%s (labels)", .words = "labels|table|csv|geojson|wkt",
     .group = OPT_DATA},
    {0}};

static const struct opt_program program = {
    .what = "Finds the connected components of pictures and volumes, and measures them.",
    .example = "rawlabel --above=100 --min-size=9 coins.pgm | rawtopnm --labels >coins.ppm",
    .table = table,
    .common = OPT_THREADS};

static bool
is_outline(const struct args *args)
{
	return args->to == GEOJSON || args->to == WKT;
}

/* The option --above: a number, a percentile, or the name of a rule. */
static void
read_above(struct args *args)
{
	const size_t n = args->how ? strlen(args->how) : 0;
	char number[40];

	args->found = n && (args->how[n - 1] == '%' || !strcmp(args->how, "otsu") ||
			    !strcmp(args->how, "triangle"));
	if (args->how && !args->found)
		opt_reals("--above", args->how, ',', &args->above, 1);
	if (!args->found || args->how[n - 1] != '%')
		return;
	snprintf(number, sizeof number, "%.*s", (int)n - 1, args->how);
	opt_reals("--above", number, ',', &args->percent, 1);
	if (!(args->percent >= 0 && args->percent <= 100))
		die_usage("--above: %s is not in 0%%..100%%", args->how);
}

static void
check_args(void *options)
{
	struct args *args = options;

	args->connectivity = args->chosen ? (const int[]){4, 8, 6, 18, 26}[args->connectivity] : 0;
	args->depth = (int)raw_depth(args->depth, args->connectivity);
	if (args->has_split && !(args->split >= 0 && args->split < INFINITY))
		die_usage("--split: %g is not 0 or more", args->split);
	if (args->has_split && args->markers.path)
		die_usage("only one of --split and --markers can be given");
	if (args->by && !args->has_split)
		die_usage("--by: goes with --split");
	if (args->labels && (args->how || args->has_split || args->markers.path || args->fill))
		die_usage("--labels: goes without --above, --fill-holes, --split and --markers");
	if ((args->values.path || args->shape) && args->to != CSV && args->to != TABLE)
		die_usage("%s: goes with --to=csv and --to=table; labels have no values",
			  args->shape ? "--shape" : "--values");
	if (args->map && args->to == LABELS)
		die_usage("--map: goes with --to=csv and --to=table; labels have no places");
	if (is_outline(args) && args->depth == IMG_VOLUME)
		die_usage("--to: outlines are those of pictures: -c 4 or 8");
	for (size_t i = 0; i < args->drop.n; i++)
		if (!strcmp(args->drop.v[i], "border"))
			args->inside = true;
		else
			opt_reals("--drop", args->drop.v[i], ',', &args->below, 1);
	args->text.json = args->to == GEOJSON;
	args->named = args->labels || args->markers.path || args->grow > 0;
	read_above(args);
	if (args->to != LABELS && args->to != TABLE)
		args->common.as = RAW_AS_TEXT;
}

/* --- rows ----------------------------------------------------------------------------------------------------------- */

/* Buffers for one row, and the values of all where they are kept. */
struct row {
	void *from;	 /* samples as they are stored */
	uint8_t *chosen; /* 0 or 1 */
	double *values;
	uint32_t *part; /* numbers */
};

static void
check(const struct raw_in *in, int r)
{
	if (r == -EOVERFLOW)
		raw_die(in, "it has more components than 32 bits can number");
	if (r)
		raw_die(in, "%s", strerror(-r));
}

/* Takes the next n samples, which --above may have brought into memory. */
static void
take(struct args *args, struct raw_in *in, const struct img *x, void *to, size_t n)
{
	const size_t size = img_type_size(x->type);

	if (!x->data)
		raw_read(in, to, n);
	else
		memcpy(to, (const char *)x->data + args->taken * size, n * size);
	args->taken += n;
}

/* Makes whole numbers, 0 or more, of a row of labels, which is row i of an item that the option names. */
static void
read_numbers(const struct raw_in *in, const char *option, const struct img *x, const void *from,
	     double *values, uint32_t *part, size_t w, size_t i)
{
	sample_load(values, from, x->type, w);
	for (size_t k = 0; k < w; k++) {
		if (!(values[k] >= 0 && values[k] <= INT32_MAX && values[k] == (int32_t)values[k]))
			raw_die(in, "%s: sample %zu is %g, not a whole number from 0 to 2147483647",
				option, i * w + k, values[k]);
		part[k] = (uint32_t)values[k];
	}
}

/* Reads the whole item into r, with the numbers of markers. */
static void
read_all(struct args *args, struct raw_in *in, const struct img *x, const struct label *l,
	 struct row *r)
{
	const size_t w = l->w, n = w * l->h * l->depth;
	const struct raw_beside *m = &args->markers;
	const bool wide = img_type_size(x->type) == 8 && !img_is_float(x->type) &&
			  (m->path || (args->has_split && !args->by));

	for (size_t i = 0; i < n; i += w) {
		double *v = r->values + i;
		if (m->path) {
			raw_read(m->in, r->from, w);
			read_numbers(m->in, "--markers", &m->x, r->from, v, r->part + i, w, i / w);
		}
		take(args, in, x, r->from, w);
		sample_threshold(r->chosen + i, v, r->from, x->type, w, args->above);
		sample_load(v, r->from, x->type, w);
		for (size_t k = 0; wide && k < w; k++)
			if (fabs(v[k]) >= 0x1p53)
				raw_die(in,
					"sample %zu is an integer from 2^53 on, which doubles "
					"cannot tell from the next",
					i + k);
	}
}

/* Cuts the item that was read into parts. */
static void
cut(const struct args *args, const struct raw_in *in, const struct img *x, const struct label *l,
    struct row *r)
{
	const struct order_shape s = {l->w, l->h, l->depth, l->connectivity};
	struct distance_shape d = {l->w, l->h, l->depth, {1, 1, 1}};
	double *D = NULL;

	if (args->markers.path) {
		check(in, watershed(&s, r->values, r->chosen, r->part));
		return;
	}
	if (args->by) {
		D = weir_xalloc_large(l->w * l->h * l->depth, sizeof *D);
		label_steps(x, l->depth > 1 ? 3 : 2, d.step);
		check(in, distance(&d, par_threads(args->common.threads), r->chosen, D));
	}
	check(in, split(&s, D ? D : r->values, r->chosen, args->split, r->part));
	weir_free(D);
}

/*
 * Reads the item, and gives its rows to l, together with the item of values if that is another one. Components that are known
 * when all samples are there need all of them. Then, and where components grow later, r keeps what is measured.
 */
static void
read_item(struct args *args, struct raw_in *in, const struct img *x, struct label *l, struct row *r,
	  struct stats *st)
{
	const bool parts = args->has_split || args->markers.path,
		   measured = args->inside || (args->to <= CSV && args->to);
	const bool whole = parts || args->fill;
	const size_t rows = l->h * l->depth, step = whole || args->grow > 0 ? l->w : 0;
	const struct raw_beside *values = &args->values;
	const struct img *of = values->in ? &values->x : x;
	const size_t kept = step ? rows * l->w : l->w;
	struct progress bar;

	*r = (struct row){weir_xalloc(l->w, 8), weir_xalloc(kept, 1),
			  weir_xalloc(kept, sizeof(double)), weir_xalloc(kept, sizeof(uint32_t))};
	progress_start(&bar, args->common.quiet);
	if (whole)
		read_all(args, in, x, l, r);
	stats_charge(st, STATS_READ);
	if (args->fill)
		check(in, label_fill_holes(l, r->values, r->chosen));
	if (parts)
		cut(args, in, x, l, r);
	stats_charge(st, STATS_COMPUTE);
	for (size_t i = 0; i < rows; i++) {
		double *v = r->values + i * step;
		uint32_t *part = r->part + i * step;
		uint8_t *chosen = r->chosen + i * step;
		if (!whole) {
			take(args, in, x, r->from, l->w);
			if (args->labels)
				read_numbers(in, "--labels", x, r->from, v, part, l->w, i);
			else
				sample_threshold(chosen, v, r->from, x->type, l->w, args->above);
		}
		if (values->in)
			raw_read(values->in, r->from, l->w);
		if (measured && (values->in || !whole))
			sample_load(v, r->from, of->type, l->w);
		stats_charge(st, STATS_READ);
		check(in, parts || args->labels ? label_parts(l, part, measured ? v : NULL)
						: label_row(l, chosen, measured ? v : NULL));
		stats_charge(st, STATS_COMPUTE);
		progress_step(&bar, (double)i / (double)rows);
	}
	progress_end(&bar);
}

/* --- output ---------------------------------------------------------------------------------------------------------- */

static void
put_labels(const struct args *args, const struct img *x, struct label *l, size_t first,
	   struct raw_out *out)
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
		for (size_t k = 0; args->named && k < l->w; k++)
			row[k] = row[k] ? (int32_t)l->name[row[k] - 1] : 0;
		raw_write(out, row, l->w);
	}
	weir_free(row);
}

/* --- items ----------------------------------------------------------------------------------------------------------- */

/* Finds the volumes of x, and says where they lie. A part with directions in a space has no positions that say it. */
static struct img_volumes
volumes_of(const struct args *args, const struct raw_in *in, struct img *x)
{
	struct img_axis *a = &x->axis[img_row_axis(x)];
	const struct img_volumes p = raw_volumes(in, x, (enum img_depth)args->depth);
	struct place t;
	struct why why;

	if (p.c != 1)
		raw_die(in, "components are those of pictures and volumes of one plane; "
			    "rawaxes --slice takes one of several");
	if (p.w > UINT32_MAX)
		raw_die(in, "its rows have 2^32 samples or more");
	if (args->to != LABELS && args->depth == IMG_AS_NAMED && p.n > 1 && !p.deep &&
	    img_is_deep(x, IMG_VOLUME))
		raw_die(in, "it is a stack of pictures or a volume: say --slices or --volume");
	if (is_outline(args) && p.deep)
		raw_die(in, "outlines are those of pictures: --slices takes one after the other");
	if (place_of(x, p.w, p.h, &t, &why))
		raw_die(in, "%s", why.text);
	if (t.W == p.w && t.H == p.h)
		return p;
	warn(
	    "%s: a part of a picture (tile:=%s): components end at its sides, and other parts have "
	    "the same numbers; see rawjoin",
	    raw_name(in), img_key(x, "tile"));
	for (int i = 0; i < 2; i++)
		if (a[i].directed)
			a[i].min = a[i].spacing * (double)(i ? t.y0 : t.x0);
	return p;
}

/* Finds the threshold of the next n samples of the item, which is in memory. */
static void
find_above(struct args *args, struct raw_in *in, struct img *x, size_t n)
{
	struct img one;

	if (!args->found)
		return;
	img_init(&one, x->type, 1, &n);
	one.data = (char *)x->data + args->taken * img_type_size(x->type);
	struct ranks r = ranks_start(&one, false, 1);

	if (args->how[strlen(args->how) - 1] == '%')
		args->above =
		    ranks_percentile(&r, args->percent, 0, (size_t)ranks_extremes(&r).finite);
	else
		args->above = ranks_threshold(&r, !img_is_float(x->type), *args->how == 'o');
	ranks_free(&r);
	if (isnan(args->above))
		raw_die(in, "--above=%s: its samples give no threshold", args->how);
	if (args->common.verbose)
		warn("%s: item %zu: --above=%s is %.9g", raw_name(in), raw_item(in), args->how,
		     args->above);
}

/* Writes what there is of picture k of an item. */
static void
put(struct args *args, struct raw_in *in, struct table *t, struct label *l, size_t k,
    struct raw_out *out, struct stats *st)
{
	struct shape *shape = args->shape ? weir_xalloc(l->n, sizeof *shape) : NULL;
	double to[3][3];

	table_steps(t, to);
	if (shape)
		check(in, shape_measure(l, to, t->dims, par_threads(args->common.threads), shape));
	t->shape = shape;
	stats_charge(st, STATS_COMPUTE);
	if (args->to == LABELS)
		put_labels(args, t->x, l, k, out);
	else if (is_outline(args))
		outlines_put(&args->text, t, in, out);
	else if (args->to == CSV)
		table_put_csv(t, out);
	else
		table_put(t, in, &args->common, out);
	stats_charge(st, STATS_WRITE);
	weir_free(shape);
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct args *args = options;
	const struct img_volumes p = volumes_of(args, in, x);
	const size_t dims = p.deep ? 3 : 2;
	double to[3][3];

	struct table rows = {.x = x, .dims = dims, .named = args->named};
	if (args->map || (is_outline(args) && img_key(x, "geotransform")))
		world_open(&rows.world, in, x, args->map ? WORLD_MUST : WORLD_MAY);
	if (args->to == CSV && args->dims &&
	    (args->dims != dims || strcmp(args->sky, rows.world.names) != 0))
		raw_die(in, "its table has other columns than that of the item before");
	args->dims = dims;
	strcpy(args->sky, rows.world.names);
	args->taken = 0;
	if (args->found)
		raw_map(in, x);
	else if (raw_left(in) >= LARGE)
		raw_try_map(in, x);
	raw_beside_next(&args->values, "--values", in, x, args->common.max_bytes);
	raw_beside_next(&args->markers, "--markers", in, x, args->common.max_bytes);
	for (size_t k = 0; k < p.n; k++) {
		const double below = ceil(args->below / table_steps(&rows, to) * (1 - 1e-9)),
			     least = fmin(fmax(below, (double)args->min_size), 0x1p62);
		struct label l;
		struct row r;
		check(in, label_open(&l, p.w, p.h, p.d,
				     args->connectivity ? args->connectivity
				     : p.deep		? 26
							: 8));
		l.inside = args->inside;
		find_above(args, in, x, p.w * p.h * p.d);
		read_item(args, in, x, &l, &r, st);
		check(in, label_close(&l, (uint64_t)least));
		if (args->grow > 0)
			check(in, label_grow(&l, x, dims, args->grow,
					     args->to == TABLE || args->to == CSV ? r.values : NULL,
					     args->labels || args->markers.path));
		weir_free_all(r.from, r.chosen, r.values, r.part);
		args->components += l.n;
		rows.l = &l;
		rows.item = args->tables++;
		put(args, in, &rows, &l, k, out, st);
		label_free(&l);
	}
	img_free(&args->values.x);
	img_free(&args->markers.x);
	world_close(&rows.world);
}

static void
finish(void *options, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct args *args = options;

	if (args->to == GEOJSON)
		raw_printf(out, "\n]}\n");
	raw_beside_close(&args->values, in);
	raw_beside_close(&args->markers, in);
	stats_add(st, "components", "%zu", args->components);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check_args, convert_item, finish};
	struct args args = {.common.as = RAW_AS_RAW, .above = NAN, .min_size = 1};

	return raw_each(&filter, argc, argv, &args);
}
