#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/picture/mosaic.h"
#include "common/stream/axes.h"
#include "common/stream/share.h"

/* ---- maps ---- */

struct map_cut
map_cut_of(const struct img *x, int axis)
{
	const struct img_axis *a = &x->axis[axis];

	if (axis >= x->dim)
		return (struct map_cut){0, 1};
	return (struct map_cut){isnan(a->min) ? 0 : a->min, isnan(a->spacing) ? 1 : a->spacing};
}

double
map_corner(struct map_cut c)
{
	return c.first + .5 - c.step / 2;
}

void
map_follow(const struct img *x, double g[6])
{
	const int row = img_row_axis(x);
	const struct map_cut a = map_cut_of(x, row), b = map_cut_of(x, row + 1);

	g[0] += g[1] * map_corner(a) + g[2] * map_corner(b);
	g[3] += g[4] * map_corner(a) + g[5] * map_corner(b);
	/* + 0: a flip makes no -0. */
	for (int i = 1; i < 6; i += 3) {
		g[i] = g[i] * a.step + 0;
		g[i + 1] = g[i + 1] * b.step + 0;
	}
}

bool
map_of_page(const struct img *x, double g[6])
{
	if (word_reals(img_key(x, "geotransform"), ' ', g, 6) != 6)
		return false;
	for (int i = 0; i < 6; i++)
		if (!isfinite(g[i]))
			return false;
	return g[1] * g[5] != g[2] * g[4];
}

/* Does what map_of_page() does, from the key and the axes of x: i and j count samples of the item. */
static bool
map_of(const struct img *x, double g[6])
{
	if (!map_of_page(x, g))
		return false;
	map_follow(x, g);
	return true;
}

void
map_place(const double g[6], double i, double j, double place[2])
{
	place[0] = g[0] + g[1] * i + g[2] * j;
	place[1] = g[3] + g[4] * i + g[5] * j;
}

void
map_find(const double g[6], const double place[2], double sample[2])
{
	const double x = place[0] - g[0], y = place[1] - g[3], d = g[1] * g[5] - g[2] * g[4];

	sample[0] = (x * g[5] - y * g[2]) / d;
	sample[1] = (y * g[1] - x * g[4]) / d;
}

/* Rounds a number of samples for a message to three digits behind the point. */
static double
shown(double v)
{
	return real_shown(rint(v * 1000) / 1000);
}

/*
 * Finds the column and the row, in the samples of g, at which the first sample of a picture of w by h samples with the
 * transform f lies: at[]. Returns 0, or -1 when the two have no common grid: all four corners of the picture must be within
 * .01 of a sample from the grid's.
 */
static int
map_align(const double g[6], const double f[6], size_t w, size_t h, int64_t at[2], struct why *why)
{
	const double most = .01, size[2] = {(double)w, (double)h};
	double first[2], place[2], s[2];

	map_find(g, (const double[]){f[0], f[3]}, first);
	if (!(fabs(first[0]) < 0x1p40 && fabs(first[1]) < 0x1p40))
		return why_set(why, "it is too far from the parts before");
	for (int k = 1; k < 4; k++) {
		const double i = k & 1 ? size[0] : 0, j = k & 2 ? size[1] : 0;
		map_place(f, i, j, place);
		map_find(g, place, s);
		if (fabs(s[0] - first[0] - i) <= most && fabs(s[1] - first[1] - j) <= most)
			continue;
		return why_set(
		    why,
		    "a step of a column and of a row is %.10g,%.10g and %.10g,%.10g on the "
		    "map, but %.10g,%.10g and %.10g,%.10g in the parts before",
		    f[1], f[4], f[2], f[5], g[1], g[4], g[2], g[5]);
	}
	for (int k = 0; k < 2; k++)
		at[k] = llrint(first[k]);
	if (fabs(first[0] - (double)at[0]) <= most && fabs(first[1] - (double)at[1]) <= most)
		return 0;
	return why_set(
	    why, "it lies %.10g columns and %.10g rows from the first part, and not a whole number",
	    shown(first[0]), shown(first[1]));
}

