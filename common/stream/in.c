/* Reads items one after the other. Each may have another format. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/stream/file.h"
#include "common/stream/item.h"

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

/* Whether the n bytes that end a file are the newline that text editors and echo add to it. */
static bool
is_newline(const char *magic, size_t n)
{
	return (n == 1 && *magic == '\n') || (n == 2 && !memcmp(magic, "\r\n", 2));
}

/*
 * Copies the next bytes of the file to magic; they stay unread. Returns how many there are. 0: the end of the file, where
 * one newline may stand after the last item.
 */
static size_t
peek(struct raw_in *in, char magic[ITEM_MAGIC])
{
	size_t n = 0;
	int c;

	raw_flush_when_idle(in);
	c = getc(in->f);
	while (in->blanks && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
		c = getc(in->f);
	for (; c != EOF && n < ITEM_MAGIC; c = n < ITEM_MAGIC ? getc(in->f) : EOF)
		magic[n++] = (char)c;
	if (ferror(in->f))
		raw_die(in, "%s", strerror(errno));
	if (in->item_of_file && is_newline(magic, n))
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
	source_skip(in);
	while (!(n = peek(in, magic))) {
		if (!in->item_of_file)
			raw_die(in, "empty input");
		if (!source_next(in))
			return false;
	}
	in->item++;
	in->item_of_file++;
	in->swap = in->blanks = false;
	in->limit = 0;
	item_head(in, x, magic, n);
	return true;
}

/* --- mapping --------------------------------------------------------------------------------- */

/* Several threads may touch the missing pages at once. The first one ends the process while the others wait. */
static void
on_bus_error(int sig)
{
	static const char text[] = ": a file shrank while it was mapped\n";
	static bool said;

	(void)sig;
	while (__atomic_test_and_set(&said, __ATOMIC_SEQ_CST))
		pause();
	file_remove_unfinished();
	if (write(2, weir_prog, strlen(weir_prog)) < 0 || write(2, text, sizeof text - 1) < 0)
		_exit(1);
	_exit(1);
}

bool
raw_try_view(struct raw_in *in, size_t count, struct img *x)
{
	const size_t bytes = count * in->size, page = (size_t)sysconf(_SC_PAGESIZE);
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
	if (map == MAP_FAILED)
		return false;
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
