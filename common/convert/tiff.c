/* link: -ltiff */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/convert/tiff.h"

enum { TIFF_LONGEST = 1 << 24 }; /* bytes of a tag that becomes a key */

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

static const char *
take(char text[ROOM])
{
	static char last[2][ROOM];
	char *const to = last[text == doubt];

	memcpy(to, text, ROOM);
	*text = 0;
	return to;
}

const char *
tiff_doubt(void)
{
	return take(doubt);
}

const char *
tiff_why(void)
{
	return take(message);
}

/* --- tags ------------------------------------------------------------------------------------------------------------ */

static const TIFFFieldInfo fields[] = {
    {TIFF_PIXEL_SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, "ModelPixelScale"},
    {TIFF_TIEPOINTS, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, "ModelTiepoint"},
    {TIFF_TRANSFORMATION, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, "ModelTransformation"},
    {TIFF_GEO_KEYS, -1, -1, TIFF_SHORT, FIELD_CUSTOM, 1, 1, "GeoKeyDirectory"},
    {TIFF_GEO_DOUBLES, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, "GeoDoubleParams"},
    {TIFF_GEO_ASCII, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, "GeoAsciiParams"},
    {TIFF_GDAL_METADATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, "GDALMetadata"},
    {TIFF_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, "GDALNoData"}};
enum { FIELDS = sizeof fields / sizeof *fields };

static void
extend(TIFF *t)
{
	TIFFMergeFieldInfo(t, fields, FIELDS);
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
		if (*s == '\n' || *s == '\r' || *s == '\\')
			*to++ = '\\';
		*to++ = (char)(*s == '\n' ? 'n' : *s == '\r' ? 'r' : *s);
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
			*to++ = (char)(*++from == 'n' ? '\n' : *from == 'r' ? '\r' : *from);
		else
			*to++ = *from;
	}
	*to = 0;
	return s;
}

/* Tags that have no meaning here become keys `tiff.tag.NUMBER:=TYPE VALUES`, and tags again. */

enum {
	UIC_FIRST = 33628, /* of MetaMorph */
	UIC_LAST = 33631,
	LSM_INFO = 34412,
	PHOTOSHOP_LAYERS = 37724,
	INTEROPERABILITY = 40965,
	IMAGEJ_COUNTS = 50838,
	IMAGEJ_DATA = 50839
};

#define PREFIX "tiff.tag."
#define ICC    "tiff.ICCProfile"

/* The values of a tag, as libtiff holds them. */
struct values {
	TIFFDataType type;
	uint32_t n;
	const void *at;
};

/* --- from tags ------------------------------------------------------------------------------------------------------- */

/* Tags that other functions read, beside the fields and texts, or that say how samples are stored. */
static const uint32_t known[] = {TIFFTAG_ICCPROFILE,	    TIFFTAG_EXTRASAMPLES,
				 TIFFTAG_WHITEPOINT,	    TIFFTAG_PRIMARYCHROMATICITIES,
				 TIFFTAG_YCBCRCOEFFICIENTS, TIFFTAG_REFERENCEBLACKWHITE,
				 TIFFTAG_STONITS,	    TIFFTAG_MATTEING,
				 TIFFTAG_DATATYPE,	    TIFFTAG_CLEANFAXDATA,
				 TIFFTAG_BADFAXLINES,	    TIFFTAG_CONSECUTIVEBADFAXLINES,
				 TIFFTAG_PREDICTOR,	    TIFFTAG_INKSET,
				 TIFFTAG_NUMBEROFINKS,	    TIFFTAG_DOTRANGE,
				 TIFFTAG_FAXRECVPARAMS};

static bool
is_known(uint32_t tag)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (tag == known[i])
			return true;
	for (size_t i = 0; i < FIELDS; i++)
		if (tag == fields[i].field_tag)
			return true;
	for (size_t i = 0; i < TEXTS; i++)
		if (tag == texts[i].tag)
			return true;
	return false;
}

