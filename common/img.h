/*
 * An item of a stream: the description of an array, and the array. Axes are listed fastest first, as in the header of
 * a raw item (weir-raw(5)); in C the same array is written [axis n-1]..[axis 1][axis 0].
 */
#ifndef WEIR_IMG_H
#define WEIR_IMG_H

#include <stdbool.h>
#include <stddef.h>

#define IMG_MAXDIM 16

enum img_type {
	IMG_NONE,
	IMG_I8,
	IMG_U8,
	IMG_I16,
	IMG_U16,
	IMG_I32,
	IMG_U32,
	IMG_I64,
	IMG_U64,
	IMG_F32,
	IMG_F64
};

/* What an item was written as. Output follows input where nothing is lost. */
enum img_format { IMG_RAW, IMG_PNM, IMG_PFM, IMG_NPY };

enum img_centre { IMG_UNCENTRED, IMG_NODE, IMG_CELL };

struct img_axis {
	size_t n;	/* samples, >= 1 */
	double spacing; /* NaN: none */
	double min;	/* position of sample 0; NaN: none */
	enum img_centre
	    centre;    /* written as node where min or spacing is set and this is IMG_UNCENTRED */
	char kind[32]; /* "domain", "complex", "RGB-color", "list" ...; "" when unsaid */
	char *label;   /* owned; NULL: none */
	char *unit;    /* owned; NULL: none */
};

struct img_key {
	char *name, *value; /* owned */
};

struct img {
	enum img_type type;
	enum img_format format;
	int dim;
	struct img_axis axis[IMG_MAXDIM];
	size_t nkey;
	struct img_key *key; /* owned; in the order of the header */
	void *data;	     /* owned; NULL while only the header is known */
	size_t mapped; /* bytes of the file mapping that holds data, 0 when data is allocated */
	void *map;     /* where that mapping starts */
};

/* An item seen as pictures: n pictures of h rows of w pixels of c interleaved planes. */
struct img_picture {
	size_t c, w, h, n;
};

size_t img_type_size(enum img_type type);
const char *img_type_name(enum img_type type);	/* the NRRD word: "uchar", "float" ... */
enum img_type img_type_named(const char *word); /* any of NRRD's words; IMG_NONE when unknown */

/* An item of that shape without a payload: axes bare (no spacing, no min), kind "domain". */
void img_init(struct img *x, enum img_type type, int dim, const size_t *sizes);

/* to becomes a copy of from's description, without its payload. to need not be initialised. */
void img_copy_head(struct img *to, const struct img *from);

/* Frees what x owns and zeroes it. A zeroed struct is fine. */
void img_free(struct img *x);

/* Samples of the array, and bytes of its payload; false when the product overflows. */
bool img_count(const struct img *x, size_t *count);
bool img_bytes(const struct img *x, size_t *bytes);

/* x->data = room for the payload, uninitialised. 0, -EOVERFLOW or -ENOMEM. */
int img_alloc(struct img *x);

/* The value of a key:=value line, or NULL. The last one wins, as in teem. */
const char *img_key(const struct img *x, const char *name);

/* Sets a key (replacing one of that name), adds one more line, removes all of that name. */
void img_set_key(struct img *x, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void img_add_key(struct img *x, const char *name, const char *value);
void img_drop_key(struct img *x, const char *name);

/* Replaces the label or the unit of an axis; NULL removes it. */
void img_set_label(struct img_axis *a, const char *label);
void img_set_unit(struct img_axis *a, const char *unit);

/* maxval:= as a number in 1..65535, or 0 when the key is absent or not such a number. */
unsigned img_maxval(const struct img *x);

const char *img_format_name(enum img_format format); /* "raw", "PNM", "PFM", "npy" */

bool img_is_float(enum img_type type);

/* Axis 0 holds real and imaginary part. */
bool img_is_complex(const struct img *x);

/* Takes an axis out of the description (of a single one, a sample stays), and puts one in before another. */
void img_drop_axis(struct img *x, int axis);
void img_insert_axis(struct img *x, int before, size_t n, const char *kind);

/*
 * x as pictures: sizes `x y [n]`, or `c x y [n]` when axis 0 has a kind that is not a domain (RGB-color, complex,
 * vector ...); a single axis is one row. false when x has more axes than that.
 */
bool img_picture(const struct img *x, struct img_picture *p);

/* The axis along the rows of such a picture: 1 where axis 0 holds its planes, else 0. The one after it runs down, if any. */
int img_row_axis(const struct img *x);

/* The axis is cut to n samples, the first of which lies `shift` further on: its position follows. */
void img_cut_axis(struct img_axis *a, size_t n, ptrdiff_t shift);

#endif
