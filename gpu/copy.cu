/*
 * A device's memory, and copies to and from it: those of a run itself, and those that go beside the kernels of other runs.
 *
 * Host memory goes through a ring of pinned buffers: a buffer is filled by several threads while the ones before it are on the bus. A
 * device has a courier for what goes up before it is asked for, and one for results that come down after the run that made them. A
 * courier is a host thread with a ring and one block of device memory. Between the block and a twin's own memory data is copied within
 * the device, in the order of the kernels:
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
#include "gpu/device.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpu/fft.h"

extern "C" {
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/par.h"
}

namespace
{

/* What a courier carries at once: spans of host memory that lie in its block in turn. */
struct load {
	gpu_span *span; /* [room], of which n are used */
	size_t n, room;
	size_t left; /* bytes that nobody has taken yet */
};

enum state { EMPTY, MOVING, FULL };

} // namespace

struct gpu_courier {
	struct gpu *g;
	bool up; /* or down */
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
	cudaError_t e;	    /* down: the failure of a move */
};

namespace
{

/* --- the ring ----------------------------------------------------------------------------------------------------- */

/* Beside the thread that waits there may be two couriers, a reader and a writer. */
constexpr int FEW_CPUS = 4;

size_t
chunk_at(size_t at, size_t bytes)
{
	return bytes - at < GPU_CHUNK ? bytes - at : GPU_CHUNK;
}

/* The next buffer, after the copy for which it was used has ended. */
cudaError_t
take_buffer(gpu_ring *r, size_t *k)
{
	cudaError_t e = cudaSuccess;

	*k = r->next++ % GPU_RING;
	if (!r->at[*k])
		e = cudaMallocHost(&r->at[*k], GPU_CHUNK);
	return e == cudaSuccess ? cudaEventSynchronize(r->done[*k]) : e;
}

/* Returns the flag of an event for which a thread waits. With few processors it sleeps: others have work for the one it has. */
unsigned
ring_waiting(void)
{
	return limits_cpus() <= FEW_CPUS ? cudaEventBlockingSync : cudaEventDefault;
}

/* Makes an event that has no time: it orders streams, or a thread waits for it. */
cudaError_t
ring_event(cudaEvent_t *e)
{
	return cudaEventCreateWithFlags(e, ring_waiting() | cudaEventDisableTiming);
}

/* Makes the stream and the events; the device must be the one in use. ring_close() accepts a zeroed ring. */
cudaError_t
ring_open(gpu_ring *r)
{
	cudaError_t e = cudaStreamCreate(&r->stream);

	for (int k = 0; k < GPU_RING && e == cudaSuccess; k++)
		e = ring_event(&r->done[k]);
	return e;
}

void
ring_close(gpu_ring *r)
{
	for (int k = 0; k < GPU_RING; k++) {
		if (r->at[k])
			cudaFreeHost(r->at[k]);
		if (r->done[k])
			cudaEventDestroy(r->done[k]);
	}
	if (r->stream)
		cudaStreamDestroy(r->stream);
	*r = {};
}

/* Copies to the device. It returns when host has been read; what comes on the ring's stream sees the result. */
cudaError_t
ring_up(gpu_ring *r, void *device, const void *host, size_t bytes)
{
	cudaError_t e = cudaSuccess;
	size_t k;

	for (size_t at = 0; at < bytes && e == cudaSuccess; at += GPU_CHUNK) {
		const size_t n = chunk_at(at, bytes);
		if ((e = take_buffer(r, &k)) != cudaSuccess)
			break;
		par_copy(r->at[k], (const char *)host + at, n);
		e = cudaMemcpyAsync((char *)device + at, r->at[k], n, cudaMemcpyHostToDevice,
				    r->stream);
		if (e == cudaSuccess)
			e = cudaEventRecord(r->done[k], r->stream);
	}
	return e;
}

/* Copies what the ring's stream sees to the host, and returns when it is there. Buffer k is emptied while those after it fill. */
cudaError_t
ring_down(gpu_ring *r, void *host, const void *device, size_t bytes)
{
	cudaError_t e = cudaSuccess;
	size_t asked = 0, k[GPU_RING];

	for (size_t at = 0; at < bytes && e == cudaSuccess; at += GPU_CHUNK) {
		for (; asked < bytes && asked < at + GPU_RING * GPU_CHUNK && e == cudaSuccess;
		     asked += GPU_CHUNK) {
			size_t *const to = &k[asked / GPU_CHUNK % GPU_RING];
			if ((e = take_buffer(r, to)) == cudaSuccess &&
			    (e = cudaMemcpyAsync(r->at[*to], (const char *)device + asked,
						 chunk_at(asked, bytes), cudaMemcpyDeviceToHost,
						 r->stream)) == cudaSuccess)
				e = cudaEventRecord(r->done[*to], r->stream);
		}
		const size_t now = k[at / GPU_CHUNK % GPU_RING];
		if (e == cudaSuccess && (e = cudaEventSynchronize(r->done[now])) == cudaSuccess)
			par_copy((char *)host + at, r->at[now], chunk_at(at, bytes));
	}
	return e;
}

/* Makes stream b wait for all that stream a was given so far. */
cudaError_t
ring_follow(cudaStream_t b, cudaStream_t a, cudaEvent_t by)
{
	const cudaError_t e = cudaEventRecord(by, a);

	return e == cudaSuccess ? cudaStreamWaitEvent(b, by, 0) : e;
}

/* --- what a courier carries ---------------------------------------------------------------------------------------- */

size_t
load_bytes(const load &l)
{
	size_t sum = 0;

	for (size_t i = 0; i < l.n; i++)
		sum += l.span[i].bytes;
	return sum;
}

/* Makes it n spans, all of which are left. Returns false when there are none: n is 0 or memory ends. */
bool
load_set(load *l, const gpu_span *s, size_t n)
{
	if (n > l->room) {
		weir_free(l->span);
		l->span = static_cast<gpu_span *>(weir_alloc(n, sizeof *s));
		l->room = l->span ? n : 0;
	}
	l->n = l->span ? n : 0;
	if (l->n)
		memcpy(l->span, s, n * sizeof *s);
	l->left = load_bytes(*l);
	return l->n > 0;
}

/* Returns where [host, host + bytes) lies in the block; -1: it is not part of one span. */
ptrdiff_t
load_place(const load &l, const void *host, size_t bytes)
{
	const char *const from = static_cast<const char *>(host);
	size_t at = 0;

	for (size_t i = 0; i < l.n; at += l.span[i++].bytes) {
		const char *const s = static_cast<const char *>(l.span[i].host);
		if (s <= from && from + bytes <= s + l.span[i].bytes)
			return (ptrdiff_t)(at + (size_t)(from - s));
	}
	return -1;
}

/* Whether a span and [host, host + bytes) have a byte in common. */
bool
load_meets(const load &l, const void *host, size_t bytes)
{
	const char *const from = static_cast<const char *>(host);

	for (size_t i = 0; i < l.n; i++) {
		const char *const s = static_cast<const char *>(l.span[i].host);
		if (s < from + bytes && from < s + l.span[i].bytes)
			return true;
	}
	return false;
}

/* --- couriers ------------------------------------------------------------------------------------------------------ */

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

/* The block is free: what is wanted next goes up. */
void
empty(gpu_courier *c)
{
	const bool more = c->wanted.n > 0;

	if (more) {
		const load l = c->load;
		c->load = c->wanted;
		c->wanted = l;
		c->wanted.n = 0;
	}
	become(c, more ? MOVING : EMPTY);
}

/* Several host threads ask for the courier at *at: one reads, one computes, one writes. NULL: there is none yet. */
gpu_courier *
find(gpu_courier *const *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Makes room for what goes up, after results have arrived that are part of it. */
bool
make_ready(gpu_courier *c)
{
	for (size_t i = 0; i < c->load.n; i++)
		if (gpu_settle_here(c->g, c->load.span[i].host, c->load.span[i].bytes))
			return false;
	pthread_mutex_lock(&c->lock);
	const cudaError_t e = widen(c, load_bytes(c->load));
	pthread_mutex_unlock(&c->lock);
	return e == cudaSuccess;
}

cudaError_t
move(gpu_courier *c)
{
	cudaError_t e = cudaStreamWaitEvent(c->ring.stream, c->turn, 0);
	size_t at = 0;

	for (size_t i = 0; i < c->load.n && e == cudaSuccess; i++) {
		const gpu_span s = c->load.span[i];
		e = c->up ? ring_up(&c->ring, c->block + at, s.host, s.bytes)
			  : ring_down(&c->ring, const_cast<void *>(s.host), c->block + at, s.bytes);
		at += s.bytes;
	}
	return e == cudaSuccess ? cudaStreamSynchronize(c->ring.stream) : e;
}

/* A courier's thread: brings the block up, or down what it was filled with. It ends with what has to come down at its place. */
void *
serve(void *courier)
{
	gpu_courier *const c = static_cast<gpu_courier *>(courier);

	cudaSetDevice(c->g->number);
	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->ends && c->state != MOVING)
			pthread_cond_wait(&c->moved, &c->lock);
		if (c->ends && (c->up || c->state != MOVING))
			break;
		pthread_mutex_unlock(&c->lock);
		const bool ready = !c->up || make_ready(c);
		const cudaError_t e = ready ? move(c) : cudaSuccess;
		pthread_mutex_lock(&c->lock);
		if (c->up && ready && e == cudaSuccess) {
			become(c, FULL);
		} else {
			c->e = c->up || e == cudaSuccess ? c->e : e;
			empty(c);
		}
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

/*
 * The courier at *at, which starts when it is first needed, and is seen by other threads once it is whole. NULL: there is none
 * to be had. Only the thread that reads summons g->up, and only the one that computes summons g->down.
 */
gpu_courier *
summon(struct gpu *g, gpu_courier **at)
{
	gpu_courier *c = find(at);

	if (c)
		return c;
	if (!(c = static_cast<gpu_courier *>(weir_calloc(1, sizeof *c))))
		return NULL;
	c->g = g;
	c->up = at == &g->up;
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

/*
 * If gpu_ahead() has named this memory, copies it to the device and sets *done. What is wanted but not on its way goes up by the run
 * itself. Then what the block holds is older, and nobody will take it.
 */
int
take(struct gpu *g, void *device, const void *host, size_t bytes, bool *done)
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
			empty(c);
	}
	pthread_mutex_unlock(&c->lock);
	return gpu_failed(g, e, "cudaMemcpyAsync") ? -EIO : 0;
}

/* Waits for the couriers' copies and gives their memory back. Returns whether there was any. */
bool
give_back(struct gpu *g)
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

/* A block of that many bytes, or how many are wanted and free. */
int
allocate(struct gpu *g, size_t bytes, void **at)
{
	size_t room = 0, total = 0;
	cudaError_t e = cudaMalloc(at, bytes);

	while (e == cudaErrorMemoryAllocation && give_back(g)) {
		cudaGetLastError();
		e = cudaMalloc(at, bytes);
	}
	if (e != cudaErrorMemoryAllocation)
		return gpu_failed(g, e, "cudaMalloc") ? -EIO : 0;
	cudaGetLastError();
	cudaMemGetInfo(&room, &total);
	snprintf(g->why, sizeof g->why,
		 "out of memory: %zu bytes more are needed, %zu of %zu are free on the GPU", bytes,
		 room, total);
	return -EIO;
}

} // namespace

