/* See gpu/start.h. */
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/start.h"

struct gpu_opening {
	struct gpu *g;
	char *list;
	void (*refuse)(const char *why);
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	bool over; /* read without the lock */
};

namespace
{

/* The GPUs of this machine, as Linux lists them; 0: it does not. */
size_t
count_listed()
{
	glob_t found;
	const size_t n = glob("/proc/driver/nvidia/gpus/*", 0, NULL, &found) ? 0 : found.gl_pathc;

	globfree(&found);
	return n;
}

/*
 * Hides all GPUs but the one that a list of one names, since the driver takes its time for each that it sees. Returns the list
 * as it is to be read now. A number that may not be there stays what it is, so the message names those that are.
 */
const char *
see_one(const char *list)
{
	char *end, name[32];
	const unsigned long number = strtoul(list, &end, 10);
	const size_t n = getenv("CUDA_VISIBLE_DEVICES") ? 0 : count_listed();

	if (n < 2 || *end || (*list && (*list < '0' || *list > '9')) || number >= n)
		return list;
	snprintf(name, sizeof name, "%lu", number);
	return setenv("CUDA_VISIBLE_DEVICES", name, 0) ? list : "0";
}

void *
open_all(void *opening)
{
	gpu_opening *const o = static_cast<gpu_opening *>(opening);
	char why[GPU_WHY];

	if (!gpu_open_in(o->g, o->list, why))
		o->refuse(why);
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

} // namespace

struct gpu *
gpu_start(const char *list, void (*refuse)(const char *why))
{
	struct gpu *g = static_cast<struct gpu *>(calloc(1, sizeof *g));
	gpu_opening *o = static_cast<gpu_opening *>(calloc(1, sizeof *o));
	char *seen = strdup(see_one(list));

	/* The driver makes 8 queues to a device, and each costs a process some 12 ms. Two are used here. */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 0);

	if (!g || !o || !seen)
		refuse("no memory");
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

void
start_await(const struct gpu *g)
{
	if (g && !start_is_over(g))
		finish(g->opening);
}

bool
start_is_over(const struct gpu *g)
{
	return !g || !g->opening || __atomic_load_n(&g->opening->over, __ATOMIC_ACQUIRE);
}

size_t
start_count(const struct gpu *g)
{
	size_t n = 1;

	for (const char *at = g->opening->list; *at; at++)
		n += *at == ',';
	return n;
}

void
start_close(struct gpu *g)
{
	gpu_opening *const o = g->opening;

	if (!o)
		return;
	finish(o);
	pthread_mutex_destroy(&o->lock);
	free(o->list);
	free(o);
	g->opening = NULL;
}
