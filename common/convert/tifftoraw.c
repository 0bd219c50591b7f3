/* link: -ltiff */
/* tifftoraw: converts the pages of TIFF files to raw items. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/progress.h"
#include "common/base/sample.h"
#include "common/base/stats.h"
#include "common/convert/tiff.h"
#include "common/stream/tempfile.h"
#include "common/stream/img.h"
#include "common/stream/nodata.h"
#include "common/stream/raw.h"

const char *const weir_prog = "tifftoraw";

struct args {
	struct opt_common common;
	int pages;
	bool nan;
	bool indices;
	char **path;
	size_t npath;
};

enum { STACK, ITEMS };

static const struct opt table[] = {
    {0, "pages", OPT_WORD, AT(pages), "HOW", "%s: pages as one item, or an item each (stack)",
     .words = "stack|items"},
    {0, "nan", OPT_FLAG, AT(nan), NULL,
     "missing samples become NaN, of integers too, and the others floats"},
    {0, "indices", OPT_FLAG, AT(indices), NULL,
     "keep the indices of a palette, instead of its colours"},
    {0}};

static const struct opt_program program = {.what = "Turns the pages of TIFF files into raw items.",
					   .table = table};

/* An open file, and where its pages and masks are. */
struct source {
	const struct tempfile *file;
	TIFF *t;
	bool indices; /* those of palettes stay what they are */
	struct tiffpages pages, masks;
};

/* Dies with libtiff's message about the failure or, if there is none, with ours. */
static _Noreturn void
die_tiff(const struct source *s, const struct tiffpages_page *p, const char *ours)
{
	const char *why = tiff_why();

	die("%s: page %zu: %s", s->file->name, p->number, *why ? why : ours);
}

/* --- pages ----------------------------------------------------------------------------------------------------------- */

/* Whether one of n pages has the mask, or any mask where it is 0. */
static bool
has_mask(const struct tiffpages_page *p, size_t n, size_t mask)
{
	for (size_t i = 0; i < n; i++)
		if (mask ? p[i].mask == mask : p[i].mask)
			return true;
	return false;
}

/* Finds the pages, and with --nan their masks, and says what is left out. */
static void
find_pages(const struct args *args, struct source *s)
{
	struct why why;

	if (tiffpages_find(s->t, s->indices, &s->pages, args->nan ? &s->masks : NULL, &why))
		die("%s: %s", s->file->name, why.text);
	if (s->pages.copies)
		warn("%s: %zu small copies are left out", s->file->name, s->pages.copies);
	if (s->pages.masks && !args->nan)
		warn("%s: %zu masks of missing pixels are left out; see --nan", s->file->name,
		     s->pages.masks);
	for (size_t i = 0; i < s->masks.n; i++)
		if (!has_mask(s->pages.at, s->pages.n, i + 1))
			warn("%s: page %zu: this mask does not fit the page before it, and is left "
			     "out",
			     s->file->name, s->masks.at[i].number);
}

static void
insist_alike(const struct source *s)
{
	for (size_t i = 1; i < s->pages.n; i++)
		if (!tiffpage_alike(&s->pages.at[0].layout, &s->pages.at[i].layout))
			die("%s: page %zu differs in shape or type from page %zu; see "
			    "--pages=items",
			    s->file->name, s->pages.at[i].number, s->pages.at[0].number);
}

/* --- missing samples ------------------------------------------------------------------------------------------------ */

/* Missing samples: GDAL names their value, which is the key nodata, or has a mask of them. */
struct missing {
	struct nodata key;   /* of the samples that become NaN, or are counted */
	enum img_type given; /* of the samples in the file */
	enum img_type type;  /* of the samples of the item */
	uint64_t kept;	     /* missing samples that stay integers */
	char *made;	     /* [room] samples of another type; owned */
	size_t room;
	/* of the page at hand: [h][w], 0 where the pixel is missing; NULL: none. Owned */
	char *mask;
	size_t at;     /* how many of its pixels missing_mark() has used */
	size_t planes; /* samples of a pixel */
};

enum { CHUNK = 512 };

/*
 * Reads the key of x. Missing samples of floats will become NaN. With nan those of integers will, too: then x->type becomes
 * float, or double for 32 and 64 bits. masked: a page has a mask. Then x gets the key when it has none.
 */
static struct missing
missing_of(struct img *x, bool nan, bool masked)
{
	struct missing d = {
	    .key = nodata_of(x, false), .given = x->type, .type = x->type, .planes = 1};

	if ((!isnan(d.key.value) || masked) && nan && !img_is_float(x->type)) {
		d.type = img_type_size(x->type) < 4 ? IMG_F32 : IMG_F64;
		x->type = IMG_F64; /* in which mark_integers() has them */
		d.key = nodata_of(x, false);
	}
	x->type = d.type;
	if (masked && !img_key(x, "nodata"))
		img_set_key(x, "nodata", "nan");
	if (img_row_axis(x))
		d.planes = x->axis[0].n;
	return d;
}

