/* rawaxes: cuts, slices, flips, reorders, merges and splits the axes of items. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/convert/wcs.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawaxes";

struct args {
	struct opt_common common;
	struct opt_list crop, slice;
	const char *flip, *order, *merge, *split;

	/* What an option says of an axis: slices come first, then crops, flips, merges, a split into `from` samples, and the norder axes
	   of --order. */
	struct use {
		enum use_of { SLICE, CROP, FLIP, MERGE, SPLIT, ORDER } of;
		size_t axis, from, to;
	} use[7 * IMG_MAXDIM];
	size_t n, norder;
};

static const struct opt table[] = {
    {0, "crop", OPT_LIST, AT(crop), "AXIS:FROM:TO",
     "samples FROM to TO - 1 of an axis, or WxH+X+Y; may be repeated"},
    {0, "slice", OPT_LIST, AT(slice), "AXIS:INDEX",
     "one place of an axis, which is gone then; may be repeated"},
    {0, "flip", OPT_STR, AT(flip), "AXES",
     "axes turned round, by commas: 1 turns a picture upside down"},
    {0, "order", OPT_STR, AT(order), "AXES",
     "the axes that are left, fastest first: 1,0 transposes"},
    {0, "merge", OPT_STR, AT(merge), "AXES", "make one axis of these, each behind the one before"},
    {0, "split", OPT_STR, AT(split), "AXIS:N", "make two axes of this, the faster of N samples"},
    {0}};

static const struct opt_program program = {
    .what = "Cuts, flips, reorders, merges, splits axes: 0 is the fastest; or x, y, z, c.",
    .example = "rawaxes --crop=40x30+10+5 photo.ppm >detail.ppm",
    .table = table};

/* --- arguments ------------------------------------------------------------------------------------------------------- */

static const char *const option_of[] = {"--slice", "--crop",  "--flip",
					"--merge", "--split", "--order"};

static void
add_use(struct args *args, enum use_of of, size_t axis, size_t from, size_t to)
{
	args->use[args->n++] = (struct use){of, axis, from, to};
	args->norder += of == ORDER;
}

static void
parse_axes(struct args *args, enum use_of of, const char *text)
{
	size_t axis, n = 0;

	for (const char *s = text; s; s = *s ? s + 1 : NULL) {
		if (n++ == IMG_MAXDIM || !axis_take(&s, &axis) || (*s && *s != ','))
			die_usage("%s: '%s' is not AXES: 0 to %d, x, y, z or c, with commas "
				  "between them",
				  option_of[of], text, IMG_MAXDIM - 1);
		add_use(args, of, axis, 0, 0);
	}
}

/* Adds what an argument of --crop cuts: one axis, or x and y. */
static void
parse_crop(struct args *args, const char *text)
{
	const char *s = text;
	size_t axis = 0, from = 0, to = 0, w, h = 0, x = 0, y = 0;
	bool good;

	if (word_size_before(&s, 'x', &w)) {
		good = word_size_before(&s, '+', &h) && word_size_before(&s, '+', &x) &&
		       word_size_before(&s, '\0', &y) && x < x + w && y < y + h;
		add_use(args, CROP, AXIS_NAMED, x, x + w);
		add_use(args, CROP, AXIS_NAMED + 1, y, y + h);
	} else {
		good = axis_take(&s, &axis) && *s++ == ':' && word_size_before(&s, ':', &from) &&
		       word_size_before(&s, '\0', &to) && from < to;
		add_use(args, CROP, axis, from, to);
	}
	if (!good)
		die_usage("--crop: '%s' is not AXIS:FROM:TO with FROM less than TO, nor WxH+X+Y",
			  text);
}

/*
 * Finds the axes x, y, z and c in the item; NULL: none yet. Returns -1 when options contradict each other, as far as their axes
 * are found.
 */
static int
find_axes(struct args *a, const struct img *x, struct why *why)
{
	for (size_t i = 0; i < a->n; i++) {
		struct use *u = &a->use[i];
		u->axis = axis_of(x, u->axis);
		for (size_t k = 0; k < i; k++)
			if (u->axis < AXIS_NAMED && u->axis == a->use[k].axis &&
			    (u->of == a->use[k].of || a->use[k].of == SLICE))
				return why_set(why, "%s: axis %zu is %s", option_of[u->of], u->axis,
					       u->of == a->use[k].of ? "named twice"
								     : "sliced away");
	}
	return 0;
}

