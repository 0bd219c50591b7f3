/* Reads the header of an item in any of the formats. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/stream/foreign.h"
#include "common/stream/item.h"
#include "common/stream/npy.h"
#include "common/stream/pnm.h"

/* The largest payload that is not checked against the default limit, in bytes. */
enum { ALWAYS_TAKEN = 16 << 20 };

/* A detached header ends with the file, without an empty line. Returns whether a field names the file of its samples. */
static bool
is_detached(const char *text, size_t n)
{
	return memmem(text, n, "\ndata file:", 11) || memmem(text, n, "\ndatafile:", 10);
}

/* Reads a raw header up to its empty line. Returns its text of *n bytes, which the caller frees. */
static char *
read_head(struct raw_in *in, size_t *n)
{
	size_t room = 4096;
	char *text = weir_xalloc(room, 1);
	int c = 0, before = 0;

	for (*n = 0; (c = getc_unlocked(in->f)) != EOF;) {
		if (c == '\n' && before == '\n')
			return text;
		if (c == '\r')
			continue;
		if (*n == RAW_MAXHEAD)
			raw_die(in, "the header is longer than %d bytes", RAW_MAXHEAD);
		if (*n == room) {
			char *more = weir_xalloc(room *= 2, 1);
			memcpy(more, text, *n);
			weir_free(text);
			text = more;
		}
		text[(*n)++] = (char)c;
		before = c;
	}
	raw_die(in, "%s", is_detached(text, *n) ? RAW_DETACHED : "the file ends inside the header");
}

static int
raw_head_in(struct raw_in *in, struct img *x, char err[RAW_ERR])
{
	size_t n;
	char *text = read_head(in, &n);
	int r = raw_parse(text, n, x, &in->swap, err);

	weir_free(text);
	return r;
}

static void
refuse_large(const struct raw_in *in, size_t bytes, size_t limit)
{
	if (bytes > limit)
		raw_die(
		    in,
		    "the payload of %zu bytes exceeds the limit of %zu; raise it with --max-bytes",
		    bytes, limit);
}

/* Sets the sample size and refuses payloads over the limit, before anything is allocated. */
static void
start_item(struct raw_in *in, struct img *x)
{
	size_t bytes;

	in->size = img_type_size(x->type);
	if (!img_count(x, &in->total) || !img_bytes(x, &bytes))
		raw_die(in, "the size of the payload overflows");
	/* The default limit is checked for large items only, since reading it from the control groups takes .1 ms. */
	if (in->max_bytes || bytes > ALWAYS_TAKEN)
		refuse_large(in, bytes, weir_limit(in->max_bytes));
	in->left = in->total;
	in->offset = ftello(in->f);
}

/* Reads a payload of 16-bit floats into the upper half of x->data, and then converts them to floats in place. */
static void
load_halves(struct raw_in *in, struct img *x)
{
	const int r = img_alloc(x);

	if (r)
		raw_die(in, "%s", strerror(-r));
	in->size = sizeof(uint16_t);
	raw_read(in, (uint16_t *)x->data + in->total, in->total);
	in->size = sizeof(float);
	npy_widen(x->data, in->total);
}

/* Decodes at once a payload that has not the order or the type of the item. raw_read then copies from in->whole. */
static void
decode(struct raw_in *in, struct img *x, const struct npy_layout *how)
{
	if (how->half)
		load_halves(in, x);
	else
		raw_load(in, x);
	if (x->format == IMG_PFM)
		pfm_flip(x);
	in->whole = x->data;
	if (how->fortran) {
		in->whole = weir_xalloc(in->total, in->size);
		npy_transpose(x, in->whole, x->data);
		weir_free(x->data);
	}
	x->data = NULL;
	in->left = in->total;
	in->swap = false;
}

