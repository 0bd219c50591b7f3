/* rawtile: cuts pictures into parts. Each part says where it lies, and rawjoin puts them together again. */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawtile";

enum { ALL = -1, MOST = 4096 }; /* MOST: parts along one axis that a list can name */

struct args {
	struct opt_common common;
	const char *grid, *size, *columns, *rows, *margin;
	int only;

	double count[2], extent[2]; /* --grid, --size: 0 when not given */
	struct list {
		double at[MOST];
		size_t n; /* 0: not given */
	} list[2];	  /* --columns, --rows */
	size_t before[2], after[2];
};

static const struct opt table[] = {
    {0, "grid", OPT_STR, AT(grid), "GXxGY", "as many parts across and down, of even size"},
    {0, "size", OPT_STR, AT(size), "WxH", "parts of that size; the last ones are smaller"},
    {0, "columns", OPT_STR, AT(columns), "LIST", "where parts begin, 0 first: 0,100,300"},
    {0, "rows", OPT_STR, AT(rows), "LIST", "the same for rows"},
    {0, "margin", OPT_STR, AT(margin), "N",
     "pixels of the neighbours around, or LEFT,RIGHT,TOP,BOTTOM"},
    {0, "only", OPT_INT, AT(only), "I", "only the I-th part, from 0, row by row", 0, INT32_MAX},
    {0}};

static const struct opt_program program = {.what =
					       "Cuts pictures into parts that say where they lie.",
					   .example = "rawtile --size=32x32 photo.ppm >parts.nrrd",
					   .table = table};

/* --- arguments ----------------------------------------------------------------------------------------------------- */

static void
check_counts(const char *option, const char *text, const double *v, size_t n, double lo)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] != floor(v[i]) || v[i] < lo || v[i] > PLACE_MOST)
			die_usage("%s: '%s' holds a number that is not a whole one in %.0f..%d",
				  option, text, lo, PLACE_MOST);
}

static void
parse_pair(const char *option, const char *text, double v[2])
{
	if (!text)
		return;
	opt_reals(option, text, 'x', v, 2);
	check_counts(option, text, v, 2, 1);
}

static void
parse_list(const char *option, const char *text, struct list *l)
{
	if (!text)
		return;
	l->n = opt_reals_upto(option, text, ',', l->at, MOST);
	check_counts(option, text, l->at, l->n, 0);
	if (l->at[0] != 0)
		die_usage("%s: '%s' does not begin with 0", option, text);
	for (size_t i = 1; i < l->n; i++)
		if (l->at[i] <= l->at[i - 1])
			die_usage("%s: '%s' does not ascend", option, text);
}

static void
parse_margin(struct args *args)
{
	double v[4];

	if (!args->margin)
		return;
	const size_t n = opt_reals_upto("--margin", args->margin, ',', v, 4);
	check_counts("--margin", args->margin, v, n, 0);
	if (n != 1 && n != 4)
		die_usage("--margin: '%s' has neither one number nor four", args->margin);
	for (size_t a = 0; a < 2; a++) {
		args->before[a] = (size_t)v[n == 1 ? 0 : 2 * a];
		args->after[a] = (size_t)v[n == 1 ? 0 : 2 * a + 1];
	}
}

static void
check(void *options)
{
	struct args *args = options;

	if (!args->grid + !args->size + !(args->columns || args->rows) != 2)
		die_usage(
		    "exactly one of --grid, --size, and --columns with --rows says how to cut");
	parse_pair("--grid", args->grid, args->count);
	parse_pair("--size", args->size, args->extent);
	parse_list("--columns", args->columns, &args->list[0]);
	parse_list("--rows", args->rows, &args->list[1]);
	parse_margin(args);
}

/* --- cutting ------------------------------------------------------------------------------------------------------- */

/* The number of parts of an axis of n pixels. Returns 0 when it has too few pixels. */
static size_t
parts(const struct args *args, int axis, size_t n)
{
	const size_t count = (size_t)args->count[axis], extent = (size_t)args->extent[axis],
		     listed = args->list[axis].n;

	if (count)
		return count <= n ? count : 0;
	if (extent)
		return (n + extent - 1) / extent;
	if (listed)
		return args->list[axis].at[listed - 1] < (double)n ? listed : 0;
	return 1;
}

/* Where part i begins. For i = the number of parts: where the axis ends. */
static size_t
first_of(const struct args *args, int axis, size_t n, size_t i)
{
	const size_t count = parts(args, axis, n);

	if (i >= count)
		return n;
	if (args->count[axis] > 0)
		return n * i / count;
	if (args->extent[axis] > 0)
		return i * (size_t)args->extent[axis];
	return args->list[axis].n ? (size_t)args->list[axis].at[i] : 0;
}

struct span {
	size_t from, to;
};

/* Part i with its margins, which end at the border of the picture. */
static struct span
span_of(const struct args *args, int axis, size_t n, size_t i)
{
	const size_t from = first_of(args, axis, n, i), to = first_of(args, axis, n, i + 1);

	return (struct span){from > args->before[axis] ? from - args->before[axis] : 0,
			     n - to > args->after[axis] ? to + args->after[axis] : n};
}

