/* link: -ltiff */
/* The rows of a page, converted to samples of an item, a band at a time. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/sample.h"
#include "common/convert/tiffpage.h"
#include "common/convert/unpack.h"

enum { BAND = 1 << 20 }; /* bytes to read at a time, or a strip or a row of tiles if that is more */

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

size_t
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
	    sample_store(r->unit, &v, r->p->type, 1) != 1)
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
		else if (p->way == TIFF_HALF)
			unpack_half((float *)(void *)to, from, w * here, apart);
		else if (p->way == TIFF_FLOAT24)
			unpack_float24((float *)(void *)to, from, w * here, apart);
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
put_bands(TIFF *t, const struct tiffpage *p, size_t layer,
	  void (*put)(void *to, const void *rows, size_t n), void *to)
{
	struct reader r;
	int status = open_reader(&r, t, p, layer);

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
put_rgba(TIFF *t, const struct tiffpage *p, size_t layer,
	 void (*put)(void *to, const void *rows, size_t n), void *to)
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
			put(to, row, 1);
		}
	}
	weir_free(raster);
	weir_free(row);
	return status;
}

int
tiffpage_rows(TIFF *t, const struct tiffpage *p, size_t layer,
	      void (*put)(void *to, const void *rows, size_t n), void *to)
{
	int (*const read)(TIFF *, const struct tiffpage *, size_t,
			  void (*)(void *, const void *, size_t), void *) =
	    p->way == TIFF_RGBA ? put_rgba : put_bands;
	struct turn v = {.p = p};
	int status;

	if (p->orientation == ORIENTATION_TOPLEFT)
		return read(t, p, layer, put, to);
	v.page = weir_alloc(p->h, tiffpage_row(p));
	char *row = weir_alloc(tiffpage_row(p), 1);
	status = v.page && row ? read(t, p, layer, keep, &v) : -1;
	for (size_t y = 0; !status && y < p->h; y++) {
		turn_row(&v, y, row);
		put(to, row, 1);
	}
	weir_free(v.page);
	weir_free(row);
	return status;
}
