#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/words.h"
#include "common/stream/formats.h"
#include "common/stream/raw.h"

/* --- npy ------------------------------------------------------------------------------------- */

/* Returns the text after 'name': and its blanks in the dictionary. NULL: the name is not there. */
static const char *
value_of(const char *dict, const char *name)
{
	const size_t n = strlen(name);

	for (const char *s = dict; (s = strstr(s, name)); s += n)
		if (s > dict && (s[-1] == '\'' || s[-1] == '"') && s[n] == s[-1]) {
			s += n + 1;
			s += strspn(s, " ");
			return *s == ':' ? s + 1 + strspn(s + 1, " ") : NULL;
		}
	return NULL;
}

static const struct {
	char name[4];
	enum img_type type;
	bool complex, half;
} dtypes[] = {
    {"i1", IMG_I8, false, false},  {"u1", IMG_U8, false, false},  {"b1", IMG_U8, false, false},
    {"i2", IMG_I16, false, false}, {"u2", IMG_U16, false, false}, {"i4", IMG_I32, false, false},
    {"u4", IMG_U32, false, false}, {"i8", IMG_I64, false, false}, {"u8", IMG_U64, false, false},
    {"f2", IMG_F32, false, true},  {"f4", IMG_F32, false, false}, {"f8", IMG_F64, false, false},
    {"c8", IMG_F32, true, false},  {"c16", IMG_F64, true, false},
};

/* Parses a dtype such as '<f4', quotes included. */
static int
take_dtype(const char *s, enum img_type *type, bool *complex, struct npy_layout *how,
	   struct why *why)
{
	if (s && *s == '[')
		return why_set(why, "the dtype is a record of several fields; save one of them");
	if (!s || (*s != '\'' && *s != '"'))
		return why_set(why, "the dtype is malformed");
	const int whole = (int)strcspn(s + 1, *s == '"' ? "\"" : "'");
	if (whole < 2 || !strchr("<>|=", s[1]))
		return why_set(why, "dtype '%.*s' is not supported", whole < 40 ? whole : 40,
			       s + 1);
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
		const size_t n = strlen(dtypes[i].name);
		if (strncmp(s + 2, dtypes[i].name, n) || s[2 + n] != *s)
			continue;
		*type = dtypes[i].type;
		*complex = dtypes[i].complex;
		how->half = dtypes[i].half;
		how->swap = img_type_size(*type) > 1 && s[1] == '>';
		return 0;
	}
	return why_set(why, "dtype '%.*s' is not supported", whole < 40 ? whole : 40, s + 1);
}

/* Parses a shape such as (3, 4), slowest axis first. */
static int
take_shape(const char *s, size_t *n, int *dim, struct why *why)
{
	if (!s || *s++ != '(')
		return why_set(why, "the shape is malformed");
	for (*dim = 0;; ++*dim) {
		char *end;
		s += strspn(s, " ,");
		if (*s == ')')
			return 0;
		if (*dim == IMG_MAXDIM - 1)
			return why_set(why, "the shape has more than %d axes", IMG_MAXDIM - 1);
		if (*s < '0' || *s > '9')
			return why_set(why, "the shape is malformed");
		errno = 0;
		n[*dim] = strtoull(s, &end, 10);
		if (errno || n[*dim] == 0)
			return why_set(why, "an axis of the shape is 0 or too long");
		s = end;
	}
}

static int
take_dict(const char *dict, struct img *x, struct npy_layout *how, struct why *why)
{
	size_t shape[IMG_MAXDIM], sizes[IMG_MAXDIM];
	enum img_type type = IMG_NONE;
	bool complex = false;
	int dim = 0;
	const char *order = value_of(dict, "fortran_order");

	if (take_dtype(value_of(dict, "descr"), &type, &complex, how, why) ||
	    take_shape(value_of(dict, "shape"), shape, &dim, why))
		return -1;
	if (!order || (strncmp(order, "True", 4) && strncmp(order, "False", 5)))
		return why_set(why, "fortran_order is neither True nor False");
	how->fortran = *order == 'T' && dim > 1;
	if (dim == 0)
		shape[dim++] = 1;
	if (complex)
		shape[dim++] = 2;
	for (int i = 0; i < dim; i++)
		sizes[i] = shape[dim - 1 - i];
	img_init(x, type, dim, sizes);
	if (complex)
		strcpy(x->axis[0].kind, "complex");
	/*
	 * Arrays of Python's libraries have the planes of a colour picture in the last index. Floats of shape (n, 3, 3) or (n, 4, 4) are
	 * small kernels or matrices.
	 */
	const size_t planes = x->axis[0].n;
	const bool levels = type == IMG_U8 || type == IMG_U16;
	if (x->dim == 3 && (planes == 3 || planes == 4) &&
	    (levels || (img_is_float(type) && x->axis[1].n > 4)))
		strcpy(x->axis[0].kind, planes == 3 ? "RGB-color" : "RGBA-color");
	x->format = IMG_NPY;
	if (!img_bytes(x, sizes))
		return why_set(why, "the product of the shape overflows");
	return 0;
}

