/* For --max-mem: arrays that are mapped from temporary files, and returned to the system when they are not needed for a while. */
#ifndef MORPHREC_SPOOL_H
#define MORPHREC_SPOOL_H

#include <stddef.h>

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
