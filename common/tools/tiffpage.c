/* link: -ltiff */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/tools/tiffpage.h"
#include "common/tools/unpack.h"

enum { BAND = 1 << 20 }; /* bytes to read at a time, or a strip or a row of tiles if that is more */

/* --- layout ---------------------------------------------------------------------------------------------------------- */

static enum img_type
type_of(unsigned format, unsigned bits)
{
	if (format == SAMPLEFORMAT_IEEEFP)
		return bits == 16 || bits == 32 ? IMG_F32 : bits == 64 ? IMG_F64 : IMG_NONE;
	if (format == SAMPLEFORMAT_INT)
		return bits == 8    ? IMG_I8
		       : bits == 16 ? IMG_I16
		       : bits == 32 ? IMG_I32
		       : bits == 64 ? IMG_I64
				    : IMG_NONE;
	/* Complex samples of one plane are floats by now. */
	if (format != SAMPLEFORMAT_UINT || bits < 1 || (bits > 32 && bits != 64))
		return IMG_NONE;
	return bits <= 8 ? IMG_U8 : bits <= 16 ? IMG_U16 : bits <= 32 ? IMG_U32 : IMG_U64;
}

static const char *
kind_of(const struct tiffpage *p)
{
	if (p->complex)
		return "complex";
	if (p->planes == 1)
		return NULL;
	switch (p->photometric) {
	case PHOTOMETRIC_RGB:
	case PHOTOMETRIC_PALETTE:
	case PHOTOMETRIC_YCBCR:
		return p->planes == 3 ? "RGB-color" : p->planes == 4 ? "RGBA-color" : "vector";
	case PHOTOMETRIC_LOGLUV:
		return p->planes == 3 ? "XYZ-color" : "vector";
	case PHOTOMETRIC_CIELAB:
	case PHOTOMETRIC_ICCLAB:
	case PHOTOMETRIC_ITULAB:
		return p->planes == 3 ? "3-color" : "vector";
	case PHOTOMETRIC_SEPARATED:
		return p->planes == 4 ? "4-color" : "vector";
	default:
		return "vector";
	}
}

/* Chooses libtiff's own conversion to 8 bits, for samples that only libtiff can convert. */
static const char *
read_as_rgba(TIFF *t, struct tiffpage *p)
{
	char why[1024];

	if (p->bits != 8 || !TIFFRGBAImageOK(t, why))
		return "its YCbCr samples are of a layout that is not supported";
	p->way = TIFF_RGBA;
	p->planes = 3;
	p->type = IMG_U8;
	return NULL;
}

/*
 * How far the palette's entries are shifted right to become bytes v. The shift is 8 when all entries are v * 257, or v * 256
 * as some programs write them. It is 0 when they are v itself, as others write them. It is -1 when they need 16 bits.
 */
