/* link: -ltiff */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/convert/tiff.h"

/* ---- stacks ---- */

/* --- values of the text ---------------------------------------------------------------------------------------------- */

/* The value in ImageJ's line name=value; NULL when it is missing. */
static const char *
line_value(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *s = text; s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
		if (!strncmp(s, name, n) && s[n] == '=')
			return s + n + 1;
	return NULL;
}

/* The value of the attribute name="value" in the element that begins at s; NULL when it is missing. */
static const char *
attribute(const char *s, const char *name)
{
	const size_t n = strlen(name);

	for (const char *end = strchr(s, '>'); end && (s = strstr(s, name)) && s < end; s += n)
		if (strchr(" \t\n\r", s[-1]) && s[n] == '=' &&
		    (s[n + 1] == '"' || s[n + 1] == '\''))
			return s + n + 2;
	return NULL;
}

static size_t
count_at(const char *s)
{
	const double v = s ? strtod(s, NULL) : 1;

	return v >= 1 && v <= 0x1p40 && v == floor(v) ? (size_t)v : 0;
}

static double
distance_at(const char *s)
{
	const double v = s ? strtod(s, NULL) : NAN;

	return isfinite(v) && v > 0 ? v : NAN;
}

/* Copies text up to one of the characters in `ends`. \u00B5 and the micro sign become u, as in um. */
static void
take_unit(const char *s, const char *ends, char unit[16])
{
	size_t n = 0;

	unit[0] = 0;
	while (s && *s && !strchr(ends, *s) && n < 15) {
		if (!strncmp(s, "\\u00B5", 6) || !strncmp(s, "\xc2\xb5", 2) ||
		    !strncmp(s, "\xce\xbc", 2)) {
			unit[n++] = 'u';
			s += *s == '\\' ? 6 : 2;
		} else {
			unit[n++] = *s == '"' || (unsigned char)*s < ' ' ? '?' : *s;
			s++;
		}
	}
	unit[n] = 0;
	if (!strcmp(unit, "micron"))
		strcpy(unit, "um");
}

/* Reads a time and its unit, which ends at one of `ends`. Returns seconds; NaN when one of them is malformed. */
static double
seconds_at(const char *s, const char *unit, const char *ends)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1},	   {"s", 1},	   {"sec", 1},	 {"seconds", 1},
		     {"ms", 1e-3}, {"msec", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},
		     {"min", 60},  {"h", 3600},	   {"d", 86400}};
	char name[16];

	take_unit(unit, ends, name);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(name, units[i].name))
			return distance_at(s) * units[i].seconds;
	return NAN;
}

static void
add_axis(struct stackmeta *m, char name, size_t n)
{
	const size_t used = strlen(m->order);

	if (!n || !weir_mul(m->n, n, &m->n))
		m->n = 0;
	if (n <= 1 || used == 3)
		return;
	m->order[used] = name;
	m->size[used] = n;
}

/* --- the two formats ------------------------------------------------------------------------------------------------- */

static void
read_imagej(const char *text, struct stackmeta *m)
{
	static const char *const units[] = {"unit", "yunit", "zunit"};

	m->imagej = true;
	m->n = 1;
	add_axis(m, 'c', count_at(line_value(text, "channels")));
	add_axis(m, 'z', count_at(line_value(text, "slices")));
	add_axis(m, 't', count_at(line_value(text, "frames")));
	if (m->n == 1 && line_value(text, "images"))
		add_axis(m, 'n', count_at(line_value(text, "images")));
	m->spacing[2] = distance_at(line_value(text, "spacing"));
	m->interval = seconds_at(line_value(text, "finterval"), line_value(text, "tunit"), "\n");
	for (int i = 0; i < 3; i++) {
		const char *own = line_value(text, units[i]);
		take_unit(own ? own : line_value(text, "unit"), "\n", m->unit[i]);
	}
}

static void
read_ome(const char *pixels, size_t planes, struct stackmeta *m)
{
	const char *const sizes[] = {"SizeC", "SizeZ", "SizeT"};
	const char *order = attribute(pixels, "DimensionOrder");
	char name[] = "PhysicalSizeX", unit[] = "PhysicalSizeXUnit";

	m->ome = true;
	m->n = 1;
	for (size_t i = 2; order && i < strnlen(order, 5); i++)
		for (int k = 0; k < 3; k++)
			if (order[i] == sizes[k][4]) {
				size_t n = count_at(attribute(pixels, sizes[k]));
				if (k == 0 && planes && n % planes == 0)
					n /= planes;
				add_axis(m, (char)(sizes[k][4] - 'A' + 'a'), n);
			}
	for (int i = 0; i < 3; i++) {
		name[12] = unit[12] = (char)('X' + i);
		m->spacing[i] = distance_at(attribute(pixels, name));
		take_unit(attribute(pixels, unit), "\"'", m->unit[i]);
		if (!isnan(m->spacing[i]) && !m->unit[i][0])
			strcpy(m->unit[i], "um"); /* the default of OME's schema */
	}
	m->interval = seconds_at(attribute(pixels, "TimeIncrement"),
				 attribute(pixels, "TimeIncrementUnit"), "\"'");
}

