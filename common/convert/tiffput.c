/* link: -ltiff */
/* The tags of the pages that rawtotiff writes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/convert/stackmeta.h"
#include "common/convert/tiffput.h"

enum { STRIP = 1 << 18 }; /* bytes of a strip, or a row if that is more */

static uint16_t
format_of(const struct img *x, const struct tiffput_pages *p)
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
extra_of(const struct img *x, size_t n, uint16_t *extra)
{
	const char *s = img_key(x, "tiff.extrasamples");

	for (size_t i = 0; s && i < n; i++, s++) {
		if (*s < '0' || *s > '2' || s[1] != (i + 1 < n ? ',' : 0))
			return false;
		extra[i] = (uint16_t)(*s - '0');
		s++;
	}
	return s;
}

bool
tiffput_is_mask(const struct img *x)
{
	const char *key = img_key(x, "tiff.subfiletype");

	return key && atoi(key) == FILETYPE_MASK && img_row_axis(x) == 0 && x->type == IMG_U8;
}

static void
set_colour(TIFF *t, const struct img *x, const struct tiffput_pages *p)
{
	const char *key = img_key(x, "tiff.photometric"), *kind = x->axis[0].kind;
	const bool rgba = p->row && !strcmp(kind, "RGBA-color");
	const bool rgb = p->row && (rgba || !strcmp(kind, "RGB-color"));
	unsigned photometric = rgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
	uint16_t extra[UINT16_MAX + 1] = {EXTRASAMPLE_UNSPECIFIED}; /* 0 */
	const size_t samples = p->complex ? 1 : p->planes;

	if (key && p->planes >= 3 &&
	    (atoi(key) == PHOTOMETRIC_SEPARATED || atoi(key) == PHOTOMETRIC_CIELAB ||
	     atoi(key) == PHOTOMETRIC_MINISBLACK || atoi(key) == PHOTOMETRIC_RGB))
		photometric = (unsigned)atoi(key);
	const size_t own = photometric == PHOTOMETRIC_SEPARATED	   ? 4
			   : photometric == PHOTOMETRIC_MINISBLACK ? 1
								   : 3;
	if (samples <= 2 && format_of(x, p) == SAMPLEFORMAT_UINT &&
	    tiff_set_palette(t, (unsigned)p->bits, x))
		photometric = PHOTOMETRIC_PALETTE;
	if (tiffput_is_mask(x))
		photometric = PHOTOMETRIC_MASK;
	TIFFSetField(t, TIFFTAG_PHOTOMETRIC, photometric);
	TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, (unsigned)samples);
	if (samples > own && !extra_of(x, samples - own, extra))
		extra[0] = rgba && photometric == PHOTOMETRIC_RGB ? EXTRASAMPLE_UNASSALPHA
								  : EXTRASAMPLE_UNSPECIFIED;
	if (samples > own)
		TIFFSetField(t, TIFFTAG_EXTRASAMPLES, (unsigned)(samples - own), extra);
}

static void
set_layout(TIFF *t, const struct tiffput *how, const struct img *x, const struct tiffput_pages *p)
{
	static const unsigned codecs[] = {[TIFFPUT_PLAIN] = COMPRESSION_NONE,
					  [TIFFPUT_DEFLATE] = COMPRESSION_ADOBE_DEFLATE,
					  [TIFFPUT_LZW] = COMPRESSION_LZW,
					  [TIFFPUT_ZSTD] = COMPRESSION_ZSTD};
	const size_t row = (p->w * p->planes * p->bits + 7) / 8;
	const size_t rows = row < STRIP ? STRIP / row : 1;

	TIFFSetField(t, TIFFTAG_IMAGEWIDTH, (uint32_t)p->w);
	TIFFSetField(t, TIFFTAG_IMAGELENGTH, (uint32_t)p->h);
	TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, (unsigned)(p->complex ? 2 * p->bits : p->bits));
	TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, (unsigned)format_of(x, p));
	TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
	TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
	set_colour(t, x, p);
	TIFFSetField(t, TIFFTAG_COMPRESSION, codecs[how->compress]);
	if (how->compress != TIFFPUT_PLAIN && p->bits >= 8 && !p->complex)
		TIFFSetField(t, TIFFTAG_PREDICTOR,
			     img_is_float(x->type) ? PREDICTOR_FLOATINGPOINT
						   : PREDICTOR_HORIZONTAL);
	if (how->tile) {
		TIFFSetField(t, TIFFTAG_TILEWIDTH, (uint32_t)how->tile);
		TIFFSetField(t, TIFFTAG_TILELENGTH, (uint32_t)how->tile);
	} else {
		TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, (uint32_t)(rows < p->h ? rows : p->h));
	}
}

static unsigned
unit_code(const char *unit)
{
	return !unit		     ? RESUNIT_NONE
	       : !strcmp(unit, "in") ? RESUNIT_INCH
	       : !strcmp(unit, "cm") ? RESUNIT_CENTIMETER
				     : RESUNIT_NONE;
}