int
npy_parse(const char *text, size_t n, struct img *x, struct npy_layout *how, struct why *why)
{
	char *dict = malloc(n + 1);

	*x = (struct img){0};
	*how = (struct npy_layout){0};
	if (!dict)
		return why_set(why, "no memory");
	memcpy(dict, text, n);
	dict[n] = 0;
	int r = take_dict(dict, x, how, why);
	free(dict);
	return r;
}

int
npy_head(FILE *f, struct img *x, struct npy_layout *how, struct why *why)
{
	unsigned char fixed[12] = {0};

	*x = (struct img){0};
	if (fread(fixed, 1, 10, f) != 10)
		return why_set(why, "the header is truncated");
	size_t wide = fixed[6] > 1 ? 4 : 2;
	if (fixed[6] < 1 || fixed[6] > 3 || (wide == 4 && fread(fixed + 10, 1, 2, f) != 2))
		return why_set(why, "not a .npy header of version 1 to 3");
	size_t n = bytes_load(fixed + 8, wide, true);
	if (n > RAW_MAXHEAD)
		return why_set(why, "the header is longer than %d bytes", RAW_MAXHEAD);
	char *text = malloc(n + 1);
	if (!text)
		return why_set(why, "no memory");
	int r = fread(text, 1, n, f) == n ? npy_parse(text, n, x, how, why)
					  : why_set(why, "the header is truncated");
	free(text);
	return r;
}

/* i goes upwards, so that writing v[i] never overwrites the 16-bit float i + 1 or a later one. */
void
npy_widen(float *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t half;
		memcpy(&half, (const char *)v + sizeof half * (n + i), sizeof half);
		v[i] = float_of_bits(half, 5, 10);
	}
}

/* Copies element by element in x's order. index[] counts through x, and `at` is the place of the same element in from. */
void
npy_transpose(const struct img *x, void *to, const void *from)
{
	const bool complex = img_is_complex(x);
	const int first = complex; /* the two parts of a complex number stay together */
	const size_t size = img_type_size(x->type) << complex;
	size_t stride[IMG_MAXDIM], index[IMG_MAXDIM] = {0}, count = 1, at = 0;
	char *out = to;

	for (int i = x->dim - 1; i >= first; i--) {
		stride[i] = count;
		count *= x->axis[i].n;
	}
	for (size_t k = 0; k < count; k++) {
		memcpy(out + k * size, (const char *)from + at * size, size);
		for (int i = first; i < x->dim; i++) {
			at += stride[i];
			if (++index[i] < x->axis[i].n)
				break;
			at -= stride[i] * index[i];
			index[i] = 0;
		}
	}
}

/* --- PFM ------------------------------------------------------------------------------------- */

/* Takes a word of at most 30 letters and the blank that must follow it. */
static bool
take_word(FILE *f, char word[32])
{
	size_t n = 0;
	int c;

	while ((c = getc(f)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		;
	for (; c != EOF && c > ' ' && n < 31; c = getc(f))
		word[n++] = (char)c;
	word[n] = 0;
	return n > 0 && n < 31 && c != EOF;
}

static bool
take_length(FILE *f, size_t *n)
{
	char word[32];

	return take_word(f, word) && word_whole(word, SIZE_MAX, n) && *n > 0;
}

int
pfm_head(FILE *f, struct img *x, bool *swap, struct why *why)
{
	char magic[32], scale[32], *end;
	size_t sizes[3] = {3}, bytes;

	*x = (struct img){0};
	if (!take_word(f, magic) || !take_length(f, &sizes[1]) || !take_length(f, &sizes[2]) ||
	    !take_word(f, scale))
		return why_set(why, "the PFM header is malformed");
	double s = strtod(scale, &end);
	if (*end || !(s < 0 || s > 0))
		return why_set(why, "the scale of the PFM header, '%s', is no number but 0", scale);
	bool gray = !strcmp(magic, "Pf");
	img_init(x, IMG_F32, gray ? 2 : 3, sizes + gray);
	if (!gray)
		strcpy(x->axis[0].kind, "RGB-color");
	x->format = IMG_PFM;
	*swap = s > 0;
	return img_bytes(x, &bytes) ? 0 : why_set(why, "width x height overflows");
}

void
pfm_flip(struct img *x)
{
	const int gray = x->dim == 2;
	const size_t h = x->axis[gray ? 1 : 2].n, n = x->axis[0].n * (gray ? 1 : x->axis[1].n);
	float *a = x->data;

	for (size_t y = 0; y < h / 2; y++)
		for (size_t i = 0; i < n; i++) {
			float t = a[y * n + i];
			a[y * n + i] = a[(h - 1 - y) * n + i];
			a[(h - 1 - y) * n + i] = t;
		}
}
