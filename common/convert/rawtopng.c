/* link: -lpng */
/* rawtopng: writes items as PNG pictures; those of at most 256 colours get a palette. */
#include <png.h>
#include <string.h>

#include "common/base/die.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawtopng";

struct args {
	struct opt_common common;
	bool direct;
};

static const struct opt table[] = {
    {0, "direct", OPT_FLAG, AT(direct), NULL, "write colours, not a palette"}, {0}};

static const struct opt_program program = {.what = "Writes pictures of 8 or 16 bits as PNG.",
					   .example = "rawtopng coins.pgm >coins.png",
					   .table = table};

/* The colours of a picture of bytes, those that are not opaque first. */
struct palette {
	int n, translucent;
	png_color colour[256];
	png_byte alpha[256];
};

/* A picture as it is written. */
struct picture {
	size_t w, h, planes;
	unsigned maxval;
	int type, depth;
	uint8_t *row; /* [h][bytes]; borrowed */
	size_t bytes; /* of a row */
};

static void
write_bytes(png_structp png, png_bytep from, size_t n)
{
	raw_text(png_get_io_ptr(png), (const char *)from, n);
}

static void
flush_nothing(png_structp png)
{
	(void)png;
}

static void
fail(png_structp png, const char *what)
{
	raw_die(png_get_error_ptr(png), "%s", what);
}

static void
note(png_structp png, const char *what)
{
	(void)png;
	(void)what;
}

/* --- palettes ------------------------------------------------------------------------------------------------------ */

/* Returns the colour of a pixel as r<<24 | g<<16 | b<<8 | alpha. */
static uint32_t
colour_of(const uint8_t *px, size_t planes)
{
	return (uint32_t)px[0] << 24 | (uint32_t)px[1] << 16 | (uint32_t)px[2] << 8 |
	       (planes == 4 ? px[3] : 255);
}

/* Colours and their places in a table with open addressing. */
struct table {
	enum { SLOTS = 1024 } slots;
	uint32_t colour[SLOTS];
	int16_t at[SLOTS]; /* -1: free */
};