void
map_insist_on_system(const struct raw_in *in, const struct img *x, const struct img *of,
		     const char *where)
{
	static const char *const name[] = {"crs", "geotiff.keys", "geotiff.doubles",
					   "geotiff.ascii"};
	/* Where both have crs:=, it decides; else all keys of GeoTIFF do. */
	const int names = img_key(of, "crs") && img_key(x, "crs") ? 1 : 4;

	for (int i = 0; i < names; i++) {
		const char *mine = img_key(of, name[i]), *theirs = img_key(x, name[i]);
		if (mine && theirs ? strcmp(mine, theirs) : mine != theirs)
			raw_die(in,
				"its coordinate system is another one: %s:=%.80s, but %.80s in %s",
				name[i], theirs ? theirs : "none", mine ? mine : "none", where);
	}
}

/* ---- frames ---- */

/* Finds the column and the row of x in the grid of the first part. */
static void
find(const struct map_frame *f, const struct raw_in *in, const struct img *x,
     const struct img_picture *p, int64_t at[2])
{
	struct why why;
	double g[6];

	if (!map_of(x, g))
		raw_die(in, "it has no geotransform:= that places it on a map; see tifftoraw");
	if (map_align(f->g, g, p->w, p->h, at, &why))
		raw_die(in, "%s", why.text);
}

/* Extends the frame by x. */
static void
extend(struct map_frame *f, const struct raw_in *in, const struct img *x)
{
	struct img_picture p;
	int64_t at[2];

	if (share_is(x))
		raw_die(in, "it is a share of --part; join the shares first");
	if (!img_picture(x, &p))
		raw_die(in, "it has %d axes, more than pictures have", x->dim);
	map_insist_on_system(in, x, &f->first, "the parts before");
	find(f, in, x, &p, at);
	const int64_t right = at[0] + (int64_t)p.w, bottom = at[1] + (int64_t)p.h;

	f->left = at[0] < f->left ? at[0] : f->left;
	f->top = at[1] < f->top ? at[1] : f->top;
	f->right = right > f->right ? right : f->right;
	f->bottom = bottom > f->bottom ? bottom : f->bottom;
	if (f->right - f->left > PLACE_MOST || f->bottom - f->top > PLACE_MOST)
		raw_die(in, "the picture of all parts would have more than %d columns or rows",
			PLACE_MOST);
}

struct map_frame
map_frame_of(struct raw_in *in, struct img *x)
{
	struct map_frame f = {0};

	img_copy_head(&f.first, x);
	if (!map_of(x, f.g))
		raw_die(in, "it has no geotransform:= that places it on a map; see tifftoraw");
	do {
		extend(&f, in, x);
		img_free(x);
	} while (raw_next(in, x));
	raw_rewind(in);
	return f;
}

struct place
map_frame_place(const struct map_frame *f, const struct raw_in *in, struct img *x,
		const struct img_picture *p)
{
	const int row = img_row_axis(x);
	int64_t at[2];

	find(f, in, x, p, at);
	for (int i = row; i < row + 2 && i < x->dim; i++)
		if (isnan(x->axis[i].min))
			x->axis[i].min = 0;
	return (struct place){(size_t)(at[0] - f->left), (size_t)(at[1] - f->top),
			      (size_t)(f->right - f->left), (size_t)(f->bottom - f->top)};
}

void
map_frame_free(struct map_frame *f)
{
	img_free(&f->first);
}

/* ---- overlaps ---- */

enum { BLOCK = 256 }; /* samples at a time */

bool
overlap_combines(enum overlap how)
{
	return how >= OVERLAP_SUM;
}

static double
combine_double(enum overlap how, double a, double b)
{
	if (how == OVERLAP_SUM)
		return a + b;
	if (isnan(a))
		return b;
	if (isnan(b))
		return a;
	return (how == OVERLAP_MAX) == (a > b) ? a : b;
}

