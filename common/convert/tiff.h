/*
 * What tifftoraw and rawtotiff share: tiff.c has libtiff's messages and tags as keys, tiffgeo.c maps, tiffstack.c descriptions of
 * stacks. tiffread.c has the pages of a file and their rows, for tifftoraw.
 */
#ifndef WEIR_CONVERT_TIFF_H
#define WEIR_CONVERT_TIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tiffio.h>

#include "common/base/why.h"
#include "common/stream/img.h"

/* --- messages ------------------------------------------------------------------------------------------------------- */

/* Keeps libtiff's messages off stderr and registers the tags below. Call it first. */
void tiff_init(void);

/* Returns libtiff's first error since the last call, or "" when there was none. */
const char *tiff_why(void);

/*
 * Returns the first error or warning since the last call, or "". While samples are read, either says that they are damaged: of
 * facsimiles and JPEG, libtiff goes on behind the damage and reports success.
 */
const char *tiff_doubt(void);

/* --- tags as keys ---------------------------------------------------------------------------------------------------- */

/* Tags of GeoTIFF and of GDAL. */
enum {
	TIFF_PIXEL_SCALE = 33550,
	TIFF_TIEPOINTS = 33922,
	TIFF_TRANSFORMATION = 34264,
	TIFF_GEO_KEYS = 34735,
	TIFF_GEO_DOUBLES = 34736,
	TIFF_GEO_ASCII = 34737,
	TIFF_GDAL_METADATA = 42112,
	TIFF_NODATA = 42113
};

/*
 * The key of a resolution that the axes do not state: `tiff.resolution:=N`, `N in` or `N cm`, pixels per unit along an axis of
 * spacing 1. Without a unit it is what the page says, and nobody knows of what.
 */
#define TIFF_RESOLUTION "tiff.resolution"

/*
 * Adds the text tags and the colour profile to x as keys, such as `tiff.Software:=...`, and sets the tags from such keys. In a
 * value, a newline is written \n, a carriage return \r and a backslash \\.
 */
void tiff_keys_of(TIFF *t, struct img *x);
void tiff_set_keys(TIFF *t, const struct img *x);

/* Unescapes the value of such a key. The caller frees the result. Returns NULL when there is no memory. */
char *tiff_unescape(const char *value);

/*
 * Adds the palette of a page of so many bits to x, as the key `tiff.ColorMap:=r,g,b r,g,b ...`, and sets it from the key. Returns
 * false when x has none, or one with more colours.
 */
void tiff_palette_of(TIFF *t, unsigned bits, struct img *x);
bool tiff_set_palette(TIFF *t, unsigned bits, struct img *x);

/*
 * Adds tags of private or unknown meaning to x as keys `tiff.tag.NUMBER:=TYPE VALUES`: hexadecimal digits for text and bytes,
 * numbers for shorts and longs. Tags that cannot be kept are named in a warning about the file `name`. tiff_set_tags() sets the
 * tags from such keys; imagej: ImageJ's own tags too, which describe the stack as it was.
 */
void tiff_keep_tags(TIFF *t, struct img *x, const char *name);
void tiff_set_tags(TIFF *t, const struct img *x, bool imagej);

/*
 * Adds the tags MinSampleValue, MaxSampleValue, SMinSampleValue and SMaxSampleValue to x as keys of these names, such as
 * `tiff.MaxSampleValue:=255`. tiff_set_range() sets the tags of a page that has its planes already; tiff_drop_range() drops the
 * keys, which are true of the samples of the file alone.
 */
void tiff_range_of(TIFF *t, struct img *x);
void tiff_set_range(TIFF *t, struct img *x);
void tiff_drop_range(struct img *x);

/*
 * Adds n numbers to x as a key. tiff_numbers() reads those of a key, a multiple of `least` up to `most`; whole: from 0 to 65535. It
 * returns how many. 0: there is no such key, or it is malformed, and dropped with a warning.
 */
