#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/stream/scratch.h"

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