void
stackmeta_read(const char *text, size_t planes, struct stackmeta *m)
{
	const char *pixels;

	*m = (struct stackmeta){.spacing = {NAN, NAN, NAN}, .interval = NAN};
	if (!strncmp(text, "ImageJ=", 7))
		read_imagej(text, m);
	else if (strstr(text, "<OME") && (pixels = strstr(text, "<Pixels")))
		read_ome(pixels + 7, planes, m);
}

char *
stackmeta_set(const char *text, const char *name, const char *value)
{
	const char *pixels = strstr(text, "<Pixels");
	const char *old = pixels ? attribute(pixels + 7, name) : NULL;
	const char *end = old ? strchr(old, old[-1]) : NULL;
	const size_t before = end ? (size_t)(old - text) : strlen(text);
	char *s = malloc(strlen(text) + strlen(value) + 1);

	if (!s)
		return NULL;
	memcpy(s, text, before);
	strcpy(s + before, end ? value : "");
	return strcat(s, end ? end : "");
}

void
stackmeta_print(const struct stackmeta *m, char *text, size_t room)
{
	size_t n[3] = {1, 1, 1}, used;

	for (size_t i = 0; m->order[i]; i++)
		n[m->order[i] == 'c' ? 0 : m->order[i] == 't' ? 2 : 1] *= m->size[i];
	used = (size_t)snprintf(text, room, "ImageJ=1.54f\nimages=%zu\n", n[0] * n[1] * n[2]);
	const char *const names[] = {"channels", "slices", "frames"};
	for (int i = 0; i < 3; i++)
		if (n[i] > 1)
			used +=
			    (size_t)snprintf(text + used, room - used, "%s=%zu\n", names[i], n[i]);
	if ((n[0] > 1) + (n[1] > 1) + (n[2] > 1) > 1)
		used += (size_t)snprintf(text + used, room - used, "hyperstack=true\n");
	if (m->unit[0][0])
		used += (size_t)snprintf(text + used, room - used, "unit=%s\n", m->unit[0]);
	if (!isnan(m->spacing[2]))
		used +=
		    (size_t)snprintf(text + used, room - used, "spacing=%.17g\n", m->spacing[2]);
	if (!isnan(m->interval))
		used +=
		    (size_t)snprintf(text + used, room - used, "finterval=%.17g\n", m->interval);
	snprintf(text + used, room - used, "loop=false\n");
}

/* ---- pages ---- */

/* The layout of a page, and how its samples are to be read. */

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