void tiff_add_numbers(struct img *x, const char *name, const double *v, size_t n);
size_t tiff_numbers(struct img *x, const char *name, char sep, double *v, size_t most, size_t least,
		    bool whole);

/* --- maps: tiffgeo.c ------------------------------------------------------------------------------------------------- */

/*
 * Adds GeoTIFF's tags to x as keys: geotransform:=x0 dx rx y0 ry dy, crs:=EPSG:n, nodata:=, and the other tags unchanged as
 * geotiff.*:=. The outer corner of pixel i, j lies at x0 + dx i + rx j, y0 + ry i + dy j. The axes get positions in pixels of
 * the page. When a part is cut out later, the positions say where it was. tiff_set_geo() sets the tags from the keys and from
 * the positions.
 */
void tiff_geo_of(TIFF *t, struct img *x, int row_axis);
void tiff_set_geo(TIFF *t, struct img *x, int row_axis);

/* --- stacks: tiffstack.c --------------------------------------------------------------------------------------------- */

/* The page whose description is read: samples of a pixel, width and height; and the file. */
struct stackpage {
	size_t planes, w, h;
	size_t pages;	  /* directories of the file */
	const char *name; /* of the file; NULL: OME's planes are all in it */
};

/*
 * What the tag ImageDescription says of a stack: how many planes lie along which axis, and the spacing of samples. Three formats
 * are read: the lines of ImageJ (`ImageJ=...`, slices=5), OME-XML, and the JSON of tifffile ({"shape": [5, 3, 4]}). Pure.
 */
struct stackmeta {
	bool imagej, ome, shaped;
	bool run; /* of tifffile: the samples of all planes lie behind those of the first */
	size_t n; /* planes: the product of size[]; 0: not stated */
	/* Axes of planes, fastest first, such as "czt"; ' ': of no known meaning. An axis of one plane is left out. */
	char order[IMG_MAXDIM];
	size_t size[IMG_MAXDIM]; /* planes along each axis of order */
	char plane[3];		 /* the names of columns and rows: "xy" */
	double spacing[3];	 /* of x, y, z; NaN: not stated */
	char unit[3][16];	 /* of x, y, z; "": not stated */
	double interval;	 /* of t, in seconds; NaN: not stated */

	/* Of OME: <TiffData> says which pages the planes are; one of the other files that have planes, or "". */
	bool placed;
	char file[80];
};

/*
 * Reads the description; of OME's, the element <Image> of this index. Returns false where the text is none of the three, or has
 * not so many images.
 */
bool stackmeta_read(const char *text, size_t image, const struct stackpage *p, struct stackmeta *m);

/*
 * Returns the directories that the elements <TiffData> name for the m->n planes; SIZE_MAX: the plane has none. p, m: as for
 * stackmeta_read(). The caller frees them with weir_free().
 */
size_t *stackmeta_pages(const char *text, size_t image, const struct stackpage *p,
			const struct stackmeta *m);

/* Whether OME's text has one image, and its planes are the pages in their order. m: as stackmeta_read() has set it. */
bool stackmeta_in_order(const char *text, const struct stackpage *p, const struct stackmeta *m);

/*
 * Returns a copy of the text in which the attribute of OME's first element Pixels has the value, if the element has the
 * attribute. free() it.
 */
char *stackmeta_set(const char *text, const char *name, const char *value);

/*
 * Sets ImageJ's name for the order of the axes, where what is neither c nor t is z: "czt", its own, or such as "zct". Returns false where
 * it has none, since one of them stands twice.
 */
bool stackmeta_order(const struct stackmeta *m, char order[4]);

/* Writes the text that ImageJ reads into text[0..room). */
void stackmeta_print(const struct stackmeta *m, char *text, size_t room);

/* --- pages: tiffread.c ----------------------------------------------------------------------------------------------- */

