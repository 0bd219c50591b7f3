/* link: -ltiff */
/* tifftoraw: converts the pages of TIFF files to raw items. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/convert/tiff.h"
#include "common/stream/tempfile.h"
#include "common/stream/nodata.h"
#include "common/stream/raw.h"

const char *const weir_prog = "tifftoraw";

struct args {
	struct opt_common common;
	int pages;
	bool nan;
	bool indices;
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
					   .example = "tifftoraw stack.tif | rawinfo",
					   .table = table};

/* An open file, and where its pages and masks are. */
struct source {
	const struct tempfile *file;
	TIFF *t;
	size_t limit; /* bytes of a tile */
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

/* Finds the pages, and with --nan their masks, and says what is left out. */
static void
find_pages(const struct args *args, struct source *s)
{
	struct why why;

	if (tiffpages_find(s->t, s->indices, &s->pages, args->nan ? &s->masks : NULL, &why))
		die("%s: %s", s->file->name, why.text);
	if (s->pages.ring)
		warn("%s: behind page %zu, the file names an earlier page as the next",
		     s->file->name, s->pages.all - 1);
	if (s->pages.copies)
		warn("%s: %zu small copies are left out", s->file->name, s->pages.copies);
	if (s->pages.masks && !args->nan)
		warn("%s: %zu masks of missing pixels are left out; see --nan", s->file->name,
		     s->pages.masks);
	for (size_t i = 0; i < s->masks.n; i++) {
		bool taken = false;
		for (size_t k = 0; k < s->pages.n; k++)
			taken |= s->pages.at[k].mask == i + 1;
		if (!taken)
			warn("%s: page %zu: this mask does not fit the page before it, and is left "
			     "out",
			     s->file->name, s->masks.at[i].number);
	}
}

/* What becomes an item. */
struct stack {
	const struct tiffpages_page *first; /* of its pages: it has the layout and the keys */
	size_t n;			    /* planes */
	/* [n]: their pages, as indices; SIZE_MAX: the page is missing. NULL: one behind the other. Owned */
	size_t *page;
	size_t missing;	    /* planes without a page */
	struct stackmeta m; /* what the description says of the planes */
};

/* Returns the page of plane i; NULL: the plane is missing. */
static const struct tiffpages_page *
page_of(const struct source *s, const struct stack *k, size_t i)
{
	if (!k->page)
		return k->first + i;
	return k->page[i] < SIZE_MAX ? &s->pages.at[k->page[i]] : NULL;
}

static void
insist_alike(const struct source *s, const struct stack *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct tiffpages_page *p = page_of(s, k, i);
		if (p && !tiffpage_alike(&k->first->layout, &p->layout))
			die("%s: page %zu differs in shape or type from page %zu; see "
			    "--pages=items",
			    s->file->name, p->number, k->first->number);
	}
}

/* --- axes and keys --------------------------------------------------------------------------------------------------- */

/*
 * Returns the code of the resolution's unit, and the resolution along columns and rows as shown; NaN where the page does not
 * state it.
 */
static uint16_t
resolution_of(TIFF *t, const struct tiffpage *p, double v[2])
{
	static const uint32_t tags[2] = {TIFFTAG_XRESOLUTION, TIFFTAG_YRESOLUTION};
	const bool turned = p->orientation > 4;
	uint16_t code = RESUNIT_INCH;
	float n;

	TIFFGetFieldDefaulted(t, TIFFTAG_RESOLUTIONUNIT, &code);
	for (int i = 0; i < 2; i++)
		v[i] =
		    TIFFGetField(t, tags[i ^ turned], &n) && n > 0 && isfinite(n) ? (double)n : NAN;
	return code;
}

static const char *
unit_of(uint16_t code)
{
	return code == RESUNIT_INCH ? "in" : code == RESUNIT_CENTIMETER ? "cm" : NULL;
}

/* Keeps a resolution that the axes do not state: it has no unit, or they count the pixels of a map. */
static void
note_resolution(TIFF *t, const struct tiffpage *p, struct img *x, int row)
{
	const struct img_axis *a = &x->axis[row];
	double v[2];
	const uint16_t code = resolution_of(t, p, v);
	const double ratio = isnan(a[1].spacing) ? 1 : a[1].spacing;
	const char *unit = unit_of(code);

	if ((code != RESUNIT_NONE && !unit) || a[0].unit || a[1].unit)
		return;
	if (fabs(v[0] / v[1] - ratio) < 1e-6 * ratio)
		img_set_key(x, TIFF_RESOLUTION, "%.9g%s%s", v[0], unit ? " " : "",
			    unit ? unit : "");
}

