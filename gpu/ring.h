/*
 * Copies between host memory and a device through a ring of pinned buffers: copy.cu. A buffer is filled by several threads
 * while the ones before it are on the bus. A ring has one user at a time.
 */
#ifndef WEIR_GPU_RING_H
#define WEIR_GPU_RING_H

#include <cuda_runtime.h>
#include <stddef.h>

enum { GPU_RING = 4 };
static constexpr size_t GPU_CHUNK = (size_t)4 << 20;

struct gpu_ring {
	cudaStream_t stream;	    /* all copies of the ring */
	void *at[GPU_RING];	    /* GPU_CHUNK bytes each, when it was used */
	cudaEvent_t done[GPU_RING]; /* the copy from or to a buffer */
	size_t next;		    /* buffers used so far */
};

/* Makes the stream and the events; the device must be the one in use. ring_close() accepts a zeroed ring. */
cudaError_t ring_open(gpu_ring *r);
void ring_close(gpu_ring *r);

/* Copies to the device. It returns when host has been read; what comes on the ring's stream sees the result. */
cudaError_t ring_up(gpu_ring *r, void *device, const void *host, size_t bytes);

/* Copies what the ring's stream sees to the host, and returns when it is there. */
cudaError_t ring_down(gpu_ring *r, void *host, const void *device, size_t bytes);

/* Makes an event that has no time: it orders streams, or a thread waits for it. */
cudaError_t ring_event(cudaEvent_t *e);

/* Returns the flag of an event for which a thread waits. With few processors it sleeps: others have work for the one it has. */
unsigned ring_waiting(void);

/* Makes stream b wait for all that stream a was given so far. */
cudaError_t ring_follow(cudaStream_t b, cudaStream_t a, cudaEvent_t by);

#endif
