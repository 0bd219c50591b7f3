#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/words.h"

#define GROUPS "/proc/self/cgroup"
#define MOUNT  "/sys/fs/cgroup"

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Reads up to two numbers at the start of a file and returns how many. "max" or a missing file gives 0. */
static int
read_numbers(const char *path, long long v[2])
{
	FILE *f = fopen(path, "r");

	if (!f)
		return 0;
	int n = fscanf(f, "%lld %lld", &v[0], &v[1]);
	fclose(f);
	return n > 0 ? n : 0;
}

/* Returns the quota of a group in processors, rounded up. Version 2 has quota and period in cpu.max, version 1 in two files. */
static size_t
cpus_of(const char *group)
{
	char path[2 * PATH_MAX + 64];
	long long v[2], period[2];

	snprintf(path, sizeof path, "%s/cpu.max", group);
	if (read_numbers(path, v) < 2) {
		snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", group);
		if (!read_numbers(path, v))
			return SIZE_MAX;
		snprintf(path, sizeof path, "%s/cpu.cfs_period_us", group);
		if (!read_numbers(path, period))
			return SIZE_MAX;
		v[1] = period[0];
	}
	return v[0] > 0 && v[1] > 0 ? (size_t)((v[0] + v[1] - 1) / v[1]) : SIZE_MAX;
}

static size_t
bytes_of(const char *group)
{
	static const char *const files[] = {"memory.max", "memory.limit_in_bytes"};
	char path[2 * PATH_MAX + 64];
	long long v[2];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", group, files[i]);
		if (read_numbers(path, v) && v[0] > 0)
			return (size_t)v[0];
	}
	return SIZE_MAX;
}

/*
 * Returns the least limit of all groups of this process. A line of the list is NUMBER:CONTROLLERS:PATH. Version 2 names no
 * controllers; version 1 mounts each controller under its name.
 */
static size_t
of_groups(const char *proc_cgroup, const char *root, const char *controller,
	  size_t (*of)(const char *group))
{
	FILE *f = fopen(proc_cgroup, "r");
	char line[PATH_MAX], group[2 * PATH_MAX + 32];
	size_t limit = SIZE_MAX;

	while (f && fgets(line, sizeof line, f)) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		path[strcspn(path, "\n")] = 0;
		if (names[1] &&
		    word_index(names + 1, ',', controller, strlen(controller), strncmp) < 0)
			continue;
		if (!strcmp(path, "/"))
			*path = 0;
		snprintf(group, sizeof group, "%s%s%s%s", root, names[1] ? "/" : "",
			 names[1] ? controller : "", path);
		/* The groups above it have limits of their own. */
		limit = least(limit, of(group));
		for (char *slash; (slash = strrchr(group, '/')) && slash >= group + strlen(root);) {
			*slash = 0;
			limit = least(limit, of(group));
		}
	}
	if (f)
		fclose(f);
	return limit;
}

size_t
limits_group_cpus(const char *proc_cgroup, const char *root)
{
	return of_groups(proc_cgroup, root, "cpu", cpus_of);
}

size_t
limits_group_bytes(const char *proc_cgroup, const char *root)
{
	return of_groups(proc_cgroup, root, "memory", bytes_of);
}

int
limits_cpus(void)
{
	const char *slurm = getenv("SLURM_CPUS_PER_TASK");
	const long asked = slurm ? strtol(slurm, NULL, 10) : 0;
	size_t n = limits_group_cpus(GROUPS, MOUNT);

	/* The CPUs that the process may run on. The kernel refuses a set that is shorter than its own. */
	for (size_t most = CPU_SETSIZE, any = 0; !any && most <= CPU_SETSIZE << 8; most *= 2) {
		const size_t size = CPU_ALLOC_SIZE(most);
		cpu_set_t *set = CPU_ALLOC(most);
		if (set && !sched_getaffinity(0, size, set)) {
			any = (size_t)CPU_COUNT_S(size, set);
			n = least(n, any);
		}
		CPU_FREE(set);
	}
	if (asked > 0)
		n = least(n, (size_t)asked);
	return n == SIZE_MAX ? 1 : (int)n;
}

size_t
limits_bytes(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	size_t n = limits_group_bytes(GROUPS, MOUNT);
	struct rlimit r;

	if (pages > 0 && page > 0)
		n = least(n, (size_t)pages * (size_t)page);
	if (!getrlimit(RLIMIT_AS, &r) && r.rlim_cur != RLIM_INFINITY)
		n = least(n, (size_t)r.rlim_cur);
	return least(n, SIZE_MAX / 4);
}
