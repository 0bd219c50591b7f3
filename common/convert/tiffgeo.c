/* link: -ltiff */
/* Converts GeoTIFF's tags to keys, and back. */
#include <string.h>

#include "common/base/die.h"
#include "common/base/words.h"
#include "common/convert/tiff.h"
#include "common/picture/mosaic.h"

enum {
	MODEL_TYPE = 1024,
	RASTER_TYPE = 1025,
	GEOGRAPHIC = 2048,
	PROJECTED = 3072,
	PIXEL_IS_POINT = 2,
	MOST = 4096 /* the most numbers of a tag that become a key */
};

/* --- from tags ------------------------------------------------------------------------------------------------------- */

/* The value of a geokey of type short; 0 when it is missing. */
static unsigned
geokey(const uint16_t *keys, unsigned n, unsigned id)
{
	for (unsigned i = 4; i + 3 < n; i += 4)
		if (keys[i] == id && !keys[i + 1])
			return keys[i + 3];
	return 0;
}

/* Computes g, the numbers of geotransform:=. Returns false when the tags define no linear map of pixels. */
static bool
read_transform(TIFF *t, bool point, double g[6])
{
	double *scale, *tie, *m;
	uint16_t nscale, ntie, nm;

	if (TIFFGetField(t, TIFF_TRANSFORMATION, &nm, &m) && nm >= 8) {
		const double all[6] = {m[3], m[0], m[1], m[7], m[4], m[5]};
		memcpy(g, all, sizeof all);
	} else if (TIFFGetField(t, TIFF_PIXEL_SCALE, &nscale, &scale) && nscale >= 2 &&
		   TIFFGetField(t, TIFF_TIEPOINTS, &ntie, &tie) && ntie >= 6) {
		const double all[6] = {tie[3] - tie[0] * scale[0], scale[0], 0,
				       tie[4] + tie[1] * scale[1], 0,	     -scale[1]};
		memcpy(g, all, sizeof all);
	} else {
		return false;
	}
	if (point) {
		g[0] -= (g[1] + g[2]) / 2;
		g[3] -= (g[4] + g[5]) / 2;
	}
	return true;
}

/* Adds the numbers of a tag, unless there are very many. */
static void
add_tag(struct img *x, const char *name, const double *v, size_t n)
{
	if (n <= MOST)
		tiff_add_numbers(x, name, v, n);
}

static void
place_axes(struct img *x, int row_axis)
{
	for (int i = row_axis; i < row_axis + 2 && i < x->dim; i++) {
		x->axis[i].spacing = 1;
		x->axis[i].min = 0;
		img_set_unit(&x->axis[i], NULL);
	}
}

/* Programs write blanks around the number, and those of Microsoft's library words of their own. */
static void
keep_nodata(struct img *x, const char *s)
{
	static const char blanks[] = " \t\r\n";
	static const char *const words[][2] = {
	    {"1.#INF", "inf"}, {"-1.#INF", "-inf"}, {"1.#QNAN", "nan"}, {"-1.#IND", "nan"}};
	size_t n;

	s += strspn(s, blanks);
	for (n = strlen(s); n && strchr(blanks, s[n - 1]); n--)
		;
	if (!n || n >= 64 || strcspn(s, "\r\n") < n)
		return;
	img_set_key(x, "nodata", "%.*s", (int)n, s);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(img_key(x, "nodata"), words[i][0]))
			img_set_key(x, "nodata", "%s", words[i][1]);
}

void
tiff_geo_of(TIFF *t, struct img *x, int row_axis)
{
	uint16_t *keys, n = 0, m = 0;
	double g[6], wide[MOST], *v;
	const char *s;

	if (TIFFGetField(t, TIFF_GEO_KEYS, &n, &keys)) {
		const unsigned projected = geokey(keys, n, PROJECTED);
		const unsigned crs = projected ? projected : geokey(keys, n, GEOGRAPHIC);
		if (crs && crs < 32767)
			img_set_key(x, "crs", "EPSG:%u", crs);
		for (unsigned i = 0; i < n && n <= MOST; i++)
			wide[i] = keys[i];
		add_tag(x, "geotiff.keys", wide, n);
	}
	const bool point = n && geokey(keys, n, RASTER_TYPE) == PIXEL_IS_POINT;
	if (TIFFGetField(t, TIFF_GEO_DOUBLES, &m, &v))
		add_tag(x, "geotiff.doubles", v, m);
	if (TIFFGetField(t, TIFF_GEO_ASCII, &s) && s && !strpbrk(s, "\n\r"))
		img_add_key(x, "geotiff.ascii", s);
	if (read_transform(t, point, g)) {
		tiff_add_numbers(x, "geotransform", g, 6);
		place_axes(x, row_axis);
	} else if (TIFFGetField(t, TIFF_TIEPOINTS, &m, &v)) {
		add_tag(x, "geotiff.tiepoints", v, m);
		place_axes(x, row_axis);
	}
	if (TIFFGetField(t, TIFF_NODATA, &s) && s)
		keep_nodata(x, s);
}