/* Whether the values point into the file, or describe the samples in a way that no other sample has. */
static bool
is_bound(uint32_t tag)
{
	return (tag >= UIC_FIRST && tag <= UIC_LAST) || tag == LSM_INFO ||
	       tag == PHOTOSHOP_LAYERS || tag == TIFFTAG_EXIFIFD || tag == TIFFTAG_GPSIFD ||
	       tag == INTEROPERABILITY;
}

static bool
read_values(TIFF *t, uint32_t tag, struct values *v)
{
	const TIFFField *f = TIFFFindField(t, tag, TIFF_ANY);
	uint16_t few = 0;
	void *at = NULL;
	bool got;

	if (!f || is_bound(tag))
		return false;
	*v = (struct values){.type = TIFFFieldDataType(f)};
	if (!TIFFFieldPassCount(f)) {
		got = v->type == TIFF_ASCII && TIFFGetField(t, tag, &at) && at;
		v->n = got ? (uint32_t)strlen(at) : 0;
	} else if (TIFFFieldReadCount(f) == TIFF_VARIABLE2) {
		got = TIFFGetField(t, tag, &v->n, &at);
	} else {
		got = TIFFGetField(t, tag, &few, &at);
		v->n = few;
	}
	v->at = at;
	return got && at && v->n && v->n <= TIFF_LONGEST;
}

/* The bytes of a value. Returns 0 where the type is none of those that become keys. */
static size_t
size_of(TIFFDataType type)
{
	switch ((int)type) {
	case TIFF_BYTE:
	case TIFF_ASCII:
	case TIFF_SBYTE:
	case TIFF_UNDEFINED:
		return 1;
	case TIFF_SHORT:
		return 2;
	case TIFF_LONG:
		return 4;
	default:
		return 0;
	}
}

/* Writes the values as text. Returns NULL where their type is none of those that become keys. */
static char *
print_values(const struct values *v)
{
	const unsigned char *at = v->at;
	const size_t size = size_of(v->type);

	if (!size)
		return NULL;
	char *text = weir_xalloc(v->n + 1, 11), *s = text;

	*text = 0;
	for (uint32_t i = 0; i < v->n; i++, at += size)
		s += size == 1 ? sprintf(s, "%02x", *at)
			       : sprintf(s, i ? " %u" : "%u", (unsigned)bytes_load(at, size, true));
	return text;
}

void
tiff_keys_of(TIFF *t, struct img *x)
{
	struct values v = {.type = TIFF_BYTE};
	const char *s;

	for (size_t i = 0; i < TEXTS; i++)
		if (TIFFGetField(t, texts[i].tag, &s) && s)
			add_escaped(x, texts[i].name, s);
	if (!TIFFGetField(t, TIFFTAG_ICCPROFILE, &v.n, &v.at))
		return;
	if (v.n > TIFF_LONGEST) {
		warn("the colour profile has more than %d MiB and is left out", TIFF_LONGEST >> 20);
		return;
	}
	char *hex = print_values(&v);
	img_add_key(x, ICC, hex);
	weir_free(hex);
}

void
tiff_keep_tags(TIFF *t, struct img *x, const char *name)
{
	const int n = TIFFGetTagListCount(t);
	char left_out[200] = "", key[32];
	uint16_t below = 0;
	uint64_t *at;

	for (int i = 0; i < n; i++) {
		const uint32_t tag = TIFFGetTagListEntry(t, i);
		struct values v;
		if (is_known(tag))
			continue;
		char *text = read_values(t, tag, &v) ? print_values(&v) : NULL;
		if (text) {
			snprintf(key, sizeof key, PREFIX "%u", tag);
			img_set_key(x, key, "%u %s", (unsigned)v.type, text);
		} else {
			word_append(left_out, sizeof left_out, " %u", tag);
		}
		weir_free(text);
	}
	if (TIFFGetField(t, TIFFTAG_SUBIFD, &below, &at) && below)
		word_append(left_out, sizeof left_out, " %u", TIFFTAG_SUBIFD);
	if (*left_out)
		warn("%s: tags are left out:%s", name, left_out);
}

/* --- to tags --------------------------------------------------------------------------------------------------------- */

