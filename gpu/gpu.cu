/* The choice of devices, in a thread of its own where the program has something else to do; work on several; what failed. */
#include "gpu/device.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gpu_opening {
	struct gpu *g;
	char *list;
	void (*refuse)(const char *why); /* NULL: the CPU computes instead */
	bool ended, failed;		 /* the thread has ended; it could not open them */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	bool over; /* read without the lock */
};

namespace
{

/* Why there is no device to use; words: room for a sentence. */
const char *
no_device(int count, cudaError_t e, char words[GPU_WHY])
{
	int driver = 0, runtime = 0;

	if (e != cudaErrorInsufficientDriver)
		return e != cudaSuccess ? cudaGetErrorString(e) : count ? "" : "there is none";
	cudaDriverGetVersion(&driver);
	cudaRuntimeGetVersion(&runtime);
	snprintf(words, GPU_WHY,
		 driver ? "the driver is of CUDA %d.%d, and CUDA %d.%d needs a newer one"
			: "there is no driver",
		 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
	return words;
}

/* --- opening ------------------------------------------------------------------------------------------------------- */

/* A kernel is in the program for the same devices as all others. */
__global__ void
do_nothing()
{
}

int
prepare(struct gpu *g, int number)
{
	cudaFuncAttributes kernel;

	g->number = number;
	GPU_TRY(g, cudaSetDevice(g->number));
	GPU_TRY(g, cudaGetDeviceProperties(&g->prop, g->number));
	const cudaError_t e = cudaFuncGetAttributes(&kernel, do_nothing);
	if (e == cudaErrorNoKernelImageForDevice || e == cudaErrorInvalidDeviceFunction) {
		cudaGetLastError();
		snprintf(
		    g->why, sizeof g->why,
		    "%.100s has compute capability %d.%d, and this program was built for others",
		    g->prop.name, g->prop.major, g->prop.minor);
		return -EIO;
	}
	if (gpu_failed(g, e, "cudaFuncGetAttributes"))
		return -EIO;
	GPU_TRY(g, cudaStreamCreate(&g->stream[0]));
	return gpu_open_copies(g);
}

struct gpu *
new_gpu()
{
	return static_cast<struct gpu *>(calloc(1, sizeof(struct gpu)));
}

/* The number at *list, which moves behind it and its comma; -1: there is none, or none below count. */
int
take_number(const char **list, int count)
{
	char *end;
	const long v = strtol(*list, &end, 10);

	if (**list < '0' || **list > '9' || v < 0 || v >= count ||
	    (*end && (*end != ',' || !end[1])))
		return -1;
	*list = end + (*end == ',');
	return (int)v;
}

bool
is_open(const struct gpu *g, int number)
{
	while (g && g->number != number)
		g = g->next;
	return g;
}

/* Opens all devices of the list, the first in `first`; false with a sentence in why. */
bool
open_list(struct gpu *first, const char *list, int count, char why[GPU_WHY])
{
	const char *at = *list ? list : "0";
	struct gpu *last = NULL;

	do {
		const int number = take_number(&at, count);
		if (number < 0)
			snprintf(why, GPU_WHY, "'%.100s': GPUs have the numbers 0 to %d", list,
				 count - 1);
		else if (last && is_open(first, number))
			snprintf(why, GPU_WHY, "'%.100s' names GPU %d twice", list, number);
		else {
			struct gpu *g = last ? new_gpu() : first;
			if (last)
				last->next = g;
			last = g;
			if (g && !prepare(g, number))
				continue;
			snprintf(why, GPU_WHY, "%s", g ? g->why : "no memory");
		}
		return false;
	} while (*at);
	size_t n = 0;
	for (struct gpu *g = first; g; g = g->next) {
		g->rest = g->next;
		if (n < sizeof first->names) /* "name, name" */
			n += (size_t)snprintf(first->names + n, sizeof first->names - n, "%s%s",
					      g == first ? "" : ", ", g->prop.name);
	}
	cudaSetDevice(first->number);
	return true;
}

bool
open_in(struct gpu *g, const char *list, char why[GPU_WHY])
{
	char words[GPU_WHY];
	int count = 0;
	const cudaError_t e = cudaGetDeviceCount(&count);

	if (e == cudaSuccess && count)
		return open_list(g, list, count, why);
	snprintf(why, GPU_WHY, "no GPU: %.200s", no_device(count, e, words));
	return false;
}

/* --- a thread that opens ----------------------------------------------------------------------------------------- */

/*
 * Hides all GPUs but the one that a list of one names, since the driver takes its time for each that it sees. Returns the list
 * as it is to be read now. A number that may not be there stays what it is, so the message names those that are. Linux lists them.
 */
const char *
see_one(const char *list)
{
	char *end, name[32];
	const unsigned long number = strtoul(list, &end, 10);
	glob_t found;
	const size_t n = glob("/proc/driver/nvidia/gpus/*", 0, NULL, &found) ? 0 : found.gl_pathc;

	globfree(&found);
	if (getenv("CUDA_VISIBLE_DEVICES") || n < 2 || *end ||
	    (*list && (*list < '0' || *list > '9')) || number >= n)
		return list;
	snprintf(name, sizeof name, "%lu", number);
	return setenv("CUDA_VISIBLE_DEVICES", name, 0) ? list : "0";
}

void *
open_all(void *opening)
{
	gpu_opening *const o = static_cast<gpu_opening *>(opening);
	char why[GPU_WHY];

	if (!open_in(o->g, o->list, why)) {
		o->failed = true;
		if (o->refuse)
			o->refuse(why);
	}
	__atomic_store_n(&o->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

void
finish(gpu_opening *o)
{
	pthread_mutex_lock(&o->lock);
	if (!o->over && o->started)
		pthread_join(o->thread, NULL);
	__atomic_store_n(&o->over, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&o->lock);
}

/* --- several devices ----------------------------------------------------------------------------------------------- */

struct task {
	struct gpu *g;
	size_t i;
	int (*run)(struct gpu *device, size_t i, void *with);
	void *with;
	int err;
	pthread_t thread;
	bool started;
};

/* The device in use is a thread's own. */
void *
run_task(void *task)
{
	struct task *const t = static_cast<struct task *>(task);
	struct gpu *const next = t->g->next;

	t->err = gpu_failed(t->g, cudaSetDevice(t->g->number), "cudaSetDevice") ? -EIO : 0;
	t->g->next = NULL;
	if (!t->err)
		t->err = t->run(t->g, t->i, t->with);
	t->g->next = next;
	return NULL;
}

} // namespace

bool
gpu_failed(struct gpu *g, cudaError_t e, const char *call)
{
	const char *open = strncmp(call, "the ", 4) ? strchr(call, '(') : NULL;

	if (e == cudaSuccess)
		return false;
	cudaGetLastError(); /* or the next launch would be told of this call */
	snprintf(g->why, sizeof g->why, "%.*s: %s", open ? (int)(open - call) : (int)strlen(call),
		 call, cudaGetErrorString(e));
	return true;
}

struct gpu *
gpu_open(const char *list, char why[GPU_WHY])
{
	struct gpu *g = new_gpu();

	if (!g)
		snprintf(why, GPU_WHY, "no memory");
	if (!g || open_in(g, list, why))
		return g;
	gpu_close(g);
	return NULL;
}

struct gpu *
gpu_start(const char *list, void (*refuse)(const char *why))
{
	struct gpu *g = new_gpu();
	gpu_opening *o = static_cast<gpu_opening *>(calloc(1, sizeof *o));
	char *seen = strdup(see_one(list));

	/* The driver makes 8 queues to a device, and each costs a process some 12 ms. Two are used here. */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 0);

	if ((!g || !o || !seen) && refuse)
		refuse("no memory");
	if (!g || !o || !seen)
		return NULL;
	o->g = g;
	o->list = seen;
	o->refuse = refuse;
	pthread_mutex_init(&o->lock, NULL);
	g->opening = o;
	o->started = !pthread_create(&o->thread, NULL, open_all, o);
	if (!o->started) {
		open_all(o);
		o->over = true;
	}
	return g;
}

struct gpu *
gpu_now(struct gpu *g)
{
	gpu_opening *const o = g ? g->opening : NULL;

	if (!o || o->refuse)
		return g;
	if (!__atomic_load_n(&o->ended, __ATOMIC_ACQUIRE))
		return NULL;
	finish(o);
	return o->failed ? NULL : g;
}

void
gpu_await(const struct gpu *g)
{
	if (g && !gpu_is_open(g))
		finish(g->opening);
}

bool
gpu_is_open(const struct gpu *g)
{
	return !g || !g->opening || __atomic_load_n(&g->opening->over, __ATOMIC_ACQUIRE);
}

int
gpu_enter(struct gpu *g)
{
	if (!g)
		return 0;
	gpu_await(g);
	GPU_TRY(g, cudaSetDevice(g->number));
	return 0;
}

void
gpu_close(struct gpu *g)
{
	if (!g)
		return;
	if (gpu_opening *const o = g->opening) {
		if (!o->refuse && !__atomic_load_n(&o->ended, __ATOMIC_ACQUIRE))
			_exit(0);
		finish(o);
		pthread_mutex_destroy(&o->lock);
		free(o->list);
		free(o);
		g->opening = NULL;
	}
	gpu_close(g->next);
	g->next = NULL;
	cudaSetDevice(g->number);
	gpu_release(g);
	gpu_close_copies(g);
	if (g->stream[0])
		cudaStreamDestroy(g->stream[0]);
	free(g);
}

size_t
gpu_count(const struct gpu *g)
{
	size_t n = 0;

	if (gpu_is_open(g)) {
		for (; g; g = g->next)
			n++;
		return n;
	}
	for (const char *at = g->opening->list; *at; at++)
		n += *at == ',';
	return n + 1;
}

int
gpu_each_of(struct gpu *g, int (*run)(struct gpu *device, size_t i, void *with), void *with)
{
	gpu_await(g);
	const size_t n = gpu_count(g);
	struct task *t = static_cast<struct task *>(calloc(n, sizeof *t));
	int err = t ? 0 : -ENOMEM;
	size_t i = 0;

	for (struct gpu *d = g; t && d; d = d->next, i++)
		t[i] = {d, i, run, with, 0, {}, false};
	for (i = 1; t && i < n; i++) /* now: a task cuts its device from the list */
		t[i].started = !pthread_create(&t[i].thread, NULL, run_task, &t[i]);
	for (i = 0; t && i < n;
	     i++) /* the first in this thread; and where there is none to be had */
		if (!t[i].started)
			run_task(&t[i]);
	for (i = 0; t && i < n; i++) {
		if (t[i].started)
			pthread_join(t[i].thread, NULL);
		if (t[i].err && !err) {
			err = t[i].err;
			memmove(g->why, t[i].g->why, sizeof g->why);
		}
	}
	free(t);
	cudaSetDevice(g->number);
	return err;
}

const char *
gpu_why(const struct gpu *g)
{
	return g->why;
}

const char *
gpu_name(const struct gpu *g)
{
	gpu_await(g);
	return g->names;
}

void
gpu_seconds(const struct gpu *g, double *kernels, double *copies)
{
	for (*kernels = *copies = 0; g; g = g->next) {
		*kernels += g->kernel;
		*copies += g->copy;
	}
}

const char *
gpu_state(void)
{
	static char text[GPU_WHY + 64];
	char words[GPU_WHY];
	cudaDeviceProp prop;
	int version = 0, count = 0;
	const cudaError_t e = cudaGetDeviceCount(&count);

	cudaRuntimeGetVersion(&version);
	if (e != cudaSuccess || !count)
		snprintf(text, sizeof text, "CUDA %d.%d, no GPU: %s", version / 1000,
			 version % 1000 / 10, no_device(count, e, words));
	else if (cudaGetDeviceProperties(&prop, 0) == cudaSuccess)
		snprintf(text, sizeof text, "CUDA %d.%d, %s", version / 1000, version % 1000 / 10,
			 prop.name);
	return text;
}