/* Samples that a double holds exactly. A float is the sum of two floats, rounded once. */
static size_t
combine_block(enum overlap how, void *restrict y, const void *restrict x, enum img_type type,
	      unsigned most, size_t n)
{
	double a[BLOCK], b[BLOCK];
	size_t within = 0;

	sample_load(a, y, type, n);
	sample_load(b, x, type, n);
	for (size_t i = 0; i < n; i++)
		a[i] = combine_double(how, a[i], b[i]);
	while (within < n && (!most || a[within] <= most))
		within++;
	return sample_store(y, a, type, within);
}

/* Integers of 64 bits, which a double would round. */
#define COMBINE_LONG(NAME, TYPE)                                                            \
	static size_t NAME(enum overlap how, void *restrict to, const void *restrict from,  \
			   size_t n)                                                        \
	{                                                                                   \
		const TYPE *x = from;                                                       \
		TYPE *y = to;                                                               \
                                                                                            \
		for (size_t i = 0; i < n; i++)                                              \
			if (how != OVERLAP_SUM)                                             \
				y[i] = (how == OVERLAP_MAX) == (x[i] > y[i]) ? x[i] : y[i]; \
			else if (__builtin_add_overflow(y[i], x[i], &y[i]))                 \
				return i;                                                   \
		return n;                                                                   \
	}
COMBINE_LONG(combine_i64, int64_t)
COMBINE_LONG(combine_u64, uint64_t)
#undef COMBINE_LONG

/* Does overlap_lay() for up to BLOCK samples that are there in both. */
static size_t
lay_block(enum overlap how, void *restrict y, const void *restrict x, enum img_type type,
	  unsigned most, size_t n)
{
	const size_t size = img_type_size(type);
	size_t same = 0;

	if (how == OVERLAP_SAME && memcmp(y, x, n * size) != 0) {
		while (!memcmp((char *)y + same * size, (const char *)x + same * size, size))
			same++;
		return same;
	}
	if (how == OVERLAP_LAST)
		memcpy(y, x, n * size);
	if (!overlap_combines(how))
		return n;
	return type == IMG_I64	 ? combine_i64(how, y, x, n)
	       : type == IMG_U64 ? combine_u64(how, y, x, n)
				 : combine_block(how, y, x, type, most, n);
}

/* Does the same where samples may be missing. Where one of the two is, y becomes the other one. */
static size_t
lay_gaps(enum overlap how, const struct nodata *g, char *restrict y, const char *restrict x,
	 unsigned most, size_t n)
{
	const size_t size = img_type_size(g->type);
	uint8_t below[BLOCK], above[BLOCK];

	nodata_mark(g, below, y, n);
	nodata_mark(g, above, x, n);
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && below[to] == below[i] && above[to] == above[i]; to++)
			;
		size_t done = to - i;
		if (!above[i] && below[i])
			memcpy(y + i * size, x + i * size, (to - i) * size);
		else if (!above[i])
			done = lay_block(how, y + i * size, x + i * size, g->type, most, to - i);
		if (done < to - i)
			return i + done;
	}
	return n;
}

/*
 * Lays n samples x over y: OVERLAP_FIRST keeps y, OVERLAP_LAST takes x, OVERLAP_SAME requires that both have the same bytes. The
 * others make y the sum, the greater or the lesser of both. NaN plus a number is NaN; of NaN and a number, the greater and the
 * lesser is the number. Sums of integers must be exact, and at most `most` where it is not 0. gaps: samples may be missing.
 * Returns n, or the index of the first sample that differs, or whose sum does not fit.
 */
static size_t
overlap_lay(enum overlap how, const struct nodata *g, bool gaps, char *restrict y,
	    const char *restrict x, unsigned most, size_t n)
{
	const size_t size = img_type_size(g->type);

	for (size_t i = 0; i < n; i += BLOCK) {
		const size_t some = n - i < BLOCK ? n - i : BLOCK;
		const size_t k =
		    gaps ? lay_gaps(how, g, y + i * size, x + i * size, most, some)
			 : lay_block(how, y + i * size, x + i * size, g->type, most, some);
		if (k < some)
			return i + k;
	}
	return n;
}

