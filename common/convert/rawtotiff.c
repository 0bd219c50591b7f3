/* link: -ltiff */
/* rawtotiff: writes raw items as pages of a TIFF file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/words.h"
#include "common/convert/tiff.h"
#include "common/stream/axes.h"
#include "common/stream/tempfile.h"
#include "common/stream/nodata.h"
#include "common/stream/raw.h"

enum { PLAIN, DEFLATE, LZW, ZSTD };

const char *const weir_prog = "rawtotiff";

struct args {
	struct opt_common common;
	int compress; /* one of those above */
	size_t tile;  /* the side of tiles; 0: strips of rows */
	bool big;
	const char *nodata; /* NULL: the key of each item */
	/* The file that is being written; t is NULL before the first item. */
	struct tempfile file;
	TIFF *t;
	size_t items; /* with the one that is being written */
};

/* The shape of an item as pages. */
struct pages {
	int row; /* the axis along a row: 1 when axis 0 holds planes, else 0 */
	size_t planes, w, h, n;
	size_t bits; /* of a sample */
	bool complex;
};

/* The tags of the pages that rawtotiff writes. */

enum { STRIP = 1 << 18 }; /* bytes of a strip, or a row if that is more */

static uint16_t
format_of(const struct img *x, const struct pages *p)
{
	if (p->complex)
		return SAMPLEFORMAT_COMPLEXIEEEFP;
	if (img_is_float(x->type))
		return SAMPLEFORMAT_IEEEFP;
	return x->type == IMG_I8 || x->type == IMG_I16 || x->type == IMG_I32 || x->type == IMG_I64
		   ? SAMPLEFORMAT_INT
		   : SAMPLEFORMAT_UINT;
}

/* Takes the meaning of n planes beside the colours from the key of tifftoraw. Returns false where it has not so many. */
static bool
extra_of(struct img *x, size_t n, uint16_t *extra)
{
	double v[64];

	if (tiff_numbers(x, "tiff.extrasamples", ',', v, 64, 1, true) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		extra[i] =
		    (uint16_t)(v[i] > EXTRASAMPLE_UNASSALPHA ? EXTRASAMPLE_UNSPECIFIED : v[i]);
	return true;
}

static void
set_colour(TIFF *t, struct img *x, const struct pages *p)
{
	const char *kind = x->axis[0].kind;
	const bool rgba = p->row && !strcmp(kind, "RGBA-color");
	const bool rgb = p->row && (rgba || !strcmp(kind, "RGB-color"));
	unsigned photometric = rgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
	uint16_t extra[UINT16_MAX + 1] = {EXTRASAMPLE_UNSPECIFIED}; /* 0 */
	const size_t samples = p->complex ? 1 : p->planes;
	double own_kind;

	if (tiff_numbers(x, "tiff.photometric", ' ', &own_kind, 1, 1, true) && p->planes >= 3 &&
	    (own_kind == PHOTOMETRIC_SEPARATED || own_kind == PHOTOMETRIC_CIELAB ||
	     own_kind == PHOTOMETRIC_MINISBLACK || own_kind == PHOTOMETRIC_RGB))
		photometric = (unsigned)own_kind;
	const size_t own = photometric == PHOTOMETRIC_SEPARATED	   ? 4
			   : photometric == PHOTOMETRIC_MINISBLACK ? 1
								   : 3;
	if (samples <= 2 && format_of(x, p) == SAMPLEFORMAT_UINT &&
	    tiff_set_palette(t, (unsigned)p->bits, x))
		photometric = PHOTOMETRIC_PALETTE;
	TIFFSetField(t, TIFFTAG_PHOTOMETRIC, photometric);
	TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, (unsigned)samples);
	if (samples > own && !extra_of(x, samples - own, extra))
		extra[samples - own - 1] =
		    alpha_of(x) ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED;
	if (samples > own)
		TIFFSetField(t, TIFFTAG_EXTRASAMPLES, (unsigned)(samples - own), extra);
}

