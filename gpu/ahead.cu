/* See gpu/ahead.h. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ahead.h"
#include "gpu/load.h"
#include "gpu/start.h"

extern "C" {
#include "common/base/mem.h"
}

enum state { EMPTY, MOVING, FULL };

struct gpu_courier {
	struct gpu *g;
	bool started, ends;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	gpu_ring ring;
	cudaEvent_t turn; /* the block's last use by the kernels' stream */
	char *block;
	size_t bytes;
	enum state state; /* of the block; load is what it holds */
	struct load load;
	struct load wanted; /* up: what the block shall hold next; n = 0: nothing */
	cudaError_t e;	    /* the failure of the last move */
};

namespace
{

/*
 * The block gets room for `bytes`. Memory that cannot be had is no failure of the device. The lock is held: c->bytes is what the
 * device has given.
 */
cudaError_t
widen(gpu_courier *c, size_t bytes)
{
	if (c->bytes >= bytes)
		return cudaSuccess;
	cudaFree(c->block);
	c->bytes = 0;
	c->block = NULL;
	const cudaError_t e = cudaMalloc(&c->block, bytes);
	if (e == cudaSuccess)
		c->bytes = bytes;
	else
		cudaGetLastError();
	return e;
}

void
await(gpu_courier *c)
{
	while (c->state == MOVING)
		pthread_cond_wait(&c->moved, &c->lock);
}

void
become(gpu_courier *c, enum state s)
{
	c->state = s;
	pthread_cond_broadcast(&c->moved);
}

/* --- the threads --------------------------------------------------------------------------------------------------- */

cudaError_t
move_up(gpu_courier *c)
{
	size_t at = 0;

	pthread_mutex_lock(&c->lock);
	cudaError_t e = widen(c, load_bytes(c->load));
	pthread_mutex_unlock(&c->lock);
	if (e == cudaSuccess)
		e = cudaStreamWaitEvent(c->ring.stream, c->turn, 0);
	for (size_t i = 0; i < c->load.n && e == cudaSuccess; at += c->load.span[i++].bytes)
		e = ring_up(&c->ring, c->block + at, c->load.span[i].host, c->load.span[i].bytes);
	return e == cudaSuccess ? cudaStreamSynchronize(c->ring.stream) : e;
}

cudaError_t
move_down(gpu_courier *c)
{
	cudaError_t e = cudaStreamWaitEvent(c->ring.stream, c->turn, 0);
	size_t at = 0;

	for (size_t i = 0; i < c->load.n && e == cudaSuccess; at += c->load.span[i++].bytes)
		e = ring_down(&c->ring, const_cast<void *>(c->load.span[i].host), c->block + at,
			      c->load.span[i].bytes);
	return e;
}

/* Brings what is wanted to the block whenever that is empty. It reads results only after they have arrived. */
void *
serve_up(void *courier)
{
	gpu_courier *const c = static_cast<gpu_courier *>(courier);

	cudaSetDevice(c->g->number);
	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->ends && !(c->wanted.n && c->state == EMPTY))
			pthread_cond_wait(&c->moved, &c->lock);
		if (c->ends)
			break;
		const load l = c->load;
		c->load = c->wanted;
		c->wanted = l;
		c->wanted.n = 0;
		become(c, MOVING);
		pthread_mutex_unlock(&c->lock);
		bool settled = true;
		for (size_t i = 0; i < c->load.n && settled; i++)
			settled = !ahead_settle(c->g, c->load.span[i].host, c->load.span[i].bytes);
		const bool ok = settled && move_up(c) == cudaSuccess;
		pthread_mutex_lock(&c->lock);
		become(c, ok ? FULL : EMPTY);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Brings down what the block was filled with. */
void *
serve_down(void *courier)
{
	gpu_courier *const c = static_cast<gpu_courier *>(courier);

	cudaSetDevice(c->g->number);
	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->ends && c->state != MOVING)
			pthread_cond_wait(&c->moved, &c->lock);
		if (c->state != MOVING)
			break;
		pthread_mutex_unlock(&c->lock);
		const cudaError_t e = move_down(c);
		pthread_mutex_lock(&c->lock);
		c->e = e == cudaSuccess ? c->e : e;
		become(c, EMPTY);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

void
dismiss(gpu_courier *c)
{
	if (!c)
		return;
	if (c->started) {
		pthread_mutex_lock(&c->lock);
		c->ends = true;
		pthread_cond_broadcast(&c->moved);
		pthread_mutex_unlock(&c->lock);
		pthread_join(c->thread, NULL);
	}
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->moved);
	ring_close(&c->ring);
	if (c->turn)
		cudaEventDestroy(c->turn);
	cudaFree(c->block);
	weir_free(c->load.span);
	weir_free(c->wanted.span);
	weir_free(c);
}

/* Several host threads ask for the courier at *at: one reads, one computes, one writes. NULL: there is none yet. */
gpu_courier *
find(gpu_courier *const *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/*
 * The courier at *at, which starts when it is first needed, and is seen by other threads once it is whole. NULL: there is none
 * to be had. Only the thread that reads summons g->up, and only the one that computes summons g->down.
 */
gpu_courier *
summon(struct gpu *g, gpu_courier **at, void *(*serve)(void *courier))
{
	gpu_courier *c = find(at);

	if (c)
		return c;
	if (!(c = static_cast<gpu_courier *>(weir_calloc(1, sizeof *c))))
		return NULL;
	c->g = g;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->moved, NULL);
	if (cudaSetDevice(g->number) == cudaSuccess && ring_open(&c->ring) == cudaSuccess &&
	    ring_event(&c->turn) == cudaSuccess)
		c->started = !pthread_create(&c->thread, NULL, serve, c);
	if (!c->started) {
		dismiss(c);
		return NULL;
	}
	__atomic_store_n(at, c, __ATOMIC_RELEASE);
	return c;
}

} // namespace

