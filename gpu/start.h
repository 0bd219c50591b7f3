/* Devices that are opened in a thread of their own: gpu_start(). Of g that gpu_open() gave all is over. */
#ifndef WEIR_GPU_START_H
#define WEIR_GPU_START_H

#include "gpu/device.h"

/* Opens the devices of a list, the first in g, which is zeroed. Returns false, and a sentence in why: gpu/gpu.cu. */
bool gpu_open_in(struct gpu *g, const char *list, char why[GPU_WHY]);

/* Waits until g is open; whether it is. Both accept NULL. Any thread may call them. */
void start_await(const struct gpu *g);
bool start_is_over(const struct gpu *g);

/* Returns the devices that the list names. */
size_t start_count(const struct gpu *g);

/* Waits, and frees what gpu_start() has kept. */
void start_close(struct gpu *g);

#endif