static void
set_layout(TIFF *t, const struct args *args, struct img *x, const struct pages *p)
{
	static const unsigned codecs[] = {[PLAIN] = COMPRESSION_NONE,
					  [DEFLATE] = COMPRESSION_ADOBE_DEFLATE,
					  [LZW] = COMPRESSION_LZW,
					  [ZSTD] = COMPRESSION_ZSTD};
	const size_t row = (p->w * p->planes * p->bits + 7) / 8;
	const size_t rows = row < STRIP ? STRIP / row : 1;

	TIFFSetField(t, TIFFTAG_IMAGEWIDTH, (uint32_t)p->w);
	TIFFSetField(t, TIFFTAG_IMAGELENGTH, (uint32_t)p->h);
	TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, (unsigned)(p->complex ? 2 * p->bits : p->bits));
	TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, (unsigned)format_of(x, p));
	TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
	TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
	set_colour(t, x, p);
	TIFFSetField(t, TIFFTAG_COMPRESSION, codecs[args->compress]);
	if (args->compress != PLAIN && p->bits >= 8 && !p->complex)
		TIFFSetField(t, TIFFTAG_PREDICTOR,
			     img_is_float(x->type) ? PREDICTOR_FLOATINGPOINT
						   : PREDICTOR_HORIZONTAL);
	if (args->tile) {
		TIFFSetField(t, TIFFTAG_TILEWIDTH, (uint32_t)args->tile);
		TIFFSetField(t, TIFFTAG_TILELENGTH, (uint32_t)args->tile);
	} else {
		TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, (uint32_t)(rows < p->h ? rows : p->h));
	}
}

static unsigned
unit_code(const char *unit)
{
	return unit && !strcmp(unit, "in")   ? RESUNIT_INCH
	       : unit && !strcmp(unit, "cm") ? RESUNIT_CENTIMETER
					     : RESUNIT_NONE;
}

/* Sets the resolution: pixels per inch or centimetre when that is the axes' unit, else per unit of ImageJ's description. */
static void
set_resolution(TIFF *t, const struct img *x, const struct pages *p)
{
	const struct img_axis *a = &x->axis[p->row], *b = x->dim > p->row + 1 ? a + 1 : a;
	double n = 1, u = a->spacing, v = b->spacing;
	const char *key = img_key(x, TIFF_RESOLUTION);
	unsigned code = unit_code(a->unit);

	/* Of axes without units, the key of tifftoraw has it: n pixels a unit where the spacing is 1. */
	if (!a->unit && !b->unit && key && word_real(&key, &n) && n > 0) {
		u = isnan(u) ? 1 : u;
		v = isnan(v) ? 1 : v;
		code = unit_code(key + (*key == ' '));
	} else if (img_key(x, "geotransform") || img_key(x, "geotiff.tiepoints")) {
		return; /* axes of a map count pixels */
	}
	if (isnan(u) || isnan(v))
		return;
	TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, code);
	TIFFSetField(t, TIFFTAG_XRESOLUTION, fabs(n / u));
	TIFFSetField(t, TIFFTAG_YRESOLUTION, fabs(n / v));
}

/* Makes the contents of a description from the axes of the item. */
static void
describe(const struct img *x, const struct pages *p, struct stackmeta *m)
{
	stackmeta_read("", 0, &(struct stackpage){0}, m);
	m->n = p->n;
	for (int i = 0; i < 2 && p->row + i < x->dim; i++) {
		const struct img_axis *a = &x->axis[p->row + i];
		m->spacing[i] = a->spacing;
		snprintf(m->unit[i], sizeof m->unit[i], "%s", a->unit ? a->unit : "");
	}
	for (int i = p->row + 2; i < x->dim; i++) {
		const struct img_axis *a = &x->axis[i];
		const char name = a->label && strlen(a->label) == 1 ? *a->label : 'z';
		const int k = i - p->row - 2;
		m->order[k] = strchr("czt", name) ? name : 'z';
		m->size[k] = a->n;
		if (m->order[k] == 't')
			m->interval = a->spacing;
		else if (m->order[k] == 'z')
			m->spacing[2] = a->spacing;
	}
}

