/* For --max-mem: room in a temporary file, and pages given back to the system when they are not needed for a while. */
#ifndef MORPHREC_SPOOL_H
#define MORPHREC_SPOOL_H

#include <stddef.h>

/* Where temporary files stand: TMPDIR, or /tmp. */
const char *spool_directory(void);

/*
 * bytes of a file without a name in TMPDIR (else /tmp), mapped; free with munmap. NULL: errno says why, ENOSPC when the
 * file system has no room for them.
 */
void *spool_map(size_t bytes);

/* Arrays of the same shape that are mapped from files; I is NULL when the mask is not. */
struct spool_pages {
	char *J;
	const char *I;
};

/* Lets go of the whole pages in bytes [at, at + n) of both: they stay in their files. As `done` of a problem. */
void spool_done(void *pages, size_t at, size_t n);

#endif
