/* link: -ltiff */
/* The pages of a TIFF file: their layouts, their descriptions, and their rows as samples of an item. */
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/sample.h"
#include "common/convert/tiff.h"
#include "common/stream/nodata.h"

/* --- what is refused ------------------------------------------------------------------------------------------------- */

static int
refuse_codec(uint16_t code, struct why *why)
{
	static const struct {
		uint16_t code;
		const char *name;
	} others[] = {{22610, "JPEG XR"},    {33003, "JPEG 2000"}, {33004, "JPEG 2000"},
		      {33005, "JPEG 2000"},  {34712, "JPEG 2000"}, {34713, "Nikon's NEF"},
		      {34892, "DNG's JPEG"}, {34934, "JPEG XR"},   {50002, "JPEG XL"},
		      {52546, "JPEG XL"}};
	const TIFFCodec *codec = TIFFFindCODEC(code);
	const char *name = codec ? codec->name : "unknown";

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].code == code)
			name = others[i].name;
	return why_set(why,
		       "its compression %u (%s) is none of libtiff's here; gdal_translate or "
		       "Python's tifffile may read it",
		       code, name);
}

static int
refuse_samples(const struct tiffpage *p, struct why *why)
{
	const bool floats = p->format == SAMPLEFORMAT_IEEEFP;
	const char *what = p->format == SAMPLEFORMAT_UINT  ? "unsigned integers"
			   : p->format == SAMPLEFORMAT_INT ? "signed integers"
			   : floats			   ? "floats"
							   : "numbers of an unknown format";
	if (p->complex)
		return why_set(why,
			       "its samples are complex %s of 2 x %u bits, which are not supported",
			       floats ? "floats" : "integers", p->bits);
	return why_set(why, "its samples are %s of %u bits, which are not supported", what,
		       p->bits);
}

/* --- what is read ---------------------------------------------------------------------------------------------------- */

/* The parts of complex samples have half the bits that the page says. */
static enum img_type
type_of(unsigned format, unsigned bits)
{
	if (format == SAMPLEFORMAT_COMPLEXINT)
		return bits == 8 || bits == 16 ? IMG_F32 : bits == 32 ? IMG_F64 : IMG_NONE;
	if (format == SAMPLEFORMAT_IEEEFP)
		return bits == 16 || bits == 24 || bits == 32 ? IMG_F32
		       : bits == 64			      ? IMG_F64
							      : IMG_NONE;
	if (bits < 1 || (bits > 32 && bits != 64))
		return IMG_NONE;
	if (format == SAMPLEFORMAT_INT)
		return bits <= 8 ? IMG_I8 : bits <= 16 ? IMG_I16 : bits <= 32 ? IMG_I32 : IMG_I64;
	if (format != SAMPLEFORMAT_UINT)
		return IMG_NONE;
	return bits <= 8 ? IMG_U8 : bits <= 16 ? IMG_U16 : bits <= 32 ? IMG_U32 : IMG_U64;
}