int
gpu_open_copies(struct gpu *g)
{
	GPU_TRY(g, ring_open(&g->ring));
	GPU_TRY(g, ring_event(&g->order));
	GPU_TRY(g, cudaEventCreate(&g->from));
	GPU_TRY(g, cudaEventCreateWithFlags(&g->to, ring_waiting()));
	return 0;
}

void
gpu_close_copies(struct gpu *g)
{
	dismiss(g->up);
	dismiss(g->down);
	g->up = g->down = NULL;
	ring_close(&g->ring);
	for (cudaEvent_t e : {g->from, g->to, g->order})
		if (e)
			cudaEventDestroy(e);
}

/* --- what goes up before it is asked for, and comes down later -------------------------------------------------------- */

void
gpu_ahead_here(struct gpu *g, const struct gpu_span *s, size_t n)
{
	gpu_courier *const c = n ? summon(g, &g->up) : find(&g->up);

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	load_set(&c->wanted, s, n);
	if (!n)
		await(c);
	if (!n || c->state == EMPTY)
		empty(c);
	pthread_mutex_unlock(&c->lock);
}

void
gpu_ahead(struct gpu *g, const struct gpu_span *s, size_t n)
{
	if (gpu_is_open(g) && !g->rest)
		gpu_ahead_here(g, s, n);
}