/* Makes doubles, or floats, of integers. */
static void *
mark_integers(struct missing *d, const char *v, size_t n)
{
	const size_t size = img_type_size(d->type);
	double some[CHUNK];

	if (n > d->room)
		d->made = weir_xgrow(d->made, &d->room, n, size);
	for (size_t i = 0; i < n; i += CHUNK) {
		const size_t m = n - i < CHUNK ? n - i : CHUNK;
		sample_load(some, v + i * img_type_size(d->given), d->given, m);
		nodata_to_nan(&d->key, some, m);
		sample_store(d->made + i * size, some, d->type, m);
	}
	return d->made;
}

static void
mark_masked(struct missing *d, void *samples, size_t n)
{
	float *f = samples;
	double *g = samples;

	for (size_t i = 0; i < n; i++)
		if (d->mask[d->at + i / d->planes])
			continue;
		else if (d->type == IMG_F32)
			f[i] = NAN;
		else
			g[i] = NAN;
	d->at += n / d->planes;
}

/*
 * Returns n samples of the item, made of n samples of the file. They are `rows`, which it changes, or lie in a buffer that the
 * next call fills again.
 */
static const void *
missing_mark(struct missing *d, void *rows, size_t n)
{
	void *v = rows;

	if (d->given != d->type)
		v = mark_integers(d, rows, n);
	else if (!isnan(d->key.value) && img_is_float(d->type))
		nodata_to_nan(&d->key, rows, n);
	else if (d->key.named)
		d->kept += nodata_count(&d->key, rows, n);
	if (d->mask)
		mark_masked(d, v, n);
	return v;
}

/* --- samples ----------------------------------------------------------------------------------------------------------- */

/* What put_rows() needs. */
struct target {
	struct raw_out *out;
	struct stats *st;
	size_t row; /* samples of a row */
	struct missing *missing;
	struct progress bar;
	size_t done, all; /* rows */
};

static void
put_rows(void *to, const void *rows, size_t n)
{
	struct target *o = to;
	const size_t count = n * o->row;

	stats_charge(o->st, STATS_READ);
	/* The band is the reader's buffer. put() may change it. */
	raw_write(o->out, missing_mark(o->missing, (void *)(uintptr_t)rows, count), count);
	stats_charge(o->st, STATS_WRITE);
	o->done += n;
	progress_step(&o->bar, (double)o->done / (double)o->all);
}

/* Reads a large stack of ImageJ: one directory, and samples back to back. Returns false when the file is not of that kind. */
static bool
is_run(const struct source *s, const struct stackmeta *m, uint64_t *offset)
{
	const struct tiffpage *p = &s->pages.at[0].layout;
	uint16_t compression = 0;
	uint64_t *offsets;

	TIFFGetFieldDefaulted(s->t, TIFFTAG_COMPRESSION, &compression);
	if (s->pages.n != 1 || s->masks.n || !m->imagej || m->n < 2 || p->tiled || p->separate ||
	    p->way != TIFF_PLAIN || p->layers > 1 || compression != COMPRESSION_NONE ||
	    p->bits != 8 * img_type_size(p->type) || p->orientation != ORIENTATION_TOPLEFT ||
	    !TIFFGetField(s->t, TIFFTAG_STRIPOFFSETS, &offsets))
		return false;
	*offset = offsets[0];
	return m->n <= (s->file->bytes - *offset) / (p->h * tiffpage_row(p)) &&
	       *offset < s->file->bytes;
}

static void
put_run(const struct source *s, uint64_t offset, size_t n, struct target *o)
{
	const struct tiffpage *p = &s->pages.at[0].layout;
	const size_t row = tiffpage_row(p), size = img_type_size(p->type);
	const size_t most = 1 + (1 << 20) / row;
	void *band = weir_xalloc(most, row);

	for (size_t left = n * p->h, some; left; left -= some) {
		some = left < most ? left : most;
		if (pread(s->file->fd, band, some * row, (off_t)offset) != (ssize_t)(some * row))
			die("%s: the samples end before the stack does", s->file->name);
		if (TIFFIsByteSwapped(s->t))
			swap_bytes(band, some * o->row, size);
		put_rows(o, band, some);
		offset += some * row;
	}
	weir_free(band);
}

static void
go_to(const struct source *s, const struct tiffpages_page *p)
{
	struct tiffpage again;
	struct why why;

	if (!TIFFSetSubDirectory(s->t, p->offset) || tiffpage_read(s->t, s->indices, &again, &why))
		die_tiff(s, p, "its directory cannot be read again");
}

/* --- masks ---------------------------------------------------------------------------------------------------------- */

/* Loads the mask of the page for missing_mark(). */
static void
load_mask(const struct source *s, const struct tiffpages_page *p, struct missing *d)
{
	if (!p->mask)
		return;
	const struct tiffpages_page *mask = &s->masks.at[p->mask - 1];

	d->mask = weir_xalloc(p->layout.w, p->layout.h);
	struct kept kept = {d->mask, p->layout.w};
	go_to(s, mask);
	if (tiffpage_rows(s->t, &mask->layout, 0, &(struct sink){tiffpage_keep, &kept}))
		die_tiff(s, mask, "its samples cannot be read");
}