/* --- what goes up -------------------------------------------------------------------------------------------------- */

void
ahead_tell(struct gpu *g, const struct gpu_span *s, size_t n)
{
	gpu_courier *const c = n ? summon(g, &g->up, serve_up) : find(&g->up);

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	load_set(&c->wanted, s, n);
	if (!n)
		await(c);
	become(c, n ? c->state : EMPTY);
	pthread_mutex_unlock(&c->lock);
}

void
gpu_ahead(struct gpu *g, const struct gpu_span *s, size_t n)
{
	if (start_is_over(g) && !g->rest)
		ahead_tell(g, s, n);
}

/* What is wanted but not on its way goes up by the run itself. Then what the block holds is older, and nobody will take it. */
int
ahead_take(struct gpu *g, void *device, const void *host, size_t bytes, bool *done)
{
	gpu_courier *const c = find(&g->up);
	cudaError_t e = cudaSuccess;

	*done = false;
	if (!c)
		return 0;
	pthread_mutex_lock(&c->lock);
	if (load_meets(c->wanted, host, bytes)) {
		c->wanted.n = 0;
		await(c);
		become(c, EMPTY);
	}
	if (load_place(c->load, host, bytes) >= 0)
		await(c);
	const ptrdiff_t at = c->state == FULL ? load_place(c->load, host, bytes) : -1;
	if (at >= 0) {
		*done = true;
		e = cudaMemcpyAsync(device, c->block + at, bytes, cudaMemcpyDeviceToDevice,
				    g->stream[0]);
		c->load.left -= bytes < c->load.left ? bytes : c->load.left;
		if (e == cudaSuccess)
			e = cudaEventRecord(c->turn, g->stream[0]);
		if (!c->load.left)
			become(c, EMPTY);
	}
	pthread_mutex_unlock(&c->lock);
	return gpu_failed(g, e, "cudaMemcpyAsync") ? -EIO : 0;
}

/* --- what comes down ----------------------------------------------------------------------------------------------- */

int
gpu_later(struct gpu *g, const struct gpu_result *r, size_t n)
{
	gpu_courier *const c = n ? summon(g, &g->down, serve_down) : NULL;
	gpu_span *const s = static_cast<gpu_span *>(weir_alloc(n, sizeof *s));
	size_t at = 0;
	bool posted = false;
	int err = n && !s ? -ENOMEM : 0;

	for (size_t i = 0; i < n && !err; i++)
		s[i] = {r[i].host, r[i].bytes};
	if (c && !err && !(err = ahead_settle(g, NULL, 0))) {
		pthread_mutex_lock(&c->lock);
		posted = load_set(&c->load, s, n) && widen(c, c->load.left) == cudaSuccess;
		cudaError_t e = cudaSuccess;
		for (size_t i = 0; i < n && posted && e == cudaSuccess; at += r[i++].bytes)
			e = cudaMemcpyAsync(c->block + at, r[i].device, r[i].bytes,
					    cudaMemcpyDeviceToDevice, g->stream[0]);
		if (posted && e == cudaSuccess)
			e = cudaEventRecord(c->turn, g->stream[0]);
		err = gpu_failed(g, e, "cudaMemcpyAsync") ? -EIO : 0;
		if (posted && !err)
			become(c, MOVING);
		pthread_mutex_unlock(&c->lock);
	}
	for (size_t i = 0; i < n && !posted && !err; i++)
		err = gpu_down(g, r[i].host, r[i].device, r[i].bytes);
	weir_free(s);
	return err;
}

int
ahead_settle(struct gpu *g, const void *host, size_t bytes)
{
	gpu_courier *const c = find(&g->down);

	if (!c)
		return 0;
	pthread_mutex_lock(&c->lock);
	if (!host || load_meets(c->load, host, bytes))
		await(c);
	const cudaError_t e = c->e;
	pthread_mutex_unlock(&c->lock);
	return gpu_failed(g, e, "cudaMemcpyAsync") ? -EIO : 0;
}

int
gpu_settle(struct gpu *g, const void *host, size_t bytes)
{
	int err = 0;

	start_await(g);
	for (struct gpu *d = g; d && !err; d = d->rest)
		if ((err = ahead_settle(d, host, bytes)) && d != g)
			memmove(g->why, d->why, sizeof g->why);
	return err;
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

cudaError_t
ahead_room(struct gpu *g, size_t *bytes)
{
	gpu_courier *const both[] = {find(&g->up), find(&g->down)};
	size_t total;

	for (gpu_courier *c : both)
		if (c)
			pthread_mutex_lock(&c->lock);
	const cudaError_t e = cudaMemGetInfo(bytes, &total);
	for (gpu_courier *c : both)
		if (c) {
			*bytes += c->bytes;
			pthread_mutex_unlock(&c->lock);
		}
	return e;
}

bool
ahead_yield(struct gpu *g)
{
	bool any = false;

	for (gpu_courier *c : {find(&g->up), find(&g->down)}) {
		if (!c)
			continue;
		pthread_mutex_lock(&c->lock);
		c->wanted.n = 0;
		await(c);
		any |= c->bytes > 0;
		cudaFree(c->block);
		c->block = NULL;
		c->bytes = 0;
		become(c, EMPTY);
		pthread_mutex_unlock(&c->lock);
	}
	return any;
}

void
ahead_close(struct gpu *g)
{
	dismiss(g->up);
	dismiss(g->down);
	g->up = g->down = NULL;
}