int
gpu_later(struct gpu *g, const struct gpu_result *r, size_t n)
{
	gpu_courier *const c = n ? summon(g, &g->down) : NULL;
	gpu_span *const s = static_cast<gpu_span *>(weir_alloc(n, sizeof *s));
	size_t at = 0;
	bool posted = false;
	int err = n && !s ? -ENOMEM : 0;

	for (size_t i = 0; i < n && !err; i++)
		s[i] = {r[i].host, r[i].bytes};
	if (c && !err && !(err = gpu_settle_here(g, NULL, 0))) {
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
gpu_settle_here(struct gpu *g, const void *host, size_t bytes)
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

	gpu_await(g);
	for (struct gpu *d = g; d && !err; d = d->rest)
		if ((err = gpu_settle_here(d, host, bytes)) && d != g)
			memmove(g->why, d->why, sizeof g->why);
	return err;
}

/* --- memory, and the copies of a run ---------------------------------------------------------------------------------- */

int
gpu_hold(struct gpu *g, int slot, size_t bytes, void **at)
{
	if (g->bytes[slot] < bytes || !g->held[slot]) {
		GPU_TRY(g, cudaFree(g->held[slot]));
		g->held[slot] = NULL;
		g->bytes[slot] = 0;
		GPU_DO(allocate(g, bytes, &g->held[slot]));
		g->bytes[slot] = bytes;
	}
	*at = g->held[slot];
	return 0;
}

void
gpu_release(struct gpu *g)
{
	const struct gpu *const first = g;

	gpu_await(g);
	for (; g; g = g->next) {
		cudaSetDevice(g->number); /* plans of cuFFT are their device's */
		gpu_fft_release(g);
		give_back(g);
		for (int i = 0; i < GPU_SLOTS; i++) {
			cudaFree(g->held[i]);
			g->held[i] = NULL;
			g->bytes[i] = 0;
		}
	}
	if (first)
		cudaSetDevice(first->number);
}

/* It does not wait for the couriers' copies. */
int
gpu_room(struct gpu *g, size_t *bytes)
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
	for (int i = 0; i < GPU_SLOTS; i++)
		*bytes += g->bytes[i];
	return gpu_failed(g, e, "cudaMemGetInfo") ? -EIO : 0;
}

