/*
 * The GPU, as the programs see it: option -g. The implementation is chosen at link time: gpu/NAME.cu where nvcc was found, else
 * gpu/none.c, which has the same functions and says `built without CUDA`. Without -g a program does not touch the driver.
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

/* A device, or a list of devices. Functions that do not split their work run on the first. */
struct gpu;

/*
 * Opens the devices of a list such as "0,2"; "" is the first device. Returns NULL, and a sentence in why, when there is no
 * device, no driver, no CUDA or no device of that number.
 */
struct gpu *gpu_open(const char *list, char why[GPU_WHY]);

/* Closes the devices and frees all memory on them. It accepts NULL. */
void gpu_close(struct gpu *g);

/* Frees the device memory that functions keep for their next call. */
void gpu_release(struct gpu *g);

/* After a function returned -EIO: the call that failed, and the reason. */
const char *gpu_why(const struct gpu *g);

/* Returns the number of devices in the list. */
size_t gpu_count(const struct gpu *g);

/* Returns the names of the devices, for --stats. */
const char *gpu_name(const struct gpu *g);

/*
 * Return the seconds since gpu_open() that kernels ran, and that copies to and from the devices took, summed over the
 * devices. Copies may run at the same time as kernels.
 */
double gpu_kernel_seconds(const struct gpu *g);
double gpu_copy_seconds(const struct gpu *g);

/* Measures copies within the device's memory, for benches: bytes read and written per second. 0 on failure: see gpu_why(). */
double gpu_copy_rate(struct gpu *g);

/* Returns text for --version: the CUDA version and the first device, or why there is none. */
const char *gpu_state(void);

#ifdef __cplusplus
}
#endif

#endif
