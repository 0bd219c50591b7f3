#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/picture/mosaic.h"
#include "common/picture/overlap.h"
#include "common/stream/axiskeys.h"
#include "common/stream/scratch.h"

struct place {
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

void
mosaic_start(struct mosaic *to, const struct raw_in *in, const struct img *x,
	     const struct img_picture *p, const struct tile *t, const struct mosaic_how *how)
{
	const size_t most = weir_limit(how->common->max_bytes);
	const int axis = img_row_axis(x);
	size_t bytes;

	img_copy_head(&to->y, x);
	img_cut_axis(&to->y, axis, t->W, -(ptrdiff_t)t->x0);
	if (to->y.dim > axis + 1)
		img_cut_axis(&to->y, axis + 1, t->H, -(ptrdiff_t)t->y0);
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
	to->gap = gap_of(x);
	if (x->type == IMG_U8 || x->type == IMG_U16)
		to->most = img_maxval(x);
	make_room(to, in, bytes, how);
}

static void
drop(struct mosaic *w)
{
	free(w->part);
	img_free(&w->y);
	if (w->in_file)
		munmap(w->have, w->p.w * w->p.h);
	else
		weir_unmap(w->have, w->p.w * w->p.h, sizeof *w->have);
	*w = (struct mosaic){0};
}

/* Sets the samples of a row that no part has. */
static void
fill_row(const struct mosaic *w, size_t row, const char *sample)
{
	const size_t size = img_type_size(w->y.type);
	const bool *have = w->have + row % w->p.h * w->p.w;
	char *y = (char *)w->y.data + row * w->p.w * w->p.c * size;

	for (size_t i = 0; i < w->p.w; i++)
		for (size_t k = 0; !have[i] && k < w->p.c; k++)
			memcpy(y + (i * w->p.c + k) * size, sample, size);
}

/* Writes the picture row by row, which drops its pages. */
static void
put(struct mosaic *w, struct raw_out *out, const struct mosaic_how *how)
{
	const size_t width = w->p.w * w->p.c, row = width * img_type_size(w->y.type);
	_Alignas(double) char sample[8];

	memcpy(sample, w->gap.sample, sizeof sample);
	if (w->missing && how->fill && sample_store(sample, &how->value, w->y.type, 1) != 1)
		die("--fill: %g is no %s", how->value, img_type_name(w->y.type));
	if (w->missing && !how->fill && !img_key(&w->y, "nodata"))
		img_set_key(&w->y, "nodata", "nan");
	raw_head(out, &w->y);
	for (size_t i = 0; i < w->p.h * w->p.n; i++) {
		if (w->missing)
			fill_row(w, i, sample);
		raw_write(out, (char *)w->y.data + i * row, width);
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
	drop(w);
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
		else if (w->map)
			done = overlap_lay_gaps(overlap, &w->gap, y + i * pixel, x + i * pixel,
						w->most, samples);
		else
			done = overlap_lay(overlap, y + i * pixel, x + i * pixel, w->y.type,
					   w->most, samples);
		if (done < samples)
			return at + i + done / c;
	}
	return at + n;
}

static void
mark(struct mosaic *w, size_t at, size_t n)
{
	bool *const have = w->have + at;
	size_t fresh = 0;

	for (size_t i = 0; i < n; i++)
		fresh += !have[i];
	memset(have, true, n);
	w->missing -= fresh;
}

/* Notes where a part lies. */
static void
note(struct mosaic *w, const struct img_picture *p, const struct tile *t)
{
	if (w->parts == w->room) {
		w->room = 2 * w->room + 16;
		w->part = realloc(w->part, w->room * sizeof *w->part);
		if (!w->part)
			die("no memory");
	}
	w->part[w->parts++] = (struct place){t->x0, t->y0, p->w, p->h};
}

/* Whether a part of the same place has arrived. Where the part's first pixel is absent, none has. */
static bool
has_place(const struct mosaic *w, const struct img_picture *p, const struct tile *t)
{
	const struct place place = {t->x0, t->y0, p->w, p->h};

	for (size_t i = 0; w->have[t->y0 * w->p.w + t->x0] && i < w->parts; i++)
		if (!memcmp(&w->part[i], &place, sizeof place))
			return true;
	return false;
}

/* Refuses a part of a map in which another number than before says that a sample is missing. */
static void
check_gap(const struct mosaic *w, const struct raw_in *in, const struct img *x)
{
	const char *mine = img_key(&w->y, "nodata"), *theirs = img_key(x, "nodata");
	const struct gap gap = gap_of(x);

	if (!gap_same(&w->gap, &gap))
		raw_die(in,
			"its value of missing samples is %s, but that of the parts before is %s; "
			"see tifftoraw --nan",
			theirs ? theirs : "none", mine ? mine : "none");
}

/* Refuses a part that does not fit those before. */
static void
check_part(const struct mosaic *w, const struct raw_in *in, const struct img *x,
	   const struct img_picture *p, const struct tile *t, enum overlap overlap)
{
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
	if (w->map)
		check_gap(w, in, x);
	else if (overlap_combines(overlap) && !img_key(x, "tile") && !axiskeys_same_place(&w->y, x))
		warn("%s: item %zu: it is a map of another place than the items before; see --map",
		     raw_name(in), raw_item(in));
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
	   const struct img_picture *p, const struct tile *t, const struct mosaic_how *how)
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
	note(w, p, t);
	for (size_t r = 0; r < p->h; r++) {
		mark(w, (t->y0 + r) * t->W + t->x0, p->w);
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
		  const struct tile *t, const struct mosaic_how *how)
{
	if (w->missing || w->map || overlap_combines((enum overlap)how->overlap))
		return false;
	if (x->type != w->y.type || img_maxval(x) != img_maxval(&w->y) || p->c != w->p.c ||
	    p->n != w->p.n || t->W != w->p.w || t->H != w->p.h)
		return true;
	return w->keyless || !img_key(x, "tile") || has_place(w, p, t);
}
