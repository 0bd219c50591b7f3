/* What control groups grant a process: common/base/limits.h. */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "t/check.h"

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void
put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		die("%s: cannot be written", path);
}

/* Control groups as a machine would mount them: /a/b with a quota below its parent's, and version 1 beside it. */
static void
groups_limit_threads_and_memory(void)
{
	char dir[] = "/tmp/weir-check.XXXXXX", *before = getcwd(NULL, 0);
	struct check_many many = {0};

	if (!before || !mkdtemp(dir) || chdir(dir) || mkdir("a", 0700) || mkdir("a/b", 0700) ||
	    mkdir("cpu", 0700) || mkdir("cpu/c", 0700) || mkdir("memory", 0700) ||
	    mkdir("memory/c", 0700))
		die("%s: cannot be made", dir);
	put_file("two", "0::/a/b\n");
	put_file("one", "5:memory:/c\n3:cpu,cpuacct:/c\n");
	put_file("none", "0::/nowhere\n");
	check_case(&many, limits_group_cpus("none", ".") == SIZE_MAX, "no group, no limit of CPUs");
	check_case(&many, limits_group_bytes("absent", ".") == SIZE_MAX, "no list, no limit");
	put_file("a/b/cpu.max", "max 100000\n");
	check_case(&many, limits_group_cpus("two", ".") == SIZE_MAX, "max is no limit");
	put_file("a/cpu.max", "250000 100000\n");
	put_file("a/memory.max", "1000000\n");
	put_file("a/b/memory.max", "max\n");
	check_case(&many, limits_group_cpus("two", ".") == 3, "the parent's two and a half");
	check_case(&many, limits_group_bytes("two", ".") == 1000000, "the parent's megabyte");
	put_file("cpu/c/cpu.cfs_quota_us", "50000\n");
	put_file("cpu/c/cpu.cfs_period_us", "100000\n");
	put_file("memory/c/memory.limit_in_bytes", "4096\n");
	check_case(&many, limits_group_cpus("one", ".") == 1, "half a processor is one");
	check_case(&many, limits_group_bytes("one", ".") == 4096, "4096 bytes of version 1");
	put_file("other", "4:cpuset:/c\n2:cpuacct:/c\n");
	check_case(&many, limits_group_cpus("other", ".") == SIZE_MAX, "cpuset is not cpu");
	put_file("cpu/c/cpu.cfs_quota_us", "-1\n");
	check_case(&many, limits_group_cpus("one", ".") == SIZE_MAX, "-1 is no limit");
	if (chdir(before) || nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS))
		die("%s: cannot be removed", dir);
	free(before);
	check_end(&many, "limits: control groups limit threads and memory");
}

void
check_limits(void)
{
	groups_limit_threads_and_memory();
}
