#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "common/par.h"

/*
 * The OpenMP library reads OMP_WAIT_POLICY in its constructor, which runs before main() and before our own constructors;
 * preinit_array runs earlier still. A user's own setting stays.
 */
static void
wait_passively(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	(void)envp;
	setenv("OMP_WAIT_POLICY", "passive", 0);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const preinit)(int, char **, char **) = wait_passively;

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
