#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "common/par.h"

/* Threads that OMP_NUM_THREADS asks for, and the most that OMP_THREAD_LIMIT allows; 0: it says nothing of use. */
static int asked_for, most;

/* The whole number in 1..4096 that the variable begins with ("4,2" names the threads of each level of nesting), or 0. */
static int
number_of(const char *variable)
{
	const char *s = getenv(variable);
	char *end;
	long n;

	if (!s)
		return 0;
	n = strtol(s, &end, 10);
	return end != s && (!*end || *end == ',') && n > 0 && n <= 4096 ? (int)n : 0;
}

/* Kilobytes, unless B, K, M or G follows: whether that is a megabyte at least, which a worker needs. */
static bool
is_stack_enough(const char *s)
{
	static const char units[] = "BKMG";
	char *end;
	const double n = strtod(s, &end);
	const char *unit;

	end += strspn(end, " ");
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : units + 1;
	return unit && n * (double)((size_t)1 << 10 * (unit - units)) >= 0x1p20;
}

/*
 * The OpenMP library reads its environment in its constructor. The programs link libgomp statically, so that this one, of
 * the highest priority there is, runs before it. Waiting is passive unless the user's own setting says otherwise. What the
 * library would complain of, or what would give a region fewer threads or less stack than it counts on, is taken out.
 */
__attribute__((constructor(101))) static void
prepare_openmp(void)
{
	static const char *const stacks[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};

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
	const int n = asked > 0 ? asked : asked_for > 0 ? asked_for : limits_cpus();

	return most > 0 && most < n ? most : n;
}