/* --- to tags --------------------------------------------------------------------------------------------------------- */

static void
set_transform(TIFF *t, const double from[6], bool point)
{
	double g[6];

	memcpy(g, from, sizeof g);
	if (point) {
		g[0] += (g[1] + g[2]) / 2;
		g[3] += (g[4] + g[5]) / 2;
	}
	if (g[2] == 0 && g[4] == 0 && g[1] > 0 && g[5] < 0) {
		const double scale[3] = {g[1], -g[5], 0}, tie[6] = {0, 0, 0, g[0], g[3], 0};
		TIFFSetField(t, TIFF_PIXEL_SCALE, 3, scale);
		TIFFSetField(t, TIFF_TIEPOINTS, 6, tie);
	} else {
		const double m[16] = {g[1], g[2], 0, g[0], g[4], g[5], 0, g[3],
				      0,    0,	  0, 0,	   0,	 0,    0, 1};
		TIFFSetField(t, TIFF_TRANSFORMATION, 16, m);
	}
}

/* Writes the smallest key directory that names a system by its number. Numbers 4000 to 4999 are geographic systems. */
static void
set_crs(TIFF *t, unsigned crs)
{
	const bool geographic = crs >= 4000 && crs < 5000;
	uint16_t keys[16] = {1,		  1, 0, 3, MODEL_TYPE, 0, 1, 1,
			     RASTER_TYPE, 0, 1, 1, PROJECTED,  0, 1};

	if (geographic) {
		keys[7] = 2;
		keys[12] = GEOGRAPHIC;
	}
	keys[15] = (uint16_t)crs;
	TIFFSetField(t, TIFF_GEO_KEYS, 16, keys);
}

void
tiff_set_geo(TIFF *t, struct img *x, int row_axis)
{
	const char *crs = img_key(x, "crs"), *ascii = img_key(x, "geotiff.ascii"),
		   *nodata = img_key(x, "nodata");
	double g[6], v[MOST];
	uint16_t keys[MOST];
	size_t n = tiff_numbers(x, "geotiff.keys", ' ', v, MOST, 1, true), epsg;

	for (size_t i = 0; i < n; i++)
		keys[i] = (uint16_t)v[i];
	const bool point = n && geokey(keys, (unsigned)n, RASTER_TYPE) == PIXEL_IS_POINT;
	if (n)
		TIFFSetField(t, TIFF_GEO_KEYS, (int)n, keys);
	else if (crs && !strncmp(crs, "EPSG:", 5) && word_whole(crs + 5, 32766, &epsg))
		set_crs(t, (unsigned)epsg);
	else if (crs)
		warn("crs:=%.40s is not EPSG: and a number up to 32766, and is left out", crs);
	if ((n = tiff_numbers(x, "geotiff.doubles", ' ', v, MOST, 1, false)))
		TIFFSetField(t, TIFF_GEO_DOUBLES, (int)n, v);
	if (ascii)
		TIFFSetField(t, TIFF_GEO_ASCII, ascii);
	if (tiff_numbers(x, "geotransform", ' ', g, 6, 6, false)) {
		map_follow(x, g);
		set_transform(t, g, point);
	} else if ((n = tiff_numbers(x, "geotiff.tiepoints", ' ', v, MOST, 1, false))) {
		/* Column, row, 0, x, y, z: pixels of the page, or their centres, become samples of the item. + 0: a flip makes no -0. */
		const struct map_cut a = map_cut_of(x, row_axis), b = map_cut_of(x, row_axis + 1);
		for (size_t i = 0; i + 6 <= n; i += 6) {
			v[i] = (v[i] - (point ? a.first : map_corner(a))) / a.step + 0;
			v[i + 1] = (v[i + 1] - (point ? b.first : map_corner(b))) / b.step + 0;
		}
		TIFFSetField(t, TIFF_TIEPOINTS, (int)n, v);
	}
	if (nodata)
		TIFFSetField(t, TIFF_NODATA, nodata);
}