/* ---- the mosaic ---- */

struct extent {
	size_t x0, y0, w, h;
};

/* --- whole pictures ------------------------------------------------------------------------------------------------ */

/* Says that bytes of the picture were touched. Returns its pages to the system when they are too many. */
static void
touch(struct mosaic *w, size_t bytes, const struct mosaic_how *how)
{
	w->touched += bytes;
	if (!w->in_file || w->touched < how->max_mem / 2)
		return;
	weir_forget(w->y.data, w->y.mapped);
	weir_forget(w->have, w->p.w * w->p.h);
	w->touched = 0;
}

/* Makes room for the pixels. Pages are untouched at first, so memory grows as parts arrive, not with the size that they claim. */
static void
make_room(struct mosaic *w, const struct raw_in *in, size_t bytes, const struct mosaic_how *how)
{
	const size_t pixels = w->p.w * w->p.h;

	w->in_file = how->max_mem && bytes > how->max_mem;
	if (w->in_file) {
		w->y.mapped = bytes;
		w->y.map = w->y.data = scratch_map(bytes);
		w->have = w->y.data ? scratch_map(pixels) : NULL;
		if (!w->have)
			raw_die(in, "no temporary file in %s for a picture of %zux%zu pixels: %s",
				scratch_directory(), w->p.w, w->p.h, strerror(errno));
		return;
	}
	w->y.data = weir_alloc(bytes, 1);
	w->have = weir_map(pixels, sizeof *w->have);
	if (!w->y.data || !w->have)
		raw_die(in, "no memory for a picture of %zux%zu pixels", w->p.w, w->p.h);
}

/* The axis of a part becomes that of the whole. Positions that a cut alone has given it go. */
static void
widen(struct img *x, int axis, size_t n, size_t before)
{
	struct img_axis *a = &x->axis[axis];

	img_cut_axis(x, axis, n, -(ptrdiff_t)before);
	if (before && a->min == 0 && isnan(a->spacing)) {
		a->min = NAN;
		a->centre = IMG_UNCENTRED;
	}
}

void
mosaic_start(struct mosaic *to, const struct raw_in *in, const struct img *x,
	     const struct img_picture *p, const struct place *t, const struct mosaic_how *how)
{
	const size_t most = weir_limit(how->common->max_bytes);
	const int axis = img_row_axis(x);
	size_t bytes;

	img_copy_head(&to->y, x);
	widen(&to->y, axis, t->W, t->x0);
	if (to->y.dim > axis + 1)
		widen(&to->y, axis + 1, t->H, t->y0);
	else if (t->H > 1)
		raw_die(in, "a single row is no part of %zu rows", t->H);
	img_drop_key(&to->y, "tile");
	opt_add_history(&to->y, how->common);
	if (!img_bytes(&to->y, &bytes) || bytes > most)
		raw_die(in,
			"a picture of %zux%zu pixels exceeds the limit of %zu bytes; raise it with "
			"--max-bytes",
			t->W, t->H, most);
	to->p = (struct img_picture){p->c, t->W, t->H, p->n};
	to->missing = t->W * t->H;
	to->map = how->map;
	to->gap = nodata_of(x, true);
	if (x->type == IMG_U8 || x->type == IMG_U16)
		to->most = img_maxval(x);
	make_room(to, in, bytes, how);
}

