/* Writes a stream of items. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/stream/formats.h"
#include "common/stream/raw.h"

enum { BLOCK = 1 << 20, BUFFER = 1 << 16 };

struct raw_out {
	struct file_out *file;
	FILE *f; /* its stream */
	const char *name;
	char *buffer; /* of f */
	enum raw_as as;
	uint64_t bytes;

	/* The current item. */
	size_t left, size; /* samples still to come; bytes of one */
	bool pnm;
	struct img_picture picture; /* PNM: the shape of each picture */
	size_t left_in_picture;
	unsigned maxval;
	char *tuple_type;
	void *block; /* BLOCK bytes, in which samples are converted for PNM */
};

struct raw_out *
raw_create(const char *path, enum raw_as as)
{
	struct raw_out *out = weir_xalloc(1, sizeof *out);

	*out = (struct raw_out){.as = as, .file = file_create(path, false)};
	out->f = file_stream(out->file);
	out->name = file_out_name(out->file);
	if (as != RAW_AS_TEXT && isatty(fileno(out->f)))
		die_usage("binary data is not written to a terminal; redirect it or use -o");
	out->buffer = weir_xalloc(BUFFER, 1);
	setvbuf(out->f, out->buffer, _IOFBF, BUFFER);
	return out;
}

void
raw_finish(struct raw_out *out)
{
	if (out->left)
		die("%s: internal error: %zu samples of the item are missing", out->name,
		    out->left);
	file_finish(out->file);
	weir_free_all(out->buffer, out->tuple_type, out->block, out);
}

/* --- items ----------------------------------------------------------------------------------- */

void
raw_text(struct raw_out *out, const char *text, size_t n)
{
	errno = 0;
	if (fwrite(text, 1, n, out->f) != n)
		file_die_writing(out->file);
	out->bytes += n;
}

void
raw_words(struct raw_out *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char seen[VISIBLE] = "\t";
		raw_text(out, seen, text[i] == '\t' ? 1 : visible_char(seen, text[i]));
	}
}

void
raw_printf(struct raw_out *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	errno = 0;
	int n = vfprintf(out->f, fmt, ap);
	va_end(ap);
	if (n < 0)
		file_die_writing(out->file);
	out->bytes += (uint64_t)n;
}

/* Returns NULL when x can be written as PNM, else the reason. Fills out's description of the pictures. */
static const char *
as_pictures(struct raw_out *out, const struct img *x)
{
	unsigned natural = x->type == IMG_U8 ? 255 : 65535;

	if (x->type != IMG_U8 && x->type != IMG_U16)
		return "PNM holds uchar and ushort samples only; convert with rawtopnm";
	if (!img_picture(x, &out->picture))
		return "PNM holds pictures of at most three axes and planes; cut with rawtopnm "
		       "--slice";
	out->maxval = img_maxval(x) ? img_maxval(x) : natural;
	return out->maxval > natural ? "maxval exceeds what the samples can hold" : NULL;
}

static void
begin_pictures(struct raw_out *out, const struct img *x)
{
	const char *tuple_type = img_key(x, "tupltype");

	if (alpha_of(x) == ALPHA_PREMULTIPLIED)
		warn("%s: PAM's colours are not premultiplied, and these are; rawtopnm makes them "
		     "so",
		     out->name);
	if (out->picture.c == 4 && !strcmp(x->axis[0].kind, "RGBA-color"))
		tuple_type = PNM_RGB_ALPHA;
	else if (tuple_type && !strcmp(tuple_type, PNM_RGB_ALPHA))
		tuple_type = NULL;
	weir_free(out->tuple_type);
	out->tuple_type = tuple_type ? weir_xstrdup(tuple_type) : NULL;
	out->left_in_picture = 0;
	if (!out->block && out->size > 1)
		out->block = weir_xalloc(BLOCK, 1);
}

