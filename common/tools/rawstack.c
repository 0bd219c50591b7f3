/* rawstack: puts items together along a new axis, or combines them into one, or takes an item apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/convert/wcs.h"
#include "common/picture/combine.h"
#include "common/stream/axes.h"
#include "common/stream/nodata.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawstack";

struct args {
	struct opt_common common;
	int combine; /* enum combine */
	bool split, planes;
	double spacing;
	bool has_spacing;
	const char *unit;
	char *alone; /* owned: the name of the only item that there was to combine, or NULL */
};

/* Items that belong together, with their samples. */
struct group {
	struct img *x; /* owned */
	size_t n, room, bytes;
};

/* ---- where slices lay ---- */

/*
 * Keys slice.position:=, slice.spacing:=, slice.label:= and slice.unit:= say where an item lay along an axis from which it
 * was cut, so that the axis comes back when the items are put together again. Pure.
 */

enum { KEYS = 4 };
static const char *const slice_keys[KEYS] = {"slice.position", "slice.spacing", "slice.label",
					     "slice.unit"};

/* Sets the keys of x, which was place k of the axis. */
static void
slice_note(struct img *y, const struct img_axis *a, size_t k)
{
	if (!isnan(a->min))
		img_set_key(y, slice_keys[0], "%.17g",
			    a->min + (double)k * (isnan(a->spacing) ? 1 : a->spacing));
	if (!isnan(a->spacing))
		img_set_key(y, slice_keys[1], "%.17g", a->spacing);
	if (a->label)
		img_set_key(y, slice_keys[2], "%s", a->label);
	if (a->unit)
		img_set_key(y, slice_keys[3], "%s", a->unit);
}

static double
number_of(const struct img *x, const char *key)
{
	const char *text = img_key(x, key);
	double v;

	return text && opt_number(text, &v) && isfinite(v) ? v : NAN;
}

/* Describes the axis along which the items x[0..n) lie. Its positions are set where those of the items are at even distances. */
static void
slice_recall(const struct img *x, size_t n, struct img_axis *a)
{
	const double first = number_of(&x[0], slice_keys[0]);
	const double step = n > 1 ? (number_of(&x[n - 1], slice_keys[0]) - first) / (double)(n - 1)
				  : number_of(&x[0], slice_keys[1]);
	bool even = !isnan(first) && !isnan(step) && step != 0, alike = true;

	for (size_t i = 0; i < n; i++) {
		const double at = number_of(&x[i], slice_keys[0]);
		even = even && fabs(at - first - (double)i * step) <= 1e-6 * fabs(step);
		alike = alike && number_of(&x[i], slice_keys[1]) == number_of(&x[0], slice_keys[1]);
	}
	if (even) {
		/* An axis without a spacing counts its positions by 1. */
		a->min = first;
		a->spacing = step == 1 ? number_of(&x[0], slice_keys[1]) : step;
	} else if (isnan(first) && alike) {
		a->spacing = number_of(&x[0], slice_keys[1]);
	}
	img_set_label(a, img_key(&x[0], slice_keys[2]));
	img_set_unit(a, img_key(&x[0], slice_keys[3]));
}

/* Whether x and y lie in one space and their axes have the same directions there. */
static bool
alike(const struct img *x, const struct img *y)
{
	const char *mine = x->space.fields, *theirs = y->space.fields;
	bool same = x->space.dim == y->space.dim && x->space.placed == y->space.placed &&
		    (mine && theirs ? !strcmp(mine, theirs) : mine == theirs);

	for (int i = 0; same && i < x->dim; i++) {
		same = x->axis[i].directed == y->axis[i].directed;
		for (int k = 0; same && x->axis[i].directed && k < x->space.dim; k++)
			same = fabs(x->axis[i].step[k] - y->axis[i].step[k]) <=
			       1e-6 * fabs(x->axis[i].spacing);
	}
	return same;
}