/*
 * Sets spacings and units of columns and rows, by the description, or else by the resolution. One without a unit says how wide
 * pixels are for their height: axes say so where they are not square.
 */
static void
place_plane(TIFF *t, const struct tiffpage *p, struct img *x, int row, const struct stackmeta *m)
{
	double v[2];
	const uint16_t code = resolution_of(t, p, v);

	if (!m->imagej && !m->ome && code == RESUNIT_NONE && fabs(v[0] - v[1]) > 0) {
		x->axis[row].spacing = 1;
		x->axis[row + 1].spacing = v[0] / v[1];
	}
	for (int i = 0; i < 2; i++) {
		struct img_axis *a = &x->axis[row + i];
		const bool stated = !isnan(m->spacing[i]);
		const char *own = m->shaped && unit_of(code) ? unit_of(code) : m->unit[i];
		const char *unit = stated || m->imagej || m->shaped ? own : unit_of(code);
		const double d = stated ? m->spacing[i] : 1 / v[i];
		if (isnan(d) || (!stated && !(unit && *unit)))
			continue;
		img_set_unit(a, unit);
		a->spacing = d;
	}
}

static void
label_axes(struct img *x, int row, const struct stackmeta *m)
{
	for (int i = row; i < x->dim; i++) {
		const char name[2] = {i < row + 2 ? m->plane[i - row] : m->order[i - row - 2], 0};
		struct img_axis *a = &x->axis[i];
		img_set_label(a, *name == ' ' || !*m->plane ? NULL : name);
		if (i < row + 2)
			continue;
		if (*name == 'c')
			strcpy(a->kind, "list");
		if (*name == 'z' || *name == 'n') {
			a->spacing = m->spacing[2];
			img_set_unit(a, isnan(a->spacing) || !m->unit[2][0] ? NULL : m->unit[2]);
		}
		if (*name == 't' && !isnan(m->interval)) {
			a->spacing = m->interval;
			img_set_unit(a, "s");
		}
	}
}

/* Keeps what a page says of its planes, where rawtotiff would not say it of their number and kind alone. */
static void
note_planes(TIFF *t, const struct tiffpage *p, struct img *x)
{
	const bool rgba = !strcmp(p->kind, "RGBA-color"), rgb = !strcmp(p->kind, "RGB-color");
	const unsigned usual = rgba || rgb	       ? PHOTOMETRIC_RGB
			       : p->way == TIFF_INVERT ? p->photometric
						       : PHOTOMETRIC_MINISBLACK;
	uint16_t n = 0, *extra = NULL;
	bool differs = false;
	char list[64];
	size_t used = 0;

	if (p->way == TIFF_RGBA || p->way == TIFF_INTEGERS)
		return;
	if (p->photometric == PHOTOMETRIC_PALETTE && p->way == TIFF_PLAIN)
		tiff_palette_of(t, p->bits, x);
	if (p->planes > 1 && p->photometric != usual &&
	    (p->photometric == PHOTOMETRIC_MINISBLACK || p->photometric == PHOTOMETRIC_RGB ||
	     p->photometric == PHOTOMETRIC_SEPARATED || p->photometric == PHOTOMETRIC_CIELAB))
		img_set_key(x, "tiff.photometric", "%u", p->photometric);
	if (p->planes == 2 && p->alpha)
		img_set_key(x, "tupltype", PNM_GRAY_ALPHA);
	if (!TIFFGetField(t, TIFFTAG_EXTRASAMPLES, &n, &extra) || n > 16)
		return;
	for (uint16_t i = 0; i < n; i++) {
		used += (size_t)sprintf(list + used, "%s%u", i ? "," : "", extra[i] % 10u);
		differs |= extra[i] != (rgba ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED);
	}
	if (differs)
		img_set_key(x, "tiff.extrasamples", "%s", list);
}

/*
 * Makes x the description of an item of n pages like p: sizes, kinds, spacings, units, labels and keys. p is the current
 * directory of t. stated: what a description says of them; its axes count where they have n planes.
 */
