/*
 * The GPU, as the programs see it: -g. Chosen at link time: gpu/NAME.cu where nvcc was found, else gpu/none.c, which has the
 * same functions and says `built without CUDA`. A program that was not asked for the GPU touches no driver.
 *
 *	struct gpu *g = gpu_open(args.common.gpu, why);	NULL: die("-g: %s", why)
 *	if (gpu_NAME_run(g, plan, ...))	die("-g: %s", gpu_why(g));
 *	gpu_close(g);
 */
#ifndef WEIR_GPU_H
#define WEIR_GPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GPU_WHY = 256 };

/* A device, or a list of them. Functions that do not split their work run on the first. */
struct gpu;

/*
 * The devices of a list, "0,2": numbers and commas; "": the first there is. NULL with a sentence in why: no device, no driver, no
 * CUDA, no such number.
 */
struct gpu *gpu_open(const char *list, char why[GPU_WHY]);

/* Frees all that was held on the device; NULL is nothing. */
void gpu_close(struct gpu *g);

/* Gives back the device's memory that functions keep for their next call. */
void gpu_release(struct gpu *g);

/* After a function of the GPU gave -EIO: the call that failed, and why. */
const char *gpu_why(const struct gpu *g);

/* How many devices there are in the list. */
size_t gpu_count(const struct gpu *g);

/* The names of the devices, for --stats. */
const char *gpu_name(const struct gpu *g);

/*
 * Seconds since gpu_open() that kernels ran, and that copies took to and from the devices; of several the sum. Copies may
 * run beside kernels.
 */
double gpu_kernel_seconds(const struct gpu *g);
double gpu_copy_seconds(const struct gpu *g);

/* Bytes a second that copies within the device's memory move, read and written ones counted: for benches. 0: gpu_why(). */
double gpu_copy_rate(struct gpu *g);

/* For --version, half a line: the CUDA version and the first device, or why there is none. */
const char *gpu_state(void);

#ifdef __cplusplus
}
#endif

#endif
