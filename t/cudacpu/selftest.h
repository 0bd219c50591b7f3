/* What t/check_cudacpu.c runs: what the twins rely on (selftest.cu), and faults (wrong.cu, only under t/cudacpu). */
#ifndef CUDACPU_SELFTEST_H
#define CUDACPU_SELFTEST_H

#include <stdbool.h>

/* run: the number of wrong results, or -1: the device failed. alone: not where others take memory of the device. */
struct cudacpu_selftest {
	const char *name;
	int (*run)(void);
	bool alone;
};
/* The last one has no name. */
extern const struct cudacpu_selftest cudacpu_selftests[];

/* Items whose copies go beside the run of others. */
int selftest_copies(void);

/*
 * A fault. found() is called in a process of its own. It ends that process, which says `says`, or returns whether the fault was
 * found, where nothing need be said. watched: only `make races` can find it.
 */
struct cudacpu_fault {
	const char *name, *says;
	bool (*found)(void);
	bool watched;
};
extern const struct cudacpu_fault cudacpu_faults[] __attribute__((weak));

/* How many devices there are; NULL on a GPU. */
void cudacpu_devices(int n) __attribute__((weak));

/* The races found since the last call: races.cu, only in `make races`. */
int cudacpu_races(void) __attribute__((weak));

#endif