/* Whether two parts along an axis have the same pixels, since margins reach both ends. To rawjoin they are two pictures. */
static bool
any_equal(const struct args *args, int axis, size_t n, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct span a = span_of(args, axis, n, i - 1), b = span_of(args, axis, n, i);
		if (a.from == b.from && a.to == b.to)
			return true;
	}
	return false;
}

/* The rows of the pictures that are in memory. */
struct rows {
	const char *data; /* row `first` of the first picture */
	char *
	    held; /* the buffer, where rows come through a pipe; NULL: all rows are there. Owned. */
	size_t first, end;
};

/* Writes a part, whose rows are in memory. */
static void
put(struct raw_out *out, const struct img *x, const struct img_picture *p, const struct args *args,
    const struct rows *in, struct place t, struct span c, struct span r)
{
	const size_t pixel = p->c * img_type_size(x->type);
	const int axis = img_row_axis(x);
	struct img y;

	img_copy_head(&y, x);
	img_crop_axis(&y, axis, c.to - c.from, (ptrdiff_t)c.from);
	if (y.dim > axis + 1)
		img_crop_axis(&y, axis + 1, r.to - r.from, (ptrdiff_t)r.from);
	const struct axis_choice axes[3] = {{p->w, c.from, c.to - c.from, false},
					    {p->h, r.from, r.to - r.from, false},
					    {p->n, 0, p->n, false}};
	axiskeys_choose_traces(&y, axes + 1 - axis, false);
	t.x0 += c.from;
	t.y0 += r.from;
	place_set(&y, &t);
	opt_add_history(&y, &args->common);
	raw_head(out, &y);
	for (size_t k = 0; k < p->n; k++)
		for (size_t i = r.from; i < r.to; i++)
			raw_write(out,
				  in->data + ((k * p->h + i - in->first) * p->w + c.from) * pixel,
				  (c.to - c.from) * p->c);
	img_free(&y);
}

/*
 * Maps the pictures. A stack is loaded where that is not possible. Of one picture that comes through a pipe, as many rows are
 * held as the highest part has.
 */
static struct rows
open_rows(const struct args *args, struct raw_in *in, struct img *x, const struct img_picture *p,
	  size_t ny)
{
	size_t most = 0;

	if (!raw_try_map(in, x)) {
		for (size_t i = 0; i < ny; i++) {
			const struct span r = span_of(args, 1, p->h, i);
			most = r.to - r.from > most ? r.to - r.from : most;
		}
		if (p->n == 1) {
			char *held = weir_xalloc(most * p->w, p->c * img_type_size(x->type));
			return (struct rows){.data = held, .held = held};
		}
		raw_load(in, x);
	}
	return (struct rows){.data = x->data, .end = p->h};
}

/* Reads on to the rows r. Those before them are dropped. */
static void
advance(struct rows *rows, struct raw_in *in, const struct img *x, const struct img_picture *p,
	struct span r)
{
	const size_t width = p->w * p->c, row = width * img_type_size(x->type);

	if (!rows->held || rows->end == r.to)
		return;
	if (r.from < rows->end) {
		memmove(rows->held, rows->held + (r.from - rows->first) * row,
			(rows->end - r.from) * row);
	} else {
		raw_skip(in, (r.from - rows->end) * width);
		rows->end = r.from;
	}
	raw_read(in, rows->held + (rows->end - r.from) * row, (r.to - rows->end) * width);
	rows->first = r.from;
	rows->end = r.to;
}

static void
cut(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct img_picture p;
	struct why why;
	struct place t;

	if (!img_picture(x, &p))
		raw_die(in, "it has %d axes, more than pictures have", x->dim);
	if (place_of(x, p.w, p.h, &t, &why))
		raw_die(in, "%s", why.text);
	const size_t nx = parts(args, 0, p.w), ny = parts(args, 1, p.h);
	if (!nx || !ny)
		raw_die(in, "%zux%zu pixels are too few for these parts", p.w, p.h);
	if (any_equal(args, 0, p.w, nx) || any_equal(args, 1, p.h, ny))
		raw_die(in, "with these margins, two parts of %zux%zu pixels are the same", p.w,
			p.h);
	if (args->only != ALL && (size_t)args->only >= nx * ny)
		raw_die(in, "--only: there are %zu parts, from 0", nx * ny);
	struct rows rows = open_rows(args, in, x, &p, ny);
	for (size_t i = 0; i < nx * ny; i++) {
		const struct span r = span_of(args, 1, p.h, i / nx);
		if (args->only != ALL && (size_t)args->only != i)
			continue;
		advance(&rows, in, x, &p, r);
		stats_charge(st, STATS_READ);
		put(out, x, &p, args, &rows, t, span_of(args, 0, p.w, i % nx), r);
		stats_charge(st, STATS_WRITE);
	}
	weir_free(rows.held);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, cut, NULL};
	static struct args args = {.common.as = RAW_AS_RAW, .only = ALL};

	return raw_each(&filter, argc, argv, &args);
}