static size_t
slot_of(const struct table *t, uint32_t colour)
{
	size_t slot = (colour * 2654435761u) >> 22;

	while (t->at[slot] >= 0 && t->colour[slot] != colour)
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* Numbers the colours as they come. False: they are more than 256. */
static bool
list_colours(struct table *t, uint32_t colour[256], int *n, const struct picture *p)
{
	uint32_t last = 0;

	memset(t->at, -1, sizeof t->at);
	*n = 0;
	for (size_t i = 0; i < p->w * p->h; i++) {
		const uint32_t c = colour_of(p->row + i * p->planes, p->planes);
		if (i && c == last)
			continue;
		last = c;
		const size_t slot = slot_of(t, c);
		if (t->at[slot] >= 0)
			continue;
		if (*n == 256)
			return false;
		t->colour[slot] = c;
		t->at[slot] = (int16_t)*n;
		colour[(*n)++] = c;
	}
	return true;
}

/* Puts the colours that are not opaque first, since only these need an alpha in the file. */
static void
sort_colours(struct table *t, struct palette *q, const uint32_t *colour, int n)
{
	*q = (struct palette){0};
	for (int opaque = 0; opaque < 2; opaque++) {
		for (int i = 0; i < n; i++) {
			const uint32_t c = colour[i];
			if (((c & 255) == 255) != opaque)
				continue;
			t->at[slot_of(t, c)] = (int16_t)q->n;
			q->colour[q->n] = (png_color){(png_byte)(c >> 24), (png_byte)(c >> 16),
						      (png_byte)(c >> 8)};
			q->alpha[q->n++] = (png_byte)c;
		}
		q->translucent = opaque ? q->translucent : q->n;
	}
}

/* Replaces the pixels by the numbers of their colours, and returns true, where there are at most 256. */
static bool
index_picture(struct picture *p, struct palette *q)
{
	uint32_t colour[256];
	struct table t;
	int n;

	if (p->depth != 8 || p->planes < 3 || !list_colours(&t, colour, &n, p))
		return false;
	sort_colours(&t, q, colour, n);
	for (size_t i = 0; i < p->w * p->h; i++)
		p->row[i] =
		    (uint8_t)t.at[slot_of(&t, colour_of(p->row + i * p->planes, p->planes))];
	p->type = PNG_COLOR_TYPE_PALETTE;
	p->depth = n <= 2 ? 1 : n <= 4 ? 2 : n <= 16 ? 4 : 8;
	p->bytes = p->w;
	return true;
}

/* --- pictures ------------------------------------------------------------------------------------------------------ */

/* Spreads the levels 0..maxval over all that the bits hold; PNG knows no other maxval. */
static void
scale(struct picture *p, size_t n)
{
	const unsigned top = p->maxval > 255 ? 65535 : 255, m = p->maxval;
	uint16_t *wide = (uint16_t *)(void *)p->row;

	for (size_t i = 0; i < n; i++)
		if (top == 255)
			p->row[i] = (uint8_t)((p->row[i] * top + m / 2) / m);
		else
			wide[i] = (uint16_t)((wide[i] * (uint64_t)top + m / 2) / m);
	p->maxval = top;
}

/* Makes the picture of an item, whose samples may be changed. */
static struct picture
take(const struct args *args, struct raw_in *in, struct img *x)
{
	static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
				    PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
	const bool wide = x->type == IMG_U16, alpha = alpha_of(x) != ALPHA_NONE;
	struct picture p = {.maxval = img_maxval(x) ? img_maxval(x) : wide ? 65535 : 255};
	struct img_picture s;

	if (x->type != IMG_U8 && x->type != IMG_U16)
		raw_die(in, "samples of type %s; type: rawtopnm%s | rawtopng",
			img_type_name(x->type), x->type == IMG_I32 ? " --labels" : "");
	if (!img_picture(x, &s) || s.n != 1 || s.c > 4 || (s.c % 2 == 0) != alpha)
		raw_die(in,
			"not one picture of gray or RGB, with or without alpha; rawtopnm --slice "
			"takes one of a stack, and rawaxes --slice=c:I one plane");
	if (s.w > 0x7fffffff || s.h > 0x7fffffff)
		raw_die(in, "%zux%zu pixels; PNG holds 2147483647 in a row and a column", s.w, s.h);
	raw_load(in, x);
	if (alpha_of(x) == ALPHA_PREMULTIPLIED)
		alpha_divide(x, x->data, s.w * s.h);
	p.w = s.w;
	p.h = s.h;
	p.planes = s.c;
	p.row = x->data;
	p.type = types[s.c];
	p.bytes = s.w * s.c * img_type_size(x->type);
	if (s.c == 1 && (p.maxval == 1 || p.maxval == 3 || p.maxval == 15) && !wide)
		p.depth = p.maxval == 1 ? 1 : p.maxval == 3 ? 2 : 4;
	else
		p.depth = wide ? 16 : 8;
	if (p.depth >= 8 && p.maxval != (wide ? 65535 : 255)) {
		if (!args->common.quiet)
			warn("%s: item %zu: levels up to %u become levels up to %d", raw_name(in),
			     raw_item(in), p.maxval, wide ? 65535 : 255);
		scale(&p, s.w * s.h * s.c);
	}
	return p;
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct picture p = take(args, in, x);
	struct palette q;
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, in, fail, note);
	png_infop info = png ? png_create_info_struct(png) : NULL;

	if (!info)
		raw_die(in, "no memory");
	png_set_write_fn(png, out, write_bytes, flush_nothing);
	png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
	const bool indexed = !args->direct && index_picture(&p, &q);
	stats_charge(st, STATS_COMPUTE);
	png_set_IHDR(png, info, (png_uint_32)p.w, (png_uint_32)p.h, p.depth, p.type,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (indexed)
		png_set_PLTE(png, info, q.colour, q.n);
	if (indexed && q.translucent)
		png_set_tRNS(png, info, q.alpha, q.translucent, NULL);
	png_write_info(png, info);
	if (p.depth < 8)
		png_set_packing(png);
	if (p.depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(png);
	for (size_t y = 0; y < p.h; y++)
		png_write_row(png, p.row + y * p.bytes);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	stats_charge(st, STATS_WRITE);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, NULL, convert_item, NULL};
	struct args args = {.common = {.as = RAW_AS_RAW}};

	return raw_each(&filter, argc, argv, &args);
}
