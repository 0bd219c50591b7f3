/*
 * The checks of numbers: every fast path against its slow twin in direct.c, on awkward sizes, random and extreme data.
 * t/check_NAME.c holds those of a program, as `void check_NAME(void)`, listed in CHECK_PROGRAMS. The output is TAP. What all
 * checks need comes with this header: mem.h, die.h, rng.h, and the standard headers of text, numbers and errors.
 *
 *	build/t/check [PROGRAM ...]	gpu/wconv: of the checks of the GPU those of one program
 */
#ifndef WEIR_CHECK_H
#define WEIR_CHECK_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "t/rng.h"

/* The checks of each program, of t/check_NAME.c; NULL where that is not linked. */
#define CHECK_PROGRAMS(P)                                                                      \
	P(common), P(limits), P(samples), P(segy), P(part), P(pipeline), P(label), P(combine), \
	    P(distance), P(rawwarp), P(cudacpu), P(gpu), P(usfft), P(radon), P(wconv),         \
	    P(psfmatch), P(emst), P(rawpalette), P(dptrace), P(morphrec)
#define PROGRAM(name) check_##name(void)
__attribute__((weak)) void CHECK_PROGRAMS(PROGRAM);
#undef PROGRAM

/* One test: ok or not, its name says the behaviour; when not ok, why (printf) goes out as a comment. */
void check(bool ok, const char *name, const char *why, ...) __attribute__((format(printf, 3, 4)));

/*
 * A test made of many cases: check_case counts a failure and keeps the first one's reason, check_end reports all as one
 * test.
 */
struct check_many {
	size_t cases, failures;
	char first[256];
};
void check_case(struct check_many *m, bool ok, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
void check_end(struct check_many *m, const char *name);

/* The test `name`: `one` makes the cases of the sets 0 to n-1, from random numbers that begin with the seed, or go on. */
typedef void check_set(struct check_many *m, struct check_rng *rng, size_t set);
void check_each(const char *name, size_t n, uint64_t seed, check_set *one);
void check_each_from(const char *name, size_t n, struct check_rng *rng, check_set *one);

/* Whether the checks of that name, `gpu` or `gpu/wconv`, were asked for. */
bool check_wanted(const char *name);

/* Not to be tested here: counted as a skip with its reason. */
void check_skip(const char *name, const char *reason);

/* What the names of tests begin with from now on, and what they end in; at first both are "". */
void check_whose(const char *by);
void check_where(const char *of);

/* Returns n elements of that size, without an end of memory. They last to the end of a set, of check_end(), or check_free(). */
void *check_alloc(size_t n, size_t size);
void check_free(void);

/* Fills with NaN (all bytes 0xff): what a checked run must overwrite. */
void check_poison(void *p, size_t bytes);

/* |got - want| / |want| of n floats (single) or doubles, or / least where that is larger; NaN when any difference is. */
double check_apart(const void *got, bool single, const double *want, size_t n, double least);

/* The order of doubles, for qsort(). */
int check_ascending(const void *a, const void *b);

#endif
