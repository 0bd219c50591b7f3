/* Input: files in a row as one stream of items, in whatever format each is written. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/die.h"
#include "common/item.h"
#include "common/mem.h"
#include "common/raw.h"
#include "common/swap.h"

/* stdio's buffer is small beside the blocks, so that most bytes go straight to where they belong. */
enum { BLOCK = 1 << 20 };

_Noreturn void
raw_die(const struct raw_in *in, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (in->item_of_file > 1 || in->left)
		die("%s: item %zu: %s", in->name, in->item_of_file, text);
	die("%s: %s", in->name, text);
}

/* --- files ----------------------------------------------------------------------------------- */

static FILE *
open_path(const char *path)
{
	static bool taken;
	FILE *f;

	if (strcmp(path, "-")) {
		f = fopen(path, "rb");
		if (!f)
			die("%s: %s", path, strerror(errno));
	} else {
		if (taken)
			die_usage("stdin can be read only once");
		taken = true;
		f = stdin;
	}
	fcntl(fileno(f), F_SETPIPE_SZ, BLOCK); /* fails on what is no pipe, which is fine */
	return f;
}

static void
open_next(struct raw_in *in)
{
	const char *path = in->npath ? in->path[in->next] : "-";

	in->f = open_path(path);
	in->name = strcmp(path, "-") ? path : "(stdin)";
	in->next++;
	in->item_of_file = 0;
	in->blanks = false;
}

struct raw_in *
raw_open(char *const *path, size_t npath, size_t max_bytes)
{
	struct raw_in *in = weir_xalloc(1, sizeof *in);

	*in = (struct raw_in){.path = path, .npath = npath, .name = "(stdin)"};
	in->max_bytes = weir_limit(max_bytes);
	open_next(in);
	return in;
}

static void
close_file(struct raw_in *in)
{
	weir_free(in->whole);
	in->whole = NULL;
	if (in->f && in->f != stdin)
		fclose(in->f);
	in->f = NULL;
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
die_truncated(struct raw_in *in)
{
	if (ferror(in->f))
		raw_die(in, "%s", strerror(errno));
	raw_die(in, "the payload ends after %zu of %zu bytes", (in->total - in->left) * in->size,
		in->total * in->size);
}

/* One block from the file, made samples of this machine. */
static void
read_block(struct raw_in *in, void *buf, size_t count)
{
	size_t got = fread(buf, in->size, count, in->f);

	in->left -= got;
	in->bytes += got * in->size;
	if (got < count)
		die_truncated(in);
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
		memcpy(to, (char *)in->whole + (in->total - in->left) * in->size, count * in->size);
		in->left -= count;
		return;
	}
	/* Blocks that stay in the cache while they are swapped and checked. */
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

/* The rest of an item that its reader did not want. */
static void
skip_rest(struct raw_in *in)
{
	static char sink[1 << 16];

	while (in->left && !in->whole) {
		size_t n = in->left < sizeof sink / in->size ? in->left : sizeof sink / in->size;
		read_block(in, sink, n);
	}
	in->left = 0;
	weir_free(in->whole);
	in->whole = NULL;
}

/* --- mapping --------------------------------------------------------------------------------- */

/* Any thread may meet the end of the file first; the others wait for the end it makes. */
static void
on_bus_error(int sig)
{
	static const char text[] = ": a file shrank while it was mapped\n";
	static bool said;

	(void)sig;
	while (__atomic_test_and_set(&said, __ATOMIC_SEQ_CST))
		pause();
	if (write(2, weir_prog, strlen(weir_prog)) < 0 || write(2, text, sizeof text - 1) < 0)
		_exit(1);
	_exit(1);
}

bool
raw_try_map(struct raw_in *in, struct img *x)
{
	const size_t bytes = in->left * in->size, page = (size_t)sysconf(_SC_PAGESIZE);
	struct stat st;
	off_t at;

	if (in->swap || in->limit || in->whole || fstat(fileno(in->f), &st) || !S_ISREG(st.st_mode))
		return false;
	at = ftello(in->f);
	if (at < 0 || (size_t)at % in->size || at > st.st_size || bytes > (size_t)(st.st_size - at))
		return false;
	const size_t shift = (size_t)at % page;
	void *map = mmap(NULL, bytes + shift, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
			 fileno(in->f), at - (off_t)shift);
	if (map == MAP_FAILED || fseeko(in->f, at + (off_t)bytes, SEEK_SET))
		return false;
	signal(SIGBUS, on_bus_error);
	x->map = map;
	x->mapped = bytes + shift;
	x->data = (char *)map + shift;
	in->bytes += bytes;
	in->left = 0;
	return true;
}

void
raw_map(struct raw_in *in, struct img *x)
{
	if (!raw_try_map(in, x))
		raw_load(in, x);
}

/* The first bytes of what comes, which stay unread. 0: the end of the file. */
static size_t
peek(struct raw_in *in, char magic[ITEM_MAGIC])
{
	size_t n = 0;
	int c = getc(in->f);

	while (in->blanks && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
		c = getc(in->f);
	for (; c != EOF && n < ITEM_MAGIC; c = n < ITEM_MAGIC ? getc(in->f) : EOF)
		magic[n++] = (char)c;
	if (ferror(in->f))
		raw_die(in, "%s", strerror(errno));
	for (size_t i = n; i > 0; i--)
		ungetc((unsigned char)magic[i - 1], in->f);
	return n;
}

bool
raw_next(struct raw_in *in, struct img *x)
{
	char magic[ITEM_MAGIC];
	size_t n;

	skip_rest(in);
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
	item_head(in, x, magic, n);
	return true;
}

const char *
raw_name(const struct raw_in *in)
{
	return in->name;
}

size_t
raw_item(const struct raw_in *in)
{
	return in->item;
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

void
raw_say(const struct raw_in *in, const struct img *x)
{
	char sizes[IMG_MAXDIM * 24] = "";

	for (int i = 0; i < x->dim; i++)
		sprintf(sizes + strlen(sizes), "%s%zu", i ? " x " : "", x->axis[i].n);
	warn("%s: item %zu: %s, %s, %s", raw_name(in), raw_item(in), img_format_name(x->format),
	     img_type_name(x->type), sizes);
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