/* The layout of a page. */
struct tiffpage {
	size_t w, h;	    /* as shown: the orientation is applied */
	size_t planes;	    /* samples of a pixel, interleaved */
	size_t layers;	    /* pictures of the page: of complex samples each plane is one, else 1 */
	enum img_type type; /* of a sample of the item */
	unsigned maxval;    /* 0: the greatest value of the type */
	const char *kind;   /* of axis 0 when it holds planes, else "" */
	uint16_t
	    alpha; /* what the last plane is: EXTRASAMPLE_ASSOCALPHA, _UNASSALPHA, or 0: no alpha */

	/* As stored. */
	size_t stored_w, stored_h, stored_planes;
	unsigned bits;
	uint16_t photometric, orientation, format;
	bool complex, tiled, facsimile;
	bool separate, separate_layers; /* in strips or tiles of their own */
	uint64_t
	    shift; /* bytes from the samples that the directory names to those to read, which are not compressed */
	/* INTEGERS: complex samples that are pairs of integers become floats */
	enum tiffway {
		TIFF_PLAIN,
		TIFF_INVERT,
		TIFF_PALETTE,
		TIFF_RGBA,
		TIFF_HALF,
		TIFF_FLOAT24,
		TIFF_INTEGERS
	} way;
};

/*
 * Reads the current directory of t. indices: those of a palette stay what they are. Returns 0, or -1 when the layout is not
 * supported.
 */
int tiffpage_read(TIFF *t, bool indices, struct tiffpage *p, struct why *why);

/* Whether two pages can be pictures of one stack. */
bool tiffpage_alike(const struct tiffpage *a, const struct tiffpage *b);

/* Where rows go: put() takes n of them at a time. */
struct sink {
	void (*put)(void *to, const void *rows, size_t n);
	void *to;
};

/* A sink that keeps all rows, of this many bytes, one behind the other. */
struct kept {
	char *at;
	size_t row;
};
void tiffpage_keep(void *kept, const void *rows, size_t n);

/*
 * Reads a layer of the page, the current directory of t, from the top, and puts it into out, a band at a time. The samples have
 * the item's type. Returns 0, or -1 when libtiff failed or there was no memory; tiff_why() says which.
 */
int tiffpage_rows(TIFF *t, const struct tiffpage *p, size_t layer, const struct sink *out);

/* How many of the page's tiles or strips the file leaves out. They are read as the value of missing samples, else as 0. */
size_t tiffpage_absent(TIFF *t, const struct tiffpage *p);

/* What stackmeta_read() wants to know of the page; pages, from it on, and the file's name. */
struct stackpage tiffpage_stack(const struct tiffpage *p, size_t pages, const char *name);

/* Returns the page's ImageDescription; "" where it has none, or none that is true of its layers. t owns the text. */
const char *tiffpage_text(TIFF *t, const struct tiffpage *p);

/* A page, or the mask of one. */
struct tiffpages_page {
	struct tiffpage layout;
	uint64_t offset; /* of its directory */
	size_t number;	 /* from 0 */
	size_t mask;	 /* 1 + the index of its mask, which has its size; 0: none */
	bool used;	 /* by an image of OME's */
	bool begins;	 /* a stack of several planes, by a description of tifffile */
};

/* The pages of a file, or the masks of their missing pixels. The caller frees at. */
struct tiffpages {
	struct tiffpages_page *at;
	size_t n, room;
	size_t copies, masks; /* directories that are small copies of pages, or masks */
	size_t all;	      /* directories */
	bool ring;	      /* behind the last one, the file names one of them again */
};

/*
 * Goes through the directories of t. indices: those of a palette stay what they are. masks: NULL where they are not wanted.
 * Returns 0, or -1 when there is no page, or one cannot be read.
 */
int tiffpages_find(TIFF *t, bool indices, struct tiffpages *pages, struct tiffpages *masks,
		   struct why *why);

#endif