static bool
same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-6 * fabs(a);
}

/* Whether the axes of pages are still those of the item's own description. An axis without a label may be any of them. */
static bool
same_axes(const struct stackmeta *then, const struct img *x, const struct pages *p)
{
	const char *name = then->order;
	const size_t *n = then->size;

	for (int i = p->row + 2; i < x->dim; i++) {
		const struct img_axis *a = &x->axis[i];
		if (a->n == 1)
			continue;
		if (!*name || a->n != *n++ ||
		    (a->label && *a->label && *name != ' ' && *a->label != *name))
			return false;
		name++;
	}
	return !*name;
}

/* Whether the item's own description, from its file, is still true. */
static bool
still_true(const struct stackmeta *then, const struct stackmeta *now, const struct img *x,
	   const struct pages *p, const char *text, const struct stackpage *page)
{
	if (!then->imagej && !then->ome && !then->shaped)
		return now->n == 1;
	if (then->run || (then->placed && !stackmeta_in_order(text, page, then)))
		return false;
	bool same = then->n == now->n && same_axes(then, x, p) &&
		    (!strpbrk(then->order, "zn") || same_number(then->spacing[2], now->spacing[2]));
	for (int i = 0; i < 2; i++)
		same &= isnan(then->spacing[i]) || same_number(then->spacing[i], now->spacing[i]);
	return same;
}

/* OME's name for the type of samples; NULL where it has none. */
static const char *
ome_type(const struct img *x, const struct pages *p)
{
	static const char *const names[] = {
	    [IMG_I8] = "int8",	 [IMG_U8] = "uint8",   [IMG_I16] = "int16", [IMG_U16] = "uint16",
	    [IMG_I32] = "int32", [IMG_U32] = "uint32", [IMG_I64] = NULL,    [IMG_U64] = NULL,
	    [IMG_F32] = "float", [IMG_F64] = "double"};

	if (p->complex)
		return x->type == IMG_F64 ? "double-complex" : "complex";
	return p->bits == 1 ? "bit" : names[x->type];
}

/* Sets an attribute in OME's text, which it replaces. Returns whether that changed the text. */
static bool
set_ome(char **text, const char *name, const char *value)
{
	char *next = stackmeta_set(*text, name, value);

	const bool changed = strcmp(next, *text) != 0;
	free(*text);
	*text = next;
	return changed;
}

/* Brings the type and the size of pictures in OME's text up to date. */
static void
update_ome(char **text, const struct img *x, const struct pages *p)
{
	char number[24];

	snprintf(number, sizeof number, "%zu", p->bits);
	if (set_ome(text, "Type", ome_type(x, p)))
		set_ome(text, "SignificantBits", number);
	snprintf(number, sizeof number, "%zu", p->w);
	set_ome(text, "SizeX", number);
	snprintf(number, sizeof number, "%zu", p->h);
	set_ome(text, "SizeY", number);
}

/* Returns whether the item's own description is kept and is ImageJ's. */
static bool
set_description(TIFF *t, const struct img *x, const struct pages *p, bool first)
{
	const char *value = img_key(x, "tiff.ImageDescription");
	char *old = value ? tiff_unescape(value) : NULL, text[512];
	const struct img_axis *a = &x->axis[p->row];
	const bool odd_unit = a->unit && unit_code(a->unit) == RESUNIT_NONE;
	const struct stackpage page = {p->complex ? 1 : p->planes, p->w, p->h, p->n, NULL};
	struct stackmeta then, now;
	char order[4];

	describe(x, p, &now);
	stackmeta_read(old ? old : "", 0, &page, &then);
	const bool keep =
	    old && still_true(&then, &now, x, p, old, &page) && (!then.ome || ome_type(x, p));
	if (old && then.ome && !keep)
		warn("OME's description is no longer true, and is left out with what it says of "
		     "channels");
	if (keep && then.ome && !first)
		warn("readers of OME-TIFF see the pages of the first item alone; write each into a "
		     "file of "
		     "its own");
	if (keep) {
		if (then.ome)
			update_ome(&old, x, p);
		TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, old);
	} else if (p->n > 1 || (odd_unit && !isnan(a->spacing))) {
		if (!stackmeta_order(&now, order))
			warn(
			    "ImageJ's description has no place for the order of the axes of pages");
		else if (strcmp(order, "czt") && strcmp(order, "zct"))
			warn(
			    "tifffile reads the order %s of the axes of pages, and ImageJ does not",
			    order);
		stackmeta_print(&now, text, sizeof text);
		TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, text);
	}
	free(old);
	return keep && then.imagej;
}

