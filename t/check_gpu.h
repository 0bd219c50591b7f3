/*
 * The kernels of gpu/, held to direct.c: through t/cudacpu in build/t/check, in each order of its fibers, and on the GPU in
 * build/t/check-gpu, where that was built. Same checks, chosen at link time.
 */
#ifndef WEIR_CHECK_GPU_H
#define WEIR_CHECK_GPU_H

#include "gpu/gpu.h"
#include "t/check.h"
#include "t/cudacpu/selftest.h"

/* Absent in check-gpu. */
void cudacpu_order(int order, unsigned seed) __attribute__((weak));
void cudacpu_memory(size_t bytes) __attribute__((weak));
void cudacpu_large(int yes) __attribute__((weak));
void cudacpu_driver(int version, int kernels) __attribute__((weak));

enum { CHECK_ORDERS = 3 }; /* forward, backward, shuffled */

/* How many orders there are to check here, and the choice of one for run 0, 1 .. A race shows in any of them; large devices run in one. */
extern bool check_large;

static inline size_t
check_orders(void)
{
	return cudacpu_order && !cudacpu_races && !check_large ? CHECK_ORDERS : 1;
}

static inline void
check_order(size_t run)
{
	if (cudacpu_order)
		cudacpu_order((int)(run % check_orders()), 20161u);
}

/* What the checks run on: a device, or the several of check_on_devices(). */
extern struct gpu *gpu_on;

/* Frees what the devices hold, which have so many bytes each from now on, 0: plenty. On a GPU it does nothing. */
static inline void
check_memory(size_t bytes)
{
	if (!cudacpu_memory)
		return;
	gpu_release(gpu_on);
	cudacpu_memory(bytes ? bytes : (size_t)1 << 40);
}

/*
 * Runs cases on the devices 0,1 and on 2,0,1, of which there are three under t/cudacpu; one: the first alone. A test of that
 * name each, a skip where there are not so many. What else is open then does not go on: its device is not the one in use.
 */
void check_on_devices(const char *name, void (*cases)(struct gpu *one, struct check_many *m));

/* The programs' checks, in check_gpu_NAME.c. */
void check_gpu_morphrec(void);
void check_gpu_emst(void);
void check_gpu_wconv(void);
void check_gpu_wconv_adjoint(void);
void check_gpu_wconv_restore(void);
void check_gpu_usfft(void);
void check_gpu_radon(void);
void check_gpu_dptrace(void);

#endif