static void
check(void *options)
{
	struct args *args = options;
	struct slice at;
	struct why why;

	if (args->crop.n > IMG_MAXDIM || args->slice.n > IMG_MAXDIM)
		die_usage("an item has at most %d axes to cut", IMG_MAXDIM);
	for (size_t i = 0; i < args->slice.n; i++) {
		if (slice_parse(args->slice.v[i], &at))
			die_usage("--slice: '%s' is not AXIS:INDEX", args->slice.v[i]);
		add_use(args, SLICE, at.axis, at.index, at.index + 1);
	}
	for (size_t i = 0; i < args->crop.n; i++)
		parse_crop(args, args->crop.v[i]);
	parse_axes(args, FLIP, args->flip);
	parse_axes(args, MERGE, args->merge);
	if (args->merge && !strchr(args->merge, ','))
		die_usage("--merge: %s is one axis", args->merge);
	if (args->split && (slice_parse(args->split, &at) || !at.index))
		die_usage("--split: '%s' is not AXIS:N", args->split);
	if (args->split)
		add_use(args, SPLIT, at.axis, at.index, 0);
	parse_axes(args, ORDER, args->order);
	if (find_axes(args, NULL, &why))
		die_usage("%s", why.text);
}

/* --- the view: which samples, in which order ----------------------------------------------------------------------------- */

/* A selection of an item's samples as an array [n dim-1]..[n 0]. Each axis has a stride in samples, from sample `first` on. */
struct view {
	int dim;
	size_t n[IMG_MAXDIM];
	ptrdiff_t step[IMG_MAXDIM], first;
	int from[IMG_MAXDIM]; /* the axis's number in the item; sliced axes come last */
};

static void
insist_on_axis(const struct raw_in *in, const struct img *x, const char *option, size_t axis)
{
	if (axis >= AXIS_NAMED)
		raw_die(in, "%s: it has no axis c", option);
	if (axis >= (size_t)x->dim)
		raw_die(in, "%s: it has no axis %zu", option, axis);
}

/* Cuts, slices and flips the axes of y, a copy of x's description. A sliced axis keeps one sample for now. */
static void
change_axes(const struct raw_in *in, const struct args *args, struct img *y, struct view *v,
	    bool *gone)
{
	ptrdiff_t stride = 1;

	wcs_place(y);
	for (int i = 0; i < y->dim; i++) {
		v->n[i] = y->axis[i].n;
		v->step[i] = stride;
		stride *= (ptrdiff_t)y->axis[i].n;
	}
	for (size_t i = 0; i + args->norder < args->n; i++) {
		const struct use *u = &args->use[i];
		const size_t k = u->axis;
		insist_on_axis(in, y, option_of[u->of], k);
		if (u->of == MERGE || u->of == SPLIT)
			continue;
		if (u->of == FLIP) {
			v->first += (ptrdiff_t)(v->n[k] - 1) * v->step[k];
			v->step[k] = -v->step[k];
			img_flip_axis(y, (int)k);
			continue;
		}
		if (u->to > v->n[k])
			raw_die(in, "%s: axis %zu has %zu samples", option_of[u->of], k, v->n[k]);
		v->first += (ptrdiff_t)u->from * v->step[k];
		v->n[k] = u->to - u->from;
		img_crop_axis(y, (int)k, u->to - u->from, (ptrdiff_t)u->from);
		gone[k] = u->of == SLICE;
	}
}

/* Sets v->from to the axes in their new order, followed by the sliced ones. Axes that --order does not name stay in place. */
static void
choose_order(const struct raw_in *in, const struct args *args, const struct img *y, struct view *v,
	     const bool *gone)
{
	const struct use *order = args->use + args->n - args->norder;
	bool used[IMG_MAXDIM] = {false}, named[IMG_MAXDIM] = {false};
	int left = 0;

	for (int i = 0; i < y->dim; i++)
		left += !gone[i];
	if (args->norder > (size_t)left)
		raw_die(in, "--order: %zu axes are named, and %d are left", args->norder, left);
	for (size_t i = 0; i < args->norder; i++) {
		insist_on_axis(in, y, "--order", order[i].axis);
		named[order[i].axis] = true;
	}
	for (int i = 0; i < y->dim; i++) {
		if (gone[i])
			continue;
		v->from[v->dim++] = named[i] ? (int)(order++)->axis : i;
		used[v->from[v->dim - 1]] = true;
	}
	for (int i = 0, at = v->dim; i < y->dim; i++)
		if (!used[i])
			v->from[at++] = i;
}

/* --- keys that know axes --------------------------------------------------------------------------------------------------- */

/* What the options take of an axis of the item x; one sample of an axis that is missing. */
static struct axis_choice
choice(const struct args *args, const struct img *x, const struct view *v, int axis)
{
	struct axis_choice c = {1, 0, 1, false};

	if (axis >= x->dim)
		return c;
	c.n = x->axis[axis].n;
	c.count = v->n[axis];
	for (size_t i = 0; i < args->n; i++)
		if (args->use[i].axis == (size_t)axis && args->use[i].of == FLIP)
			c.back = true;
		else if (args->use[i].axis == (size_t)axis && args->use[i].of < FLIP)
			c.first = args->use[i].from;
	return c;
}

