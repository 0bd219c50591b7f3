/* link: -ltiff */
/* The layout of a page, and how its samples are to be read. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/convert/tiffpage.h"

/* --- what is refused ------------------------------------------------------------------------------------------------- */

static const char *
refuse(const char *fmt, ...)
{
	static char sentence[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof sentence, fmt, ap);
	va_end(ap);
	return sentence;
}

static const char *
refuse_codec(uint16_t code)
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
	return refuse(
	    "its compression %u (%s) is none of libtiff's here; gdal_translate or Python's "
	    "tifffile may read it",
	    code, name);
}

/* Rows of facsimiles have a bit a pixel. libtiff would leave the other planes as they are in memory. */
static const char *
refuse_facsimile(const TIFFCodec *codec, size_t planes)
{
	return refuse("its compression (%s) holds one sample of a pixel, and its pixels have %zu",
		      codec ? codec->name : "CCITT", planes);
}

static bool
is_facsimile(uint16_t compression)
{
	return compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW ||
	       compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
}

static const char *
refuse_samples(const struct tiffpage *p)
{
	const char *what = p->format == SAMPLEFORMAT_UINT     ? "unsigned integers"
			   : p->format == SAMPLEFORMAT_INT    ? "signed integers"
			   : p->format == SAMPLEFORMAT_IEEEFP ? "floats"
							      : "numbers of an unknown format";
	if (p->complex)
		return refuse("its samples are complex %s of 2 x %u bits, which are not supported",
			      p->format == SAMPLEFORMAT_IEEEFP ? "floats" : "integers", p->bits);
	return refuse("its samples are %s of %u bits, which are not supported", what, p->bits);
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
		return "its YCbCr samples are of a layout that libtiff does not convert";
	if (p->separate) {
		uint16_t across = 1, down = 1;

		TIFFGetFieldDefaulted(t, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
		if (across > 1 || down > 1)
			return "its planes Y, Cb and Cr have different sizes, which libtiff does "
			       "not read";
	}
	p->way = TIFF_RGBA;
	p->planes = 3;
	p->type = IMG_U8;
	return NULL;
}

int
tiffpage_palette_shift(TIFF *t, unsigned bits)
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

/* Chooses the colours of a palette. The planes beside the indices follow them. */
static const char *
read_colours(TIFF *t, struct tiffpage *p)
{
	const int shift = tiffpage_palette_shift(t, p->bits);

	if (p->planes > 1 && (p->bits != 8 || shift < 0))
		return "its palette has planes beside it, which have another number of bits than "
		       "the colours; see --indices";
	p->way = TIFF_PALETTE;
	p->planes += 2;
	p->type = shift < 0 ? IMG_U16 : IMG_U8;
	return NULL;
}

static const char *
choose_way(TIFF *t, struct tiffpage *p, uint16_t compression, bool indices)
{
	const bool jpeg = compression == COMPRESSION_JPEG;

	if (p->photometric == PHOTOMETRIC_YCBCR && jpeg)
		TIFFSetField(t, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
	else if (p->photometric == PHOTOMETRIC_YCBCR || compression == COMPRESSION_OJPEG)
		return read_as_rgba(t, p);
	if (p->photometric == PHOTOMETRIC_PALETTE) {
		if (p->bits > 16 || p->format != SAMPLEFORMAT_UINT)
			return "its palette is of a layout that is not supported";
		return indices ? NULL : read_colours(t, p);
	} else if (p->photometric == PHOTOMETRIC_MINISWHITE && p->format == SAMPLEFORMAT_UINT) {
		p->way = TIFF_INVERT;
	} else if (p->format == SAMPLEFORMAT_IEEEFP && p->bits < 32) {
		p->way = p->bits == 16 ? TIFF_HALF : TIFF_FLOAT24;
	}
	return NULL;
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

const char *
tiffpage_read(TIFF *t, bool indices, struct tiffpage *p)
{
	uint16_t bits, planes, config, compression;
	uint32_t w = 0, h = 0;

	*p = (struct tiffpage){.orientation = ORIENTATION_TOPLEFT, .layers = 1};
	if (!TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &w) || !TIFFGetField(t, TIFFTAG_IMAGELENGTH, &h) ||
	    !w || !h)
		return "it has no width or no height";
	TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &compression);
	if (!TIFFIsCODECConfigured(compression))
		return refuse_codec(compression);
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
	p->facsimile = is_facsimile(compression);
	if (p->facsimile && planes > 1 && !p->separate)
		return refuse_facsimile(TIFFFindCODEC(compression), planes);
	p->type = type_of(p->format, p->bits);
	if (!p->type || (p->complex && p->bits == 24))
		return refuse_samples(p);
	if (p->orientation < 1 || p->orientation > 8)
		p->orientation = ORIENTATION_TOPLEFT;
	p->w = p->orientation > 4 ? h : w;
	p->h = p->orientation > 4 ? w : h;
	const char *why = choose_way(t, p, compression, indices);
	const bool whole = p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64;
	p->maxval =
	    whole || p->way == TIFF_PALETTE || p->bits > 16 || p->format != SAMPLEFORMAT_UINT
		? 0
		: (1u << p->bits) - 1;
	p->kind = kind_of(p);
	return why;
}

bool
tiffpage_alike(const struct tiffpage *a, const struct tiffpage *b)
{
	return a->w == b->w && a->h == b->h && a->planes == b->planes && a->layers == b->layers &&
	       a->type == b->type && a->maxval == b->maxval &&
	       (a->kind ? b->kind && !strcmp(a->kind, b->kind) : !b->kind);
}

size_t
tiffpage_row(const struct tiffpage *p)
{
	return p->w * p->planes * img_type_size(p->type);
}
