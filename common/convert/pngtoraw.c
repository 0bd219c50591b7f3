/* link: -lpng */
/* pngtoraw: reads PNG files as items. */
#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/stream/formats.h"
#include "common/stream/raw.h"

const char *const weir_prog = "pngtoraw";

struct args {
	struct opt_common common;
	char **path;
	size_t npath;
};

static const struct opt table[] = {{0}};

static const struct opt_program program = {.what = "Turns PNG files into raw items.",
					   .example = "pngtoraw photo.png >photo.nrrd",
					   .table = table};

/* A file of PNG pictures, one after the other. */
struct source {
	FILE *f;
	const char *name;
	bool quiet, animated; /* animated: the picture has frames of APNG */
	uint64_t bytes;
};

static void
read_bytes(png_structp png, png_bytep to, size_t n)
{
	struct source *s = png_get_io_ptr(png);

	if (fread(to, 1, n, s->f) != n)
		die("%s: %s", s->name, ferror(s->f) ? strerror(errno) : "the file is cut off");
	s->bytes += n;
}

static void
fail(png_structp png, const char *what)
{
	const struct source *s = png_get_error_ptr(png);

	die("%s: %s", s->name, what);
}

static void
note(png_structp png, const char *what)
{
	const struct source *s = png_get_error_ptr(png);

	if (!s->quiet && strcmp(what, "Out of memory")) /* an error follows that one */
		warn("%s: %s", s->name, what);
}

/* Learns that frames follow. libpng itself passes over all chunks that it does not know. */
static int
look_at_chunk(png_structp png, png_unknown_chunkp chunk)
{
	struct source *s = png_get_user_chunk_ptr(png);

	s->animated |= !memcmp(chunk->name, "acTL", 4);
	return 1;
}

/* Says what of the picture no item holds. */
static void
say_lost(png_structp png, png_infop info, const struct source *s)
{
	double gamma = 0;
	int intent;

	if (s->animated)
		note(png, "it is animated; only its first picture is read");
	if (png_get_valid(png, info, PNG_INFO_iCCP))
		note(png, "its colour profile (iCCP) is left out; samples are as stored");
	else if (!png_get_sRGB(png, info, &intent) && png_get_gAMA(png, info, &gamma) &&
		 fabs(gamma * 2.2 - 1) > .05)
		note(png, "its gamma (gAMA) is not 1/2.2 and is left out; samples are as stored");
}

/* Asks libpng for samples of 8 or 16 bits, colours for a palette, and alpha where there is any. Returns the maxval, and the planes. */
static unsigned
choose_samples(png_structp png, png_infop info, size_t *planes)
{
	const int type = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
	const bool key = png_get_valid(png, info, PNG_INFO_tRNS);

	if (type == PNG_COLOR_TYPE_PALETTE)
		png_set_palette_to_rgb(png);
	else if (depth < 8 && key)
		png_set_expand_gray_1_2_4_to_8(png);
	else if (depth < 8)
		png_set_packing(png);
	if (key)
		png_set_tRNS_to_alpha(png);
	if (depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(png);
	png_set_interlace_handling(png);
	*planes = (type == PNG_COLOR_TYPE_PALETTE ? 3u : png_get_channels(png, info)) + key;
	return depth == 16					     ? 65535
	       : depth == 8 || key || type == PNG_COLOR_TYPE_PALETTE ? 255
								     : (1u << depth) - 1;
}

/* Reads the picture whose signature has been read. */
static void
read_picture(struct source *s, struct img *x, const struct args *args)
{
	static const char *const tuples[] = {NULL, "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB",
					     "RGB_ALPHA"};
	static const char *const kinds[] = {NULL, NULL, "list", "RGB-color", "RGBA-color"};
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, s, fail, note);
	png_infop info = png ? png_create_info_struct(png) : NULL;

	if (!info)
		die("%s: no memory", s->name);
	s->animated = false;
	png_set_read_fn(png, s, read_bytes);
	png_set_read_user_chunk_fn(png, s, look_at_chunk);
	png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
	png_set_sig_bytes(png, 8);
	png_read_info(png, info);
	say_lost(png, info, s);
	size_t planes;
	const unsigned maxval = choose_samples(png, info, &planes);
	const size_t w = png_get_image_width(png, info), h = png_get_image_height(png, info),
		     row = planes * w * (maxval > 255 ? 2 : 1);
	img_init(x, maxval > 255 ? IMG_U16 : IMG_U8, planes > 1 ? 3 : 2,
		 planes > 1 ? (size_t[]){planes, w, h} : (size_t[]){w, h});
	if (planes > 1)
		strcpy(x->axis[0].kind, kinds[planes]);
	img_set_key(x, "maxval", "%u", maxval);
	img_set_key(x, "tupltype", "%s", tuples[planes]);
	img_limit(s->name, x, args->common.max_bytes);
	if (img_alloc(x))
		die("%s: no memory for %zu bytes", s->name, h * row);
	/* Only now, since it fills a row of the width that the header claims. */
	png_read_update_info(png, info);
	png_bytep *rows = weir_xalloc(h, sizeof *rows);
	for (size_t y = 0; y < h; y++)
		rows[y] = (png_bytep)x->data + y * row;
	png_read_image(png, rows);
	png_read_end(png, NULL);
	weir_free(rows);
	png_destroy_read_struct(&png, &info, NULL);
	opt_add_history(x, &args->common);
}

/* Whether another picture begins in the file. */
static bool
begins(struct source *s)
{
	unsigned char first[FOREIGN_MAGIC];
	const size_t n = fread(first, 1, 8, s->f);

	s->bytes += n;
	if (!n && !ferror(s->f))
		return false;
	if (n == 8 && !png_sig_cmp(first, 0, 8))
		return true;
	if (ferror(s->f))
		die("%s: %s", s->name, strerror(errno));
	const size_t all = n + fread(first + n, 1, sizeof first - n, s->f);
	const char *what = foreign_what(first, all);
	die("%s: %s%s", s->name, what ? "this is " : "this is no PNG", what ? what : "");
}

static void
convert(const char *path, struct raw_out *out, const struct args *args, struct stats *st)
{
	struct source s = {file_open(path), file_name(path), args->common.quiet, false, 0};

	for (; begins(&s); st->items++) {
		struct img x;
		read_picture(&s, &x, args);
		stats_charge(st, STATS_READ);
		raw_put(out, &x);
		stats_charge(st, STATS_WRITE);
		img_free(&x);
	}
	st->bytes_in += s.bytes;
	if (!s.bytes)
		die("%s: empty input", s.name);
	if (s.f != stdin)
		fclose(s.f);
}

int
main(int argc, char **argv)
{
	struct args args = {0};
	struct stats st;

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	struct raw_out *out = raw_create(args.common.out, RAW_AS_RAW);
	stats_start(&st);
	for (size_t i = 0; i < (args.npath ? args.npath : 1); i++)
		convert(args.npath ? args.path[i] : "-", out, &args, &st);
	stats_close(&st, NULL, out, &args.common);
	return 0;
}
