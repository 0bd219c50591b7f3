/* link: -ltiff */
/* Tags that have no meaning here become keys `tiff.tag.NUMBER:=TYPE VALUES`, and tags again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/convert/tiff.h"

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

/* The values of a tag, as libtiff holds them. */
struct values {
	TIFFDataType type;
	uint32_t n;
	const void *at;
};

/* --- from tags ------------------------------------------------------------------------------------------------------- */

/* Whether other functions read the tag, or it says how samples are stored. */
static bool
is_known(uint32_t tag)
{
	static const uint32_t known[] = {TIFFTAG_ICCPROFILE,
					 TIFFTAG_EXTRASAMPLES,
					 TIFFTAG_WHITEPOINT,
					 TIFFTAG_PRIMARYCHROMATICITIES,
					 TIFFTAG_YCBCRCOEFFICIENTS,
					 TIFFTAG_REFERENCEBLACKWHITE,
					 TIFFTAG_STONITS,
					 TIFFTAG_MATTEING,
					 TIFFTAG_DATATYPE,
					 TIFFTAG_CLEANFAXDATA,
					 TIFFTAG_BADFAXLINES,
					 TIFFTAG_CONSECUTIVEBADFAXLINES,
					 TIFFTAG_PREDICTOR,
					 TIFFTAG_INKSET,
					 TIFFTAG_NUMBEROFINKS,
					 TIFFTAG_DOTRANGE,
					 TIFFTAG_FAXRECVPARAMS,
					 TIFF_PIXEL_SCALE,
					 TIFF_TIEPOINTS,
					 TIFF_TRANSFORMATION,
					 TIFF_GEO_KEYS,
					 TIFF_GEO_DOUBLES,
					 TIFF_GEO_ASCII,
					 TIFF_NODATA};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (tag == known[i])
			return true;
	return tiff_is_text(tag);
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

	if (!f || is_bound(tag))
		return false;
	*v = (struct values){.type = TIFFFieldDataType(f)};
	if (!TIFFFieldPassCount(f)) {
		if (v->type != TIFF_ASCII || !TIFFGetField(t, tag, &at) || !at)
			return false;
		v->n = (uint32_t)strlen(at);
	} else if (TIFFFieldReadCount(f) == TIFF_VARIABLE2) {
		if (!TIFFGetField(t, tag, &v->n, &at) || !at)
			return false;
	} else {
		if (!TIFFGetField(t, tag, &few, &at) || !at)
			return false;
		v->n = few;
	}
	v->at = at;
	return v->n && v->n <= TIFF_LONGEST;
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
	const unsigned char *byte = v->at;
	const uint16_t *word = v->at;
	const uint32_t *whole = v->at;
	const size_t size = size_of(v->type);

	if (!size)
		return NULL;
	char *text = weir_xalloc(v->n, 11), *s = text;

	for (uint32_t i = 0; i < v->n; i++)
		s += size == 1 ? sprintf(s, "%02x", byte[i])
			       : sprintf(s, i ? " %u" : "%u", size == 2 ? word[i] : whole[i]);
	return text;
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
		const size_t used = strlen(left_out);
		if (text) {
			snprintf(key, sizeof key, PREFIX "%u", tag);
			img_set_key(x, key, "%u %s", (unsigned)v.type, text);
		} else {
			snprintf(left_out + used, sizeof left_out - used, " %u", tag);
		}
		weir_free(text);
	}
	const size_t used = strlen(left_out);
	if (TIFFGetField(t, TIFFTAG_SUBIFD, &below, &at) && below)
		snprintf(left_out + used, sizeof left_out - used, " %u", TIFFTAG_SUBIFD);
	if (*left_out)
		warn("%s: tags are left out:%s", name, left_out);
}

/* --- to tags --------------------------------------------------------------------------------------------------------- */

/* Reads two hexadecimal digits or a decimal number at *s, and moves *s behind it. Returns false at the end. */
static bool
scan_number(const char **s, bool hex, uint32_t *number)
{
	const char two[3] = {(*s)[0], (*s)[0] ? (*s)[1] : (char)0, 0};
	char *end;

	*number = (uint32_t)(hex ? strtoul(two, &end, 16) : strtoul(*s, &end, 10));
	if (end == (hex ? two : *s) || (hex && end != two + 2))
		return false;
	*s = hex ? *s + 2 : end;
	return true;
}

/* Reads what print_values() wrote. Returns the values, which the caller frees, or NULL where the text or the type is wrong. */
static void *
scan_values(const char *s, struct values *v)
{
	const size_t size = size_of(v->type);
	uint32_t number;

	if (!size)
		return NULL;
	unsigned char *bytes = weir_xalloc(strlen(s) + 1, size);

	for (v->n = 0; scan_number(&s, size == 1, &number); v->n++) {
		const uint16_t word = (uint16_t)number;

		if (size == 1)
			bytes[v->n] = (unsigned char)number;
		else
			memcpy(bytes + size * v->n, size == 2 ? (void *)&word : &number, size);
	}
	bytes[size * v->n] = 0;
	v->at = bytes;
	if (*s || !v->n) {
		weir_free(bytes);
		return NULL;
	}
	return bytes;
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
		unsigned tag, type;
		struct values v;
		int used = 0;

		if (sscanf(x->key[i].name, PREFIX "%u", &tag) != 1 || is_known(tag) ||
		    is_bound(tag) || tag < TIFFTAG_TARGETPRINTER ||
		    ((tag == IMAGEJ_COUNTS || tag == IMAGEJ_DATA) && !imagej) ||
		    sscanf(x->key[i].value, "%u %n", &type, &used) != 1 || !used)
			continue;
		v.type = (TIFFDataType)type;
		void *values = scan_values(x->key[i].value + used, &v);
		if (values)
			set_values(t, tag, &v);
		weir_free(values);
	}
}
