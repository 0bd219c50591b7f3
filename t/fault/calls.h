/* Faults in calls of the system, by ptrace(2). */
#ifndef T_FAULT_CALLS_H
#define T_FAULT_CALLS_H

#include <stdbool.h>
#include <sys/types.h>

enum kind { MEMORY, MMAP, WRITE, SHORT, READ, CLOSE, RENAME, THREAD };

/* How a run ended. */
struct end {
	int status;  /* of waitpid */
	bool met;    /* the fault took place */
	bool litter; /* there is a file more than before, besides the output */
	long asked;  /* the requests of the kind, up to the fault */
};

/* In the process to be followed, before it runs a program: it will stop at the calls that the kind needs. -1: it cannot. */
int calls_offer(enum kind kind);

/* Follows such a process and its threads to the end. Spoils the n-th call of the kind after the loader's. */
struct end calls_follow(enum kind kind, pid_t child, long n);

#endif