/* Reads two hexadecimal digits or a whole number at *s, and moves *s behind it. Returns false where there is none. */
static bool
scan_number(const char **s, size_t size, size_t *number)
{
	const char two[3] = {(*s)[0], (*s)[0] ? (*s)[1] : (char)0, 0};

	if (size > 1)
		return word_size(s, 0, number) && *number < (size_t)1 << 8 * size;
	if (strspn(two, "0123456789abcdefABCDEF") < 2)
		return false;
	*number = strtoul(two, NULL, 16);
	*s += 2;
	return true;
}

/* Reads what print_values() wrote. Returns the values, which the caller frees, or NULL where the text or the type is wrong. */
static void *
scan_values(const char *s, struct values *v)
{
	const size_t size = size_of(v->type);
	size_t number;

	if (!size)
		return NULL;
	unsigned char *bytes = weir_xalloc(strlen(s) + 1, size);

	for (v->n = 0; scan_number(&s, size, &number); v->n++)
		bytes_store(bytes + size * v->n, size, true, number);
	bytes[size * v->n] = 0;
	v->at = bytes;
	if (*s || !v->n) {
		weir_free(bytes);
		return NULL;
	}
	return bytes;
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
	struct values v = {.type = TIFF_BYTE};
	void *profile = img_key(x, ICC) ? scan_values(img_key(x, ICC), &v) : NULL;
	if (profile)
		TIFFSetField(t, TIFFTAG_ICCPROFILE, v.n, profile);
	weir_free(profile);
}

static void
set_values(TIFF *t, uint32_t tag, const struct values *v)
{
	static char name[] = "Kept";
	const bool text = v->type == TIFF_ASCII;
	const short count = text ? TIFF_VARIABLE : TIFF_VARIABLE2;
	const TIFFFieldInfo field = {tag, count, count, v->type, FIELD_CUSTOM, 1, !text, name};
	const TIFFField *f = TIFFFindField(t, tag, TIFF_ANY);

	if (!f && TIFFMergeFieldInfo(t, &field, 1) == 0)
		f = TIFFFindField(t, tag, TIFF_ANY);
	/* A field of a fixed number of values takes no count, and would read values that are not there. */
	if (!f || TIFFFieldDataType(f) != v->type || (!text && !TIFFFieldPassCount(f)))
		return;
	if (!TIFFFieldPassCount(f))
		TIFFSetField(t, tag, v->at);
	else if (TIFFFieldWriteCount(f) == TIFF_VARIABLE2)
		TIFFSetField(t, tag, v->n, v->at);
	else
		TIFFSetField(t, tag, (int)v->n, v->at);
}

void
tiff_set_tags(TIFF *t, const struct img *x, bool imagej)
{
	for (size_t i = 0; i < x->nkey; i++) {
		const char *name = x->key[i].name, *text = x->key[i].value;
		struct values v = {0};
		size_t tag, type;
		if (strncmp(name, PREFIX, strlen(PREFIX)))
			continue;
		if (word_whole(name + strlen(PREFIX), UINT16_MAX, &tag) &&
		    word_size(&text, 1, &type)) {
			if (is_known((uint32_t)tag) || is_bound((uint32_t)tag) ||
			    tag < TIFFTAG_TARGETPRINTER ||
			    ((tag == IMAGEJ_COUNTS || tag == IMAGEJ_DATA) && !imagej))
				continue;
			v.type = (TIFFDataType)(type < TIFF_IFD8 ? type : 0);
		}
		void *values = scan_values(text + (*text == ' '), &v);
		if (values)
			set_values(t, (uint32_t)tag, &v);
		else
			warn("%s:=%.40s are no values of a tag, and are left out", name,
			     x->key[i].value);
		weir_free(values);
	}
}

void
tiff_add_numbers(struct img *x, const char *name, const double *v, size_t n)
{
	char *text = weir_xalloc(n + 1, 26), *s = text;

	*text = 0;
	for (size_t i = 0; i < n; i++)
		s += sprintf(s, i ? " %.17g" : "%.17g", v[i]);
	img_add_key(x, name, text);
	weir_free(text);
}