/*
 * Directs axis `axis` of y, the stack of the items x[0..n), along their origins. Returns false when the items lie in different
 * spaces or not at even distances: the axis then has no direction, and y lies where x[0] did.
 */
static bool
slice_direct(const struct img *x, size_t n, struct img *y, int axis)
{
	struct img_axis *a = &y->axis[axis];
	const int dim = x->space.placed ? x->space.dim : 0;
	const double *first = x[0].space.origin, *last = x[n - 1].space.origin;
	bool even = true;
	double sum = 0;

	for (size_t i = 1; i < n; i++)
		if (!alike(&x[0], &x[i]))
			return false;
	for (int k = 0; k < dim; k++) {
		a->step[k] = n > 1 ? (last[k] - first[k]) / (double)(n - 1) : 0;
		sum += a->step[k] * a->step[k];
	}
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < dim; k++) {
			const double off = x[i].space.origin[k] - first[k] - (double)i * a->step[k];
			even = even && fabs(off) <= 1e-6 * sqrt(sum);
		}
	a->directed = even && sum > 0;
	if (a->directed)
		a->spacing = sqrt(sum);
	return even;
}

static void
drop_keys(struct img *x, const char *const names[KEYS])
{
	for (int i = 0; i < KEYS; i++)
		img_drop_key(x, names[i]);
}

/* ---- planes ---- */

/* Items as the planes of one picture, on its axis 0, and the planes of a picture as items. */

/* What these keys say of the planes of the first item does not hold for those of others. */
static const char *const plane_keys[KEYS] = {"tiff.extrasamples", "tiff.photometric",
					     "tiff.ColorMap", "tupltype"};

static bool
on_axis(const struct img *x)
{
	return img_row_axis(x) && !img_is_complex(x);
}

/* Counts the planes on axis 0 of x; 1 where it holds none. A complex sample is one number, not two planes. */
static size_t
planes_count(const struct img *x)
{
	return on_axis(x) ? x->axis[0].n : 1;
}

/* Writes a picture whose planes are the n from number `first` on of those of the items x, which are alike. */
static void
planes_write(const struct img *x, size_t first, size_t n, struct raw_out *out)
{
	enum { BLOCK = 1 << 14 }; /* pixels at a time */
	const size_t size = img_type_size(x->type), planes = planes_count(x);
	size_t count;

	img_count(x, &count);
	count /= planes;
	const size_t most = count < BLOCK ? count : BLOCK;
	char *block = weir_xalloc(most, n * size);

	for (size_t at = 0, some; at < count; at += some) {
		some = count - at < most ? count - at : most;
		for (size_t k = 0; k < n; k++) {
			const size_t p = first + k;
			const char *from = x[p / planes].data;
			sample_copy(block + k * size, n, from + (at * planes + p % planes) * size,
				    (ptrdiff_t)planes, some, size);
		}
		raw_write(out, block, some * n);
	}
	weir_free(block);
}

/* Describes the picture whose planes are those of the items of the group, in their order, without history. */
static void
planes_describe(const struct raw_in *in, const struct group *g, struct img *y)
{
	const size_t planes = planes_count(&g->x[0]);

	img_copy_head(y, &g->x[0]);
	if (img_is_complex(y))
		raw_die(in, "complex samples are no planes");
	y->format = IMG_RAW;
	if (!on_axis(y)) {
		if (y->dim == IMG_MAXDIM)
			raw_die(in, "it has %d axes already", IMG_MAXDIM);
		img_insert_axis(y, 0, 1, "vector");
	}
	y->axis[0].n = g->n * planes;
	strcpy(y->axis[0].kind, "vector");
	drop_keys(y, plane_keys);
	for (size_t i = 1; i < g->n; i++)
		bands_append(y, &g->x[i], i * planes);
}

/* ---- items that belong together ---- */

