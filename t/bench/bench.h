/*
 * Side-by-side timing. The contenders run in turn, round after round, so that a noisy machine disturbs all alike; the
 * median of each is what counts, and only ratios are worth writing down.
 *
 *	struct bench_entry e[] = {{"tile", run_tile, &job}, {"leptonica", run_lept, &job}};
 *	bench_compare("h-dome 4096x4096, 4-connected", e, 2, 7);
 *
 * prints a line per entry: its median in ms and, for all but the first, `x.xx times the first`.
 */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"

struct bench_entry {
	const char *name;
	void (*run)(void *job);
	void *job;
	void (*before)(void *job); /* untimed set-up before each run; may be NULL */
	double median;		   /* seconds, filled by bench_compare */
};

enum { BENCH_MAXROUNDS = 101 };

static inline int
bench_order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double
bench_median(double *t, size_t n)
{
	qsort(t, n, sizeof *t, bench_order);
	return n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
}

static inline void
bench_compare(const char *title, struct bench_entry *e, size_t n, size_t rounds)
{
	static double t[16][BENCH_MAXROUNDS];

	for (size_t r = 0; r < rounds && r < BENCH_MAXROUNDS; r++)
		for (size_t i = 0; i < n && i < 16; i++) {
			if (e[i].before)
				e[i].before(e[i].job);
			double t0 = clock_now();
			e[i].run(e[i].job);
			t[i][r] = clock_now() - t0;
		}
	printf("%s\n", title);
	for (size_t i = 0; i < n && i < 16; i++) {
		e[i].median =
		    bench_median(t[i], rounds < BENCH_MAXROUNDS ? rounds : BENCH_MAXROUNDS);
		printf("  %-36s %10.2f ms", e[i].name, 1e3 * e[i].median);
		if (i)
			printf("   %7.2f times the first", e[i].median / e[0].median);
		putchar('\n');
	}
	fflush(stdout);
}

#endif
