#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/stream/path.h"

enum { MAXLINKS = 40 };

/* Returns the descriptor that dir/base stands for when dir is this process's /proc/PID/fd, else -1. */
static int
descriptor_of(const char *dir, const char *base)
{
	char own[64], *end;
	long fd;

	snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
	if (strcmp(dir, own) || !isdigit((unsigned char)*base))
		return -1;
	fd = strtol(base, &end, 10);
	return *end || fd > INT_MAX ? -1 : (int)fd;
}

/* Returns the directory of path, with every symbolic link followed. The caller frees it. NULL: see errno. */
static char *
real_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir, *real;

	if (!slash)
		return realpath(".", NULL);
	dir = weir_xstrdup(path);
	dir[slash == path ? 1 : slash - path] = 0;
	real = realpath(dir, NULL);
	weir_free(dir);
	return real;
}

/* Returns "dir/base", or base alone when it is absolute. The caller frees it. */
static char *
join_path(const char *dir, const char *base)
{
	const size_t n = strlen(dir) + strlen(base) + 2;
	char *path = weir_xalloc(n, 1);

	if (*base == '/')
		snprintf(path, n, "%s", base);
	else
		snprintf(path, n, "%s/%s", strcmp(dir, "/") ? dir : "", base);
	return path;
}

char *
path_follow(const char *path, int *fd)
{
	char *at = weir_xstrdup(path), target[PATH_MAX];

	*fd = -1;
	for (int links = 0; links < MAXLINKS; links++) {
		const char *slash = strrchr(at, '/');
		char *dir = real_directory(at), *full;
		ssize_t n;

		if (!dir)
			break;
		*fd = descriptor_of(dir, slash ? slash + 1 : at);
		full = join_path(dir, slash ? slash + 1 : at);
		weir_free(at);
		n = *fd < 0 ? readlink(full, target, sizeof target - 1) : 0;
		if (*fd >= 0 || n < 0) {
			free(dir);
			if (*fd < 0)
				return full;
			weir_free(full);
			return NULL;
		}
		target[n] = 0;
		at = join_path(dir, target);
		free(dir);
		weir_free(full);
		errno = ELOOP;
	}
	weir_free(at);
	return NULL;
}

/* Gives the open file fd the attribute name of path. False: it cannot have it. */
static bool
copy_attribute(const char *path, const char *name, int fd)
{
	const ssize_t n = getxattr(path, name, NULL, 0);
	char *value = weir_xalloc(n > 0 ? (size_t)n : 1, 1);
	const bool ok = n >= 0 && getxattr(path, name, value, (size_t)n) == n &&
			!fsetxattr(fd, name, value, (size_t)n, 0);

	weir_free(value);
	return ok;
}

bool
path_copy_attributes(const char *path, int fd)
{
	static const char security[] = "security.";
	const ssize_t n = listxattr(path, NULL, 0);
	bool ok = true;
	char *names;

	if (n <= 0)
		return !n || errno == ENOTSUP;
	names = weir_xalloc((size_t)n, 1);
	if (listxattr(path, names, (size_t)n) != n)
		ok = false;
	for (const char *name = names; ok && name < names + n; name += strlen(name) + 1)
		if (strncmp(name, security, sizeof security - 1))
			ok = copy_attribute(path, name, fd);
	weir_free(names);
	return ok;
}