static const char *
kind_of(const struct tiffpage *p)
{
	if (p->complex)
		return "complex";
	if (p->planes == 1)
		return "";
	switch (p->photometric) {
	case PHOTOMETRIC_RGB:
	case PHOTOMETRIC_PALETTE:
	case PHOTOMETRIC_YCBCR:
		return p->planes == 3		    ? "RGB-color"
		       : p->planes == 4 && p->alpha ? "RGBA-color"
						    : "vector";
	case PHOTOMETRIC_MINISBLACK: /* so GDAL writes colours with alpha that are not of 8 bits */
		return p->planes == 4 && p->alpha ? "RGBA-color" : "vector";
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
static int
read_as_rgba(TIFF *t, struct tiffpage *p, struct why *why)
{
	char message[1024];

	if (p->bits != 8 || !TIFFRGBAImageOK(t, message))
		return why_set(why,
			       "its YCbCr samples are of a layout that libtiff does not convert");
	if (p->separate) {
		uint16_t across = 1, down = 1;
		TIFFGetFieldDefaulted(t, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
		if (across > 1 || down > 1)
			return why_set(
			    why, "its planes Y, Cb and Cr have different sizes, which libtiff does "
				 "not read");
	}
	p->way = TIFF_RGBA;
	p->planes = 3;
	p->type = IMG_U8;
	return 0;
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

static int
choose_way(TIFF *t, struct tiffpage *p, uint16_t compression, bool indices, struct why *why)
{
	const bool jpeg = compression == COMPRESSION_JPEG;

	if (p->photometric == PHOTOMETRIC_YCBCR && jpeg)
		TIFFSetField(t, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
	else if (p->photometric == PHOTOMETRIC_YCBCR || compression == COMPRESSION_OJPEG)
		return read_as_rgba(t, p, why);
	if (p->photometric == PHOTOMETRIC_PALETTE) {
		if (p->bits > 16 || p->format != SAMPLEFORMAT_UINT)
			return why_set(why, "its palette is of a layout that is not supported");
		if (indices)
			return 0;
		/* The planes beside the indices follow the colours. */
		const int shift = palette_shift(t, p->bits);
		if (p->planes > 1 && (p->bits != 8 || shift < 0))
			return why_set(
			    why,
			    "its palette has planes beside it, which have another number of bits "
			    "than the colours; see --indices");
		p->way = TIFF_PALETTE;
		p->planes += 2;
		p->type = shift < 0 ? IMG_U16 : IMG_U8;
	} else if (p->photometric == PHOTOMETRIC_MINISWHITE && p->format == SAMPLEFORMAT_UINT) {
		p->way = TIFF_INVERT;
	} else if (p->format == SAMPLEFORMAT_IEEEFP && p->bits < 32) {
		p->way = p->bits == 16 ? TIFF_HALF : TIFF_FLOAT24;
	}
	return 0;
}

static void
read_format(TIFF *t, struct tiffpage *p)
{
	TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &p->format);
	if (p->format == SAMPLEFORMAT_VOID)
		p->format = SAMPLEFORMAT_UINT;
	if (p->format != SAMPLEFORMAT_COMPLEXINT && p->format != SAMPLEFORMAT_COMPLEXIEEEFP)
		return;
	p->complex = true;
	p->layers = p->planes;
	p->planes = p->stored_planes = 2;
	p->bits /= 2;
	if (p->format == SAMPLEFORMAT_COMPLEXIEEEFP)
		p->format = SAMPLEFORMAT_IEEEFP;
	else
		p->way = TIFF_INTEGERS;
}

/* What the last plane is, if it is the one that is alpha. */
static uint16_t
last_alpha(TIFF *t)
{
	uint16_t n = 0, *extra = NULL;

	if (!TIFFGetField(t, TIFFTAG_EXTRASAMPLES, &n, &extra) || !n)
		return 0;
	const uint16_t last = extra[n - 1];
	for (uint16_t i = 0; i + 1 < n; i++)
		if (extra[i] != EXTRASAMPLE_UNSPECIFIED)
			return 0;
	return last == EXTRASAMPLE_ASSOCALPHA || last == EXTRASAMPLE_UNASSALPHA ? last : 0;
}

int
tiffpage_read(TIFF *t, bool indices, struct tiffpage *p, struct why *why)
{
	uint16_t bits, planes, config, compression;
	uint32_t w = 0, h = 0;

	*p = (struct tiffpage){.orientation = ORIENTATION_TOPLEFT, .layers = 1};
	if (!TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &w) || !TIFFGetField(t, TIFFTAG_IMAGELENGTH, &h) ||
	    !w || !h)
		return why_set(why, "it has no width or no height");
	TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &compression);
	if (!TIFFIsCODECConfigured(compression))
		return refuse_codec(compression, why);
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
	p->separate = config == PLANARCONFIG_SEPARATE && planes > 1 && !p->complex;
	p->separate_layers = config == PLANARCONFIG_SEPARATE && p->layers > 1;
	p->facsimile = compression == COMPRESSION_CCITTRLE ||
		       compression == COMPRESSION_CCITTRLEW ||
		       compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
	/* Rows of facsimiles have a bit a pixel. libtiff would leave the other planes as they are in memory. */
	if (p->facsimile && planes > 1 && !p->separate)
		return why_set(
		    why, "its compression (%s) holds one sample of a pixel, and its pixels have %u",
		    TIFFFindCODEC(compression)->name, planes);
	p->type = type_of(p->format, p->bits);
	if (!p->type || (p->complex && p->bits == 24))
		return refuse_samples(p, why);
	if (p->orientation < 1 || p->orientation > 8)
		p->orientation = ORIENTATION_TOPLEFT;
	p->w = p->orientation > 4 ? h : w;
	p->h = p->orientation > 4 ? w : h;
	const int status = choose_way(t, p, compression, indices, why);
	const bool whole = p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64;
	p->maxval =
	    whole || p->way == TIFF_PALETTE || p->bits > 16 || p->format != SAMPLEFORMAT_UINT
		? 0
		: (1u << p->bits) - 1;
	p->alpha = p->way == TIFF_RGBA || p->complex ? 0 : last_alpha(t);
	p->kind = kind_of(p);
	return status;
}

bool
tiffpage_alike(const struct tiffpage *a, const struct tiffpage *b)
{
	return a->w == b->w && a->h == b->h && a->planes == b->planes && a->layers == b->layers &&
	       a->type == b->type && a->maxval == b->maxval && a->alpha == b->alpha &&
	       !strcmp(a->kind, b->kind);
}

/* ---- runs of pages ---- */

const char *
tiffpage_text(TIFF *t, const struct tiffpage *p)
{
	const char *text;

	return p->layers < 2 && TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text) ? text : "";
}

struct stackpage
tiffpage_stack(const struct tiffpage *p, size_t pages, const char *name)
{
	return (struct stackpage){p->complex ? p->layers : p->stored_planes, p->w, p->h, pages,
				  name};
}

/* Reads an unsigned number of so many bytes of the file. */
static uint64_t
number_at(TIFF *t, uint64_t at, size_t bytes)
{
	unsigned char b[8];

	return pread(TIFFFileno(t), b, bytes, (off_t)at) == (ssize_t)bytes
		   ? bytes_load(b, bytes, !TIFFIsBigEndian(t))
		   : 0;
}

/*
 * Whether the first strip is shorter than its rows, by the tag StripByteCounts. libtiff puts another number in its place then,
 * and reads what lies behind the strip.
 */
static bool
is_short(TIFF *t, const struct tiffpage *p)
{
	const size_t word = TIFFIsBigTIFF(t) ? 8 : 4, lead = TIFFIsBigTIFF(t) ? 8 : 2;
	const uint64_t start = TIFFCurrentDirOffset(t), n = number_at(t, start, lead);
	uint16_t compression;
	uint32_t rows;

	TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &compression);
	TIFFGetFieldDefaulted(t, TIFFTAG_ROWSPERSTRIP, &rows);
	if (compression != COMPRESSION_NONE || p->tiled)
		return false;
	for (uint64_t i = 0, at = start + lead; i < n; i++, at += 4 + 2 * word) {
		const uint64_t type = number_at(t, at + 2, 2), count = number_at(t, at + 4, word);
		const size_t size = type == TIFF_SHORT ? 2 : type == TIFF_LONG ? 4 : 8;
		const uint64_t value = at + 4 + word;
		if (number_at(t, at, 2) != TIFFTAG_STRIPBYTECOUNTS)
			continue;
		const uint64_t bytes =
		    number_at(t, count * size > word ? number_at(t, value, word) : value, size);
		return bytes && bytes < TIFFVStripSize64(
					    t, p->stored_h < rows ? (uint32_t)p->stored_h : rows);
	}
	return false;
}

