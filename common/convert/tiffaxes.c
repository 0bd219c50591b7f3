/* link: -ltiff */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/convert/tiffaxes.h"

/* The spacing of pixels from the resolution tags; NaN when they do not state it. */
static double
distance_of(TIFF *t, uint32_t tag, bool imagej, const char **unit)
{
	uint16_t code = RESUNIT_INCH;
	float v = 0;

	TIFFGetFieldDefaulted(t, TIFFTAG_RESOLUTIONUNIT, &code);
	*unit = code == RESUNIT_INCH ? "in" : code == RESUNIT_CENTIMETER ? "cm" : NULL;
	if (!TIFFGetField(t, tag, &v) || !(v > 0) || !isfinite(v) || (!*unit && !imagej))
		return NAN;
	return 1 / (double)v;
}

/* The tags of the resolution along columns and rows, which are those of the page as stored. */
static void
find_tags(const struct tiffpage *p, uint32_t tags[2])
{
	const bool turned = p->orientation > 4;

	tags[0] = turned ? TIFFTAG_YRESOLUTION : TIFFTAG_XRESOLUTION;
	tags[1] = turned ? TIFFTAG_XRESOLUTION : TIFFTAG_YRESOLUTION;
}

/* Returns the code of the resolution's unit, and the resolution; 0 when the page states none. */
static uint16_t
resolution_of(TIFF *t, const struct tiffpage *p, float v[2])
{
	uint16_t code = RESUNIT_INCH;
	uint32_t tags[2];

	find_tags(p, tags);
	TIFFGetFieldDefaulted(t, TIFFTAG_RESOLUTIONUNIT, &code);
	for (int i = 0; i < 2; i++)
		if (!TIFFGetField(t, tags[i], &v[i]) || !(v[i] > 0) || !isfinite(v[i]))
			return 0;
	return code;
}

/* A resolution without a unit says how wide pixels are for their height. Axes say so where they are not square. */
static void
place_aspect(TIFF *t, const struct tiffpage *p, struct img *x, int row)
{
	float v[2];

	if (resolution_of(t, p, v) != RESUNIT_NONE || v[0] == v[1])
		return;
	x->axis[row].spacing = 1;
	x->axis[row + 1].spacing = (double)v[0] / (double)v[1];
}

/* Keeps a resolution that the axes do not state: it has no unit, or they count the pixels of a map. */
static void
note_resolution(TIFF *t, const struct tiffpage *p, struct img *x, int row)
{
	const struct img_axis *a = &x->axis[row];
	float v[2];
	const uint16_t code = resolution_of(t, p, v);
	const double ratio = isnan(a[1].spacing) ? 1 : a[1].spacing;

	if (code < RESUNIT_NONE || code > RESUNIT_CENTIMETER || a[0].unit || a[1].unit)
		return;
	if (fabs((double)v[0] / (double)v[1] - ratio) < 1e-6 * ratio)
		img_set_key(x, TIFF_RESOLUTION, "%.9g%s", (double)v[0],
			    code == RESUNIT_INCH	 ? " in"
			    : code == RESUNIT_CENTIMETER ? " cm"
							 : "");
}

static void
place_plane(TIFF *t, const struct tiffpage *p, struct img *x, int row, const struct stackmeta *m)
{
	uint32_t tags[2];

	find_tags(p, tags);
	if (!m->imagej && !m->ome)
		place_aspect(t, p, x, row);
	for (int i = 0; i < 2; i++) {
		struct img_axis *a = &x->axis[row + i];
		const char *unit;
		double d = m->spacing[i];

		if (isnan(d)) {
			d = distance_of(t, tags[i], m->imagej, &unit);
			if (isnan(d) || (m->imagej && !m->unit[i][0]))
				continue;
			img_set_unit(a, m->imagej ? m->unit[i] : unit);
		} else {
			img_set_unit(a, m->unit[i]);
		}
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