/* Sets the tags of page i of x, i < p->n. After a failure, tiff_why() says what was wrong. */
static void
set_tags(TIFF *t, const struct args *args, struct img *x, const struct pages *p, size_t i)
{
	set_layout(t, args, x, p);
	set_resolution(t, x, p);
	if (p->n > 1)
		TIFFSetField(t, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
	if (i)
		return;
	tiff_set_tags(t, x, set_description(t, x, p, args->items == 1));
	tiff_set_keys(t, x);
	tiff_set_range(t, x);
	tiff_set_geo(t, x, p->row);
}

static const struct opt table[] = {
    {0, "compress", OPT_WORD, AT(compress), "CODEC", "%s, all without loss (none)",
     .words = "none|deflate|lzw|zstd"},
    {0, "tile", OPT_SIZE, AT(tile), "N", "tiles of NxN pixels, a multiple of 16 (strips of rows)",
     16, 4096},
    {0, "bigtiff", OPT_FLAG, AT(big), NULL,
     "BigTIFF; the default where the first item has 4 GB or more"},
    {0, "nodata", OPT_STR, AT(nodata), "V",
     "the value of missing samples, a number or nan (the key nodata:=)"},
    {0}};

static const struct opt_program program = {.what = "Writes raw items as the pages of a TIFF file.",
					   .example =
					       "rawtotiff --compress=deflate photo.ppm >photo.tif",
					   .table = table};

static void
check(void *options)
{
	const struct args *args = options;
	double v;

	if (args->tile % 16)
		die_usage("--tile: %zu is not a multiple of 16", args->tile);
	if (args->nodata && !opt_number(args->nodata, &v))
		die_usage("--nodata: '%s' is not a number", args->nodata);
}

static _Noreturn void
die_tiff(void)
{
	const char *why = tiff_why();

	tempfile_insist_on_room();
	if (!strncmp(why, "Maximum TIFF file size exceeded", 31))
		die("the file would have 4 GB or more; see --bigtiff");
	die("%s", *why ? why : "libtiff failed");
}

static struct pages
shape_of(const struct raw_in *in, const struct img *x)
{
	struct img_picture s;

	img_pictures(x, &s);
	struct pages p = {img_row_axis(x),  s.c, s.w, s.h, s.n, 8 * img_type_size(x->type),
			  img_is_complex(x)};

	if (p.planes == 1 && x->type == IMG_U8 && img_maxval(x) == 1)
		p.bits = 1;
	if (p.w > UINT32_MAX || p.h > UINT32_MAX || p.planes > UINT16_MAX)
		raw_die(in, "pages of a TIFF file have fewer than 2^32 columns and rows, and 2^16 "
			    "planes");
	return p;
}

/* --- samples ---------------------------------------------------------------------------------------------------------- */

/* What the writing of an item's pages needs. */
struct writer {
	TIFF *t;
	struct raw_in *in;
	struct img *x;
	struct pages p;
	struct nodata nodata;
	size_t found[2];    /* samples that are numbers and equal nodata; that are NaN */
	size_t row, stride; /* bytes of a row: of the item; of the file */
	unsigned char *rows, *unit;
};

static void
put_strip(const struct writer *w, size_t y, size_t n)
{
	const uint32_t strip = TIFFComputeStrip(w->t, (uint32_t)y, 0);
	unsigned char *from = w->rows;

	if (w->p.bits == 1) { /* packed, the first pixel highest */
		memset(w->unit, 0, n * w->stride);
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < w->p.w; k++)
				w->unit[i * w->stride + k / 8] |=
				    (unsigned char)(w->rows[i * w->row + k] << (7 - k % 8));
		from = w->unit;
	}
	if (TIFFWriteEncodedStrip(w->t, strip, from, (tmsize_t)(n * w->stride)) < 0)
		die_tiff();
}

