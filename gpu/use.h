/* For main.c of a program with a twin: opens the devices of -g, and reports on them for --stats. */
#ifndef WEIR_GPU_USE_H
#define WEIR_GPU_USE_H

#include <string.h>

#include "common/base/die.h"
#include "common/base/opt.h"
#include "common/base/stats.h"
#include "gpu/gpu.h"

static inline void
gpu_refuse(const char *why)
{
	die("-g: %s", why);
}

/*
 * Opens the devices of -g, while the program reads and plans; NULL when -g was not given. The process dies when they cannot be
 * opened, before gpu_enter() returns.
 */
static inline struct gpu *
gpu_use_list(const struct opt_common *o)
{
	return o->gpu ? gpu_start(o->gpu, gpu_refuse) : NULL;
}

/* The same for a program that runs on one device: a list is wrong usage. */
static inline struct gpu *
gpu_use(const struct opt_common *o)
{
	if (o->gpu && strchr(o->gpu, ','))
		die_usage("-g: '%s' is a list, and %s runs on one GPU", o->gpu, weir_prog);
	return gpu_use_list(o);
}

/* Adds the devices' names and times to --stats. It accepts NULL. */
static inline void
gpu_report(const struct gpu *g, struct stats *st)
{
	double kernels, copies;

	if (!g)
		return;
	gpu_seconds(g, &kernels, &copies);
	st->device = gpu_name(g);
	stats_add(st, "kernel_seconds", "%.6f", kernels);
	stats_add(st, "copy_seconds", "%.6f", copies);
}

#endif