/* Writes the picture row by row, which drops its pages. */
static void
put(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how)
{
	const size_t width = w->p.w * w->p.c, size = img_type_size(w->y.type), row = width * size;
	_Alignas(double) char sample[8];

	memcpy(sample, w->gap.sample, sizeof sample);
	if (w->missing && how->fill && !nodata_store(sample, w->y.type, how->fill))
		die("--fill: %s is no %s", how->fill, img_type_name(w->y.type));
	if (w->missing && !how->fill && !img_key(&w->y, "nodata"))
		img_set_key(&w->y, "nodata", "nan");
	raw_head(out, &w->y);
	for (size_t i = 0; i < w->p.h * w->p.n; i++) {
		const bool *have = w->have + i % w->p.h * w->p.w;
		char *y = (char *)w->y.data + i * row;
		for (size_t k = 0; w->missing && k < width; k++)
			if (!have[k / w->p.c])
				memcpy(y + k * size, sample, size);
		raw_write(out, y, width);
		touch(w, row + w->p.w, how);
	}
}

void
mosaic_finish(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how)
{
	if (w->missing && !how->fill && !(w->map && w->gap.any)) {
		const size_t i = (size_t)((bool *)memchr(w->have, 0, w->p.w * w->p.h) - w->have);
		die("%zu of %zux%zu pixels are in no part, the first at %zu,%zu; see --fill",
		    w->missing, w->p.w, w->p.h, i % w->p.w, i / w->p.w);
	}
	if (!w->written)
		put(w, out, how);
	free(w->part);
	img_free(&w->y);
	if (w->in_file)
		munmap(w->have, w->p.w * w->p.h);
	else
		weir_unmap(w->have, w->p.w * w->p.h, sizeof *w->have);
	*w = (struct mosaic){0};
}

/* --- parts --------------------------------------------------------------------------------------------------------- */

/*
 * Lays n pixels into picture k, from pixel `at` on. Returns the index of the first pixel that differs from the one already there
 * with OVERLAP_SAME, or whose sum does not fit. Returns at + n when there is none.
 */
static size_t
lay(struct mosaic *w, size_t k, size_t at, const char *x, size_t n, enum overlap overlap)
{
	const size_t c = w->p.c, pixel = c * img_type_size(w->y.type);
	char *y = (char *)w->y.data + (k * w->p.w * w->p.h + at) * pixel;
	const bool *have = w->have + at;

	for (size_t i = 0, to; i < n; i = to) {
		const bool *end = memchr(have + i, !have[i], n - i);
		to = end ? (size_t)(end - have) : n;
		const size_t samples = (to - i) * c;
		size_t done = samples;
		if (!have[i])
			memcpy(y + i * pixel, x + i * pixel, (to - i) * pixel);
		else
			done = overlap_lay(overlap, &w->gap, w->map, y + i * pixel, x + i * pixel,
					   w->most, samples);
		if (done < samples)
			return at + i + done / c;
	}
	return at + n;
}

/* Whether a part of the same place has arrived. Where the part's first pixel is absent, none has. */
static bool
has_place(const struct mosaic *w, const struct img_picture *p, const struct place *t)
{
	const struct extent mine = {t->x0, t->y0, p->w, p->h};

	for (size_t i = 0; w->have[t->y0 * w->p.w + t->x0] && i < w->parts; i++)
		if (!memcmp(&w->part[i], &mine, sizeof mine))
			return true;
	return false;
}

/* Refuses a part that does not fit those before. */
static void
check_part(const struct mosaic *w, const struct raw_in *in, const struct img *x,
	   const struct img_picture *p, const struct place *t, enum overlap overlap)
{
	const char *mine = img_key(&w->y, "nodata"), *theirs = img_key(x, "nodata");
	const struct nodata gap = nodata_of(x, true);
	char where[RAW_WHERE];

	if (x->type != w->y.type || p->c != w->p.c || p->n != w->p.n || t->W != w->p.w ||
	    t->H != w->p.h)
		raw_die(in,
			"it is of %zu planes and %zu pictures of %s, %zux%zu pixels each, but the "
			"parts before are of %zu and %zu of %s, %zux%zu",
			p->c, p->n, img_type_name(x->type), t->W, t->H, w->p.c, w->p.n,
			img_type_name(w->y.type), w->p.w, w->p.h);
	if (img_maxval(x) != img_maxval(&w->y))
		raw_die(in, "its maxval is %u, but that of the parts before is %u", img_maxval(x),
			img_maxval(&w->y));
	if (w->map && !nodata_same(&w->gap, &gap))
		raw_die(in,
			"its value of missing samples is %s, but that of the parts before is %s; "
			"see tifftoraw --nan",
			theirs ? theirs : "none", mine ? mine : "none");
	snprintf(where, sizeof where, "%s: item %zu", raw_name(in), raw_item(in));
	if (!w->map && overlap_combines(overlap) && !img_key(x, "tile"))
		place_compare(x, &w->y, .1, where, "the items before; see --map");
	if (!w->map && !overlap_combines(overlap) && has_place(w, p, t))
		raw_die(in, "a part of the same place, %zu,%zu, has arrived before", t->x0, t->y0);
	if (img_is_complex(x) && (overlap == OVERLAP_MAX || overlap == OVERLAP_MIN))
		raw_die(in, "complex numbers have no order; of them there is --overlap=sum");
}

