/*
 * An item of a stream is an array and its description. Axes are listed fastest first, as in the header of
 * a raw item (weir-raw(5)); in C the same array is written [axis n-1]..[axis 1][axis 0].
 */
#ifndef WEIR_STREAM_IMG_H
#define WEIR_STREAM_IMG_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/sample.h"

#define IMG_MAXDIM   16
#define IMG_MAXSPACE 8

/* The format that an item was read in. Output has the same format where nothing is lost. */
enum img_format { IMG_RAW, IMG_PNM, IMG_PFM, IMG_NPY };

enum img_centre { IMG_UNCENTRED, IMG_NODE, IMG_CELL };

struct img_axis {
	size_t n;	/* samples, >= 1 */
	double spacing; /* NaN: none */
	double min;	/* position of sample 0; NaN: none */
	/* A header says node where this is IMG_UNCENTRED and min or spacing is set. */
	enum img_centre centre;
	char kind[32]; /* "domain", "complex", "RGB-color", "list" ...; "": none */
	char *label;   /* owned; NULL: none */
	char *unit;    /* owned; NULL: none */
	/* The step from a sample to the next in the item's space; spacing is its length. Valid where directed. */
	double step[IMG_MAXSPACE];
	bool directed;
};

/* Where an item lies in a space, such as that of a patient: NRRD's fields space, space origin and measurement frame. */
struct img_space {
	int dim;		     /* numbers of a place; 0: the item has no space */
	double origin[IMG_MAXSPACE]; /* of the first sample, where placed */
	bool placed;
	char *fields; /* owned lines of the header that no filter changes; NULL: none */
};

struct img_key {
	char *name, *value; /* owned */
};

struct img {
	enum img_type type;
	enum img_format format;
	int dim;
	struct img_axis axis[IMG_MAXDIM];
	struct img_space space;
	size_t nkey;
	struct img_key *key; /* owned; in the order of the header */
	void *data;	     /* owned; NULL while only the header is known */
	size_t mapped; /* bytes of the file mapping that holds data, 0 when data is allocated */
	void *map;     /* where that mapping starts */
};

/* The shape of an item that holds pictures: n pictures of h rows of w pixels of c interleaved planes. */
struct img_picture {
	size_t c, w, h, n;
};

/* Makes x an item of this type and shape, without a payload. Its axes have kind "domain", no spacing and no min. */
void img_init(struct img *x, enum img_type type, int dim, const size_t *sizes);

/* Copies from's description, without the payload. to need not be initialised. */
void img_copy_head(struct img *to, const struct img *from);

/* Frees what x owns and zeroes x. A zeroed struct is allowed. */
void img_free(struct img *x);

/* Count the samples of the array, and the bytes of its payload. They return false when the product overflows. */
bool img_count(const struct img *x, size_t *count);
bool img_bytes(const struct img *x, size_t *bytes);

/* Allocates x->data for the payload, uninitialised. Returns 0, -EOVERFLOW or -ENOMEM. */
int img_alloc(struct img *x);

/* Dies where the payload of x exceeds max_bytes, the value of --max-bytes. name: the file, for the message. */
void img_limit(const char *name, const struct img *x, size_t max_bytes);

/* Returns the value of a key:=value line, or NULL. Of two lines with the same key the last one counts, as in Teem. */
const char *img_key(const struct img *x, const char *name);

/*
 * img_set_key replaces all lines of that name by one, img_add_key adds one more line, and img_drop_key removes all lines of
 * that name.
 */
