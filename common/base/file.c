#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/words.h"

/* ---- paths ---- */

/* Names of files: where they lead, and what belongs to a file beside its bytes. */

enum { MAXLINKS = 40 };

/* Returns the directory of path, with every symbolic link followed. The caller frees it. NULL: see errno. */
static char *
real_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return realpath(".", NULL);
	char *dir = weir_xstrdup(path);
	dir[slash == path ? 1 : slash - path] = 0;
	char *real = realpath(dir, NULL);
	weir_free(dir);
	return real;
}

/* Returns "dir/base", or base alone when it is absolute. The caller frees it. */
static char *
join_path(const char *dir, const char *base)
{
	char *path;

	if (asprintf(&path, "%s%s%s", *base == '/' || !strcmp(dir, "/") ? "" : dir,
		     *base == '/' ? "" : "/", base) < 0)
		die("no memory");
	return path;
}

/*
 * Follows the symbolic links of path. Returns the absolute path at their end, where a file may exist or not; the caller frees
 * it with weir_free(). When they end at a descriptor of this process, it returns NULL and sets *fd to it. On failure it returns
 * NULL with *fd = -1 and errno.
 */
static char *
path_follow(const char *path, int *fd)
{
	char *at = weir_xstrdup(path), target[PATH_MAX], own[64];
	size_t number;

	snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
	*fd = -1;
	for (int links = 0; links < MAXLINKS; links++) {
		const char *slash = strrchr(at, '/'), *base = slash ? slash + 1 : at;
		char *dir = real_directory(at), *full;
		if (!dir)
			break;
		*fd = !strcmp(dir, own) && word_whole(base, INT_MAX, &number) ? (int)number : -1;
		full = join_path(dir, base);
		weir_free(at);
		ssize_t n = *fd < 0 ? readlink(full, target, sizeof target - 1) : 0;
		if (*fd >= 0 || n < 0) {
			free(dir);
			if (*fd < 0)
				return full;
			weir_free(full);
			return NULL;
		}
		target[n] = 0;
		at = join_path(dir, target);
		weir_free_all(dir, full);
		errno = ELOOP;
	}
	weir_free(at);
	return NULL;
}

/*
 * Gives the open file fd the extended attributes of path, access control lists among them. Those of the system's security
 * modules stay as the system has set them. False: one could not be given.
 */
static bool
path_copy_attributes(const char *path, int fd)
{
	static const char security[] = "security.";
	const ssize_t n = listxattr(path, NULL, 0);
	bool ok = true;

	if (n <= 0)
		return !n || errno == ENOTSUP;
	char *names = weir_xalloc((size_t)n, 1);
	if (listxattr(path, names, (size_t)n) != n)
		ok = false;
	for (const char *name = names; ok && name < names + n; name += strlen(name) + 1) {
		if (!strncmp(name, security, sizeof security - 1))
			continue;
		const ssize_t size = getxattr(path, name, NULL, 0);
		char *value = weir_xalloc(size > 0 ? (size_t)size : 1, 1);
		ok = size >= 0 && getxattr(path, name, value, (size_t)size) == size &&
		     !fsetxattr(fd, name, value, (size_t)size, 0);
		weir_free(value);
	}
	weir_free(names);
	return ok;
}

/* ---- temporary files ---- */