static int
palette_shift(TIFF *t, unsigned bits)
{
	bool high = true, low = true;
	uint16_t *map[3];

	if (!TIFFGetField(t, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
		return -1;
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < (size_t)1 << bits; i++) {
			const unsigned v = map[k][i];
			high &= (v & 255) == v >> 8 || !(v & 255);
			low &= v < 256;
		}
	return low ? 0 : high ? 8 : -1;
}

static const char *
choose_way(TIFF *t, struct tiffpage *p, uint16_t compression)
{
	const bool jpeg = compression == COMPRESSION_JPEG;

	if (p->photometric == PHOTOMETRIC_YCBCR && jpeg)
		TIFFSetField(t, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
	else if (p->photometric == PHOTOMETRIC_YCBCR || compression == COMPRESSION_OJPEG)
		return read_as_rgba(t, p);
	if (p->photometric == PHOTOMETRIC_PALETTE) {
		if (p->planes != 1 || p->bits > 16 || p->format != SAMPLEFORMAT_UINT)
			return "its palette is of a layout that is not supported";
		p->way = TIFF_PALETTE;
		p->planes = 3;
		p->type = palette_shift(t, p->bits) < 0 ? IMG_U16 : IMG_U8;
	} else if (p->photometric == PHOTOMETRIC_MINISWHITE && p->format == SAMPLEFORMAT_UINT) {
		p->way = TIFF_INVERT;
	} else if (p->format == SAMPLEFORMAT_IEEEFP && p->bits == 16) {
		p->way = TIFF_HALF;
	}
	return NULL;
}

static void
read_format(TIFF *t, struct tiffpage *p)
{
	TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &p->format);
	if (p->format == SAMPLEFORMAT_VOID)
		p->format = SAMPLEFORMAT_UINT;
	if (p->format == SAMPLEFORMAT_COMPLEXIEEEFP && p->stored_planes == 1) {
		p->complex = true;
		p->planes = p->stored_planes = 2;
		p->bits /= 2;
		p->format = SAMPLEFORMAT_IEEEFP;
	}
}

const char *
tiffpage_read(TIFF *t, struct tiffpage *p)
{
	uint16_t bits, planes, config, compression;
	uint32_t w = 0, h = 0;

	*p = (struct tiffpage){.orientation = ORIENTATION_TOPLEFT};
	if (!TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &w) || !TIFFGetField(t, TIFFTAG_IMAGELENGTH, &h) ||
	    !w || !h)
		return "it has no width or no height";
	TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &compression);
	if (!TIFFIsCODECConfigured(compression))
		return "its compression is not one that libtiff was built with";
	TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &planes);
	if (!TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &p->photometric))
		p->photometric = planes < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
	if (p->photometric == PHOTOMETRIC_LOGL || p->photometric == PHOTOMETRIC_LOGLUV)
		TIFFSetField(t, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT);
	TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &bits);
	TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &config);
	TIFFGetFieldDefaulted(t, TIFFTAG_ORIENTATION, &p->orientation);
	p->stored_w = w;
	p->stored_h = h;
	p->bits = bits;
	p->planes = p->stored_planes = planes;
	p->tiled = TIFFIsTiled(t);
	read_format(t, p);
	p->separate = config == PLANARCONFIG_SEPARATE && planes > 1;
	p->type = type_of(p->format, p->bits);
	if (!p->type || !planes)
		return "its samples are of a type that is not supported";
	if (p->orientation < 1 || p->orientation > 8)
		p->orientation = ORIENTATION_TOPLEFT;
	p->w = p->orientation > 4 ? h : w;
	p->h = p->orientation > 4 ? w : h;
	const char *why = choose_way(t, p, compression);
	const bool whole = p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64;
	p->maxval = whole || p->way == TIFF_PALETTE || p->bits > 16 ? 0 : (1u << p->bits) - 1;
	p->kind = kind_of(p);
	return why;
}

bool
tiffpage_alike(const struct tiffpage *a, const struct tiffpage *b)
{
	return a->w == b->w && a->h == b->h && a->planes == b->planes && a->type == b->type &&
	       a->maxval == b->maxval &&
	       (a->kind ? b->kind && !strcmp(a->kind, b->kind) : !b->kind);
}

size_t
tiffpage_row(const struct tiffpage *p)
{
	return p->w * p->planes * img_type_size(p->type);
}

/* --- bands ------------------------------------------------------------------------------------------------------------ */

/* What the reading of a page needs. Rows are those of the page as stored; samples are those of the item. */
struct reader {
	TIFF *t;
	const struct tiffpage *p;
	size_t unit_w, unit_h;	   /* of a tile or strip */
	size_t unit_bytes, stride; /* of a tile or strip from libtiff; of one row of it */
	size_t row;		   /* bytes of a row of the band */
	unsigned char *unit;
	char *band; /* rows of the item */
	size_t band_h;
	struct palette palette;
};

