/* For --max-mem: memory that is mapped from a temporary file, and returned to the system when it is not needed for a while. */
#ifndef MORPHREC_SPOOL_H
#define MORPHREC_SPOOL_H

#include <stddef.h>

/* Where temporary files stand: TMPDIR, or /tmp. */
const char *spool_directory(void);

/*
 * Maps `bytes` bytes of a new file without a name in TMPDIR, or /tmp if that is not set. Free them with munmap(). On failure
 * it returns NULL and sets errno: ENOSPC when the file system has no room for them.
 */
void *spool_map(size_t bytes);

/* Arrays of the same shape that are mapped from files; I is NULL when the mask is not. */
struct spool_pages {
	char *J;
	const char *I;
};

/*
 * Returns the memory of the whole pages in bytes [at, at + n) of both arrays to the system; the files keep their content. It
 * serves as `done` of struct morphrec_problem.
 */
void spool_done(void *pages, size_t at, size_t n);

#endif