int
gpu_up(struct gpu *g, void *device, const void *host, size_t bytes)
{
	const double t0 = clock_now();
	bool done;
	int err;

	if (!bytes)
		return 0;
	if ((err = take(g, device, host, bytes, &done)) || done ||
	    (err = gpu_settle_here(g, host, bytes)))
		return err;
	GPU_TRY(g, ring_follow(g->ring.stream, g->stream[0], g->order));
	GPU_TRY(g, ring_up(&g->ring, device, host, bytes));
	GPU_TRY(g, ring_follow(g->stream[0], g->ring.stream, g->order));
	g->copy += clock_now() - t0;
	return 0;
}

int
gpu_down(struct gpu *g, void *host, const void *device, size_t bytes)
{
	const double t0 = clock_now();

	GPU_DO(gpu_settle_here(g, host, bytes));
	GPU_TRY(g, ring_follow(g->ring.stream, g->stream[0], g->order));
	GPU_TRY(g, ring_down(&g->ring, host, device, bytes));
	g->copy += clock_now() - t0;
	return 0;
}

int
gpu_look(struct gpu *g, void *host, const void *device, size_t bytes)
{
	GPU_TRY(g, cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, g->stream[0]));
	GPU_TRY(g, cudaStreamSynchronize(g->stream[0]));
	return 0;
}

/* --- time ------------------------------------------------------------------------------------------------------------- */

int
gpu_begin(struct gpu *g)
{
	GPU_TRY(g, cudaEventRecord(g->from, g->stream[0]));
	g->timed = true;
	return 0;
}

int
gpu_end(struct gpu *g)
{
	float ms;

	g->timed = false;
	GPU_TRY(g, cudaEventRecord(g->to, g->stream[0]));
	GPU_TRY(g, cudaEventSynchronize(g->to));
	GPU_TRY(g, cudaEventElapsedTime(&ms, g->from, g->to));
	g->kernel += 1e-3 * ms;
	return 0;
}
