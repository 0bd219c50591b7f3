/* Reads files one after the other as one stream of bytes, and the payload of the current item. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/swap.h"
#include "common/stream/file.h"
#include "common/stream/source.h"

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

/* Opens stdin again after raw_rewind(), which file_open() does once in a process. */
static FILE *
reopen_stdin(struct raw_in *in)
{
	in->stdin_again = false;
	if (fseeko(stdin, in->stdin_start, SEEK_SET))
		die("(stdin): %s", strerror(errno));
	return stdin;
}

static void
open_next(struct raw_in *in)
{
	const char *path = in->npath ? in->path[in->next] : NULL;
	const bool is_stdin = !path || !strcmp(path, "-");

	in->f = is_stdin && in->stdin_again ? reopen_stdin(in) : file_open(path);
	if (is_stdin)
		in->stdin_start = ftello(stdin);
	in->name = file_name(path);
	in->next++;
	in->item_of_file = 0;
	in->blanks = false;
}

bool
source_next(struct raw_in *in)
{
	close_file(in);
	if (in->next >= in->npath)
		return false;
	open_next(in);
	return true;
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

void
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

void
raw_load(struct raw_in *in, struct img *x)
{
	int r = img_alloc(x);

	if (r)
		raw_die(in, "%s", strerror(-r));
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

void
source_skip(struct raw_in *in)
{
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
