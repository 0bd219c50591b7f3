/* link: -ltiff */
/* Converts MinSampleValue and its like, the least and greatest samples of a page, to keys, and back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/convert/tiff.h"

/* The tags of integers, one number for all planes; and those of any type, a number for each plane. */
static const struct range {
	const char *key;
	uint32_t tag;
	bool planes;
} ranges[] = {{"tiff.MinSampleValue", TIFFTAG_MINSAMPLEVALUE, false},
	      {"tiff.MaxSampleValue", TIFFTAG_MAXSAMPLEVALUE, false},
	      {"tiff.SMinSampleValue", TIFFTAG_SMINSAMPLEVALUE, true},
	      {"tiff.SMaxSampleValue", TIFFTAG_SMAXSAMPLEVALUE, true}};

enum { RANGES = sizeof ranges / sizeof *ranges, DIGITS = 26 };

/* Adds the key of a tag that has a number for each of n planes. */
static void
add_planes(TIFF *t, const struct range *r, struct img *x, uint16_t n)
{
	const double *v;

	TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MULTI);
	if (TIFFGetField(t, r->tag, &v) && v) {
		char *text = weir_xalloc(n, DIGITS), *s = text;

		for (uint16_t i = 0; i < n; i++)
			s += sprintf(s, i ? " %.17g" : "%.17g", v[i]);
		img_set_key(x, r->key, "%s", text);
		weir_free(text);
	}
	TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MERGED);
}

void
tiff_range_of(TIFF *t, struct img *x)
{
	uint16_t n = 1, v;

	TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &n);
	for (int i = 0; i < RANGES; i++)
		if (ranges[i].planes)
			add_planes(t, &ranges[i], x, n);
		else if (TIFFGetField(t, ranges[i].tag, &v))
			img_set_key(x, ranges[i].key, "%u", v);
}

/* Sets a tag that has a number for each of n planes. */
static void
set_planes(TIFF *t, const struct range *r, const char *text, uint16_t n)
{
	double *v = weir_xalloc(n, sizeof *v);
	uint16_t i = 0;

	for (char *end; i < n; i++, text = end) {
		v[i] = strtod(text, &end);
		if (end == text)
			break;
	}
	if (i == n) {
		TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MULTI);
		TIFFSetField(t, r->tag, v);
		TIFFSetField(t, TIFFTAG_PERSAMPLE, PERSAMPLE_MERGED);
	}
	weir_free(v);
}

void
tiff_set_range(TIFF *t, const struct img *x)
{
	uint16_t n = 1;

	TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &n);
	for (int i = 0; i < RANGES; i++) {
		const char *text = img_key(x, ranges[i].key);
		unsigned v;

		if (text && ranges[i].planes)
			set_planes(t, &ranges[i], text, n);
		else if (text && sscanf(text, "%u", &v) == 1 && v <= UINT16_MAX)
			TIFFSetField(t, ranges[i].tag, (int)v);
	}
}

void
tiff_drop_range(struct img *x)
{
	for (int i = 0; i < RANGES; i++)
		img_drop_key(x, ranges[i].key);
}