static void
insist_on_same(const struct raw_in *in, const struct img *first, const struct img *x)
{
	const struct nodata mine = nodata_of(x, true), other = nodata_of(first, true);
	char where[RAW_WHERE];

	if (x->type != first->type)
		raw_die(in, "its samples are %s, and those of the first item %s",
			img_type_name(x->type), img_type_name(first->type));
	for (int i = 0; i < x->dim || i < first->dim; i++)
		if (x->dim != first->dim || x->axis[i].n != first->axis[i].n)
			raw_die(in, "its shape is not that of the first item");
	if (img_maxval(x) != img_maxval(first))
		raw_die(in, "its maxval is %u, and that of the first item %u", img_maxval(x),
			img_maxval(first));
	if (!place_same(x, first))
		raw_die(in, "it is another part of a picture than the first item");
	/* The result has the keys of the first item, so what holds for another one alone is named. */
	snprintf(where, sizeof where, "%s: item %zu", raw_name(in), raw_item(in));
	place_compare(x, first, .1, where, "the first item");
	if (mine.named && other.named && !nodata_same(&mine, &other))
		warn("%s: its missing samples are %s, and those of the first item %s; "
		     "see tifftoraw --nan",
		     where, img_key(x, "nodata"), img_key(first, "nodata"));
}

/* Goes to the next item, which belongs to the first. Returns false when there is none. */
static bool
next_item(const struct args *args, struct raw_in *in, const struct img *first, struct img *x)
{
	if (!raw_next(in, x))
		return false;
	insist_on_same(in, first, x);
	if (args->common.verbose)
		raw_say(in, x);
	return true;
}

/* Reads x, which it takes, and all items after it. */
static struct group
read_group(const struct args *args, struct raw_in *in, struct img *x)
{
	const size_t most = weir_limit(args->common.max_bytes);
	struct group g = {0};
	size_t bytes;

	do {
		g.x = weir_xgrow(g.x, &g.room, g.n + 1, sizeof *g.x);
		raw_map(in, x);
		img_bytes(x, &bytes);
		g.bytes += x->map ? 0 : bytes;
		if (g.bytes > most)
			raw_die(in,
				"the items so far exceed the limit of %zu bytes; raise it with "
				"--max-bytes, or give files",
				most);
		g.x[g.n++] = *x;
		*x = (struct img){0};
	} while (next_item(args, in, &g.x[0], x));
	return g;
}

/* ---- combinations ---- */

/* Describes what a combination of items like x is. */
static void
describe_result(const struct args *args, const struct raw_in *in, const struct img *x,
		struct img *y)
{
	const bool one = args->combine == COMBINE_MIN || args->combine == COMBINE_MAX;

	if (x->type == IMG_I64 || x->type == IMG_U64)
		raw_die(in, "samples of 64 bits would lose digits; convert them with rawmath");
	if (img_is_complex(x) && args->combine != COMBINE_SUM && args->combine != COMBINE_MEAN)
		raw_die(in, "complex numbers have no order; of them there are sums and means");
	img_copy_head(y, x);
	if (!one) {
		y->type = x->type >= IMG_I32 && x->type != IMG_F32 ? IMG_F64 : IMG_F32;
		img_drop_key(y, "maxval");
	}
	drop_keys(y, slice_keys);
	opt_add_history(y, &args->common);
}

enum { STACKED = 64 * COMBINE_BLOCK }; /* pixels at a time */

/* Writes n <= STACKED results, from sample number `at` on. */
static void
write_block(const struct img *y, const double *v, size_t at, size_t n, struct raw_out *out)
{
	static char samples[STACKED * 8];
	const size_t fit = sample_store(samples, v, y->type, n);

	if (fit < n)
		die("sample %zu of the result is not in the range of %s; use doubles, by rawmath "
		    "--type=double a",
		    at + fit, img_type_name(y->type));
	raw_write(out, samples, n);
}

