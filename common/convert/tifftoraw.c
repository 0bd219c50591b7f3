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
#include "common/stream/door.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"

struct palette {
	const uint16_t *map[3]; /* 2^bits entries of red, green and blue */
	int shift; /* entries are shifted right by it and become bytes; -1: they stay ushorts */
};

/* ---- packed samples ---- */

/* Converts samples that TIFF has packed to samples of an item. Pure. */

/* Returns sample i of a row of packed bits. */
static uint32_t
bits_at(const unsigned char *from, size_t i, unsigned bits)
{
	const size_t first = i * bits;
	uint64_t v = 0;

	for (size_t b = first / 8; b <= (first + bits - 1) / 8; b++)
		v = v << 8 | from[b];
	v >>= 7 - (first + bits - 1) % 8;
	return (uint32_t)(v & ((1ull << bits) - 1));
}

/* The same, where samples of 8 and 16 bits are in this machine's byte order. */
static uint32_t
value_at(const unsigned char *from, size_t i, unsigned bits)
{
	uint16_t h;

	if (bits == 8)
		return from[i];
	if (bits != 16)
		return bits_at(from, i, bits);
	memcpy(&h, from + 2 * i, 2);
	return h;
}

static void
store(void *to, size_t i, size_t size, uint32_t v)
{
	if (size == 1)
		((uint8_t *)to)[i] = (uint8_t)v;
	else if (size == 2)
		((uint16_t *)to)[i] = (uint16_t)v;
	else
		((uint32_t *)to)[i] = v;
}

/* Copies n samples, of which sample i becomes to[i * apart]. */
static void
unpack_whole(void *to, const unsigned char *from, size_t n, size_t size, size_t apart)
{
	if (apart == 1) {
		memcpy(to, from, n * size);
		return;
	}
	for (size_t i = 0; i < n; i++)
		memcpy((char *)to + i * apart * size, from + i * size, size);
}

/*
 * Unpacks n samples of `bits` bits each. Samples of 8, 16, 32 and 64 bits are in this machine's byte order; others are packed
 * highest bit first, and those of signed types are two's complements.
 */
static void
unpack_samples(void *to, const unsigned char *from, size_t n, unsigned bits, enum img_type type,
	       size_t apart)
{
	const size_t size = img_type_size(type);
	const bool is_signed = type == IMG_I8 || type == IMG_I16 || type == IMG_I32;
	const uint32_t sign = is_signed ? 1u << (bits - 1) : 0;

	if (bits == 8 * size) {
		unpack_whole(to, from, n, size, apart);
		return;
	}
	for (size_t i = 0; i < n; i++)
		store(to, i * apart, size, (bits_at(from, i, bits) ^ sign) - sign);
}

/*
 * Returns the float whose bits are a sign, an exponent of e bits and a mantissa of m bits. It is exact: m is at most 23. A NaN
 * loses its payload.
 */
static float
float_of(uint32_t bits, int e, int m)
{
	const int top = (1 << e) - 1, exponent = (int)(bits >> m) & top;
	const int mantissa = (int)(bits & ((1u << m) - 1)), least = 2 - (1 << (e - 1)) - m;
	float v;

	if (exponent == top)
		v = mantissa ? NAN : INFINITY;
	else if (exponent)
		v = ldexpf((float)((1 << m) + mantissa), exponent - 1 + least);
	else
		v = ldexpf((float)mantissa, least);
	return bits >> (e + m) ? -v : v;
}

/* Unpacks floats of 16 or 24 bits, which are in this machine's byte order. */
static void
unpack_floats(float *to, const unsigned char *from, size_t n, unsigned bits, size_t apart)
{
	const uint32_t one = 1;
	const size_t high = *(const unsigned char *)&one ? 2 : 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned char *b = from + 3 * i;

		to[i * apart] =
		    bits == 16
			? float_of(value_at(from, i, 16), 5, 10)
			: float_of((uint32_t)(b[high] << 16 | b[1] << 8 | b[2 - high]), 7, 16);
	}
}

