/* What main.c of a program with a twin needs of gpu.h: -g opens the device, --stats tells of it. */
#ifndef WEIR_GPU_USE_H
#define WEIR_GPU_USE_H

#include <string.h>

#include "common/die.h"
#include "common/opt.h"
#include "common/stats.h"
#include "gpu/gpu.h"

/* The devices that -g asks for, NULL: -g was not given. Dies when they cannot be had. */
static inline struct gpu *
gpu_use_list(const struct opt_common *o)
{
	char why[GPU_WHY];
	struct gpu *g = o->gpu ? gpu_open(o->gpu, why) : NULL;

	if (o->gpu && !g)
		die("-g: %s", why);
	return g;
}

/* The same of a program whose work does not split: a list is wrong usage. */
static inline struct gpu *
gpu_use(const struct opt_common *o)
{
	if (o->gpu && strchr(o->gpu, ','))
		die_usage("-g: '%s' is a list, and %s runs on one GPU", o->gpu, weir_prog);
	return gpu_use_list(o);
}

/* Their names and times, for --stats; g NULL is nothing. */
static inline void
gpu_report(const struct gpu *g, struct stats *st)
{
	if (!g)
		return;
	st->device = gpu_name(g);
	stats_add(st, "kernel_seconds", "%.6f", gpu_kernel_seconds(g));
	stats_add(st, "copy_seconds", "%.6f", gpu_copy_seconds(g));
}

#endif
