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
 * What a program takes of -g: several devices; `auto', for which it computes the same bytes on the CPU, and asks gpu_now() for each
 * item. Otherwise they are wrong usage.
 */
enum { GPU_LIST = 1, GPU_AUTO = 2 };

/*
 * Opens the devices of -g, while the program reads and plans; NULL when -g was not given. The process dies when they cannot be
 * opened, before gpu_enter() returns; but not with `auto'.
 */
static inline struct gpu *
gpu_use(const struct opt_common *o, int takes)
{
	const bool automatic = o->gpu && !strcmp(o->gpu, "auto");

	if (o->gpu && strchr(o->gpu, ',') && !(takes & GPU_LIST))
		die_usage("-g: '%s' is a list, and %s runs on one GPU", o->gpu, weir_prog);
	if (automatic && !(takes & GPU_AUTO))
		die_usage("-g: auto is for programs whose bytes are the same on a GPU; the last "
			  "digits of %s differ",
			  weir_prog);
	if (automatic)
		return gpu_start("", NULL);
	return o->gpu ? gpu_start(o->gpu, gpu_refuse) : NULL;
}

/* Adds the devices' names and times to --stats, if they computed something. It accepts NULL. */
static inline void
gpu_report(struct gpu *g, struct stats *st)
{
	double kernels, copies;

	if (!gpu_now(g))
		return;
	gpu_seconds(g, &kernels, &copies);
	if (kernels + copies == 0)
		return;
	st->device = gpu_name(g);
	stats_add(st, "kernel_seconds", "%.6f", kernels);
	stats_add(st, "copy_seconds", "%.6f", copies);
}

#endif