/* Makes floats of n integers with signs, of 8 or 16 bits, or doubles of 32 bits. They are in this machine's byte order. */
static void
unpack_integers(char *to, const unsigned char *from, size_t n, unsigned bits)
{
	const enum img_type type = bits == 8 ? IMG_I8 : bits == 16 ? IMG_I16 : IMG_I32;
	const enum img_type given = bits == 32 ? IMG_F64 : IMG_F32;
	double v;

	for (size_t i = 0; i < n; i++) {
		sample_load(&v, from + i * bits / 8, type, 1);
		sample_store(to + i * img_type_size(given), &v, given, 1);
	}
}

/*
 * Replaces n indices of `bits` bits by their colours, three samples each. p->shift says whether these are bytes or ushorts.
 * Index i is sample i * step of from, and its colour begins at to[i * apart].
 */
static void
unpack_palette(void *to, const unsigned char *from, size_t n, size_t step, unsigned bits,
	       const struct palette *p, size_t apart)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t v = value_at(from, i * step, bits);

		for (size_t k = 0; k < 3; k++)
			if (p->shift >= 0)
				((uint8_t *)to)[apart * i + k] =
				    (uint8_t)(p->map[k][v] >> p->shift);
			else
				((uint16_t *)to)[apart * i + k] = p->map[k][v];
	}
}

