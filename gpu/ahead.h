/*
 * Copies that run beside kernels, for copy.cu: a device has a courier for what goes up before it is asked for, and one for
 * results that come down after the run that made them. A courier is a host thread with a ring and one block of device
 * memory. Between the block and a twin's own memory data is copied within the device, in the order of the kernels:
 *
 *	host k+1 -> pinned -> block		while the kernels of k run
 *	block -> memory of the twin		when the run of k+1 calls gpu_up()
 *	memory of the twin -> block		when the run of k ends: gpu_later()
 *	block -> pinned -> host k		while the kernels of k+1 run
 *
 * Why nothing is overwritten too early: a pinned buffer is taken again after the event of its own copy. The block is filled
 * after the event `turn`, which follows the last copy within the device that reads it, and read after a courier's stream has
 * ended, or after `turn`, which follows the copy that fills it. cudaFree() waits for the whole device. A twin's memory is read and
 * written by the kernels' stream alone, so its order is that of the calls.
 *
 * A courier that has no memory, or no thread, leaves its work to the run itself.
 */
#ifndef WEIR_GPU_AHEAD_H
#define WEIR_GPU_AHEAD_H

#include "gpu/device.h"

/* If gpu_ahead() has named this memory, copies it to the device, sets *done and returns 0, or -EIO. */
int ahead_take(struct gpu *g, void *device, const void *host, size_t bytes, bool *done);

/* gpu_ahead() and gpu_settle() for one device of a list: within gpu_each(), and for what lies below them. */
void ahead_tell(struct gpu *g, const struct gpu_span *s, size_t n);
int ahead_settle(struct gpu *g, const void *host, size_t bytes);

/* Sets *bytes to what is free on the device in use and what the couriers hold there. It does not wait for their copies. */
cudaError_t ahead_room(struct gpu *g, size_t *bytes);

/* Waits for the couriers' copies and gives their memory back. Returns whether there was any. */
bool ahead_yield(struct gpu *g);

/* Ends the couriers. */
void ahead_close(struct gpu *g);

#endif