size_t
tiff_numbers(struct img *x, const char *name, char sep, double *v, size_t most, size_t least,
	     bool whole)
{
	const char *text = img_key(x, name);
	const size_t n = word_reals(text, sep, v, most);
	bool good = n && n % least == 0;

	for (size_t i = 0; i < n; i++)
		good &= isfinite(v[i]) &&
			(!whole || (v[i] >= 0 && v[i] <= UINT16_MAX && v[i] == floor(v[i])));
	if (text && !good) {
		warn("%s:=%.40s is malformed, and is left out", name, text);
		img_drop_key(x, name);
	}
	return good ? n : 0;
}

/* ---- palettes ---- */

#define KEY "tiff.ColorMap"

enum { LONGEST = 18 }; /* characters of ` 65535,65535,65535` */

void
tiff_palette_of(TIFF *t, unsigned bits, struct img *x)
{
	const size_t n = (size_t)1 << bits;
	uint16_t *map[3];

	if (!TIFFGetField(t, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
		return;
	char *text = weir_xalloc(n, LONGEST + 1), *s = text;

	for (size_t i = 0; i < n; i++)
		s += sprintf(s, i ? " %u,%u,%u" : "%u,%u,%u", map[0][i], map[1][i], map[2][i]);
	img_add_key(x, KEY, text);
	weir_free(text);
}

bool
tiff_set_palette(TIFF *t, unsigned bits, struct img *x)
{
	if (!img_key(x, KEY) || bits > 16)
		return false;
	double *v = weir_xalloc((size_t)3 << 16, sizeof *v);
	uint16_t *map = weir_xalloc((size_t)3 << bits, sizeof *map);
	size_t n = tiff_numbers(x, KEY, ',', v, (size_t)3 << 16, 3, true);

	n = n > (size_t)3 << bits ? 0 : n;
	memset(map, 0,
	       ((size_t)3 << bits) * sizeof *map); /* entries that the key lacks are black */
	for (size_t i = 0; i < n; i++)
		map[(i % 3 << bits) + i / 3] = (uint16_t)v[i];
	weir_free(v);
	if (n)
		TIFFSetField(t, TIFFTAG_COLORMAP, map, map + ((size_t)1 << bits),
			     map + ((size_t)2 << bits));
	weir_free(map);
	return n;
}

/* ---- ranges ---- */

/* The tags of integers, one number for all planes; and those of any type, a number for each plane. */
static const struct range {
	const char *key;
	uint32_t tag;
	bool planes;
} ranges[] = {{"tiff.MinSampleValue", TIFFTAG_MINSAMPLEVALUE, false},
	      {"tiff.MaxSampleValue", TIFFTAG_MAXSAMPLEVALUE, false},
	      {"tiff.SMinSampleValue", TIFFTAG_SMINSAMPLEVALUE, true},
	      {"tiff.SMaxSampleValue", TIFFTAG_SMAXSAMPLEVALUE, true}};

enum { RANGES = sizeof ranges / sizeof *ranges };

void
tiff_range_of(TIFF *t, struct img *x)
{
	uint16_t n = 1, v;
	const double *all;

	TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &n);
	TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MULTI);
	for (int i = 0; i < RANGES; i++)
		if (ranges[i].planes && TIFFGetField(t, ranges[i].tag, &all) && all)
			tiff_add_numbers(x, ranges[i].key, all, n);
		else if (!ranges[i].planes && TIFFGetField(t, ranges[i].tag, &v))
			img_set_key(x, ranges[i].key, "%u", v);
	TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MERGED);
}

void
tiff_set_range(TIFF *t, struct img *x)
{
	uint16_t n = 1;

	TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &n);
	double *all = weir_xalloc(n, sizeof *all);

	TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MULTI);
	for (int i = 0; i < RANGES; i++) {
		const size_t got = tiff_numbers(x, ranges[i].key, ' ', all,
						ranges[i].planes ? n : 1, 1, !ranges[i].planes);
		if (got == n && ranges[i].planes)
			TIFFSetField(t, ranges[i].tag, all);
		else if (got && !ranges[i].planes)
			TIFFSetField(t, ranges[i].tag, (int)*all);
	}
	TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MERGED);
	weir_free(all);
}

void
tiff_drop_range(struct img *x)
{
	for (int i = 0; i < RANGES; i++)
		img_drop_key(x, ranges[i].key);
}
