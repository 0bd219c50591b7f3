#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/stream/tempfile.h"
#include "common/stream/formats.h"

enum { BLOCK = 1 << 20 };

/*
 * Copies what comes through a pipe into a scratch file without a name. Returns its descriptor. foreign: dies when the pipe
 * begins as a format of another program.
 */
static int
spool(int from, const char *name, bool foreign)
{
	char *block = weir_xalloc(BLOCK, 1);
	const int fd = scratch_open();
	bool first = true;
	ssize_t some;

	if (fd < 0)
		die("%s: no temporary file in %s: %s", name, scratch_directory(), strerror(errno));
	for (; (some = read(from, block, BLOCK)) > 0; first = false) {
		const char *what = first && foreign ? foreign_what(block, (size_t)some) : NULL;
		if (what)
			die("%s: this is %s", name, what);
		for (ssize_t done = 0, put; done < some; done += put)
			if ((put = write(fd, block + done, (size_t)(some - done))) < 0)
				die("the scratch file in TMPDIR: %s", strerror(errno));
	}
	if (some < 0)
		die("%s: %s", name, strerror(errno));
	weir_free(block);
	return fd;
}

/* Opens an operand. Dies when the input cannot be read or is empty. */
static struct tempfile
open_operand(const char *operand)
{
	struct tempfile d = {.name = file_name(operand), .file = file_open(operand)};
	struct stat st;

	d.fd = fileno(d.file);
	if (fstat(d.fd, &st))
		die("%s: %s", d.name, strerror(errno));
	if (!S_ISREG(st.st_mode)) {
		d.fd = spool(d.fd, d.name, true);
		fclose(d.file);
		d.file = NULL;
	}
	if (fstat(d.fd, &st))
		die("%s: %s", d.name, strerror(errno));
	if (!st.st_size)
		die("%s: empty input", d.name);
	d.bytes = (uint64_t)st.st_size;
	if (asprintf(&d.path, "/proc/self/fd/%d", d.fd) < 0)
		die("no memory");
	return d;
}

void
tempfile_settle_stdin(char *const *path, size_t npath)
{
	bool used = !npath;
	struct stat st;

	for (size_t i = 0; i < npath; i++)
		used |= !strcmp(path[i], "-");
	if (!used || fstat(STDIN_FILENO, &st) || S_ISREG(st.st_mode))
		return;
	const int fd = spool(STDIN_FILENO, file_name(NULL), false);
	if (lseek(fd, 0, SEEK_SET) || dup2(fd, STDIN_FILENO) < 0)
		die("the scratch file in TMPDIR: %s", strerror(errno));
	close(fd);
}

static const char scratch_name[] = "the scratch file in TMPDIR";

void
tempfile_insist_on_room(void)
{
	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		die("%s: %s", scratch_name, strerror(errno));
}

struct tempfile
tempfile_open(void)
{
	struct tempfile d = {.name = scratch_name, .fd = scratch_open()};

	if (d.fd < 0)
		die("no temporary file in %s: %s", scratch_directory(), strerror(errno));
	return d;
}

/* The path of the file that has a name. NULL: none has. */
static char *named;

static void
forget_name(void)
{
	if (!named)
		return;
	unlink(named);
	*strrchr(named, '/') = 0;
	rmdir(named);
	named = NULL;
}

struct tempfile
tempfile_path(void)
{
	static const char file[] = "/scratch";
	const char *dir = scratch_directory();

	named = weir_xalloc(strlen(dir) + sizeof "/weir.XXXXXX/scratch", 1);
	sprintf(named, "%s/weir.XXXXXX", dir);
	if (!mkdtemp(named))
		die("%s: %s", named, strerror(errno));
	strcat(named, file);
	atexit(forget_name);
	at_quick_exit(forget_name);
	return (struct tempfile){.name = scratch_name, .path = named, .fd = -1};
}

void
tempfile_hide(struct tempfile *d)
{
	d->fd = open(d->path, O_RDONLY);
	if (d->fd < 0)
		die("%s: %s", d->path, strerror(errno));
	forget_name();
}

void
tempfile_send(struct tempfile *d, struct raw_out *out)
{
	char *block = weir_xalloc(BLOCK, 1);
	ssize_t some = lseek(d->fd, 0, SEEK_SET) < 0 ? -1 : 1;

	while (some > 0 && (some = read(d->fd, block, BLOCK)) > 0)
		raw_text(out, block, (size_t)some);
	if (some < 0)
		die("%s: %s", d->name, strerror(errno));
	weir_free(block);
}

void
tempfile_close(struct tempfile *d)
{
	if (d->file)
		fclose(d->file);
	else if (d->fd >= 0)
		close(d->fd);
	weir_free(d->path);
	*d = (struct tempfile){.fd = -1};
}

int
tempfile_each(const struct opt_program *program, int argc, char **argv, void *args,
	      void (*convert)(const void *args, const struct tempfile *d, struct raw_out *out,
			      struct stats *st))
{
	const struct opt_common *common = args;
	struct stats st;
	char **path;
	size_t npath;

	opt_parse(program, argc, argv, args, &path, &npath);
	struct raw_out *out = raw_create(common->out, RAW_AS_RAW);
	warn_hold(!common->verbose);
	stats_start(&st);
	for (size_t i = 0; i < (npath ? npath : 1); i++) {
		struct tempfile d = open_operand(npath ? path[i] : "-");
		convert(args, &d, out, &st);
		st.bytes_in += d.bytes;
		tempfile_close(&d);
	}
	stats_close(&st, NULL, out, common);
	warn_hold(false);
	return 0;
}

void
tempfile_refuse_foreign(const struct tempfile *d)
{
	char first[FOREIGN_MAGIC];
	const ssize_t n = pread(d->fd, first, sizeof first, 0);
	const char *what = n > 0 ? foreign_what(first, (size_t)n) : NULL;

	if (what)
		die("%s: this is %s", d->name, what);
}

bool
tempfile_begins(const struct tempfile *d, const char *text)
{
	char first[16];
	const size_t n = strlen(text);

	return n <= sizeof first && pread(d->fd, first, n, 0) == (ssize_t)n &&
	       !memcmp(first, text, n);
}

void
tempfile_warn_space(const struct raw_in *in, const struct img *x, const char *format)
{
	char where[RAW_WHERE];

	if (!x->space.placed)
		return;
	raw_where(in, where);
	warn("%s: %s does not hold the space origin and directions; they are left out", where,
	     format);
}