/* Writes the median or the clipped mean of the items of a group. */
static void
put_all(const struct args *args, const struct raw_in *in, const struct group *g,
	struct raw_out *out, struct stats *st)
{
	const int threads = par_threads(args->common.threads);
	const size_t size = img_type_size(g->x[0].type);
	double(*work)[COMBINE_BLOCK] = weir_xalloc((size_t)threads * g->n, sizeof *work);
	double *result = weir_xalloc(STACKED, sizeof *result);
	struct progress bar;
	struct img y;
	size_t count;

	describe_result(args, in, &g->x[0], &y);
	img_count(&y, &count);
	raw_head(out, &y);
	progress_start(&bar, args->common.quiet);
	for (size_t at = 0; at < count; at += STACKED) {
		const size_t n = count - at < STACKED ? count - at : STACKED;

#pragma omp parallel for schedule(static) num_threads(threads) if (n > 4 * COMBINE_BLOCK)
		for (size_t b = 0; b < n; b += COMBINE_BLOCK) {
			const size_t some = n - b < COMBINE_BLOCK ? n - b : COMBINE_BLOCK;
			double(*v)[COMBINE_BLOCK] = work + (size_t)omp_get_thread_num() * g->n;
			for (size_t i = 0; i < g->n; i++)
				sample_load(v[i], (const char *)g->x[i].data + (at + b) * size,
					    g->x[i].type, some);
			combine_all((enum combine)args->combine, v, g->n, some, result + b);
		}
		stats_charge(st, STATS_COMPUTE);
		write_block(&y, result, at, n, out);
		stats_charge(st, STATS_WRITE);
		progress_step(&bar, (double)at / (double)count);
	}
	progress_end(&bar);
	img_free(&y);
	weir_free_all(result, work);
}

/* --- one item after the other ------------------------------------------------------------------------------------------ */

/*
 * Writes the sum, the mean, the least or the greatest of x and all items after it, which are read one by one. The first one sets up
 * the result block by block: memory is then committed as data arrives, not by what a header claims.
 */
static void
put_running(const struct args *args, struct raw_in *in, struct img *x, struct raw_out *out,
	    struct stats *st)
{
	static char from[STACKED * 8];
	static double v[STACKED];
	const enum combine how = (enum combine)args->combine;
	struct img first, y;
	bool begun = false;
	size_t count;

	describe_result(args, in, x, &y);
	img_count(x, &count);
	double *total = weir_xalloc_large(count, sizeof *total);
	unsigned *numbers = weir_xalloc_large(count, sizeof *numbers);

	img_copy_head(&first, x);
	do {
		for (size_t at = 0; at < count; at += STACKED) {
			const size_t n = count - at < STACKED ? count - at : STACKED;
			raw_read(in, from, n);
			sample_load(v, from, x->type, n);
			if (!begun)
				combine_start(how, total + at, numbers + at, n);
			combine_add(how, total + at, numbers + at, v, n, x->type == IMG_F64);
		}
		begun = true;
		stats_charge(st, STATS_COMPUTE);
		img_free(x);
	} while (next_item(args, in, &first, x));
	raw_head(out, &y);
	for (size_t at = 0; at < count; at += STACKED) {
		const size_t n = count - at < STACKED ? count - at : STACKED;
		combine_finish(how, total + at, numbers + at, n);
		write_block(&y, total + at, at, n, out);
	}
	stats_charge(st, STATS_WRITE);
	weir_free_all(total, numbers);
	img_free(&y);
	img_free(&first);
}

/* ---- the program ---- */

static const struct opt table[] = {
    {0, "combine", OPT_WORD, AT(combine), "HOW",
     "median, mean, sum, min, max or clip: one number for each pixel; clip is a clipped mean",
     .words = "none|median|mean|sum|min|max|clip"},
    {0, "split", OPT_FLAG, AT(split), NULL, "an item for each place of the slowest axis"},
    {0, "planes", OPT_FLAG, AT(planes), NULL,
     "items become the planes of a picture; with --split, planes become items"},
    {0, "spacing", OPT_REAL, AT(spacing), "V", "between the places of the new axis",
     .seen = AT(has_spacing)},
    {0, "unit", OPT_STR, AT(unit), "TEXT", "of the new axis, such as um"},
    {0}};