static int
add(TIFF *t, bool indices, size_t number, struct tiffpages *l, struct why *why)
{
	l->at = weir_xgrow(l->at, &l->room, l->n + 1, sizeof *l->at);
	struct tiffpages_page *p = &l->at[l->n++];
	*p = (struct tiffpages_page){.number = number, .offset = TIFFCurrentDirOffset(t)};
	if (tiffpage_read(t, indices, &p->layout, why))
		return -1;
	if (is_short(t, &p->layout))
		return why_set(why, "its strips are shorter than their rows");
	const char *text = tiffpage_text(t, &p->layout);
	const struct stackpage page = tiffpage_stack(&p->layout, 1, NULL);
	struct stackmeta m;
	if (*text == '{')
		p->begins = stackmeta_read(text, 0, &page, &m) && m.n > 1;
	return 0;
}

int
tiffpages_find(TIFF *t, bool indices, struct tiffpages *pages, struct tiffpages *masks,
	       struct why *why)
{
	struct why own = {0};
	size_t number = 0;
	int status = 0;

	do {
		uint32_t kind = 0; /* of the directory: a page, a small copy of one, or a mask */
		TIFFGetFieldDefaulted(t, TIFFTAG_SUBFILETYPE, &kind);
		kind &= FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
		if (!kind)
			status = add(t, indices, number, pages, &own);
		else if (kind == FILETYPE_MASK && masks)
			status = add(t, indices, number, masks, &own);
		/* A mask is that of the page before it, if it fits and is the first to do so. */
		if (!status && kind == FILETYPE_MASK && masks && pages->n) {
			struct tiffpages_page *page = &pages->at[pages->n - 1];
			const struct tiffpage *mask = &masks->at[masks->n - 1].layout;
			if (!page->mask && mask->w == page->layout.w && mask->h == page->layout.h &&
			    mask->planes == 1 && mask->type == IMG_U8)
				page->mask = masks->n;
		}
		pages->copies += (kind & FILETYPE_REDUCEDIMAGE) != 0;
		pages->masks += kind == FILETYPE_MASK;
		if (!status)
			tiff_why();
	} while (!status && ++number && TIFFReadDirectory(t));
	pages->all = number;
	pages->ring = !TIFFLastDirectory(t);
	const char *what = status ? own.text : tiff_why();
	if (*what)
		return why_set(why, "page %zu: %s", number, what);
	if (!pages->n)
		return why_set(why, "it has small copies and masks alone, and no page");
	return 0;
}

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