static void
put_tiles(const struct writer *w, size_t y, size_t n, size_t side)
{
	const size_t pixel = w->row / w->p.w;

	for (size_t x = 0; x < w->p.w; x += side) {
		const size_t some = w->p.w - x < side ? w->p.w - x : side;
		memset(w->unit, 0, side * side * pixel);
		for (size_t i = 0; i < n; i++)
			memcpy(w->unit + i * side * pixel, w->rows + i * w->row + x * pixel,
			       some * pixel);
		const uint32_t tile = TIFFComputeTile(w->t, (uint32_t)x, (uint32_t)y, 0, 0);
		if (TIFFWriteEncodedTile(w->t, tile, w->unit, (tmsize_t)(side * side * pixel)) < 0)
			die_tiff();
	}
}

static void
put_page(const struct args *args, struct writer *w, struct stats *st)
{
	uint32_t rows = (uint32_t)args->tile;

	if (!args->tile)
		TIFFGetField(w->t, TIFFTAG_ROWSPERSTRIP, &rows);
	w->row = w->p.w * w->p.planes * img_type_size(w->x->type);
	w->stride = w->p.bits == 1 ? (w->p.w + 7) / 8 : w->row;
	w->rows = weir_xalloc(rows, w->row);
	w->unit = weir_xalloc(
	    args->tile ? args->tile * args->tile * (w->row / w->p.w) : rows * w->stride, 1);
	for (size_t y = 0; y < w->p.h; y += rows) {
		const size_t n = w->p.h - y < rows ? w->p.h - y : rows;
		raw_read(w->in, w->rows, n * w->p.w * w->p.planes);
		if (w->nodata.named && img_is_float(w->x->type))
			nodata_from_nan(&w->nodata, w->rows, n * w->p.w * w->p.planes, w->found);
		stats_charge(st, STATS_READ);
		if (args->tile)
			put_tiles(w, y, n, args->tile);
		else
			put_strip(w, y, n);
		stats_charge(st, STATS_WRITE);
	}
	weir_free_all(w->rows, w->unit);
}

/*
 * ImageJ reads the samples of a stack as one block without gaps. All directories are therefore written first. The pages
 * follow, one strip each, back to back.
 */
static void
put_run(const struct args *args, struct writer *w, struct progress *bar, struct stats *st)
{
	const tdir_t before = TIFFNumberOfDirectories(w->t);

	for (size_t i = 0; i < w->p.n; i++) {
		set_tags(w->t, args, w->x, &w->p, i);
		TIFFSetField(w->t, TIFFTAG_ROWSPERSTRIP, (uint32_t)w->p.h);
		if (!TIFFDeferStrileArrayWriting(w->t) || !TIFFWriteCheck(w->t, 0, weir_prog) ||
		    !TIFFWriteDirectory(w->t))
			die_tiff();
	}
	for (size_t i = 0; i < w->p.n; i++) {
		if (!(i ? TIFFReadDirectory(w->t) : TIFFSetDirectory(w->t, before)))
			die_tiff();
		put_page(args, w, st);
		if (!TIFFForceStrileArrayWriting(w->t))
			die_tiff();
		progress_step(bar, (double)i / (double)w->p.n);
	}
	if (TIFFCreateDirectory(w->t))
		die_tiff();
}

