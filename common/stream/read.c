#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/stream/formats.h"
#include "common/stream/read.h"

enum { ITEM_MAGIC = 8 }; /* the first bytes, which tell the format */

/* ---- bytes: files one after the other as one stream, and the payload of the current item ---- */

/* A block is much larger than stdio's buffer, so that most bytes go directly to their destination. */
enum { BLOCK = 1 << 20 };

/* What source_stay() has kept of a stream, which is `of`. */
static _Thread_local struct {
	const struct raw_in *of;
	struct raw_in in;
} kept;

void
source_stay(const struct raw_in *in)
{
	kept.of = in;
	if (in)
		kept.in = *in;
}

/* The stream as messages of this thread have it. */
static const struct raw_in *
said(const struct raw_in *in)
{
	return in == kept.of ? &kept.in : in;
}

void
raw_where(const struct raw_in *in, char where[RAW_WHERE])
{
	in = said(in);
	if (in->item_of_file > 1 || in->left)
		snprintf(where, RAW_WHERE, "%s: item %zu", in->name, in->item_of_file);
	else
		snprintf(where, RAW_WHERE, "%s", in->name);
}

_Noreturn void
raw_die(const struct raw_in *in, const char *fmt, ...)
{
	char text[512], where[RAW_WHERE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	raw_where(in, where);
	die("%s: %s", where, text);
}

/* --- files ----------------------------------------------------------------------------------- */

static void
close_file(struct raw_in *in)
{
	weir_free(in->whole);
	in->whole = NULL;
	if (in->f && in->f != stdin)
		fclose(in->f);
	in->f = NULL;
}

static void
open_next(struct raw_in *in)
{
	const char *path = in->npath ? in->path[in->next] : NULL;
	const bool is_stdin = !path || !strcmp(path, "-");

	if (is_stdin && in->stdin_again) { /* file_open() opens it once in a process */
		in->stdin_again = false;
		in->f = stdin;
		if (fseeko(stdin, in->stdin_start, SEEK_SET))
			die("(stdin): %s", strerror(errno));
	} else {
		in->f = file_open(path);
	}
	if (is_stdin)
		in->stdin_start = ftello(stdin);
	in->name = file_name(path);
	in->next++;
	in->item_of_file = 0;
	in->blanks = false;
}

struct raw_in *
raw_open(char *const *path, size_t npath, size_t max_bytes)
{
	struct raw_in *in = weir_xalloc(1, sizeof *in);

	*in = (struct raw_in){.path = path,
			      .npath = npath,
			      .name = "(stdin)",
			      .stdin_start = -1,
			      .max_bytes = max_bytes};
	open_next(in);
	return in;
}

void
raw_rewind(struct raw_in *in)
{
	if (in->offset < 0)
		raw_die(in, "it is needed more than once, so it must be a file and not a pipe");
	close_file(in);
	in->next = in->item = 0;
	in->left = in->beyond = 0;
	in->stdin_again = in->stdin_start >= 0;
	open_next(in);
}

void
raw_close(struct raw_in *in)
{
	if (!in)
		return;
	close_file(in);
	weir_free(in);
}

/* --- payloads -------------------------------------------------------------------------------- */

static _Noreturn void
die_truncated(struct raw_in *in, size_t have, size_t bytes)
{
	if (ferror(in->f))
		raw_die(in, "%s", strerror(errno));
	raw_die(in, "the payload ends after %zu of %zu bytes", have, bytes);
}

/*
 * Says that the payload of the current item takes at least `bytes` bytes. A regular file that is shorter is refused at once,
 * before any work is done for it.
 */
static void
source_expect(struct raw_in *in, size_t bytes)
{
	struct stat st;

	if (in->offset < 0 || fstat(fileno(in->f), &st) || !S_ISREG(st.st_mode))
		return;
	const size_t have = st.st_size > in->offset ? (size_t)(st.st_size - in->offset) : 0;
	if (have < bytes)
		die_truncated(in, have, bytes);
}

/* Reads one block from the file, converts it to this machine's byte order and checks it against maxval. */
static void
read_block(struct raw_in *in, void *buf, size_t count)
{
	size_t got = fread(buf, in->size, count, in->f);

	in->left -= got;
	in->bytes += got * in->size;
	if (got < count)
		die_truncated(in, (in->total - in->left - in->beyond) * in->size,
			      in->total * in->size);
	if (in->swap)
		swap_bytes(buf, count, in->size);
	if (in->limit && sample_max(buf, count, in->size) > in->limit)
		raw_die(in, "a sample is %u, which exceeds the maxval %u",
			sample_max(buf, count, in->size), in->limit);
}

void
raw_read(struct raw_in *in, void *buf, size_t count)
{
	char *to = buf;

	if (count > in->left)
		raw_die(in, "internal error: %zu samples asked for, %zu left", count, in->left);
	if (in->whole) {
		memcpy(to, (char *)in->whole + (in->total - in->left - in->beyond) * in->size,
		       count * in->size);
		in->left -= count;
		return;
	}
	/* A block stays in the cache while it is swapped and checked. */
	while (count) {
		size_t n = count < BLOCK / in->size ? count : BLOCK / in->size;
		read_block(in, to, n);
		to += n * in->size;
		count -= n;
	}
}

static void
alloc(const struct raw_in *in, struct img *x)
{
	const int r = img_alloc(x);

	if (r)
		raw_die(in, "%s", strerror(-r));
}

void
raw_load(struct raw_in *in, struct img *x)
{
	alloc(in, x);
	raw_read(in, x->data, in->left);
}

/* Reads and drops samples. */
static void
skip_blocks(struct raw_in *in, size_t count)
{
	static char sink[1 << 16];

	while (count) {
		const size_t n = count < sizeof sink / in->size ? count : sizeof sink / in->size;
		read_block(in, sink, n);
		count -= n;
	}
}

void
raw_skip(struct raw_in *in, size_t count)
{
	struct stat st;

	if (count > in->left)
		raw_die(in, "internal error: %zu samples to skip, %zu left", count, in->left);
	in->left -= count;
	if (in->whole)
		return;
	if (!fstat(fileno(in->f), &st) && S_ISREG(st.st_mode) &&
	    !fseeko(in->f, (off_t)(count * in->size), SEEK_CUR))
		return;
	in->left += count;
	skip_blocks(in, count);
}

void
source_narrow(struct raw_in *in, size_t count)
{
	in->beyond = in->left - count;
	in->left = count;
}

/* --- what is known of it --------------------------------------------------------------------- */

const char *
raw_name(const struct raw_in *in)
{
	return said(in)->name;
}

size_t
raw_item(const struct raw_in *in)
{
	return said(in)->item;
}

size_t
raw_left(const struct raw_in *in)
{
	return in->left;
}

uint64_t
raw_bytes_in(const struct raw_in *in)
{
	return in->bytes;
}

bool
raw_swapped(const struct raw_in *in)
{
	return in->swap;
}

uint64_t
raw_offset(const struct raw_in *in)
{
	if (in->offset < 0)
		raw_die(in, "a pipe has no offsets");
	return (uint64_t)in->offset;
}

/* ---- items: the header of one in any of the formats ---- */

/* The largest payload that is not checked against the default limit, in bytes. */
enum { ALWAYS_TAKEN = 16 << 20 };

/* Reads the lines of a header into *text, of *n bytes. Where the first ends in CR LF, all do; else a CR is part of its line. */
static int
read_lines(FILE *f, char **text, size_t *n, struct why *why)
{
	size_t room = 0;
	bool first = true, cr = false;

	for (int c = 0, before = 0; (c = getc_unlocked(f)) != EOF;) {
		if (c == '\n' && before == '\r' && (cr |= first)) {
			--*n;
			before = *n ? (*text)[*n - 1] : 0;
		}
		first &= c != '\n';
		if (c == '\n' && before == '\n')
			return 0;
		if (*n == RAW_MAXHEAD)
			return why_set(why, "the header is longer than %d bytes", RAW_MAXHEAD);
		if (*n == room)
			*text = weir_xgrow(*text, &room, *n + 4096, 1);
		(*text)[(*n)++] = (char)c;
		before = c;
	}
	/* A detached header ends with the file, without an empty line. */
	const bool detached =
	    memmem(*text, *n, "\ndata file:", 11) || memmem(*text, *n, "\ndatafile:", 10);
	return why_set(why, "%s", detached ? RAW_DETACHED : "the file ends inside the header");
}

int
source_head(FILE *f, struct img *x, bool *swap, struct why *why)
{
	char *text = NULL;
	size_t n = 0;
	int r = read_lines(f, &text, &n, why);

	*x = (struct img){0};
	if (!r)
		r = raw_parse(text, n, x, swap, why);
	free(text);
	return r;
}

/* Sets the sample size and refuses payloads over the limit, before anything is allocated. */
static void
start_item(struct raw_in *in, struct img *x)
{
	char where[RAW_WHERE];
	size_t bytes;

	in->size = img_type_size(x->type);
	/* The default limit is checked for large items only, since reading it from the control groups takes .1 ms. */
	if (!img_bytes(x, &bytes) || in->max_bytes || bytes > ALWAYS_TAKEN) {
		raw_where(in, where);
		img_limit(where, x, in->max_bytes);
	}
	img_count(x, &in->total);
	in->left = in->total;
	in->offset = ftello(in->f);
}

/* Decodes at once a payload that has not the order or the type of the item. raw_read then copies from in->whole. */
static void
decode(struct raw_in *in, struct img *x, const struct npy_layout *how)
{
	if (how->half) { /* read into the upper half, and converted in place */
		alloc(in, x);
		in->size = sizeof(uint16_t);
		raw_read(in, (uint16_t *)x->data + in->total, in->total);
		in->size = sizeof(float);
		npy_widen(x->data, in->total);
	} else {
		raw_load(in, x);
	}
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

static void
pnm_item(struct raw_in *in, struct img *x, char magic)
{
	struct why why;
	bool block;

	if (pnm_head(in->f, x, &block, &why))
		raw_die(in, "%s", why.text);
	start_item(in, x);
	in->swap = in->size == 2;
	in->limit = img_maxval(x) == (in->size == 1 ? 255 : 65535) ? 0 : img_maxval(x);
	source_expect(in, block		 ? in->total * in->size
			  : magic == '4' ? (x->axis[0].n + 7) / 8 * x->axis[1].n
					 : in->total);
	if (block)
		return;
	/* The plain formats and packed bits are decoded at once. */
	alloc(in, x);
	if (pnm_load(in->f, x, magic, &why))
		raw_die(in, "%s", why.text);
	in->whole = x->data;
	x->data = NULL;
	in->blanks = magic <= '3';
	in->bytes += in->total * in->size;
}

static void
raw_or_npy_item(struct raw_in *in, struct img *x, const char *magic)
{
	struct why why;
	struct npy_layout how = {0};
	int r;

	if (*magic == 'N')
		r = source_head(in->f, x, &in->swap, &why);
	else if (*magic == 'P')
		r = pfm_head(in->f, x, &in->swap, &why);
	else
		r = npy_head(in->f, x, &how, &why);
	if (r)
		raw_die(in, "%s", why.text);
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
	static const char convert[] = "; convert it with ";
	const char *what = recognise(in->f, first), *by = what ? strstr(what, convert) : NULL;

	weir_free(first);
	if (by && !strchr(by + sizeof convert - 1, ' ')) /* the name of a program, and no more */
		raw_die(in, "this is %.*s; type: %s", (int)(by - what), what,
			opt_command_on(by + sizeof convert - 1, in->f == stdin ? NULL : in->name));
	if (what)
		raw_die(in, "this is %s", what);
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 3 * i, " %02x", magic[i]);
	if (in->item_of_file <= 1 && is_text(magic, n))
		raw_die(in, "unknown format: the first bytes are%s; if it is a table, type: %s",
			hex,
			opt_command_on(isalpha(magic[0]) ? "texttoraw --header" : "texttoraw",
				       in->f == stdin ? NULL : in->name));
	raw_die(in, "unknown format: the first bytes are%s%s", hex,
		in->item_of_file > 1 ? "; does the header before them state the right sizes?" : "");
}

/* ---- streams: items one after the other, each in any format ---- */

bool
raw_idle(const struct raw_in *in, int ms)
{
	return in->f && file_idle(in->f, ms);
}

void
raw_flush_when_idle(const struct raw_in *in)
{
	if (in->f)
		file_flush_when_idle(in->f);
}

/*
 * Copies the next bytes of the file to magic; they stay unread. Returns how many there are. 0: the end of the file, where
 * one newline may stand after the last item.
 */
static size_t
peek(struct raw_in *in, char magic[ITEM_MAGIC])
{
	size_t n = 0;

	raw_flush_when_idle(in);
	int c = getc(in->f);
	while (in->blanks && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
		c = getc(in->f);
	for (; c != EOF && n < ITEM_MAGIC; c = n < ITEM_MAGIC ? getc(in->f) : EOF)
		magic[n++] = (char)c;
	if (ferror(in->f))
		raw_die(in, "%s", strerror(errno));
	if (in->item_of_file &&
	    ((n == 1 && *magic == '\n') || (n == 2 && !memcmp(magic, "\r\n", 2))))
		return 0;
	for (size_t i = n; i > 0; i--)
		ungetc((unsigned char)magic[i - 1], in->f);
	return n;
}

bool
raw_next(struct raw_in *in, struct img *x)
{
	char magic[ITEM_MAGIC];
	size_t n;

	if (!in->f)
		return false;
	/* The unread rest of the item before is passed over. */
	const size_t beyond = in->beyond;
	in->beyond = 0;
	in->left += beyond;
	if (beyond)
		raw_skip(in, in->left);
	else if (!in->whole)
		skip_blocks(in, in->left);
	in->left = 0;
	weir_free(in->whole);
	in->whole = NULL;
	while (!(n = peek(in, magic))) {
		if (!in->item_of_file)
			raw_die(in, "empty input");
		close_file(in);
		if (in->next >= in->npath)
			return false;
		open_next(in);
	}
	in->item++;
	in->item_of_file++;
	in->swap = in->blanks = false;
	in->limit = 0;
	const char kind = n > 1 && magic[0] == 'P' ? magic[1] : 0;
	if (kind >= '1' && kind <= '7')
		pnm_item(in, x, kind);
	else if (kind == 'f' || kind == 'F' || (n >= 7 && !memcmp(magic, "NRRD000", 7)) ||
		 (n >= 6 && !memcmp(magic, "\x93NUMPY", 6)))
		raw_or_npy_item(in, x, magic);
	else
		die_unknown(in, (const unsigned char *)magic, n);
	return true;
}

/* --- mapping --------------------------------------------------------------------------------- */

/* Several threads may touch the missing pages at once. The first one ends the process while the others wait. */
static void
on_bus_error(int sig)
{
	static const char tail[] = ": it shrank while it was mapped\n";
	static char text[RAW_WHERE];
	static bool said;
	size_t n = 0;

	(void)sig;
	while (__atomic_test_and_set(&said, __ATOMIC_SEQ_CST))
		pause();
	file_remove_unfinished();
	const char *name = file_shrunk(), *const part[] = {weir_prog, ": ", name ? name : "a file"};
	for (int i = 0; i < 3; i++)
		for (const char *s = part[i]; *s && n < sizeof text - sizeof tail - VISIBLE; s++)
			n += visible_char(text + n, *s);
	memcpy(text + n, tail, sizeof tail);
	if (write(2, text, n + sizeof tail - 1) < 0)
		_exit(1);
	_exit(1);
}

bool
raw_try_view(struct raw_in *in, size_t count, struct img *x)
{
	const size_t bytes = count * in->size, page = (size_t)sysconf(_SC_PAGESIZE);
	struct stat st;

	if (in->swap || in->limit || in->whole || fstat(fileno(in->f), &st) || !S_ISREG(st.st_mode))
		return false;
	off_t at = ftello(in->f);
	if (at < 0 || (size_t)at % in->size || at > st.st_size || bytes > (size_t)(st.st_size - at))
		return false;
	const size_t shift = (size_t)at % page;
	void *map = mmap(NULL, bytes + shift, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
			 fileno(in->f), at - (off_t)shift);
	if (map == MAP_FAILED)
		return false;
	file_note_map(&st, at + (off_t)bytes);
	signal(SIGBUS, on_bus_error);
	x->map = map;
	x->mapped = bytes + shift;
	x->data = (char *)map + shift;
	in->bytes += bytes;
	return true;
}

bool
raw_try_map(struct raw_in *in, struct img *x)
{
	if (!raw_try_view(in, in->left, x))
		return false;
	raw_skip(in, in->left);
	return true;
}

void
raw_map(struct raw_in *in, struct img *x)
{
	/*
	 * Reading fewer bytes takes less time than mapping them. In a stream, items of 4 KiB take 5 us each when they are read
	 * and 9 when they are mapped; from 64 KiB to 1 MiB both take the same; 4 MiB take .88 of the time when they are mapped.
	 */
	enum { SMALL = 1 << 16 };

	if (in->left * in->size < SMALL || !raw_try_map(in, x))
		raw_load(in, x);
}

/* --- all at once ----------------------------------------------------------------------------- */

void
raw_say(const struct raw_in *in, const struct img *x)
{
	char sizes[IMG_MAXDIM * 24] = "";

	for (int i = 0; i < x->dim; i++)
		word_append(sizes, sizeof sizes, "%s%zu", i ? " x " : "", x->axis[i].n);
	warn("%s: item %zu: %s, %s, %s", raw_name(in), raw_item(in), img_format_name(x->format),
	     img_type_name(x->type), sizes);
}

struct img_volumes
raw_volumes(const struct raw_in *in, const struct img *x, enum img_depth how)
{
	static bool said;
	const int behind = img_row_axis(x) + 2;
	const char *other = x->dim > behind ? img_no_depth(&x->axis[behind]) : NULL;
	struct img_volumes v;

	if (!img_volumes(x, how, &v))
		raw_die(in, "it has more pictures than a number holds");
	if (other && how == IMG_VOLUME)
		raw_die(in, "axis %d is `%s' and not z: rawaxes --order brings z there", behind,
			other);
	for (int i = behind + 1; !said && other && how == IMG_AS_NAMED && i < x->dim; i++) {
		said = x->axis[i].label && !strcasecmp(x->axis[i].label, "z");
		if (said)
			warn("%s: axis %d is `%s', and z is axis %d, so pictures are taken one by "
			     "one; rawaxes --order brings z there, or --slices is meant",
			     raw_name(in), behind, other, i);
	}
	return v;
}

enum img_depth
raw_depth(int depth, int connectivity)
{
	const int wants = !connectivity				   ? depth
			  : connectivity == 4 || connectivity == 8 ? IMG_SLICES
								   : IMG_VOLUME;

	if (depth && wants != depth)
		die_usage("--connectivity=%d: goes %s", connectivity,
			  depth == IMG_VOLUME ? "with pictures, not --volume"
					      : "with volumes, not --slices");
	return (enum img_depth)wants;
}

void
raw_load_file(const char *path, size_t max_bytes, bool map, struct img *x)
{
	char *list[] = {(char *)(uintptr_t)path};
	struct raw_in *in = raw_open(list, 1, max_bytes);
	struct img second;

	raw_next(in, x);
	(map ? raw_map : raw_load)(in, x);
	if (raw_next(in, &second))
		die("%s: more than one item, where one is expected", path);
	raw_close(in);
}