/*
 * Unpacks n samples of `bits` bits each. Samples of 8, 16, 32 and 64 bits are in this machine's byte order; others are packed
 * highest bit first, and those of signed types are two's complements. Sample i becomes to[i * apart].
 */
static void
unpack_samples(void *to, const unsigned char *from, size_t n, unsigned bits, enum img_type type,
	       size_t apart)
{
	const size_t size = img_type_size(type);
	const bool is_signed = type == IMG_I8 || type == IMG_I16 || type == IMG_I32;
	const uint32_t sign = is_signed ? 1u << (bits - 1) : 0;

	if (bits == 8 * size) {
		if (apart == 1)
			memcpy(to, from, n * size);
		else
			sample_copy(to, apart, from, 1, n, size);
		return;
	}
	for (size_t i = 0; i < n; i++)
		store(to, i * apart, size, (bits_at(from, i, bits) ^ sign) - sign);
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

/* Reads a tile or strip that is not compressed, p->shift bytes behind its place. */
static tmsize_t
read_behind(struct reader *r, uint32_t i)
{
	const uint64_t n = TIFFGetStrileByteCount(r->t, i), at = TIFFGetStrileOffset(r->t, i);
	const size_t most = n < r->unit_bytes ? (size_t)n : r->unit_bytes, bits = r->p->bits;
	const ssize_t got = pread(TIFFFileno(r->t), r->unit, most, (off_t)(at + r->p->shift));

	if (got > 0 && TIFFIsByteSwapped(r->t) && (bits == 16 || bits == 32 || bits == 64))
		swap_bytes(r->unit, (size_t)got / (bits / 8), bits / 8);
	if (got > 0 && TIFFIsByteSwapped(r->t) && bits == 24)
		TIFFSwabArrayOfTriples(r->unit, got / 3);
	return got;
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
	const tmsize_t got = r->p->shift   ? read_behind(r, i)
			     : r->p->tiled ? TIFFReadEncodedTile(r->t, i, r->unit, n)
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
			for (size_t k = 0; k < w * here; k++)
				((float *)(void *)to)[k * apart] =
				    p->bits == 16
					? float_of_bits(value_at(from, k, 16), 5, 10)
					: float_of_bits((uint32_t)bytes_load(from + 3 * k, 3, true),
							7, 16);
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

/* --- turned pages ---------------------------------------------------------------------------------------------------- */

/*
 * Makes row y of the page as it is shown. Orientations 2 and 3 reverse columns, 3 and 4 reverse rows. 5 to 8 first exchange
 * rows and columns.
 */
static void
turn_row(const struct tiffpage *p, const char *page, size_t y, char *row)
{
	const size_t pixel = p->planes * img_type_size(p->type);
	const unsigned o = p->orientation;
	const bool swap = o > 4, flip_x = o == 2 || o == 3 || o == 6 || o == 7,
		   flip_y = o == 3 || o == 4 || o == 7 || o == 8;

	for (size_t x = 0; x < p->w; x++) {
		const size_t shown_x = flip_x ? p->w - 1 - x : x,
			     shown_y = flip_y ? p->h - 1 - y : y;
		const size_t from_x = swap ? shown_y : shown_x, from_y = swap ? shown_x : shown_y;
		memcpy(row + x * pixel, page + (from_y * p->stored_w + from_x) * pixel, pixel);
	}
}

/* Makes 2^bits - 1 - v of the first sample v of each pixel of the band: 0 was white. The planes beside it have no white. */
static void
invert(const struct reader *r, size_t pixels)
{
	const struct tiffpage *p = r->p;
	const size_t size = img_type_size(p->type), pixel = p->planes * size;
	const uint64_t mask = UINT64_MAX >> (64 - p->bits);

	if (p->planes == 1 && (size == 1 || p->bits == 8 * size)) { /* all bytes are alike */
		for (size_t i = 0; i < pixels * size; i++)
			r->band[i] ^= (char)mask;
		return;
	}
	for (size_t i = 0; i < pixels; i++)
		for (size_t k = 0; k < size; k++)
			r->band[i * pixel + k] ^= (char)(mask >> 8 * k);
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
			invert(&r, n * p->stored_w);
		if (!status)
			out->put(out->to, r.band, n);
	}
	weir_free_all(r.unit, r.band);
	return status;
}

static int
put_rgba(TIFF *t, const struct tiffpage *p, const struct sink *out)
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
			out->put(out->to, row, 1);
		}
	}
	weir_free_all(raster, row);
	return status;
}

static int
put_layer(TIFF *t, const struct tiffpage *p, size_t layer, const struct sink *out)
{
	return p->way == TIFF_RGBA ? put_rgba(t, p, out) : put_bands(t, p, layer, out);
}

void
tiffpage_keep(void *to, const void *rows, size_t n)
{
	struct kept *k = to;

	memcpy(k->at, rows, n * k->row);
	k->at += n * k->row;
}

int
tiffpage_rows(TIFF *t, const struct tiffpage *p, size_t layer, const struct sink *out)
{
	const size_t pixel = p->planes * img_type_size(p->type);

	if (p->orientation == ORIENTATION_TOPLEFT)
		return put_layer(t, p, layer, out);
	char *page = weir_alloc(p->h, p->w * pixel), *row = weir_alloc(p->w, pixel);
	struct kept kept = {page, p->stored_w * pixel};
	const struct sink keep = {tiffpage_keep, &kept};
	const int status = page && row ? put_layer(t, p, layer, &keep) : -1;
	for (size_t y = 0; !status && y < p->h; y++) {
		turn_row(p, page, y, row);
		out->put(out->to, row, 1);
	}
	weir_free_all(page, row);
	return status;
}