static void
put_pages(const struct args *args, struct raw_in *in, struct img *x, struct stats *st)
{
	struct writer w = {
	    .t = args->t, .in = in, .x = x, .p = shape_of(in, x), .nodata = nodata_of(x, false)};
	struct progress bar;

	tempfile_warn_space(in, x, "TIFF");
	if (args->tile && w.p.bits == 1)
		w.p.bits = 8;
	progress_start(&bar, args->common.quiet);
	if (w.p.n > 1 && args->compress == PLAIN && !args->tile) {
		put_run(args, &w, &bar, st);
	} else {
		for (size_t i = 0; i < w.p.n; i++) {
			set_tags(w.t, args, x, &w.p, i);
			put_page(args, &w, st);
			if (!TIFFWriteDirectory(w.t))
				die_tiff();
			progress_step(&bar, (double)i / (double)w.p.n);
		}
	}
	progress_end(&bar);
	if (w.found[0] && w.found[1])
		warn(
		    "%s: item %zu: %ju samples are %s, which is written for NaN, too; see --nodata",
		    raw_name(in), raw_item(in), (uintmax_t)w.found[0], img_key(x, "nodata"));
}

/* Takes the value of --nodata for the item, and sees to it that its samples can have the value that stands for missing ones. */
static void
settle_nodata(const struct args *args, const struct raw_in *in, struct img *x)
{
	_Alignas(double) char sample[8];
	char where[RAW_WHERE];
	double v;

	if (args->nodata)
		img_change_key(x, "nodata", "%s", args->nodata);
	const char *text = img_key(x, "nodata");
	if (!text || !opt_number(text, &v) || nodata_store(sample, x->type, text))
		return;
	if (args->nodata)
		raw_die(in, "--nodata: no %s is %s", img_type_name(x->type), text);
	if (!img_is_float(x->type))
		return;
	raw_where(in, where);
	warn("%s: no %s is %s, so missing samples are written as nan; see --nodata", where,
	     img_type_name(x->type), text);
	img_change_key(x, "nodata", "nan");
}

/* --- the file --------------------------------------------------------------------------------------------------------- */

/* Opens the scratch file when the first item says how large the file will be. */
static void
open_file(struct args *args, const struct img *x)
{
	const char *data = img_key(x, "tiff.tag.50839");
	char mode[4] = "w";
	size_t bytes;

	tiff_init();
	img_bytes(x, &bytes);
	if (args->big || bytes >= 4000000000)
		strcat(mode, "8");
	/* ImageJ's labels and look-up tables, kept as bytes, are in the byte order of their file. This is IJIJ, big-endian. */
	if (data && !strncmp(data, "1 494a494a", 10))
		strcat(mode, "b");
	args->file = tempfile_open();
	args->t = TIFFFdOpen(dup(args->file.fd), args->file.name, mode);
	if (!args->t)
		die_tiff();
}

static void
put_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct args *args = options;
	bool same = true;

	(void)out; /* it gets the whole file at the end */
	args->items++;
	/*
	 * GDAL's statistics and the least and greatest samples are those of the file, so they hold only where nothing stood between
	 * tifftoraw and this program. What GDAL says of planes that another program took away is dropped, too.
	 */
	for (size_t i = 0; i < x->nkey; i++)
		same &=
		    strcmp(x->key[i].name, "history") || !strncmp(x->key[i].value, "tifftoraw", 9);
	if (!same) {
		bands_drop_statistics(x);
		tiff_drop_range(x);
	}
	bands_choose(x, 0, img_row_axis(x) ? x->axis[0].n : 1, false);
	settle_nodata(args, in, x);
	if (!args->t)
		open_file(args, x);
	put_pages(args, in, x, st);
}

static void
finish(void *options, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct args *args = options;

	(void)in;
	TIFFClose(args->t);
	tempfile_insist_on_room();
	if (*tiff_why())
		die("the scratch file in TMPDIR could not be written");
	tempfile_send(&args->file, out);
	tempfile_close(&args->file);
	stats_charge(st, STATS_WRITE);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, put_item, finish};
	struct args args = {.common.as = RAW_AS_RAW};

	return raw_each(&filter, argc, argv, &args);
}