const char *
scratch_directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int
scratch_open(void)
{
	const char *dir = scratch_directory();
	char path[4096];

	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	if (snprintf(path, sizeof path, "%s/weir.XXXXXX", dir) >= (int)sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

void *
scratch_map(size_t bytes)
{
	const int fd = scratch_open();
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	/* This reserves the space now, because a write to the mapping could not report that there is none. */
	int err = posix_fallocate(fd, 0, (off_t)bytes);
	if (!err) {
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		err = p == MAP_FAILED ? errno : 0;
	}
	close(fd);
	errno = err;
	return err ? NULL : p;
}

/* ---- outputs ---- */

enum { PIPE = 1 << 20 };

struct file_out {
	FILE *f;
	const char *name;   /* in messages */
	char *path;	    /* absolute, the final name; NULL: the bytes are written in place */
	char *volatile tmp; /* the temporary file's name; NULL: it has none */
	bool exists;	    /* the output existed before; its status was st */
	bool copy;	    /* path keeps its inode: file_finish copies the bytes to it */
	bool report;	    /* it is the file of --stats */
	struct stat st;	    /* valid when exists */
	struct file_out *next;
};

/* All outputs of this process, including the finished ones. */
static struct file_out *volatile outputs;

/* open() takes the lowest free descriptor, which is the closed one. Its mode is the wrong one, so that its use fails. */
__attribute__((constructor)) static void
fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(1);
}

/* --- inputs --------------------------------------------------------------------------------------------------- */

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* All regular files that were opened for reading. */
static struct input {
	const char *path; /* NULL: stdin */
	struct stat st;
	off_t mapped; /* where the bytes that are mapped end; 0: none are */
	struct input *next;
} *volatile inputs;

/* Whether the bytes that are written to out go into this file at once. */
static bool
grows(const struct file_out *out, const struct stat *in)
{
	return out->exists && !out->path && out->f && S_ISREG(in->st_mode) &&
	       same_file(&out->st, in);
}

static _Noreturn void
die_growing(const char *path)
{
	die_usage("%s: input file is output file", file_name(path));
}

void
file_note_map(const struct stat *st, off_t end)
{
	for (struct input *i = inputs; i; i = i->next)
		if (same_file(&i->st, st)) {
			i->mapped = end > i->mapped ? end : i->mapped;
			return;
		}
}

const char *
file_shrunk(void)
{
	struct stat now;

	for (const struct input *i = inputs; i; i = i->next)
		if (i->mapped && !(i->path ? stat(i->path, &now) : fstat(STDIN_FILENO, &now)) &&
		    same_file(&now, &i->st) && now.st_size < i->mapped)
			return file_name(i->path);
	return NULL;
}

const char *
file_name(const char *path)
{
	return path && strcmp(path, "-") ? path : "(stdin)";
}

FILE *
file_open(const char *path)
{
	static bool taken; /* stdin */
	const bool named = path && strcmp(path, "-");
	FILE *f = named ? fopen(path, "rb") : stdin;
	struct stat st;

	if (!named && taken)
		die_usage("stdin can be read only once");
	taken |= !named;
	if (named && !*path)
		die_usage("'' is the name of no file");
	if (!f || fstat(fileno(f), &st))
		die("%s: %s", file_name(path), strerror(errno));
	for (const struct file_out *o = outputs; o; o = o->next) {
		if (o->report && o->exists && same_file(&st, &o->st))
			die_usage("%s: --stats names this input", file_name(path));
		if (grows(o, &st))
			die_growing(path);
	}
	/* A file that is opened again and again has one entry. */
	if (S_ISREG(st.st_mode) && !(inputs && same_file(&inputs->st, &st))) {
		struct input *i = weir_xalloc(1, sizeof *i);
		*i = (struct input){.path = named ? path : NULL, .st = st, .next = inputs};
		inputs = i;
	}
	/* This fails, without harm, where f is not a pipe. */
	fcntl(fileno(f), F_SETPIPE_SZ, PIPE);
	return f;
}

bool
file_idle(FILE *in, int ms)
{
	struct pollfd p = {.fd = fileno(in), .events = POLLIN};

	return !poll(&p, 1, ms);
}

/* --- temporaries ---------------------------------------------------------------------------------------------- */

void
file_remove_unfinished(void)
{
	for (const struct file_out *o = outputs; o; o = o->next)
		if (o->tmp)
			unlink(o->tmp);
}

static void
on_signal(int sig)
{
	file_remove_unfinished();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Removes the temporary files at exit, and at every signal that ends the process and has no other handler. */
static void
guard_unfinished(void)
{
	static const int harmless[] = {SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN,
				       SIGTTOU, SIGURG,	 SIGWINCH};
	static bool guarded;

	if (guarded)
		return;
	guarded = true;
	atexit(file_remove_unfinished);
	at_quick_exit(file_remove_unfinished);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		struct sigaction old;
		bool deadly = !sigaction(sig, NULL, &old) && old.sa_handler == SIG_DFL;
		for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
			deadly &= sig != harmless[i];
		if (deadly)
			signal(sig, on_signal);
	}
}

/* Sets out->tmp to a name .NAME.XXXXXX beside out->path with which make(out) succeeds. False with errno: there is none. */
static bool
find_name(struct file_out *out, int (*make)(struct file_out *out))
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const char *base = strrchr(out->path, '/') + 1;
	const size_t dir = (size_t)(base - out->path), most = 240; /* of the 255 a name may have */
	const size_t size = dir + most + sizeof "..XXXXXX";
	char *tmp = weir_xalloc(size, 1);

	for (int tries = 0; tries < 100; tries++) {
		unsigned char random[6];
		if (getrandom(random, sizeof random, 0) != sizeof random)
			break;
		const int n =
		    snprintf(tmp, size, "%.*s.%.*s.XXXXXX", (int)dir, out->path, (int)most, base) -
		    (int)sizeof random;
		for (int i = 0; i < (int)sizeof random; i++)
			tmp[n + i] = letters[random[i] % (sizeof letters - 1)];
		out->tmp = tmp;
		if (make(out) >= 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	out->tmp = NULL;
	weir_free(tmp);
	return false;
}

static int
open_named(struct file_out *out)
{
	const int fd = open(out->tmp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);

	return fd < 0 ? -1 : (out->f = fdopen(fd, "wb")) ? 0 : -1;
}

/* Opens a file without a name. -1: the file system has no such files, or there is no way to name them later. */
static int
open_nameless(const struct file_out *out)
{
	const int dir = (int)(strrchr(out->path, '/') - out->path);
	char *name;

	if (asprintf(&name, "%.*s", dir ? dir : 1, out->path) < 0)
		die("no memory");
	const int fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	weir_free(name);
	if (fd >= 0 && access("/proc/self/fd", X_OK)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Opens a temporary file for the bytes. It gets the mode, owner and attributes of the file that exists already. */
static void
open_temporary(struct file_out *out)
{
	const int fd = open_nameless(out);

	if (fd >= 0)
		out->f = fdopen(fd, "wb");
	else {
		guard_unfinished();
		if (!find_name(out, open_named))
			die("%s: no temporary file beside it: %s", out->name, strerror(errno));
	}
	if (!out->f)
		die("%s: %s", out->name, strerror(errno));
	if (!out->exists)
		return;
	struct stat now;
	const int to = fileno(out->f);
	const bool ours =
	    !fstat(to, &now) && now.st_uid == out->st.st_uid && now.st_gid == out->st.st_gid;
	out->copy = out->st.st_nlink > 1 || (!ours && fchown(to, out->st.st_uid, out->st.st_gid)) ||
		    fchmod(to, out->st.st_mode & 07777) || !path_copy_attributes(out->path, to);
}

/* --- outputs -------------------------------------------------------------------------------------------------- */

/* Opens out->path for writing, or uses a copy of the open descriptor fd >= 0, whose position stays as it is. */
static void
open_in_place(struct file_out *out, int fd)
{
	if (fd < 0) {
		fd = open(out->path, O_WRONLY | O_CLOEXEC);
	} else if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		errno = EBADF;
		fd = -1;
	} else {
		fd = dup(fd);
	}
	if (fd < 0 || !(out->f = fdopen(fd, "wb")))
		die("%s: %s", out->name, strerror(errno));
	weir_free(out->path);
	out->path = NULL;
}

static void
open_path(struct file_out *out, const char *path)
{
	int fd;

	out->path = path_follow(path, &fd);
	if (!out->path && fd < 0)
		die("%s: %s", path, strerror(errno));
	out->exists = out->path && !stat(out->path, &out->st);
	if (out->path && !out->exists && errno != ENOENT)
		die("%s: %s", path, strerror(errno));
	if (!out->path || (out->exists && !S_ISREG(out->st.st_mode)))
		open_in_place(out, fd);
	else if (out->exists && faccessat(AT_FDCWD, out->path, W_OK, AT_EACCESS))
		die("%s: %s", path, strerror(errno));
}

/* A process that dies passes on what it wrote in place so far. */
static void
flush_unfinished(void)
{
	for (const struct file_out *o = outputs; o; o = o->next)
		if (o->f && !o->path)
			fflush(o->f);
}

struct file_out *
file_create(const char *path, bool report)
{
	struct file_out *out = weir_xalloc(1, sizeof *out);

	*out = (struct file_out){.name = "(stdout)", .report = report};
	if (path && strcmp(path, "-")) {
		out->name = path;
		open_path(out, path);
	} else {
		out->f = stdout;
	}
	if (out->f)
		out->exists = !fstat(fileno(out->f), &out->st);
	/* Two outputs may go to one device, such as /dev/null, where they do not mix or replace each other. */
	for (const struct file_out *o = outputs; o; o = o->next)
		if ((o->path && out->path && !strcmp(o->path, out->path)) ||
		    (o->exists && out->exists && same_file(&o->st, &out->st) &&
		     (S_ISREG(o->st.st_mode) || S_ISFIFO(o->st.st_mode))))
			die_usage("%s: two outputs go to this file", out->name);
	for (const struct input *i = inputs; i; i = i->next)
		if (grows(out, &i->st))
			die_growing(i->path);
	if (!outputs)
		at_quick_exit(flush_unfinished);
	/* The entry is in the list before its temporary file exists, so that a signal handler finds every such file. */
	out->next = outputs;
	outputs = out;
	if (!out->f)
		open_temporary(out);
	signal(SIGXFSZ, SIG_IGN); /* write() then fails with EFBIG instead */
	fcntl(fileno(out->f), F_SETPIPE_SZ, PIPE);
	return out;
}

FILE *
file_stream(const struct file_out *out)
{
	return out->f;
}

const char *
file_out_name(const struct file_out *out)
{
	return out->name;
}

void
file_die_writing(const struct file_out *out)
{
	die("%s: %s", out->name, strerror(errno ? errno : EIO));
}

/* --- the end -------------------------------------------------------------------------------------------------- */

static int
link_named(struct file_out *out)
{
	char from[32];

	snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(out->f));
	return linkat(AT_FDCWD, from, AT_FDCWD, out->tmp, AT_SYMLINK_FOLLOW);
}

/* Writes all of `from` over the first bytes of `to`. */
static bool
copy_bytes(int from, int to)
{
	enum { BLOCK = 1 << 20 };
	char *block = weir_xalloc(BLOCK, 1);
	bool ok = !lseek(from, 0, SEEK_SET);
	ssize_t n = 1;

	while (ok && (n = read(from, block, BLOCK)) > 0)
		for (ssize_t done = 0, put; ok && done < n; done += put)
			ok = (put = write(to, block + done, (size_t)(n - done))) > 0;
	weir_free(block);
	return ok && !n;
}

/*
 * Copies the bytes into the file that exists: it has other names or another owner, which a new file would lose. It is written over
 * where it is, so the temporary file has a name meanwhile: who is killed, or meets an error then, leaves the new bytes there.
 */
static bool
copy_back(struct file_out *out)
{
	const int from = fileno(out->f), to = open(out->path, O_WRONLY | O_CLOEXEC);
	struct stat old, made;

	if (to < 0 || fstat(to, &old) || fstat(from, &made))
		return false;
	const int err = made.st_size ? posix_fallocate(to, 0, made.st_size) : 0;
	if (err) { /* there is no room: the file is as it was */
		errno = ftruncate(to, old.st_size) ? errno : err;
		return false;
	}
	if (!copy_bytes(from, to) || ftruncate(to, made.st_size) || close(to)) {
		const int e = errno ? errno : EIO;
		const char *const kept = out->tmp;
		out->tmp = NULL;
		die("%s: %s; the new bytes are in %s", out->name, strerror(e), kept);
	}
	return !unlink(out->tmp);
}

/* Renames the temporary file to path, or copies it. A file without a name first gets one; signals are blocked meanwhile. */
static bool
appear(struct file_out *out)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	bool ok = (out->tmp || find_name(out, link_named)) &&
		  (out->copy ? copy_back(out) : !rename(out->tmp, out->path));
	if (ok) {
		weir_free(out->tmp);
		out->tmp = NULL;
	} else if (out->tmp) {
		const int e = errno;
		unlink(out->tmp);
		errno = e;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}

void
file_finish(struct file_out *out)
{
	const char *const shrunk = file_shrunk();
	FILE *const f = out->f;

	if (shrunk)
		die("%s: it shrank while it was mapped", shrunk);
	errno = 0;
	if (fflush(f) || ferror(f) || (out->path && !appear(out)))
		file_die_writing(out);
	out->f = NULL;
	if (fclose(f))
		file_die_writing(out);
	if (out->tmp)
		unlink(out->tmp);
	out->tmp = NULL;
}