/* Updates tile:= for the two axes of the picture. Removes them when one of the axes was sliced. */
static void
follow_picture(const struct raw_in *in, const struct args *args, const struct img *x, struct img *y,
	       const struct view *v, const bool *gone)
{
	const int row = img_row_axis(x);
	const bool whole = x->dim > row + 1 && !gone[row] && !gone[row + 1];
	const bool swapped =
	    whole && v->dim > row + 1 && v->from[row] == row + 1 && v->from[row + 1] == row;
	struct why why;
	struct place t;

	if (!img_key(x, "tile"))
		return;
	if (!whole || (!swapped && (v->from[row] != row || v->from[row + 1] != row + 1))) {
		img_drop_key(y, "tile");
		return;
	}
	if (place_of(x, x->axis[row].n, x->axis[row + 1].n, &t, &why))
		raw_die(in, "%s", why.text);
	for (size_t i = 0; i < args->n; i++) {
		const struct use *u = &args->use[i];
		for (int k = 0; k < 2; k++) {
			size_t *at = k ? &t.y0 : &t.x0;
			if (u->axis == (size_t)(row + k) && u->of == CROP)
				*at += u->from;
			else if (u->axis == (size_t)(row + k) && u->of == FLIP)
				*at = (k ? t.H : t.W) - *at - v->n[row + k];
		}
	}
	if (swapped)
		t = (struct place){t.y0, t.x0, t.H, t.W};
	place_set(y, &t);
}

/* Puts the axes of y and of the view in their new order. FITS cards keep the place of a sliced axis. */
static void
reorder(const struct raw_in *in, struct img *y, struct view *v)
{
	struct img_axis axis[IMG_MAXDIM];
	struct view old = *v;
	const int dim = y->dim;
	const char *wrong;

	for (int i = 0; i < dim; i++)
		if (i >= v->dim)
			wcs_slice(y, v->from[i]);
	if ((wrong = wcs_permute(y, v->from, dim)))
		warn("%s: item %zu: fits.%s and its distortions do not hold for these axes",
		     raw_name(in), raw_item(in), wrong);
	memcpy(axis, y->axis, sizeof axis);
	for (int i = 0; i < dim; i++) {
		y->axis[i] = axis[v->from[i]];
		v->n[i] = old.n[v->from[i]];
		v->step[i] = old.step[v->from[i]];
	}
	while (y->dim > v->dim && y->dim > 1)
		img_drop_axis(y, y->dim - 1);
	v->dim = v->dim ? v->dim : 1;
}

/* --- other axes of the same samples ------------------------------------------------------------------------------------------ */

/* Updates keys of y that know its axes, before axis k is merged with the next one, or split. Cards of FITS that number axes go. */
static void
forget_axes(struct img *y, int k, bool split)
{
	static const char *const key[] = {"tile",
					  "geotransform",
					  "geotiff.tiepoints",
					  "tupltype",
					  "tiff.extrasamples",
					  "tiff.photometric",
					  "tiff.GDALMetadata"};
	const int row = img_row_axis(y), map = 3, planes = 7;

	axiskeys_reshape_traces(y, k, split);
	img_leave_space(y);
	for (int i = 0; i < (k < row ? planes : k <= row + 1 ? map : 0); i++)
		img_drop_key(y, key[i]);
	for (size_t i = 0; i < y->nkey;) {
		char *name = weir_xstrdup(y->key[i].name), card[CARD_NAME + 1] = "";
		if (sscanf(name, CARD_PREFIX "%8[A-Z]", card) &&
		    name[strcspn(name, "0123456789_")] &&
		    card_is_one_of(card,
				   " CTYPE CUNIT CRPIX CRVAL CDELT CROTA CD PC PV A B AP BP "))
			img_drop_key(y, name);
		else
			i++;
		weir_free(name);
	}
}

/*
 * Makes one axis of axis k and the next one. Its description is that of axis k where the next goes on where that ends, as split
 * axes do; else it has none.
 */
static void
merge_axes(struct img *y, int k)
{
	struct img_axis *a = &y->axis[k], *b = a + 1;
	const bool begins = b->min == a->min || (isnan(a->min) && isnan(b->min)),
		   follows = b->n == 1 || (begins && b->spacing == (double)a->n * a->spacing);

	forget_axes(y, k, false);
	if (!follows) {
		a->spacing = a->min = NAN;
		img_set_label(a, NULL);
		img_set_unit(a, NULL);
	}
	strcpy(a->kind, "domain");
	a->n *= b->n;
	img_drop_axis(y, k + 1);
}