/* Warns where the name of the file promises another format than it gets. */
static void
doubt_name(const struct raw_out *out)
{
	enum { PICTURES = 4 }; /* the first of them hold levels, which rawtopnm makes */
	static const struct {
		const char *end, *format, *program;
	} known[] = {{"png", "PNG", "rawtopng"},     {"jpg", "JPEG", "pnmtojpeg"},
		     {"jpeg", "JPEG", "pnmtojpeg"},  {"gif", "GIF", "pamtogif"},
		     {"tif", "TIFF", "rawtotiff"},   {"tiff", "TIFF", "rawtotiff"},
		     {"fits", "FITS", "rawtofits"},  {"fit", "FITS", "rawtofits"},
		     {"npy", "NumPy", "rawtonpy"},   {"sgy", "SEG-Y", "rawtosegy"},
		     {"segy", "SEG-Y", "rawtosegy"}, {"su", "SU", "rawtosu"},
		     {"csv", "text", "rawtotext"},   {"txt", "text", "rawtotext"}};
	char *to = strcmp(out->name, "(stdout)") ? NULL : realpath("/dev/stdout", NULL);
	const char *name = to ? to : out->name, *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
		if (!strcasecmp(dot + 1, known[i].end))
			warn("%s: the file holds %s, not %s: pipe to %s%s", name,
			     out->pnm ? "PNM" : "weir-raw", known[i].format,
			     out->pnm || i >= PICTURES ? "" : "rawtopnm | ", known[i].program);
	free(to);
}

void
raw_head(struct raw_out *out, const struct img *x)
{
	const char *why = "it was asked for as raw";

	if (out->left)
		die("%s: internal error: %zu samples of the item are missing", out->name,
		    out->left);
	if (out->as == RAW_AS_PNM || (out->as == RAW_FOLLOW && x->format == IMG_PNM))
		why = as_pictures(out, x);
	if (why && out->as == RAW_AS_PNM)
		die("%s: %s", out->name, why);
	if (!img_count(x, &out->left))
		die("%s: the size of the item overflows", out->name);
	out->size = img_type_size(x->type);
	out->pnm = !why;
	if (!out->bytes)
		doubt_name(out);
	if (out->pnm) {
		begin_pictures(out, x);
		return;
	}
	size_t n;
	char *text = raw_format(x, &n);
	if (!text)
		die("no memory");
	if (n > RAW_MAXHEAD)
		die("%s: a header of %zu bytes would be longer than the %d that readers take",
		    out->name, n, RAW_MAXHEAD);
	raw_text(out, text, n);
	free(text);
}

/*
 * Returns samples as PNM has them, one byte up to maxval 255, else two, big-endian. They are buf itself, or out->block when
 * they must be converted.
 */
static const char *
to_pnm(struct raw_out *out, const char *buf, size_t count)
{
	const bool narrow = out->maxval < 256, any = out->maxval == (out->size == 1 ? 255 : 65535);
	uint8_t *to = out->block;

	if (!any && sample_max(buf, count, out->size) > out->maxval)
		die("%s: a sample is %u, which exceeds the maxval %u", out->name,
		    sample_max(buf, count, out->size), out->maxval);
	if (out->size == 1)
		return buf;
	for (size_t i = 0; narrow && i < count; i++)
		to[i] = (uint8_t)((const uint16_t *)(const void *)buf)[i];
	if (!narrow) {
		memcpy(to, buf, count * out->size);
		swap_bytes(to, count, 2);
	}
	return out->block;
}

static void
write_pnm(struct raw_out *out, const char *buf, size_t count)
{
	const struct img_picture *p = &out->picture;

	while (count) {
		size_t n = BLOCK / out->size;
		if (!out->left_in_picture) {
			int head = pnm_put_head(out->f, p, out->maxval, out->tuple_type);
			if (head < 0)
				file_die_writing(out->file);
			out->bytes += (uint64_t)head;
			out->left_in_picture = p->c * p->w * p->h;
		}
		n = n < count ? n : count;
		n = n < out->left_in_picture ? n : out->left_in_picture;
		raw_text(out, to_pnm(out, buf, n), n * (out->maxval < 256 ? 1 : 2));
		out->left_in_picture -= n;
		buf += n * out->size;
		count -= n;
	}
}

void
raw_write(struct raw_out *out, const void *buf, size_t count)
{
	if (count > out->left)
		die("%s: internal error: %zu samples more than the item has", out->name,
		    count - out->left);
	if (out->pnm)
		write_pnm(out, buf, count);
	else
		raw_text(out, buf, count * out->size);
	out->left -= count;
}

void
raw_flush(struct raw_out *out)
{
	errno = 0;
	if (fflush(out->f))
		file_die_writing(out->file);
}

void
raw_put(struct raw_out *out, const struct img *x)
{
	raw_head(out, x);
	raw_write(out, x->data, out->left);
}

uint64_t
raw_bytes_out(const struct raw_out *out)
{
	return out->bytes;
}