static void
describe(TIFF *t, const struct tiffpage *p, size_t n, const struct stackmeta *stated, struct img *x)
{
	struct stackmeta own = *stated, *m = &own;
	size_t sizes[IMG_MAXDIM];
	int dim = 0, row = *p->kind != 0;

	if (m->n != n) { /* it describes another number of pages */
		m->order[0] = n > 1 ? 'n' : 0;
		m->order[1] = 0;
		m->size[0] = n;
	}
	if (row)
		sizes[dim++] = p->planes;
	sizes[dim++] = p->w;
	sizes[dim++] = p->h;
	if (p->layers > 1)
		sizes[dim++] = p->layers;
	for (int i = 0; m->order[i]; i++)
		sizes[dim++] = m->size[i];
	img_init(x, p->type, dim, sizes);
	if (row)
		snprintf(x->axis[0].kind, sizeof x->axis[0].kind, "%s", p->kind);
	place_plane(t, p, x, row, m);
	if (m->imagej || m->ome || m->shaped)
		label_axes(x, row, m);
	if (p->maxval)
		img_set_key(x, "maxval", "%u", p->maxval);
	note_planes(t, p, x);
	tiff_keys_of(t, x);
	tiff_geo_of(t, x, row);
	note_resolution(t, p, x, row);
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
	if (!d->mask)
		return v;
	for (size_t i = 0; i < n; i++)
		if (d->mask[d->at + i / d->planes])
			continue;
		else if (d->type == IMG_F32)
			((float *)v)[i] = NAN;
		else
			((double *)v)[i] = NAN;
	d->at += n / d->planes;
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

static void
go_to(const struct source *s, const struct tiffpages_page *p)
{
	struct tiffpage again;
	struct why why;

	if (!TIFFSetSubDirectory(s->t, p->offset) || tiffpage_read(s->t, s->indices, &again, &why))
		die_tiff(s, p, "its directory cannot be read again");
	if (again.tiled && TIFFTileSize64(s->t) > s->limit)
		die("%s: page %zu: a tile of %ju bytes exceeds the limit of %zu; raise it with "
		    "--max-bytes",
		    s->file->name, p->number, (uintmax_t)TIFFTileSize64(s->t), s->limit);
}

/*
 * Whether the stack is a large one of ImageJ, or a short one of tifffile: one directory, and the samples of all planes back to
 * back. Its page is the current directory. Sets *bytes to those of a plane.
 */
static bool
is_run(const struct source *s, const struct stack *k, uint64_t *bytes)
{
	const struct tiffpage *p = &k->first->layout;
	const uint32_t n = p->tiled ? TIFFNumberOfTiles(s->t) : TIFFNumberOfStrips(s->t);
	const uint64_t first = TIFFGetStrileOffset(s->t, 0);
	uint16_t compression = 0;

	TIFFGetFieldDefaulted(s->t, TIFFTAG_COMPRESSION, &compression);
	if (k->n != 1 || k->first->mask || !(k->m.imagej || k->m.shaped) || k->m.n < 2 ||
	    compression != COMPRESSION_NONE)
		return false;
	*bytes = 0;
	for (uint32_t i = 0; i < n; *bytes += TIFFGetStrileByteCount(s->t, i++))
		if (TIFFGetStrileOffset(s->t, i) != first + *bytes)
			return false;
	return *bytes && first < s->file->bytes && k->m.n <= (s->file->bytes - first) / *bytes;
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

/* shift: bytes from the samples of the page to those of the plane. */
static void
put_page(const struct args *args, const struct source *s, const struct tiffpages_page *p,
	 uint64_t shift, struct target *o)
{
	struct tiffpage layout = p->layout;

	layout.shift = shift;
	if (args->nan && p->mask) {
		const struct tiffpages_page *mask = &s->masks.at[p->mask - 1];
		struct kept kept = {o->missing->mask = weir_xalloc(p->layout.w, p->layout.h),
				    p->layout.w};
		go_to(s, mask);
		if (tiffpage_rows(s->t, &mask->layout, 0, &(struct sink){tiffpage_keep, &kept}))
			die_tiff(s, mask, "its samples cannot be read");
	}
	if (!shift)
		go_to(s, p);
	const size_t absent = tiffpage_absent(s->t, &p->layout);
	if (absent)
		warn("%s: page %zu: %zu %s are not in the file, and hold no data", s->file->name,
		     p->number, absent, p->layout.tiled ? "tiles" : "strips");
	tiff_doubt();
	for (size_t k = 0; k < p->layout.layers; k++) {
		o->missing->at = 0;
		if (tiffpage_rows(s->t, &layout, k, &(struct sink){put_rows, o}))
			die_tiff(s, p,
				 shift ? "the samples end before the stack does"
				       : "its samples cannot be read");
	}
	const char *doubt = tiff_doubt();
	if (*doubt)
		warn("%s: page %zu: its samples are damaged: %s", s->file->name, p->number, doubt);
	weir_free(o->missing->mask);
	o->missing->mask = NULL;
}

/* Writes a plane that the file does not have: 0, or NaN with --nan. */
static void
put_absent(const struct args *args, const struct tiffpage *p, struct target *o)
{
	struct missing *d = o->missing;
	void *row = weir_calloc(o->row, img_type_size(d->given));

	d->mask = args->nan ? weir_calloc(p->w, p->h) : NULL;
	d->at = 0;
	if (!row || (args->nan && !d->mask))
		die("no memory for a plane that is missing");
	for (size_t y = 0; y < p->h; y++)
		put_rows(o, row, 1);
	weir_free_all(row, d->mask);
	d->mask = NULL;
}

/* What a description says of the number of planes counts where it is that of the pages. */
static void
warn_of_count(const struct source *s, const struct stack *k)
{
	const struct stackmeta *m = &k->m;

	if (m->n && m->n != k->n && (m->n > 1 || m->ome))
		warn("%s: page %zu: its description has %zu planes, and %zu pages are there; they "
		     "lie "
		     "along one axis",
		     s->file->name, k->first->number, m->n, k->n);
	if (k->missing)
		warn("%s: page %zu: %zu of %zu planes are not in the file, and hold no data",
		     s->file->name, k->first->number, k->missing, k->n);
}

static void
put_item(const struct args *args, const struct source *s, struct stack *k, struct raw_out *out,
	 struct stats *st)
{
	const struct tiffpage *p = &k->first->layout;
	uint64_t plane = 0;
	struct img x;

	go_to(s, k->first);
	const bool run = args->pages == STACK && is_run(s, k, &plane);
	bool masked = k->missing; /* or a page has a mask */
	for (size_t i = 0; i < k->n && !masked; i++)
		masked = page_of(s, k, i) && page_of(s, k, i)->mask;
	if (run)
		k->n = k->m.n;
	describe(s->t, p, k->n, &k->m, &x);
	settle_keys(s, k->first, &x);
	struct missing missing = missing_of(&x, args->nan, args->nan && masked);
	img_limit(s->file->name, &x, args->common.max_bytes);
	if (args->pages == STACK)
		warn_of_count(s, k);
	if (args->common.verbose)
		warn("%s: item %ju: %s, %zu x %zu, %zu planes, %zu pages", s->file->name,
		     (uintmax_t)st->items + 1, img_type_name(x.type), p->w, p->h, p->planes, k->n);
	struct target o = {.out = out,
			   .st = st,
			   .row = p->w * p->planes,
			   .missing = &missing,
			   .all = p->h * p->layers * k->n};
	progress_start(&o.bar, args->common.quiet);
	stats_charge(st, STATS_PLAN);
	raw_head(out, &x);
	for (size_t i = 0; i < k->n; i++)
		if (run || page_of(s, k, i))
			put_page(args, s, run ? k->first : page_of(s, k, i), run ? i * plane : 0,
				 &o);
		else
			put_absent(args, p, &o);
	progress_end(&o.bar);
	if (missing.kept)
		warn(
		    "%s: %ju samples have the value %s of missing ones and stay numbers; see --nan",
		    s->file->name, (uintmax_t)missing.kept, img_key(&x, "nodata"));
	weir_free(missing.made);
	img_free(&x);
	st->items++;
}

/* --- stacks --------------------------------------------------------------------------------------------------------- */

/* Finds the pages of the planes of an image of OME's. Returns false where the file has none. */
static bool
place_planes(const struct source *s, struct stack *k)
{
	k->n = k->m.n;
	for (size_t i = 0; i < k->n; i++) {
		/* A directory that is no page, and SIZE_MAX, have none. */
		const size_t number = k->page[i];
		size_t at = number < s->pages.n ? number : s->pages.n - 1;
		while (at > 0 && s->pages.at[at].number > number)
			at--;
		struct tiffpages_page *p = &s->pages.at[at];
		p = p->number == number ? p : NULL;
		k->page[i] = p ? at : SIZE_MAX;
		k->missing += !p;
		if (!p)
			continue;
		p->used = true;
		k->first = !k->first || p < k->first ? p : k->first;
	}
	return k->first;
}

/* Writes the images of the OME description of the first page. Returns false where there is none. */
static bool
put_images(const struct args *args, const struct source *s, const char *text,
	   const struct stackpage *p, struct raw_out *out, struct stats *st)
{
	const size_t pixels = p->planes * p->w * p->h,
		     most = weir_limit(args->common.max_bytes) / (pixels + sizeof(size_t));
	struct stack k = {0};
	size_t left = s->pages.n;
	bool any = false;

	for (size_t i = 0; stackmeta_read(text, i, p, &k.m); i++) {
		if (k.m.n > most)
			die("%s: a payload of %zu planes exceeds the limit of --max-bytes; raise "
			    "it",
			    s->file->name, k.m.n);
		k.page = k.m.placed ? stackmeta_pages(text, i, p, &k.m) : NULL;
		if (k.page && place_planes(s, &k)) {
			insist_alike(s, &k);
			put_item(args, s, &k, out, st);
			any = true;
		}
		weir_free(k.page);
		k = (struct stack){0};
	}
	for (size_t i = 0; i < s->pages.n; i++)
		left -= s->pages.at[i].used;
	if (any && left)
		warn("%s: %zu pages are in no image of OME's description, and are left out; see "
		     "--pages=items",
		     s->file->name, left);
	return any;
}

/* Writes the stack, or the images, that the page at this index begins. Returns the index of the page behind them. */
static size_t
put_stack(const struct args *args, const struct source *s, size_t at, struct raw_out *out,
	  struct stats *st)
{
	struct stack k = {.first = &s->pages.at[at]};
	const struct stackpage p = tiffpage_stack(&k.first->layout, s->pages.all, s->file->name);
	size_t end = at + 1;

	go_to(s, k.first);
	char *text = weir_xstrdup(tiffpage_text(s->t, &k.first->layout));
	stackmeta_read(text, 0, &p, &k.m);
	if (k.m.file[0])
		warn("%s: planes are in other files, such as %s; the pages of this one lie along "
		     "one axis",
		     s->file->name, k.m.file);
	const bool images =
	    !at && k.m.ome && !k.m.file[0] && put_images(args, s, text, &p, out, st);
	weir_free(text);
	if (images)
		return s->pages.n;
	while (end < s->pages.n && !s->pages.at[end].begins)
		end++;
	if (k.m.shaped && k.m.n > 1 && k.m.n < end - at)
		end = at + k.m.n;
	k.n = k.m.run && end - at < k.m.n ? 1 : end - at;
	if (k.m.file[0])
		k.m.n = 0;
	insist_alike(s, &k);
	put_item(args, s, &k, out, st);
	return at + k.n;
}

static void
convert_file(const void *context, const struct tempfile *file, struct raw_out *out,
	     struct stats *st)
{
	const struct args *args = context;
	const size_t most = weir_limit(args->common.max_bytes), least = 1 << 20;
	struct source s = {
	    .file = file, .indices = args->indices, .limit = most > least ? most : least};

	/* m: libtiff reads the file and does not map it. A file that shrinks is then an error instead of a signal. */
	s.t = TIFFOpen(file->path, "rm");
	if (!s.t) {
		const char *why = tiff_why();
		tempfile_refuse_foreign(file);
		die("%s: %s", file->name, *why ? why : "this is no TIFF file");
	}
	find_pages(args, &s);
	for (size_t i = 0; args->pages == STACK && i < s.pages.n;)
		i = put_stack(args, &s, i, out, st);
	for (size_t i = 0; args->pages == ITEMS && i < s.pages.n; i++) {
		struct stack k = {.first = &s.pages.at[i], .n = 1};
		const struct stackpage p = tiffpage_stack(&k.first->layout, 1, file->name);
		go_to(&s, k.first);
		stackmeta_read(tiffpage_text(s.t, &k.first->layout), 0, &p, &k.m);
		put_item(args, &s, &k, out, st);
	}
	TIFFClose(s.t);
	weir_free_all(s.pages.at, s.masks.at);
}

int
main(int argc, char **argv)
{
	struct args args = {0};

	tiff_init();
	return tempfile_each(&program, argc, argv, &args, convert_file);
}