/* Makes two axes of axis k, the faster of n samples. The slower has the positions of each first sample. */
static void
split_axis(struct img *y, int k, size_t n)
{
	struct img_axis *a = &y->axis[k], *b = a + 1;

	forget_axes(y, k, true);
	img_insert_axis(y, k + 1, a->n / n, "domain");
	b->spacing = (double)n * a->spacing;
	b->min = a->min;
	b->centre = a->centre;
	img_set_unit(b, a->unit);
	strcpy(a->kind, "domain");
	a->n = n;
}

/* Merges and then splits the axes of y, the description of the result. */
static void
reshape(const struct raw_in *in, const struct args *args, struct img *y, const struct view *v)
{
	int place[IMG_MAXDIM] = {0}; /* of the item's axes in y */

	for (int i = 0; i < v->dim; i++)
		place[v->from[i]] = i;
	for (const struct use *u = args->use; u < args->use + args->n; u++) {
		const int k = place[u->axis];
		if (u->of == MERGE && u > args->use && u[-1].of == MERGE) {
			if (k != place[u[-1].axis] + 1)
				raw_die(in, "--merge: axis %zu is not behind axis %zu", u->axis,
					u[-1].axis);
			merge_axes(y, k - 1);
			for (int i = 0; i < IMG_MAXDIM; i++)
				place[i] -= place[i] >= k;
		} else if (u->of == SPLIT) {
			if (y->axis[k].n % u->from || y->dim == IMG_MAXDIM)
				raw_die(in,
					"--split: axis %zu has %zu samples, which %zu must divide, "
					"and an "
					"item has up to %d axes",
					u->axis, y->axis[k].n, u->from, IMG_MAXDIM);
			split_axis(y, k, u->from);
		}
	}
}

/* --- samples ----------------------------------------------------------------------------------------------------------------- */

/* Merges axes that lie together in the item and in the result. Whole pictures are then copied at once. */
static void
merge(struct view *v)
{
	while (v->dim > 1 && v->step[0] == 1 && v->step[1] == (ptrdiff_t)v->n[0]) {
		v->n[0] *= v->n[1];
		v->dim--;
		memmove(v->n + 1, v->n + 2, (size_t)(v->dim - 1) * sizeof *v->n);
		memmove(v->step + 1, v->step + 2, (size_t)(v->dim - 1) * sizeof *v->step);
	}
}

static void
put(struct raw_out *out, const struct img *x, struct view v, bool quiet, struct stats *st)
{
	const size_t size = img_type_size(x->type);
	size_t rows = 1, at[IMG_MAXDIM] = {0};
	const char *from = (const char *)x->data + v.first * (ptrdiff_t)size;
	struct progress bar;

	merge(&v);
	char *row = v.step[0] == 1 ? NULL : weir_xalloc(v.n[0], size);
	for (int i = 1; i < v.dim; i++)
		rows *= v.n[i];
	progress_start(&bar, quiet);
	for (size_t r = 0; r < rows; r++) {
		if (row)
			sample_copy(row, 1, from, v.step[0], v.n[0], size);
		raw_write(out, row ? row : from, v.n[0]);
		for (int i = 1; i < v.dim; i++) {
			from += v.step[i] * (ptrdiff_t)size;
			if (++at[i] < v.n[i])
				break;
			from -= v.step[i] * (ptrdiff_t)(v.n[i] * size);
			at[i] = 0;
		}
		progress_step(&bar, (double)r / (double)rows);
	}
	progress_end(&bar);
	weir_free(row);
	stats_charge(st, STATS_WRITE);
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct args found = *(const struct args *)options;
	const struct args *args = &found;
	bool gone[IMG_MAXDIM] = {false};
	struct view v = {0};
	struct why why;
	struct img y;

	if (find_axes(&found, x, &why))
		raw_die(in, "%s", why.text);
	img_copy_head(&y, x);
	change_axes(in, args, &y, &v, gone);
	choose_order(in, args, &y, &v, gone);
	follow_picture(in, args, x, &y, &v, gone);
	const struct axis_choice c[3] = {choice(args, x, &v, 0), choice(args, x, &v, 1),
					 choice(args, x, &v, 2)};
	if (img_row_axis(x))
		axiskeys_choose_planes(&y, &c[0]);
	if (x->dim > 1)
		axiskeys_choose_traces(&y, &c[1], x->dim > 2 && v.from[1] == 2 && v.from[2] == 1);
	reorder(in, &y, &v);
	axiskeys_follow_map(x, &y, v.from);
	reshape(in, args, &y, &v);
	opt_add_history(&y, &args->common);
	raw_map(in, x);
	stats_charge(st, STATS_READ);
	raw_head(out, &y);
	put(out, x, v, args->common.quiet, st);
	img_free(&y);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, convert_item, NULL};
	struct args args = {0};

	return raw_each(&filter, argc, argv, &args);
}
