/* What t/fault and nomem.so, which it loads into programs, tell each other. */
#ifndef T_PRELOAD_NOMEM_H
#define T_PRELOAD_NOMEM_H

#include <stdbool.h>

/* Where a copy of the program writes. */
#define NOMEM_OUT "fault.out"
#define NOMEM_ERR "fault.err"

/* nomem.so ends a process with it whose files or environment are not as they should be. */
enum { NOMEM_BROKEN = 99 };

/* What became of a copy. */
struct nomem_end {
	int status; /* of waitpid */
	bool met;   /* a request failed */
	long asked; /* the requests, up to that one */
};

#endif
