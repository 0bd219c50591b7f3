#include <sched.h>
#include <stdlib.h>

#include "common/par.h"

/*
 * The OpenMP library reads OMP_WAIT_POLICY in its constructor. The programs link libgomp statically, so that this one, of
 * the highest priority there is, runs before it. A user's own setting stays.
 */
__attribute__((constructor(101))) static void
wait_passively(void)
{
	setenv("OMP_WAIT_POLICY", "passive", 0);
}

int
par_threads(int asked)
{
	const char *s = getenv("OMP_NUM_THREADS");
	cpu_set_t set;

	if (asked > 0)
		return asked;
	if (s) {
		char *end;
		long n = strtol(s, &end, 10);
		if (end != s && n > 0 && n <= 4096)
			return (int)n;
	}
	if (!sched_getaffinity(0, sizeof set, &set))
		return CPU_COUNT(&set);
	return 1;
}