static bool
is_facsimile(uint16_t compression)
{
	return compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW ||
	       compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
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
static int
read_colours(TIFF *t, struct tiffpage *p, struct why *why)
{
	const int shift = tiffpage_palette_shift(t, p->bits);

	if (p->planes > 1 && (p->bits != 8 || shift < 0))
		return why_set(
		    why, "its palette has planes beside it, which have another number of bits "
			 "than the colours; see --indices");
	p->way = TIFF_PALETTE;
	p->planes += 2;
	p->type = shift < 0 ? IMG_U16 : IMG_U8;
	return 0;
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
		return indices ? 0 : read_colours(t, p, why);
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
	p->facsimile = is_facsimile(compression);
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
	p->kind = kind_of(p);
	return status;
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

/* ---- runs of pages ---- */

/* What the directory holds: a page (0), a small copy of another page, or a mask. */
static uint32_t
kind_of_page(TIFF *t)
{
	uint32_t kind = 0;

	TIFFGetFieldDefaulted(t, TIFFTAG_SUBFILETYPE, &kind);
	return kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK);
}

static int
add(TIFF *t, bool indices, size_t number, struct tiffpages *l, struct why *why)
{
	if (!(l->n & (l->n + 1)) || !l->at) {
		void *more = realloc(l->at, (2 * l->n + 2) * sizeof *l->at);
		if (!more)
			return why_set(why, "no memory for pages");
		l->at = more;
	}
	struct tiffpages_page *p = &l->at[l->n++];
	*p = (struct tiffpages_page){.number = number, .offset = TIFFCurrentDirOffset(t)};
	return tiffpage_read(t, indices, &p->layout, why);
}

/* The last mask is that of the last page, if it fits and is the first to do so. */
static void
match(struct tiffpages *pages, struct tiffpages *masks)
{
	struct tiffpages_page *mask = &masks->at[masks->n - 1], *page;

	if (!pages->n)
		return;
	page = &pages->at[pages->n - 1];
	if (!page->mask && mask->layout.w == page->layout.w && mask->layout.h == page->layout.h &&
	    mask->layout.planes == 1 && mask->layout.type == IMG_U8)
		page->mask = masks->n;
}

int
tiffpages_find(TIFF *t, bool indices, struct tiffpages *pages, struct tiffpages *masks,
	       struct tiffpages_seen *seen, struct why *why)
{
	struct why own = {0};
	size_t number = 0;
	int status = 0;

	*seen = (struct tiffpages_seen){0};
	do {
		const uint32_t kind = kind_of_page(t);

		if (!kind)
			status = add(t, indices, number, pages, &own);
		else if (kind == FILETYPE_MASK && masks)
			status = add(t, indices, number, masks, &own);
		if (!status && kind == FILETYPE_MASK && masks)
			match(pages, masks);
		seen->copies += (kind & FILETYPE_REDUCEDIMAGE) != 0;
		seen->masks += kind == FILETYPE_MASK;
		if (!status)
			tiff_why();
	} while (!status && ++number && TIFFReadDirectory(t));
	const char *what = status ? own.text : tiff_why();
	if (*what)
		return why_set(why, "page %zu: %s", number, what);
	if (!pages->n)
		return why_set(why, "it has small copies and masks alone, and no page");
	return 0;
}

void
tiffpages_free(struct tiffpages *l)
{
	free(l->at);
	*l = (struct tiffpages){0};
}

/* ---- axes ---- */

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
		const char *unit = stated || m->imagej ? m->unit[i] : unit_of(code);
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
	static const char *const plane[] = {"x", "y"};

	for (int i = 0; i < 2; i++)
		img_set_label(&x->axis[row + i], plane[i]);
	for (int i = row + 2; i < x->dim; i++) {
		const char name[2] = {m->order[i - row - 2], 0};
		struct img_axis *a = &x->axis[i];

		img_set_label(a, name);
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
	const bool rgba = p->kind && !strcmp(p->kind, "RGBA-color");
	const unsigned usual = rgba || (p->kind && !strcmp(p->kind, "RGB-color"))
				   ? PHOTOMETRIC_RGB
				   : PHOTOMETRIC_MINISBLACK;
	uint16_t n = 0, *extra = NULL;
	bool differs = false;
	char list[64];
	size_t used = 0;

	if (p->way == TIFF_INVERT || p->way == TIFF_RGBA || p->way == TIFF_INTEGERS)
		return;
	if (p->photometric == PHOTOMETRIC_PALETTE && p->way == TIFF_PLAIN)
		tiff_palette_of(t, p->bits, x);
	if (p->planes > 1 && p->photometric != usual &&
	    (p->photometric == PHOTOMETRIC_MINISBLACK || p->photometric == PHOTOMETRIC_RGB ||
	     p->photometric == PHOTOMETRIC_SEPARATED || p->photometric == PHOTOMETRIC_CIELAB))
		img_set_key(x, "tiff.photometric", "%u", p->photometric);
	if (!TIFFGetField(t, TIFFTAG_EXTRASAMPLES, &n, &extra) || !n) {
		if (rgba) /* a fourth plane that the page says nothing of is not alpha */
			img_set_key(x, "tiff.extrasamples", "%d", EXTRASAMPLE_UNSPECIFIED);
		return;
	}
	if (n > 16)
		return;
	for (uint16_t i = 0; i < n; i++) {
		used += (size_t)sprintf(list + used, "%s%u", i ? "," : "", extra[i] % 10u);
		differs |= extra[i] != (rgba ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED);
	}
	if (differs)
		img_set_key(x, "tiff.extrasamples", "%s", list);
}

void
tiffpage_describe(TIFF *t, const struct tiffpage *p, size_t n, struct img *x, struct stackmeta *m)
{
	const char *text = "";
	size_t sizes[IMG_MAXDIM];
	int dim = 0, row = p->kind != NULL;

	if (!TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text))
		text = "";
	stackmeta_read(p->layers > 1 ? "" : text, p->planes, m);
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
	if (m->imagej || m->ome)
		label_axes(x, row, m);
	if (p->maxval)
		img_set_key(x, "maxval", "%u", p->maxval);
	note_planes(t, p, x);
	tiff_keys_of(t, x);
	tiff_geo_of(t, x, row);
	note_resolution(t, p, x, row);
}