/* Decodes at once a payload of the plain PNM formats or of packed bits. */
static void
decode_pnm(struct raw_in *in, struct img *x, char magic)
{
	char err[RAW_ERR];
	int r = img_alloc(x);

	if (r)
		raw_die(in, "%s", strerror(-r));
	if (pnm_load(in->f, x, magic, err))
		raw_die(in, "%s", err);
	in->whole = x->data;
	x->data = NULL;
	in->blanks = magic <= '3';
	in->bytes += in->total * in->size;
}

static void
pnm_item(struct raw_in *in, struct img *x, char magic)
{
	char err[RAW_ERR];
	bool block;

	if (pnm_head(in->f, x, &block, err))
		raw_die(in, "%s", err);
	start_item(in, x);
	in->swap = in->size == 2;
	in->limit = img_maxval(x) == (in->size == 1 ? 255 : 65535) ? 0 : img_maxval(x);
	source_expect(in, block		 ? in->total * in->size
			  : magic == '4' ? (x->axis[0].n + 7) / 8 * x->axis[1].n
					 : in->total);
	if (!block)
		decode_pnm(in, x, magic);
}

static void
raw_or_npy_item(struct raw_in *in, struct img *x, const char *magic)
{
	char err[RAW_ERR];
	struct npy_layout how = {0};
	int r;

	if (*magic == 'N')
		r = raw_head_in(in, x, err);
	else if (*magic == 'P')
		r = pfm_head(in->f, x, &in->swap, err);
	else
		r = npy_head(in->f, x, &how, err);
	if (r)
		raw_die(in, "%s", err);
	in->swap |= how.swap;
	start_item(in, x);
	source_expect(in, in->total * (how.half ? sizeof(uint16_t) : in->size));
	if (how.fortran || how.half || x->format == IMG_PFM)
		decode(in, x, &how);
}

static bool
is_text(const unsigned char *magic, size_t n)
{
	size_t text = 0;

	while (text < n && (isprint(magic[text]) || isspace(magic[text])))
		text++;
	return text == n;
}

/* What may help where the format of an item is unknown, as the end of a sentence. */
static const char *
advice(const struct raw_in *in, const unsigned char *magic, size_t n)
{
	if (in->item_of_file > 1)
		return "; does the header before them state the right sizes?";
	return is_text(magic, n) ? "; if they are text with numbers, convert it with texttoraw"
				 : "";
}

/* Names a known format by its first bytes. It reads only as many as that takes, since a pipe may bring no more. */
static const char *
recognise(FILE *f, unsigned char *first)
{
	static const size_t enough[] = {ITEM_MAGIC, FOREIGN_MAGIC, FOREIGN_MOST};
	const char *what = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sizeof enough / sizeof *enough && !what; i++) {
		if (i && (n < enough[i - 1] ||
			  (is_text(first, ITEM_MAGIC) && memcmp(first, "RIFF", 4) != 0)))
			break;
		if (enough[i] == FOREIGN_MOST && !foreign_may_be_su(first, n))
			break;
		n += fread(first + n, 1, enough[i] - n, f);
		what = foreign_what(first, n);
	}
	return what;
}

static _Noreturn void
die_unknown(struct raw_in *in, const unsigned char *magic, size_t n)
{
	char hex[3 * ITEM_MAGIC + 1] = "";
	unsigned char *first = weir_xalloc(FOREIGN_MOST, 1);
	const char *what = recognise(in->f, first);

	weir_free(first);
	if (what)
		raw_die(in, "this is %s", what);
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 3 * i, " %02x", magic[i]);
	raw_die(in, "unknown format: the first bytes are%s%s", hex, advice(in, magic, n));
}

void
item_head(struct raw_in *in, struct img *x, const char *magic, size_t n)
{
	const char kind = n > 1 && magic[0] == 'P' ? magic[1] : 0;

	if (kind >= '1' && kind <= '7')
		pnm_item(in, x, kind);
	else if (kind == 'f' || kind == 'F' || (n >= 7 && !memcmp(magic, "NRRD000", 7)) ||
		 (n >= 6 && !memcmp(magic, "\x93NUMPY", 6)))
		raw_or_npy_item(in, x, magic);
	else
		die_unknown(in, (const unsigned char *)magic, n);
}