static int
load_unit(struct reader *r, size_t x, size_t y, size_t plane)
{
	const uint32_t i = r->p->tiled
			       ? TIFFComputeTile(r->t, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane)
			       : TIFFComputeStrip(r->t, (uint32_t)y, (uint16_t)plane);
	const tmsize_t n = (tmsize_t)r->unit_bytes;
	/* A strip at the end of the page is shorter than the others. */
	const size_t rows = r->p->stored_h - y < r->unit_h ? r->p->stored_h - y : r->unit_h;
	const tmsize_t got = r->p->tiled ? TIFFReadEncodedTile(r->t, i, r->unit, n)
					 : TIFFReadEncodedStrip(r->t, i, r->unit, n);

	/* In both byte orders, TIFF 6.0 packs samples of 24 bits highest bit first. libtiff swaps them in one of the two. */
	if (r->p->bits == 24 && got > 0 && TIFFIsByteSwapped(r->t))
		TIFFSwabArrayOfTriples(r->unit, got / 3);
	return got < 0 || (size_t)got < (rows - 1) * r->stride + 1 ? -1 : 0;
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
		char *to = r->band + (y - y0 + i) * r->row + (x * p->planes + plane) * size;
		const unsigned char *from = r->unit + i * r->stride;

		if (p->way == TIFF_PALETTE)
			unpack_palette(to, from, w, p->bits, &r->palette);
		else if (p->way == TIFF_HALF)
			unpack_half((float *)(void *)to, from, w * here, apart);
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
				if (load_unit(r, x, y, plane))
					return -1;
				lay_unit(r, x, y, plane, y0);
			}
	return 0;
}

static int
open_reader(struct reader *r, TIFF *t, const struct tiffpage *p)
{
	uint32_t w = 0, h = 0;
	uint16_t *map[3];
	size_t bytes;

	*r = (struct reader){.t = t, .p = p};
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
		r->palette.shift = palette_shift(t, p->bits);
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
put_bands(TIFF *t, const struct tiffpage *p, void (*put)(void *to, const void *rows, size_t n),
	  void *to)
{
	struct reader r;
	int status = open_reader(&r, t, p);

	for (size_t y = 0; !status && y < p->stored_h; y += r.band_h) {
		const size_t n = p->stored_h - y < r.band_h ? p->stored_h - y : r.band_h;

		status = load_band(&r, y);
		if (p->way == TIFF_INVERT)
			unpack_invert(r.band, n * p->stored_w * p->planes, p->type, p->bits);
		if (!status)
			put(to, r.band, n);
	}
	weir_free(r.unit);
	weir_free(r.band);
	return status;
}

static int
put_rgba(TIFF *t, const struct tiffpage *p, void (*put)(void *to, const void *rows, size_t n),
	 void *to)
{
	uint32_t *raster = weir_alloc(p->stored_w * p->stored_h, sizeof *raster);
	unsigned char *row = weir_alloc(p->stored_w, 3);
	int status = -1;

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
			put(to, row, 1);
		}
	}
	weir_free(raster);
	weir_free(row);
	return status;
}

int
tiffpage_rows(TIFF *t, const struct tiffpage *p, void (*put)(void *to, const void *rows, size_t n),
	      void *to)
{
	int (*const read)(TIFF *, const struct tiffpage *, void (*)(void *, const void *, size_t),
			  void *) = p->way == TIFF_RGBA ? put_rgba : put_bands;
	struct turn v = {.p = p};
	int status;

	if (p->orientation == ORIENTATION_TOPLEFT)
		return read(t, p, put, to);
	v.page = weir_alloc(p->h, tiffpage_row(p));
	char *row = weir_alloc(tiffpage_row(p), 1);
	status = v.page && row ? read(t, p, keep, &v) : -1;
	for (size_t y = 0; !status && y < p->h; y++) {
		turn_row(&v, y, row);
		put(to, row, 1);
	}
	weir_free(v.page);
	weir_free(row);
	return status;
}
