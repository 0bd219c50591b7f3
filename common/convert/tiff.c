/* link: -ltiff */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/convert/tiff.h"

/* --- messages ------------------------------------------------------------------------------------------------------- */

/* The first error, and the first error or warning. They are global, because libtiff's handlers take no context. */
enum { ROOM = 400 };
static char message[ROOM], doubt[ROOM];

static void
keep(char text[ROOM], const char *fmt, va_list ap)
{
	if (*text)
		return;
	vsnprintf(text, ROOM, fmt, ap);
	if (!strncmp(text, "/proc/self/fd/", 14) && strstr(text, ": "))
		memmove(text, strstr(text, ": ") + 2, strlen(strstr(text, ": ") + 2) + 1);
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	const size_t n = strlen(text);
	if (n && text[n - 1] == '.')
		text[n - 1] = 0;
}

static void
on_warning(const char *module, const char *fmt, va_list ap)
{
	(void)module;
	if (!strstr(fmt, "ld-style")) /* of LZW and JPEG, which are read like any other */
		keep(doubt, fmt, ap);
}

static void
on_error(const char *module, const char *fmt, va_list ap)
{
	va_list again;

	(void)module;
	va_copy(again, ap);
	keep(message, fmt, ap);
	keep(doubt, fmt, again);
	va_end(again);
}

const char *
tiff_doubt(void)
{
	static char last[ROOM];

	memcpy(last, doubt, sizeof last);
	*doubt = 0;
	return last;
}

const char *
tiff_why(void)
{
	static char last[ROOM];

	memcpy(last, message, sizeof last);
	*message = 0;
	return last;
}

/* --- tags ------------------------------------------------------------------------------------------------------------ */

static char name_scale[] = "ModelPixelScale", name_tie[] = "ModelTiepoint",
	    name_transformation[] = "ModelTransformation", name_keys[] = "GeoKeyDirectory",
	    name_doubles[] = "GeoDoubleParams", name_ascii[] = "GeoAsciiParams",
	    name_metadata[] = "GDALMetadata", name_nodata[] = "GDALNoData";

static const TIFFFieldInfo fields[] = {
    {TIFF_PIXEL_SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, name_scale},
    {TIFF_TIEPOINTS, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, name_tie},
    {TIFF_TRANSFORMATION, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, name_transformation},
    {TIFF_GEO_KEYS, -1, -1, TIFF_SHORT, FIELD_CUSTOM, 1, 1, name_keys},
    {TIFF_GEO_DOUBLES, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, name_doubles},
    {TIFF_GEO_ASCII, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, name_ascii},
    {TIFF_GDAL_METADATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, name_metadata},
    {TIFF_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, name_nodata}};

static void
extend(TIFF *t)
{
	TIFFMergeFieldInfo(t, fields, sizeof fields / sizeof *fields);
}

void
tiff_init(void)
{
	TIFFSetErrorHandler(on_error);
	TIFFSetWarningHandler(on_warning);
	TIFFSetTagExtender(extend);
}

/* --- tags as keys ---------------------------------------------------------------------------------------------------- */

static const struct {
	uint32_t tag;
	const char *name;
} texts[] = {{TIFFTAG_DOCUMENTNAME, "tiff.DocumentName"},
	     {TIFFTAG_IMAGEDESCRIPTION, "tiff.ImageDescription"},
	     {TIFFTAG_MAKE, "tiff.Make"},
	     {TIFFTAG_MODEL, "tiff.Model"},
	     {TIFFTAG_PAGENAME, "tiff.PageName"},
	     {TIFFTAG_SOFTWARE, "tiff.Software"},
	     {TIFFTAG_DATETIME, "tiff.DateTime"},
	     {TIFFTAG_ARTIST, "tiff.Artist"},
	     {TIFFTAG_HOSTCOMPUTER, "tiff.HostComputer"},
	     {TIFFTAG_COPYRIGHT, "tiff.Copyright"},
	     {TIFF_GDAL_METADATA, "tiff.GDALMetadata"}};

enum { TEXTS = sizeof texts / sizeof *texts };

bool
tiff_is_text(uint32_t tag)
{
	for (size_t i = 0; i < TEXTS; i++)
		if (texts[i].tag == tag)
			return true;
	return false;
}

#define ICC "tiff.ICCProfile"

static void
add_escaped(struct img *x, const char *name, const char *s)
{
	char *value, *to;

	if (strlen(s) > TIFF_LONGEST) {
		warn("%s has more than %d MiB and is left out", name, TIFF_LONGEST >> 20);
		return;
	}
	value = weir_xalloc(2 * strlen(s) + 1, 1);
	for (to = value; *s; s++) {
		if (*s == '\n' || *s == '\\')
			*to++ = '\\';
		*to++ = (char)(*s == '\n' ? 'n' : *s);
	}
	*to = 0;
	img_add_key(x, name, value);
	weir_free(value);
}

char *
tiff_unescape(const char *value)
{
	char *s = strdup(value), *to = s;

	if (!s)
		return NULL;
	for (const char *from = value; *from; from++) {
		if (*from == '\\' && from[1])
			*to++ = (char)(*++from == 'n' ? '\n' : *from);
		else
			*to++ = *from;
	}
	*to = 0;
	return s;
}

static void
add_profile(TIFF *t, struct img *x)
{
	uint32_t n;
	unsigned char *data;
	char *hex;

	if (!TIFFGetField(t, TIFFTAG_ICCPROFILE, &n, &data))
		return;
	if (n > TIFF_LONGEST) {
		warn("the colour profile has more than %d MiB and is left out", TIFF_LONGEST >> 20);
		return;
	}
	hex = weir_xalloc(2 * (size_t)n + 1, 1);
	*hex = 0;
	for (uint32_t i = 0; i < n; i++)
		sprintf(hex + 2 * (size_t)i, "%02x", data[i]);
	img_add_key(x, ICC, hex);
	weir_free(hex);
}

void
tiff_keys_of(TIFF *t, struct img *x)
{
	const char *s;

	for (size_t i = 0; i < TEXTS; i++)
		if (TIFFGetField(t, texts[i].tag, &s) && s)
			add_escaped(x, texts[i].name, s);
	add_profile(t, x);
}

static void
set_profile(TIFF *t, const char *hex)
{
	const size_t n = strlen(hex) / 2;
	unsigned char *data = weir_xalloc(n + 1, 1);
	char byte[3] = "", *end = byte + 2;
	size_t i = 0;

	for (; i < n && end == byte + 2; i++) {
		memcpy(byte, hex + 2 * i, 2);
		data[i] = (unsigned char)strtoul(byte, &end, 16);
	}
	i -= end != byte + 2;
	if (i)
		TIFFSetField(t, TIFFTAG_ICCPROFILE, (uint32_t)i, data);
	weir_free(data);
}

void
tiff_set_keys(TIFF *t, const struct img *x)
{
	for (size_t i = 0; i < TEXTS; i++) {
		const char *value = img_key(x, texts[i].name);
		char *text = value ? tiff_unescape(value) : NULL;

		if (text && texts[i].tag != TIFFTAG_IMAGEDESCRIPTION)
			TIFFSetField(t, texts[i].tag, text);
		free(text);
	}
	if (img_key(x, ICC))
		set_profile(t, img_key(x, ICC));
}
