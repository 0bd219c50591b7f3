/* link: -ltiff */
/* The layout of a page, and how its samples are to be read. */
#include <string.h>

#include "common/tools/tiffpage.h"

/* The parts of complex samples have half the bits that the page says. */
static enum img_type
type_of(unsigned format, unsigned bits)
{
	if (format == SAMPLEFORMAT_COMPLEXINT)
		return bits == 8 || bits == 16 ? IMG_F32 : bits == 32 ? IMG_F64 : IMG_NONE;
	if (format == SAMPLEFORMAT_IEEEFP)
		return bits == 16 || bits == 32 ? IMG_F32 : bits == 64 ? IMG_F64 : IMG_NONE;
	if (format == SAMPLEFORMAT_INT)
		return bits == 8    ? IMG_I8
		       : bits == 16 ? IMG_I16
		       : bits == 32 ? IMG_I32
		       : bits == 64 ? IMG_I64
				    : IMG_NONE;
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

static const char *
choose_way(TIFF *t, struct tiffpage *p, uint16_t compression, bool indices)
{
	const bool jpeg = compression == COMPRESSION_JPEG;

	if (p->photometric == PHOTOMETRIC_YCBCR && jpeg)
		TIFFSetField(t, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
	else if (p->photometric == PHOTOMETRIC_YCBCR || compression == COMPRESSION_OJPEG)
		return read_as_rgba(t, p);
	if (p->photometric == PHOTOMETRIC_PALETTE) {
		if (p->planes != 1 || p->bits > 16 || p->format != SAMPLEFORMAT_UINT)
			return "its palette is of a layout that is not supported";
		if (indices)
			return NULL;
		p->way = TIFF_PALETTE;
		p->planes = 3;
		p->type = tiffpage_palette_shift(t, p->bits) < 0 ? IMG_U16 : IMG_U8;
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
	if (p->format != SAMPLEFORMAT_COMPLEXINT && p->format != SAMPLEFORMAT_COMPLEXIEEEFP)
		return;
	p->complex = p->stored_planes == 1;
	p->planes = p->stored_planes = p->complex ? 2 : 0;
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
	if (!p->type || !p->planes)
		return "its samples are of a type that is not supported";
	if (p->orientation < 1 || p->orientation > 8)
		p->orientation = ORIENTATION_TOPLEFT;
	p->w = p->orientation > 4 ? h : w;
	p->h = p->orientation > 4 ? w : h;
	const char *why = choose_way(t, p, compression, indices);
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
