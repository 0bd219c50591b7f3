/* The choice of devices, work on several, and what failed. */
#include <pthread.h>

#include "gpu/ahead.h"
#include "gpu/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
refuse_other(struct gpu *g)
{
	cudaFuncAttributes kernel;
	const cudaError_t e = cudaFuncGetAttributes(&kernel, do_nothing);

	if (e != cudaErrorNoKernelImageForDevice && e != cudaErrorInvalidDeviceFunction)
		return gpu_failed(g, e, "cudaFuncGetAttributes") ? -EIO : 0;
	cudaGetLastError();
	snprintf(g->why, sizeof g->why,
		 "%.100s has compute capability %d.%d, and this program was built for others",
		 g->prop.name, g->prop.major, g->prop.minor);
	return -EIO;
}

int
prepare(struct gpu *g)
{
	int err;

	GPU_TRY(g, cudaSetDevice(g->number));
	GPU_TRY(g, cudaGetDeviceProperties(&g->prop, g->number));
	if ((err = refuse_other(g)))
		return err;
	GPU_TRY(g, cudaStreamCreate(&g->stream[0]));
	GPU_TRY(g, ring_open(&g->ring));
	GPU_TRY(g, ring_event(&g->order));
	GPU_TRY(g, cudaEventCreate(&g->from));
	GPU_TRY(g, cudaEventCreateWithFlags(&g->to, ring_waiting()));
	return 0;
}

struct gpu *
new_gpu()
{
	return static_cast<struct gpu *>(calloc(1, sizeof(struct gpu)));
}

/* Opens the device of that number in g; false with a sentence in why. */
bool
open_one(struct gpu *g, int number, char why[GPU_WHY])
{
	if (!g) {
		snprintf(why, GPU_WHY, "no memory");
		return false;
	}
	g->number = number;
	if (!prepare(g))
		return true;
	snprintf(why, GPU_WHY, "%s", g->why);
	return false;
}

/* The number at *list, which moves behind it and its comma; -1: there is none, or none below count. */
int
take_number(const char **list, int count)
{
	char *end;
	const long v = strtol(*list, &end, 10);

	if (end == *list || v < 0 || v >= count || (*end && (*end != ',' || !end[1])))
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

/* "name, name": what gpu_name() says. */
void
name_all(struct gpu *first)
{
	size_t n = 0;

	for (const struct gpu *g = first; g && n < sizeof first->names; g = g->next)
		n += (size_t)snprintf(first->names + n, sizeof first->names - n, "%s%s",
				      g == first ? "" : ", ", g->prop.name);
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
			if (open_one(g, number, why))
				continue;
		}
		return false;
	} while (*at);
	for (struct gpu *g = first; g; g = g->next)
		g->rest = g->next;
	name_all(first);
	cudaSetDevice(first->number);
	return true;
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
int
run_task(struct task *t)
{
	struct gpu *const next = t->g->next;
	int err = gpu_failed(t->g, cudaSetDevice(t->g->number), "cudaSetDevice") ? -EIO : 0;

	t->g->next = NULL;
	if (!err)
		err = t->run(t->g, t->i, t->with);
	t->g->next = next;
	return err;
}

void *
task_thread(void *task)
{
	struct task *const t = static_cast<struct task *>(task);

	t->err = run_task(t);
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

bool
gpu_open_in(struct gpu *g, const char *list, char why[GPU_WHY])
{
	char words[GPU_WHY];
	int count = 0;
	const cudaError_t e = cudaGetDeviceCount(&count);

	if (e == cudaSuccess && count)
		return open_list(g, list, count, why);
	snprintf(why, GPU_WHY, "no GPU: %.200s", no_device(count, e, words));
	return false;
}

struct gpu *
gpu_open(const char *list, char why[GPU_WHY])
{
	struct gpu *g = new_gpu();

	if (!g)
		snprintf(why, GPU_WHY, "no memory");
	if (!g || gpu_open_in(g, list, why))
		return g;
	gpu_close(g);
	return NULL;
}

int
gpu_enter(struct gpu *g)
{
	if (!g)
		return 0;
	start_await(g);
	GPU_TRY(g, cudaSetDevice(g->number));
	return 0;
}

void
gpu_close(struct gpu *g)
{
	if (!g)
		return;
	start_close(g);
	gpu_close(g->next);
	g->next = NULL;
	cudaSetDevice(g->number);
	gpu_release(g);
	ahead_close(g);
	ring_close(&g->ring);
	if (g->stream[0])
		cudaStreamDestroy(g->stream[0]);
	for (cudaEvent_t e : {g->from, g->to, g->order})
		if (e)
			cudaEventDestroy(e);
	free(g);
}

size_t
gpu_count(const struct gpu *g)
{
	size_t n = 0;

	if (!start_is_over(g))
		return start_count(g);
	for (; g; g = g->next)
		n++;
	return n;
}

int
gpu_each(struct gpu *g, int (*run)(struct gpu *device, size_t i, void *with), void *with)
{
	start_await(g);
	const size_t n = gpu_count(g);
	struct task *t = static_cast<struct task *>(calloc(n, sizeof *t));
	int err = t ? 0 : -ENOMEM;
	size_t i = 0;

	for (struct gpu *d = g; t && d; d = d->next, i++)
		t[i] = {d, i, run, with, 0, {}, false};
	for (i = 1; t && i < n; i++) /* now: a task cuts its device from the list */
		t[i].started = !pthread_create(&t[i].thread, NULL, task_thread, &t[i]);
	for (i = 0; t && i < n;
	     i++) /* the first in this thread; and where there is none to be had */
		if (!t[i].started)
			t[i].err = run_task(&t[i]);
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
	start_await(g);
	return g->names;
}

double
gpu_kernel_seconds(const struct gpu *g)
{
	double sum = 0;

	for (; g; g = g->next)
		sum += g->kernel;
	return sum;
}

double
gpu_copy_seconds(const struct gpu *g)
{
	double sum = 0;

	for (; g; g = g->next)
		sum += g->copy;
	return sum;
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