/* Replaces each sample v by 2^bits - 1 - v. It inverts pictures in which 0 is white. */
static void
unpack_invert(void *samples, size_t n, enum img_type type, unsigned bits)
{
	const size_t size = img_type_size(type), spare = 8 * size - bits;
	unsigned char *v = samples;

	if (size == 1 || !spare) {
		for (size_t i = 0; i < n * size; i++)
			v[i] ^= (unsigned char)(255u >> spare);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (size == 2)
			((uint16_t *)samples)[i] ^= (uint16_t)(UINT16_MAX >> spare);
		else
			((uint32_t *)samples)[i] ^= UINT32_MAX >> spare;
}

/* ---- rows ---- */

/* The rows of a page, converted to samples of an item, a band at a time. */

enum { BAND = 1 << 20 }; /* bytes to read at a time, or a strip or a row of tiles if that is more */

/* Where rows go: put() takes n of them at a time. */
struct sink {
	void (*put)(void *to, const void *rows, size_t n);
	void *to;
};

/* --- bands ------------------------------------------------------------------------------------------------------------ */

/* What the reading of a page needs. Rows are those of the page as stored; samples are those of the item. */
struct reader {
	TIFF *t;
	const struct tiffpage *p;
	size_t layer;
	size_t unit_w, unit_h;	   /* of a tile or strip */
	size_t unit_bytes, stride; /* of a tile or strip from libtiff; of one row of it */
	size_t row;		   /* bytes of a row of the band */
	unsigned char *unit;
	char *band; /* rows of the item */
	size_t band_h;
	struct palette palette;
};

/* GDAL leaves tiles and strips of missing samples out of a file. */
static bool
is_absent(TIFF *t, uint32_t i)
{
	return !TIFFGetStrileByteCount(t, i) && !TIFFGetStrileOffset(t, i);
}

/* How many of the page's tiles or strips the file leaves out. They are read as the value of missing samples, else as 0. */
static size_t
tiffpage_absent(TIFF *t, const struct tiffpage *p)
{
	const uint32_t n = p->tiled ? TIFFNumberOfTiles(t) : TIFFNumberOfStrips(t);
	size_t absent = 0;

	for (uint32_t i = 0; i < n; i++)
		absent += is_absent(t, i);
	return absent;
}

/* Makes a tile or strip that is absent: the value of missing samples, or 0. */
static int
fill_unit(const struct reader *r)
{
	const size_t size = img_type_size(r->p->type);
	const char *word;
	double v = 0;

	memset(r->unit, 0, r->unit_bytes);
	if (!TIFFGetField(r->t, TIFF_NODATA, &word) || !word || !opt_number(word, &v) || v == 0)
		return 0;
	if (r->p->way != TIFF_PLAIN || r->p->bits != 8 * size ||
	    !nodata_store(r->unit, r->p->type, word))
		return -1;
	for (size_t i = size; i + size <= r->unit_bytes; i += size)
		memcpy(r->unit + i, r->unit, size);
	return 0;
}

/* Moves the samples of the layer to the front of each row of the tile or strip, where those of all layers are side by side. */
static void
gather_layer(const struct reader *r)
{
	const size_t pixel = r->p->stored_planes * r->p->bits / 8, layers = r->p->layers;

	if (layers < 2 || r->p->separate_layers)
		return;
	for (unsigned char *row = r->unit; row + r->stride <= r->unit + r->unit_bytes;
	     row += r->stride)
		for (size_t i = 0; i < r->unit_w; i++)
			memmove(row + i * pixel, row + (i * layers + r->layer) * pixel, pixel);
}

static int
load_unit(struct reader *r, size_t x, size_t y, size_t plane)
{
	const uint32_t i = r->p->tiled
			       ? TIFFComputeTile(r->t, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane)
			       : TIFFComputeStrip(r->t, (uint32_t)y, (uint16_t)plane);
	const tmsize_t n = (tmsize_t)r->unit_bytes;

	if (is_absent(r->t, i))
		return fill_unit(r);
	/* A strip at the end of the page is shorter than the others. */
	const size_t rows = r->p->stored_h - y < r->unit_h ? r->p->stored_h - y : r->unit_h;
	/* libtiff leaves parts of a damaged facsimile as they were. */
	if (r->p->facsimile)
		memset(r->unit, 0, r->unit_bytes);
	const tmsize_t got = r->p->tiled ? TIFFReadEncodedTile(r->t, i, r->unit, n)
					 : TIFFReadEncodedStrip(r->t, i, r->unit, n);

	/* In both byte orders, TIFF 6.0 packs integers of 24 bits highest bit first. libtiff swaps them in one of the two. */
	if (r->p->bits == 24 && r->p->way != TIFF_FLOAT24 && got > 0 && TIFFIsByteSwapped(r->t))
		TIFFSwabArrayOfTriples(r->unit, got / 3);
	gather_layer(r);
	return got < 0 || (size_t)got < (rows - 1) * r->stride + 1 ? -1 : 0;
}

/*
 * Converts w pixels of the palette. In a page of separate planes, the pixels are those of one plane: the indices, or a plane
 * beside them. Planes beside the indices are bytes, and so are the colours then.
 */
static void
lay_colours(const struct reader *r, char *to, const unsigned char *from, size_t w, size_t plane)
{
	const struct tiffpage *p = r->p;
	const size_t step = p->separate ? 1 : p->stored_planes;

	if (!plane)
		unpack_palette(to, from, w, step, p->bits, &r->palette, p->planes);
	for (size_t k = plane ? plane : 1; k < (plane ? plane + 1 : step); k++)
		for (size_t i = 0; i < w; i++)
			to[i * p->planes + 2 + k] = (char)from[i * step + (plane ? 0 : k)];
}

/* Copies a tile or strip, which begins at column x and row y, into the band, which begins at row y0. */
static void
lay_unit(struct reader *r, size_t x, size_t y, size_t plane, size_t y0)
{
	const struct tiffpage *p = r->p;
	const size_t w = p->stored_w - x < r->unit_w ? p->stored_w - x : r->unit_w;
	const size_t h = p->stored_h - y < r->unit_h ? p->stored_h - y : r->unit_h;
	const size_t size = img_type_size(p->type), here = p->separate ? 1 : p->stored_planes;
	const size_t apart = p->separate ? p->planes : 1;

	for (size_t i = 0; i < h && y + i < y0 + r->band_h; i++) {
		char *pixels = r->band + (y - y0 + i) * r->row + x * p->planes * size;
		char *to = pixels + plane * size;
		const unsigned char *from = r->unit + i * r->stride;

		if (p->way == TIFF_PALETTE)
			lay_colours(r, pixels, from, w, plane);
		else if (p->way == TIFF_HALF || p->way == TIFF_FLOAT24)
			unpack_floats((float *)(void *)to, from, w * here, p->bits, apart);
		else if (p->way == TIFF_INTEGERS)
			unpack_integers(to, from, w * here, p->bits);
		else
			unpack_samples(to, from, w * here, p->bits, p->type, apart);
	}
}

static int
load_band(struct reader *r, size_t y0)
{
	const struct tiffpage *p = r->p;
	const size_t planes = p->separate ? p->stored_planes : 1;

	for (size_t plane = 0; plane < planes; plane++)
		for (size_t y = y0; y < y0 + r->band_h && y < p->stored_h; y += r->unit_h)
			for (size_t x = 0; x < p->stored_w; x += r->unit_w) {
				if (load_unit(r, x, y, p->separate_layers ? r->layer : plane))
					return -1;
				lay_unit(r, x, y, plane, y0);
			}
	return 0;
}

static int
open_reader(struct reader *r, TIFF *t, const struct tiffpage *p, size_t layer)
{
	uint32_t w = 0, h = 0;
	uint16_t *map[3];
	size_t bytes;

	*r = (struct reader){.t = t, .p = p, .layer = layer};
	if (p->tiled) {
		TIFFGetField(t, TIFFTAG_TILEWIDTH, &w);
		TIFFGetField(t, TIFFTAG_TILELENGTH, &h);
		r->stride = (size_t)TIFFTileRowSize(t);
		r->unit_bytes = (size_t)TIFFTileSize(t);
	} else {
		TIFFGetFieldDefaulted(t, TIFFTAG_ROWSPERSTRIP, &h);
		w = (uint32_t)p->stored_w;
		r->stride = (size_t)TIFFScanlineSize(t);
		r->unit_bytes = (size_t)TIFFStripSize(t);
	}
	if (p->way == TIFF_PALETTE) {
		if (!TIFFGetField(t, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
			return -1;
		for (int i = 0; i < 3; i++)
			r->palette.map[i] = map[i];
		r->palette.shift = tiffpage_palette_shift(t, p->bits);
	}
	if (!w || !h || !r->stride || !r->unit_bytes)
		return -1;
	r->unit_w = w;
	r->unit_h = h < p->stored_h || p->tiled ? h : p->stored_h;
	r->row = p->stored_w * p->planes * img_type_size(p->type);
	r->band_h = r->unit_h * (1 + BAND / r->row / r->unit_h);
	if (r->band_h > p->stored_h)
		r->band_h = (p->stored_h + r->unit_h - 1) / r->unit_h * r->unit_h;
	if (!weir_mul(r->band_h, r->row, &bytes))
		return -1;
	r->unit = weir_alloc(r->unit_bytes, 1);
	r->band = weir_alloc(bytes, 1);
	return r->unit && r->band ? 0 : -1;
}

/* --- rotated pages ---------------------------------------------------------------------------------------------------- */

/* A page that must be turned. It is held as a whole. */
struct turn {
	const struct tiffpage *p;
	char *page;
	size_t have; /* bytes */
};

static void
keep(void *to, const void *rows, size_t n)
{
	struct turn *v = to;
	const size_t bytes = n * v->p->stored_w * v->p->planes * img_type_size(v->p->type);

	memcpy(v->page + v->have, rows, bytes);
	v->have += bytes;
}

/*
 * Makes row y of the page as it is shown. Orientations 2 and 3 reverse columns, 3 and 4 reverse rows. 5 to 8 first exchange
 * rows and columns.
 */
static void
turn_row(const struct turn *v, size_t y, char *row)
{
	const struct tiffpage *p = v->p;
	const size_t pixel = p->planes * img_type_size(p->type);
	const unsigned o = p->orientation;
	const bool swap = o > 4, flip_x = o == 2 || o == 3 || o == 6 || o == 7,
		   flip_y = o == 3 || o == 4 || o == 7 || o == 8;

	for (size_t x = 0; x < p->w; x++) {
		const size_t shown_x = flip_x ? p->w - 1 - x : x,
			     shown_y = flip_y ? p->h - 1 - y : y;
		const size_t from_x = swap ? shown_y : shown_x, from_y = swap ? shown_x : shown_y;

		memcpy(row + x * pixel, v->page + (from_y * p->stored_w + from_x) * pixel, pixel);
	}
}

static int
put_bands(TIFF *t, const struct tiffpage *p, size_t layer, const struct sink *out)
{
	struct reader r;
	int status = open_reader(&r, t, p, layer);

	for (size_t y = 0; !status && y < p->stored_h; y += r.band_h) {
		const size_t n = p->stored_h - y < r.band_h ? p->stored_h - y : r.band_h;

		status = load_band(&r, y);
		if (p->way == TIFF_INVERT)
			unpack_invert(r.band, n * p->stored_w * p->planes, p->type, p->bits);
		if (!status)
			out->put(out->to, r.band, n);
	}
	weir_free(r.unit);
	weir_free(r.band);
	return status;
}

static int
put_rgba(TIFF *t, const struct tiffpage *p, size_t layer, const struct sink *out)
{
	uint32_t *raster = weir_alloc(p->stored_w * p->stored_h, sizeof *raster);
	unsigned char *row = weir_alloc(p->stored_w, 3);
	int status = -1;

	(void)layer; /* there is one */
	if (raster && row &&
	    TIFFReadRGBAImageOriented(t, (uint32_t)p->stored_w, (uint32_t)p->stored_h, raster,
				      p->orientation, 1)) {
		status = 0;
		for (size_t y = 0; y < p->stored_h; y++) {
			for (size_t x = 0; x < p->stored_w; x++) {
				const uint32_t v = raster[y * p->stored_w + x];
				row[3 * x] = (unsigned char)TIFFGetR(v);
				row[3 * x + 1] = (unsigned char)TIFFGetG(v);
				row[3 * x + 2] = (unsigned char)TIFFGetB(v);
			}
			out->put(out->to, row, 1);
		}
	}
	weir_free(raster);
	weir_free(row);
	return status;
}

/*
 * Reads a layer of the page from the top, and puts it into out, a band at a time. The samples have the item's type. Returns 0,
 * or -1 when libtiff failed or there was no memory; tiff_why() says which.
 */
static int
tiffpage_rows(TIFF *t, const struct tiffpage *p, size_t layer, const struct sink *out)
{
	int (*const read)(TIFF *, const struct tiffpage *, size_t, const struct sink *) =
	    p->way == TIFF_RGBA ? put_rgba : put_bands;
	struct turn v = {.p = p};
	int status;

	if (p->orientation == ORIENTATION_TOPLEFT)
		return read(t, p, layer, out);
	v.page = weir_alloc(p->h, tiffpage_row(p));
	char *row = weir_alloc(tiffpage_row(p), 1);
	status = v.page && row ? read(t, p, layer, &(struct sink){keep, &v}) : -1;
	for (size_t y = 0; !status && y < p->h; y++) {
		turn_row(&v, y, row);
		out->put(out->to, row, 1);
	}
	weir_free(v.page);
	weir_free(row);
	return status;
}

/* ---- the program ---- */

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
    {.name = "pages",
     .kind = OPT_WORD,
     .at = offsetof(struct args, pages),
     .arg = "HOW",
     .help = "%s: pages as one item, or an item each (stack)",
     .words = "stack|items"},
    {.name = "nan",
     .kind = OPT_FLAG,
     .at = offsetof(struct args, nan),
     .help = "missing samples become NaN, of integers too, and the others floats"},
    {.name = "indices",
     .kind = OPT_FLAG,
     .at = offsetof(struct args, indices),
     .help = "keep the indices of a palette, instead of its colours"},
    {0}};

static const struct opt_program program = {.what = "Turns the pages of TIFF files into raw items.",
					   .table = table,
					   .operands = "[FILE ...]",
					   .max_operands = SIZE_MAX};

/* An open file, and where its pages and masks are. */
struct source {
	const struct door *door;
	TIFF *t;
	bool indices; /* those of palettes stay what they are */
	struct tiffpages pages, masks;
};

/* Dies with libtiff's message about the failure or, if there is none, with ours. */
static _Noreturn void
die_tiff(const struct source *s, const struct tiffpages_page *p, const char *ours)
{
	const char *why = tiff_why();

	die("%s: page %zu: %s", s->door->name, p->number, *why ? why : ours);
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
	struct tiffpages_seen seen;

	if (tiffpages_find(s->t, s->indices, &s->pages, args->nan ? &s->masks : NULL, &seen, &why))
		die("%s: %s", s->door->name, why.text);
	if (seen.copies)
		warn("%s: %zu small copies are left out", s->door->name, seen.copies);
	if (seen.masks && !args->nan)
		warn("%s: %zu masks of missing pixels are left out; see --nan", s->door->name,
		     seen.masks);
	for (size_t i = 0; i < s->masks.n; i++)
		if (!has_mask(s->pages.at, s->pages.n, i + 1))
			warn("%s: page %zu: this mask does not fit the page before it, and is left "
			     "out",
			     s->door->name, s->masks.at[i].number);
}

static void
insist_alike(const struct source *s)
{
	for (size_t i = 1; i < s->pages.n; i++)
		if (!tiffpage_alike(&s->pages.at[0].layout, &s->pages.at[i].layout))
			die("%s: page %zu differs in shape or type from page %zu; see "
			    "--pages=items",
			    s->door->name, s->pages.at[i].number, s->pages.at[0].number);
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
	return m->n <= (s->door->bytes - *offset) / (p->h * tiffpage_row(p)) &&
	       *offset < s->door->bytes;
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
		if (pread(s->door->fd, band, some * row, (off_t)offset) != (ssize_t)(some * row))
			die("%s: the samples end before the stack does", s->door->name);
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

static void
keep_rows(void *to, const void *rows, size_t n)
{
	struct missing *d = to;

	memcpy(d->mask + d->at, rows, n * d->w);
	d->at += n * d->w;
}

/* Loads the mask of the page for missing_mark(). */
static void
load_mask(const struct source *s, const struct tiffpages_page *p, struct missing *d)
{
	if (!p->mask)
		return;
	const struct tiffpages_page *mask = &s->masks.at[p->mask - 1];

	d->w = p->layout.w;
	d->mask = weir_xalloc(d->w, p->layout.h);
	d->at = 0;
	go_to(s, mask);
	if (tiffpage_rows(s->t, &mask->layout, 0, &(struct sink){keep_rows, d}))
		die_tiff(s, mask, "its samples cannot be read");
	d->at = 0;
}

/* --- items ---------------------------------------------------------------------------------------------------------- */

/* What keys of a page say, and its item does not. */
static void
settle_keys(const struct source *s, const struct tiffpages_page *p, struct img *x)
{
	const enum tiffway way = p->layout.way;

	tiff_keep_tags(s->t, x, s->door->name);
	if (way == TIFF_PLAIN || way == TIFF_HALF || way == TIFF_FLOAT24)
		tiff_range_of(s->t, x);
	if (way != TIFF_PALETTE || !img_key(x, "nodata"))
		return;
	warn("%s: the missing index %s becomes a colour; see --indices", s->door->name,
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
		warn("%s: page %zu: %zu %s are not in the file, and hold no data", s->door->name,
		     p->number, absent, p->layout.tiled ? "tiles" : "strips");
	tiff_doubt();
	for (size_t k = 0; k < p->layout.layers; k++) {
		o->missing->at = 0;
		if (tiffpage_rows(s->t, &p->layout, k, &(struct sink){put_rows, o}))
			die_tiff(s, p, "its samples cannot be read");
	}
	const char *doubt = tiff_doubt();
	if (*doubt)
		warn("%s: page %zu: its samples are damaged: %s", s->door->name, p->number, doubt);
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
	door_limit(s->door->name, &x, args->common.max_bytes);
	if (args->common.verbose)
		warn("%s: item %ju: %s, %zu x %zu, %zu planes, %zu pages", s->door->name,
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
		    s->door->name, (uintmax_t)missing.kept, img_key(&x, "nodata"));
	missing_free(&missing);
	img_free(&x);
	st->items++;
}

static void
convert_file(const void *context, const struct door *door, struct raw_out *out, struct stats *st)
{
	const struct args *args = context;
	struct source s = {.door = door, .indices = args->indices};

	/* m: libtiff reads the file and does not map it. A file that shrinks is then an error instead of a signal. */
	s.t = TIFFOpen(door->path, "rm");
	if (!s.t) {
		const char *why = tiff_why();
		door_refuse_foreign(door);
		die("%s: %s", door->name, *why ? why : "this is no TIFF file");
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
	door_each(args.path, args.npath, &args.common, convert_file, &args);
	return 0;
}