/* Refuses the part whose pixel i cannot be laid. */
static void __attribute__((noreturn))
die_at(const struct mosaic *w, const struct raw_in *in, size_t i, enum overlap overlap)
{
	if (overlap == OVERLAP_SUM && w->most)
		raw_die(in, "the sum at %zu,%zu exceeds the maxval %u; rawmath makes floats",
			i % w->p.w, i / w->p.w, w->most);
	if (overlap == OVERLAP_SUM)
		raw_die(in, "the sum at %zu,%zu does not fit %s; rawmath makes floats", i % w->p.w,
			i / w->p.w, img_type_name(w->y.type));
	raw_die(in, "it differs from the part below it, first at %zu,%zu; see --overlap",
		i % w->p.w, i / w->p.w);
}

void
mosaic_add(struct mosaic *w, const struct raw_in *in, const struct img *x,
	   const struct img_picture *p, const struct place *t, const struct mosaic_how *how)
{
	enum { PAGES = 4 << 12 }; /* of both ends of a row, in y and in have */
	const enum overlap overlap = (enum overlap)how->overlap;

	w->keyless |= !img_key(x, "tile");
	const size_t row = p->w * p->c * img_type_size(x->type);

	check_part(w, in, x, p, t, overlap);
	for (size_t k = 0; k < p->n; k++)
		for (size_t r = 0; r < p->h; r++) {
			const size_t at = (t->y0 + r) * t->W + t->x0;
			const size_t to = lay(
			    w, k, at, (const char *)x->data + (k * p->h + r) * row, p->w, overlap);
			if (to != at + p->w)
				die_at(w, in, to, overlap);
			touch(w, row + p->w + PAGES, how);
		}
	axiskeys_lay_traces(&w->y, x, img_row_axis(x) ? t->x0 : t->y0);
	w->part = weir_xgrow(w->part, &w->room, w->parts + 1, sizeof *w->part);
	w->part[w->parts++] = (struct extent){t->x0, t->y0, p->w, p->h};
	for (size_t r = 0; r < p->h; r++) {
		bool *const have = w->have + (t->y0 + r) * t->W + t->x0;
		for (size_t i = 0; i < p->w; i++)
			w->missing -= !have[i];
		memset(have, true, p->w);
		touch(w, p->w + PAGES / 2, how);
	}
}

void
mosaic_put_early(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how)
{
	if (w->missing || w->written || w->map || how->overlap == OVERLAP_LAST ||
	    overlap_combines((enum overlap)how->overlap))
		return;
	put(w, out, how);
	w->written = true;
}

bool
mosaic_is_another(const struct mosaic *w, const struct img *x, const struct img_picture *p,
		  const struct place *t, const struct mosaic_how *how)
{
	if (w->missing || w->map || overlap_combines((enum overlap)how->overlap))
		return false;
	if (x->type != w->y.type || img_maxval(x) != img_maxval(&w->y) || p->c != w->p.c ||
	    p->n != w->p.n || t->W != w->p.w || t->H != w->p.h)
		return true;
	return w->keyless || !img_key(x, "tile") || has_place(w, p, t);
}
