#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/limits.h"
#include "common/base/par.h"
#include "common/base/words.h"

/* The threads that OMP_NUM_THREADS asks for, and the most that OMP_THREAD_LIMIT allows. 0: not set, or not valid. */
static int asked_for, most;

/* Returns the whole number in 1..4096 at the start of the variable, or 0. "4,2" gives the threads of each level of nesting. */
static int
number_of(const char *variable)
{
	const char *s = getenv(variable);
	size_t n;

	return s && word_size_before(&s, strchr(s, ',') ? ',' : '\0', &n) && n <= 4096 ? (int)n : 0;
}

/* Whether s is a stack size of at least one megabyte, which a worker needs. It is in kilobytes unless B, K, M or G follows. */
static bool
is_stack_enough(const char *s)
{
	static const char units[] = "BKMG";
	char *end;
	const double n = strtod(s, &end);

	end += strspn(end, " ");
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : units + 1;
	return unit && n * (double)((size_t)1 << 10 * (unit - units)) >= 0x1p20;
}

/*
 * Prepares the environment that the OpenMP library reads in its constructor. The programs link libgomp statically, so that
 * this constructor, which has the highest priority, runs before that one. It removes the variables of which the library would
 * complain, and those that would give a region fewer threads or less stack than it needs.
 *
 * Threads wait as par.h describes unless the user has set OMP_WAIT_POLICY. 300 turns of waiting last some 5 us, which is less
 * than it takes to wake a thread: radon --sparse takes .86 of the time on two idle processors (Zen 5), and 1.05 of it where
 * other processes keep both busy; with 3000 turns that would be 1.4.
 */
__attribute__((constructor(101))) static void
prepare_openmp(void)
{
	static const char *const stacks[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};

	if (!getenv("OMP_WAIT_POLICY"))
		setenv("GOMP_SPINCOUNT", "300", 0);
	setenv("OMP_WAIT_POLICY", "passive", 0);
	asked_for = number_of("OMP_NUM_THREADS");
	most = number_of("OMP_THREAD_LIMIT");
	if (!asked_for)
		unsetenv("OMP_NUM_THREADS");
	unsetenv("OMP_THREAD_LIMIT");
	unsetenv("OMP_DYNAMIC");
	for (int i = 0; i < 2; i++)
		if (getenv(stacks[i]) && !is_stack_enough(getenv(stacks[i])))
			unsetenv(stacks[i]);
}

int
par_threads(int asked)
{
	static int granted; /* 0: not known yet; files of the control groups say it, in .1 ms */
	int n = asked > 0 ? asked : asked_for;

	if (n <= 0)
		n = granted = granted ? granted : limits_cpus();
	return most > 0 && most < n ? most : n;
}

void
par_start(int threads)
{
#pragma omp parallel num_threads(threads)
	(void)omp_get_thread_num();
}

void
par_copy(void *to, const void *from, size_t n)
{
	enum { PIECE = 1 << 18, MOST = 4 };
	const size_t pieces = n / PIECE + 1;
	const int threads = n < 2 * PIECE ? 1 : par_threads(0) < MOST ? par_threads(0) : MOST;

#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
	for (size_t i = 0; i < pieces; i++) {
		const size_t at = i * PIECE;
		memcpy((char *)to + at, (const char *)from + at, i + 1 < pieces ? PIECE : n - at);
	}
}