static const struct opt_program program = {
    .what = "Stacks items along a new axis, combines them into one, or takes a stack apart.",
    .example = "rawstack --combine=median a.pgm b.pgm c.pgm >median.pgm",
    .table = table,
    .common = OPT_THREADS | OPT_FORMAT};

static void
check(void *options)
{
	const struct args *args = options;
	const bool axis = args->has_spacing || args->unit;

	if (args->split && args->combine)
		die_usage("--split goes without --combine");
	if (args->planes && args->combine)
		die_usage("--planes goes without --combine");
	if ((args->split || args->planes || args->combine) && axis)
		die_usage("--spacing and --unit are those of a new axis");
	if (args->has_spacing && args->spacing == 0)
		die_usage("--spacing: 0 is no spacing");
}

/* --- putting together ------------------------------------------------------------------------------------------------ */

/* Describes the stack: the first item with a new axis. */
static void
describe_stack(const struct args *args, const struct raw_in *in, const struct group *g,
	       struct img *y)
{
	img_copy_head(y, &g->x[0]);
	if (y->dim == IMG_MAXDIM)
		raw_die(in, "it has %d axes already", IMG_MAXDIM);
	y->format = IMG_RAW; /* PNM has no axis of pictures */
	img_insert_axis(y, y->dim, g->n, "domain");
	struct img_axis *a = &y->axis[y->dim - 1];
	slice_recall(g->x, g->n, a);
	if (args->has_spacing) {
		a->spacing = args->spacing;
		a->min = NAN;
	} else if (!slice_direct(g->x, g->n, y, y->dim - 1)) {
		warn("the items do not lie at even distances in one space: the place of the first "
		     "one is kept");
	}
	if (args->unit)
		img_set_unit(a, args->unit);
	drop_keys(y, slice_keys);
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
		planes_write(g->x, 0, g->n * planes_count(g->x), out);
	for (size_t i = 0; i < g->n && !args->planes; i++)
		raw_write(out, g->x[i].data, count);
	img_free(&y);
	stats_charge(st, STATS_WRITE);
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
		slice_note(&y, &x->axis[last], k);
		if (x->dim == 3) { /* a stack of gathers: the offsets of this one */
			const struct axis_choice c[2] = {{x->axis[1].n, 0, x->axis[1].n, false},
							 {places, k, 1, false}};
			axiskeys_choose_traces(&y, c, false);
		}
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
		img_copy_head(&y, x);
		if (on_axis(x)) {
			img_drop_axis(&y, 0);
			drop_keys(&y, plane_keys);
			bands_choose(&y, k, 1, false);
		}
		opt_add_history(&y, &args->common);
		raw_head(out, &y);
		img_free(&y);
		planes_write(x, k, 1, out);
	}
	stats_charge(st, STATS_WRITE);
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;

	if (args->split) {
		(args->planes ? put_planes : put_places)(args, in, x, out, st);
		return;
	}
	if (args->combine && !combine_needs_all((enum combine)args->combine)) {
		put_running(args, in, x, out, st);
		return;
	}
	struct group g = read_group(args, in, x);
	stats_charge(st, STATS_READ);
	(args->combine ? put_all : put_stack)(args, in, &g, out, st);
	for (size_t i = 0; i < g.n; i++)
		img_free(&g.x[i]);
	free(g.x);
}

static void
note_alone(void *options, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct args *args = options;

	(void)out;
	(void)st;
	if (args->combine && raw_item(in) == 1)
		args->alone = weir_xstrdup(raw_name(in));
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, convert_item, note_alone};
	struct args args = {0};

	raw_each(&filter, argc, argv, &args);
	if (args.alone)
		warn("%s: one item has nothing to combine; --split makes items of a stack",
		     args.alone);
	weir_free(args.alone);
	return 0;
}