/* Takes the resolution of axes without units from the key of tifftoraw: n pixels a unit where the spacing is 1. */
static bool
kept_resolution(const struct img *x, double *n, char unit[3])
{
	const char *key = img_key(x, TIFF_RESOLUTION);

	*unit = 0;
	return key && sscanf(key, "%lf %2s", n, unit) >= 1 && *n > 0 && isfinite(*n);
}

/* Sets the resolution: pixels per inch or centimetre when that is the axes' unit, else per unit of ImageJ's description. */
static void
set_resolution(TIFF *t, const struct img *x, const struct tiffput_pages *p)
{
	const struct img_axis *a = &x->axis[p->row], *b = x->dim > p->row + 1 ? a + 1 : a;
	double n = 1, u = a->spacing, v = b->spacing;
	unsigned code = unit_code(a->unit);
	char unit[3];

	if (!a->unit && !b->unit && kept_resolution(x, &n, unit)) {
		u = isnan(u) ? 1 : u;
		v = isnan(v) ? 1 : v;
		code = unit_code(unit);
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
describe(const struct img *x, const struct tiffput_pages *p, struct stackmeta *m)
{
	stackmeta_read("", 1, m);
	m->n = p->n;
	for (int i = 0; i < 2 && p->row + i < x->dim; i++) {
		const struct img_axis *a = &x->axis[p->row + i];
		m->spacing[i] = a->spacing;
		snprintf(m->unit[i], sizeof m->unit[i], "%s", a->unit ? a->unit : "");
	}
	for (int i = p->row + 2; i < x->dim && i < p->row + 5; i++) {
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
same_axes(const struct stackmeta *then, const struct img *x, const struct tiffput_pages *p)
{
	const char *name = then->order;
	const size_t *n = then->size;

	for (int i = p->row + 2; i < x->dim; i++) {
		const struct img_axis *a = &x->axis[i];
		if (a->n == 1)
			continue;
		if (!*name || a->n != *n++ || (a->label && *a->label && *a->label != *name))
			return false;
		name++;
	}
	return !*name;
}

/* Whether the item's own description, from its file, is still true. */
static bool
still_true(const struct stackmeta *then, const struct stackmeta *now, const struct img *x,
	   const struct tiffput_pages *p)
{
	if (!then->imagej && !then->ome)
		return now->n == 1;
	bool same = then->n == now->n && same_axes(then, x, p) &&
		    same_number(then->spacing[2], now->spacing[2]);
	for (int i = 0; i < 2; i++)
		same &= isnan(then->spacing[i]) || same_number(then->spacing[i], now->spacing[i]);
	return same;
}

/* OME's name for the type of samples; NULL where it has none. */
static const char *
ome_type(const struct img *x, const struct tiffput_pages *p)
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

	if (!next)
		die("no memory for OME's description");
	const bool changed = strcmp(next, *text) != 0;
	free(*text);
	*text = next;
	return changed;
}

/* Brings the type and the size of pictures in OME's text up to date. */
static void
update_ome(char **text, const struct img *x, const struct tiffput_pages *p)
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

/* Whether the axes are in the order c, z, t, the only one that ImageJ reads. */
static bool
is_in_order(const struct stackmeta *m)
{
	const char *last = "czt";

	for (const char *s = m->order; *s; s++) {
		const char *at = strchr(last, *s);
		if (!at)
			return false;
		last = at + 1;
	}
	return true;
}

/* Returns whether the item's own description is kept and is ImageJ's. */
static bool
set_description(TIFF *t, const struct img *x, const struct tiffput_pages *p)
{
	const char *value = img_key(x, "tiff.ImageDescription");
	char *old = value ? tiff_unescape(value) : NULL, text[512];
	const struct img_axis *a = &x->axis[p->row];
	const bool odd_unit = a->unit && strcmp(a->unit, "in") && strcmp(a->unit, "cm");
	struct stackmeta then, now;

	describe(x, p, &now);
	stackmeta_read(old ? old : "", p->planes, &then);
	const bool keep = old && still_true(&then, &now, x, p) && (!then.ome || ome_type(x, p));
	if (old && then.ome && !keep)
		warn("OME's description is no longer true, and is left out with what it says of "
		     "channels");
	if (keep) {
		if (then.ome)
			update_ome(&old, x, p);
		TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, old);
	} else if (p->n > 1 || (odd_unit && !isnan(a->spacing))) {
		if (!is_in_order(&now))
			warn(
			    "ImageJ's description has no place for the order of the axes of pages");
		stackmeta_print(&now, text, sizeof text);
		TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, text);
	}
	free(old);
	return keep && then.imagej;
}

void
tiffput_tags(TIFF *t, const struct tiffput *how, const struct img *x, const struct tiffput_pages *p,
	     size_t i)
{
	set_layout(t, how, x, p);
	set_resolution(t, x, p);
	if (tiffput_is_mask(x))
		TIFFSetField(t, TIFFTAG_SUBFILETYPE, FILETYPE_MASK);
	else if (p->n > 1)
		TIFFSetField(t, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
	if (i)
		return;
	tiff_set_tags(t, x, set_description(t, x, p));
	tiff_set_keys(t, x);
	tiff_set_range(t, x);
	tiff_set_geo(t, x, p->row);
}