void img_set_key(struct img *x, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void img_add_key(struct img *x, const char *name, const char *value);
void img_drop_key(struct img *x, const char *name);

/* Changes the line that counts, the last of that name, where it stands. Where there is none, it adds one. */
void img_change_key(struct img *x, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Replace the label or the unit of an axis. NULL removes it. */
void img_set_label(struct img_axis *a, const char *label);
void img_set_unit(struct img_axis *a, const char *unit);

/* Returns the key maxval:= as a number in 1..65535, or 0 when the key is absent or is not such a number. */
unsigned img_maxval(const struct img *x);

const char *img_format_name(enum img_format format); /* "raw", "PNM", "PFM", "npy" */

/* Whether axis 0 holds real and imaginary part: length 2, kind "complex", a floating type, with more axes after it. */
bool img_is_complex(const struct img *x);

/*
 * img_drop_axis removes an axis from the description; the only axis of an item becomes an axis of one sample instead.
 * img_insert_axis puts a new axis before the axis `before`.
 */
void img_drop_axis(struct img *x, int axis);
void img_insert_axis(struct img *x, int before, size_t n, const char *kind);

/*
 * Reads the shape of pictures, `x y [n]`, or `c x y [n]` when axis 0 has a kind that is not a domain (RGB-color, complex ...). A
 * single axis is one row; axes of one sample may follow, as FITS has. Returns false when x has more axes than that.
 */
bool img_picture(const struct img *x, struct img_picture *p);

/* Does the same for items of any number of axes: n counts the pictures along all axes of pictures. False: it overflows. */
bool img_pictures(const struct img *x, struct img_picture *p);

/*
 * Returns the axis along the rows of such a picture: 1 where axis 0 holds its planes, else 0. The next axis, if there is
 * one, runs down the picture.
 */
int img_row_axis(const struct img *x);

/* Whether pictures are slices of volumes: as the header says, never, or wherever they can be. */
enum img_depth { IMG_AS_NAMED, IMG_SLICES, IMG_VOLUME };

/* n volumes of d slices of such pictures; or, where they are not deep, n pictures, with d 1. */
struct img_volumes {
	size_t c, w, h, d, n;
	bool deep;
};

/*
 * The axis behind those of a picture is depth where its label is z, and, for IMG_VOLUME, whatever its label is. Channels and frames
 * are none: the labels c and t, and all kinds but domain and space. False: the pictures overflow.
 */
bool img_is_deep(const struct img *x, enum img_depth how);
bool img_volumes(const struct img *x, enum img_depth how, struct img_volumes *v);

/* Returns what an axis of channels or frames is called, its label or its kind. NULL: its samples may be slices of a volume. */
const char *img_no_depth(const struct img_axis *a);

/*
 * Gives the axis n samples, the first of which is at the old index `shift`, and moves min and the origin of the space there.
 * shift may be negative. An axis without a spacing counts its positions by 1. Columns and rows of a map have positions from 0
 * where the item states none, so that geotransform:= still says where they lie.
 */
void img_cut_axis(struct img *x, int axis, size_t n, ptrdiff_t shift);

/* Does the same. An axis that loses its first samples has positions, from 0 before the cut where it states none, or directions. */
void img_crop_axis(struct img *x, int axis, size_t n, ptrdiff_t shift);

/* Describes the axis in reverse order: min and origin move to the last sample, spacing and step change their sign. */
void img_flip_axis(struct img *x, int axis);

/* Takes the item out of its space: the axes get other meanings. */
void img_leave_space(struct img *x);

#define PNM_RGB_ALPHA  "RGB_ALPHA" /* the tuple type of colours with alpha */
#define PNM_GRAY_ALPHA "GRAYSCALE_ALPHA"

/* Alpha: how opaque a pixel is, as its last sample. What the last plane is, by the kind of axis 0 and by keys. */
enum alpha { ALPHA_NONE, ALPHA_STRAIGHT, ALPHA_PREMULTIPLIED };
enum alpha alpha_of(const struct img *x);

/* The alpha of opaque pixels: maxval:=, the greatest integer of the type, or 1 of floats. */
double alpha_opaque(const struct img *x);

/* Divides the premultiplied colours of so many pixels of x, at data, by their alpha, and says so in the keys of x. */
void alpha_divide(struct img *x, void *data, size_t pixels);

#endif