/* --- items ---------------------------------------------------------------------------------------------------------- */

/* What keys of a page say, and its item does not. */
static void
settle_keys(const struct source *s, const struct tiffpages_page *p, struct img *x)
{
	const enum tiffway way = p->layout.way;

	tiff_keep_tags(s->t, x, s->file->name);
	if (way == TIFF_PLAIN || way == TIFF_HALF || way == TIFF_FLOAT24)
		tiff_range_of(s->t, x);
	if (way != TIFF_PALETTE || !img_key(x, "nodata"))
		return;
	warn("%s: the missing index %s becomes a colour; see --indices", s->file->name,
	     img_key(x, "nodata"));
	img_drop_key(x, "nodata");
}

static void
put_page(const struct args *args, const struct source *s, const struct tiffpages_page *p,
	 struct target *o)
{
	if (args->nan)
		load_mask(s, p, o->missing);
	go_to(s, p);
	const size_t absent = tiffpage_absent(s->t, &p->layout);
	if (absent)
		warn("%s: page %zu: %zu %s are not in the file, and hold no data", s->file->name,
		     p->number, absent, p->layout.tiled ? "tiles" : "strips");
	tiff_doubt();
	for (size_t k = 0; k < p->layout.layers; k++) {
		o->missing->at = 0;
		if (tiffpage_rows(s->t, &p->layout, k, &(struct sink){put_rows, o}))
			die_tiff(s, p, "its samples cannot be read");
	}
	const char *doubt = tiff_doubt();
	if (*doubt)
		warn("%s: page %zu: its samples are damaged: %s", s->file->name, p->number, doubt);
	weir_free(o->missing->mask);
	o->missing->mask = NULL;
}

/* Writes n pages from p on as one item. */
static void
put_item(const struct args *args, const struct source *s, const struct tiffpages_page *p, size_t n,
	 struct raw_out *out, struct stats *st)
{
	struct stackmeta m;
	uint64_t offset;
	struct img x;

	go_to(s, p);
	tiffpage_describe(s->t, &p->layout, n, &x, &m);
	const bool run = args->pages == STACK && is_run(s, &m, &offset);
	if (run) {
		n = m.n;
		img_free(&x);
		tiffpage_describe(s->t, &p->layout, n, &x, &m);
	}
	settle_keys(s, p, &x);
	struct missing missing =
	    missing_of(&x, args->nan, args->nan && has_mask(p, run ? 1 : n, 0));
	tempfile_limit(s->file->name, &x, args->common.max_bytes);
	if (args->common.verbose)
		warn("%s: item %ju: %s, %zu x %zu, %zu planes, %zu pages", s->file->name,
		     (uintmax_t)st->items + 1, img_type_name(x.type), p->layout.w, p->layout.h,
		     p->layout.planes, n);
	struct target o = {.out = out,
			   .st = st,
			   .row = p->layout.w * p->layout.planes,
			   .missing = &missing,
			   .all = p->layout.h * p->layout.layers * n};
	progress_start(&o.bar, args->common.quiet);
	stats_charge(st, STATS_PLAN);
	raw_head(out, &x);
	if (run)
		put_run(s, offset, n, &o);
	for (size_t i = 0; !run && i < n; i++)
		put_page(args, s, &p[i], &o);
	progress_end(&o.bar);
	if (missing.kept)
		warn(
		    "%s: %ju samples have the value %s of missing ones and stay numbers; see --nan",
		    s->file->name, (uintmax_t)missing.kept, img_key(&x, "nodata"));
	weir_free(missing.made);
	img_free(&x);
	st->items++;
}

static void
convert_file(const void *context, const struct tempfile *file, struct raw_out *out,
	     struct stats *st)
{
	const struct args *args = context;
	struct source s = {.file = file, .indices = args->indices};

	/* m: libtiff reads the file and does not map it. A file that shrinks is then an error instead of a signal. */
	s.t = TIFFOpen(file->path, "rm");
	if (!s.t) {
		const char *why = tiff_why();
		tempfile_refuse_foreign(file);
		die("%s: %s", file->name, *why ? why : "this is no TIFF file");
	}
	find_pages(args, &s);
	if (args->pages == STACK) {
		insist_alike(&s);
		put_item(args, &s, s.pages.at, s.pages.n, out, st);
	}
	for (size_t i = 0; args->pages == ITEMS && i < s.pages.n; i++)
		put_item(args, &s, &s.pages.at[i], 1, out, st);
	TIFFClose(s.t);
	tiffpages_free(&s.pages);
	tiffpages_free(&s.masks);
}

int
main(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	tiff_init();
	tempfile_each(args.path, args.npath, &args.common, convert_file, &args);
	return 0;
}
