/* What the machine, the control group and the batch system allow this process. */
#ifndef WEIR_BASE_LIMITS_H
#define WEIR_BASE_LIMITS_H

#include <stddef.h>

/*
 * Return the processors and the bytes of memory that the control groups of this process grant. SIZE_MAX: no limit.
 * proc_cgroup is the file that lists the groups (/proc/self/cgroup); root is the directory where they are mounted
 * (/sys/fs/cgroup). Control groups of versions 1 and 2 are understood. A quota of two and a half processors counts as three.
 */
size_t limits_group_cpus(const char *proc_cgroup, const char *root);
size_t limits_group_bytes(const char *proc_cgroup, const char *root);

/* Returns the least of the processors in the affinity mask, the group's quota and SLURM_CPUS_PER_TASK. >= 1. */
int limits_cpus(void);

/* Returns the least of the machine's memory, the group's limit and the limit of the address space (ulimit -v). */
size_t limits_bytes(void);

#endif
