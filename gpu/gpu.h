/*
 * The GPU, as the programs see it: option -g. The implementation is chosen at link time: gpu/NAME.cu where nvcc was found, else
 * gpu/none.c, which has the same functions and says `built without CUDA`. Without -g a program does not touch the driver.
 *
 *	struct gpu *g = gpu_start(args.common.gpu, refuse);	refuse(why): die("-g: %s", why)
 *	read, plan
 *	if (gpu_enter(g)) die("-g: %s", gpu_why(g));
 *	if (gpu_NAME_run(g, plan, ...))	die("-g: %s", gpu_why(g));
 *	gpu_close(g);
 */
#ifndef WEIR_GPU_H
#define WEIR_GPU_H

#include <stddef.h>

enum { GPU_WHY = 256 };

/* A device, or a list of devices. Functions that do not split their work run on the first. */
struct gpu;

/*
 * Opens the devices of a list such as "0,2"; "" is the first device. Returns NULL, and a sentence in why, when there is no
 * device, no driver, no CUDA or no device of that number.
 */
struct gpu *gpu_open(const char *list, char why[GPU_WHY]);

/*
 * The same in a thread of its own, which costs a process .3 s: it returns at once, and the program may read and plan. Where the
 * devices cannot be opened, that thread calls refuse(why), which must not return. Of several GPUs the process then sees only the
 * one that is asked for, if it is one. Call it before other threads are started.
 */
struct gpu *gpu_start(const char *list, void (*refuse)(const char *why));

/*
 * For a program that computes the same bytes on the CPU: where refuse of gpu_start() was NULL, the CPU computes until the devices
 * are open, and everything where they cannot be. Returns what is to compute now: g, or NULL for the CPU.
 */
struct gpu *gpu_now(struct gpu *g);

/*
 * Waits until g is open, and makes it the device of this host thread, before its first run: the threads of runs may take turns.
 * The thread that called gpu_open() need not say so, nor one that calls a function of several devices. Returns 0 or -EIO. It
 * accepts NULL.
 */
int gpu_enter(struct gpu *g);

/*
 * Closes the devices and frees all memory on them. It accepts NULL. Where refuse was NULL and they are not open yet, it ends the
 * process with status 0, since the driver cannot be stopped: nothing may be left to do.
 */
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
 * Items one after another: while one is computed, the next one goes up and the results of the one before come down.
 *
 * gpu_ahead() says what the next run will read: n spans of host memory; n 0: nothing, whatever was said before. They go up
 * beside the kernels of the current run, by a thread of their own. They must stay as they are until the run that reads them
 * has ended, and that run must read all of them. It never fails: what does not go up now will go up in that run. On several
 * devices, and before they are open, it does nothing. Another host thread than that of the runs may call it.
 *
 * gpu_settle() waits for the results that are on their way to this memory; NULL: for all results. Call it before you read
 * a result of a run whose comment says so. Returns 0 or -EIO.
 */
struct gpu_span {
	const void *host;
	size_t bytes;
};
void gpu_ahead(struct gpu *g, const struct gpu_span *s, size_t n);
int gpu_settle(struct gpu *g, const void *host, size_t bytes);

/*
 * Gives the seconds since gpu_open() that kernels ran, and that runs spent on copies to and from the devices, summed over
 * the devices. Copies beside kernels, by gpu_ahead() and gpu_settle(), are not counted.
 */
void gpu_seconds(const struct gpu *g, double *kernels, double *copies);

/*
 * Measures what a kernel's time is set against. The first three are bytes per second of copies of that many bytes: within the
 * device's memory, which reads and writes each byte, and from pinned memory of the host and back. The others are operations per
 * second; a multiplication and an addition in one instruction are two. Returns 0 or -EIO.
 */
struct gpu_rates {
	double within, up, down, single_ops, double_ops;
};
int gpu_measure(struct gpu *g, size_t bytes, struct gpu_rates *r);

/* Returns text for --version: the CUDA version and the first device, or why there is none. */
const char *gpu_state(void);

#endif
