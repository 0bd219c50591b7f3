/*
 * What gpu/NAME.h promises, in a build without CUDA: gpu_open() and gpu_start() say so, and what needs an open device is never
 * reached.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/dptrace/dptrace.h"
#include "gpu/emst/emst.h"
#include "gpu/gpu.h"
#include "gpu/morphrec/morphrec.h"
#include "gpu/radon/radon.h"
#include "gpu/usfft/usfft.h"
#include "gpu/wconv/wconv.h"

static const char state[] = "built without CUDA";

struct gpu *
gpu_open(const char *list, char why[GPU_WHY])
{
	(void)list;
	snprintf(why, GPU_WHY, "%s", state);
	return NULL;
}

struct gpu *
gpu_start(const char *list, void (*refuse)(const char *why))
{
	(void)list;
	if (refuse)
		refuse(state);
	return NULL;
}

struct gpu *
gpu_now(struct gpu *g)
{
	return g;
}

const char *
gpu_state(void)
{
	return state;
}

int
gpu_enter(struct gpu *g)
{
	(void)g;
	return 0;
}

void
gpu_close(struct gpu *g)
{
	(void)g;
}

void
weir_gpu_none(void)
{
	abort();
}

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
#define NONE(name) extern __typeof__(name) name __attribute__((alias("weir_gpu_none")))

NONE(gpu_release);
NONE(gpu_ahead);
NONE(gpu_settle);
NONE(gpu_why);
NONE(gpu_count);
NONE(gpu_name);
NONE(gpu_seconds);
NONE(gpu_measure);
NONE(gpu_morphrec_run);
NONE(gpu_morphrec_operate);
NONE(gpu_emst_ahead);
NONE(gpu_emst_run);
NONE(gpu_wconv_run);
NONE(gpu_wconv_adjoint);
NONE(gpu_wconv_restore);
NONE(gpu_usfft_points);
NONE(gpu_usfft_type1);
NONE(gpu_usfft_type2);
NONE(gpu_usfft_type3);
NONE(gpu_usfft_inverse);
NONE(gpu_usfft_pipe);
NONE(gpu_radon_run);
NONE(gpu_dptrace_ahead);
NONE(gpu_dptrace_run);
NONE(gpu_dptrace_tables);
