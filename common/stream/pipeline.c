#include <pthread.h>

#include "common/base/die.h"
#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "common/stream/read.h"

struct pipeline {
	const struct pipeline_work *work; /* NULL: a thread goes with each item of `in` */
	struct raw_in *in;
	bool (*item)(void *with);
	void *with;
	size_t begun;		      /* pieces that have entered the first stage */
	size_t done[PIPELINE_STAGES]; /* pieces whose work in a stage is done */
	size_t left[PIPELINE_STAGES]; /* pieces that have left it */
	bool ended;		      /* there are no more pieces */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

/* What a thread is at. line NULL: it is in no pipeline. */
static _Thread_local struct position {
	struct pipeline *line;
	size_t piece;
	enum pipeline_stage stage;
} here;

/* --- stages -------------------------------------------------------------------------------------------------------- */

/* Takes the next piece into the first stage. Returns false when there is none. */
static bool
begin(struct pipeline *p)
{
	const size_t slots = p->work ? p->work->slots : PIPELINE_STAGES;

	pthread_mutex_lock(&p->lock);
	while (!p->ended &&
	       (p->begun > p->left[PIPELINE_READ] || p->begun - p->left[PIPELINE_WRITE] >= slots))
		pthread_cond_wait(&p->moved, &p->lock);
	const bool begins = !p->ended;
	here = (struct position){p, p->begun, PIPELINE_READ};
	p->begun += begins;
	pthread_mutex_unlock(&p->lock);
	source_stay(NULL);
	stats_skip();
	return begins;
}

/* The piece of this thread, in the first stage, is none, and there are no more. */
static void
end(struct pipeline *p)
{
	pthread_mutex_lock(&p->lock);
	p->begun = here.piece;
	p->ended = true;
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
}

/* The work of this thread's piece in its stage is done. It leaves the last stage. */
static void
finish(struct pipeline *p)
{
	pthread_mutex_lock(&p->lock);
	p->done[here.stage]++;
	if (here.stage == PIPELINE_WRITE)
		p->left[PIPELINE_WRITE]++;
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
}

/* The piece leaves its stage for the next one. Returns false when there is no such piece. */
static bool
enter(struct pipeline *p, enum pipeline_stage stage)
{
	pthread_mutex_lock(&p->lock);
	while (p->done[stage - 1] <= here.piece || p->left[stage] < here.piece) {
		if (p->ended && p->begun == here.piece)
			break;
		pthread_cond_wait(&p->moved, &p->lock);
	}
	const bool enters = p->begun > here.piece;
	p->left[stage - 1] += enters;
	here.stage = stage;
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
	stats_skip();
	return enters;
}

void
pipeline_alone(void)
{
	struct pipeline *const p = here.line;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	while (p->left[PIPELINE_WRITE] < here.piece)
		pthread_cond_wait(&p->moved, &p->lock);
	pthread_mutex_unlock(&p->lock);
	stats_skip();
}

void
pipeline_flush(struct raw_out *out)
{
	struct pipeline *const p = here.line;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	const bool last = p->done[PIPELINE_COMPUTE] == here.piece + 1;
	pthread_mutex_unlock(&p->lock);
	if (last)
		raw_flush(out);
}

/* Pieces before one that fails are still written. Of two that fail, the earlier one dies, and the other waits for ever. */
static void
write_first(void)
{
	struct pipeline *const p = here.line;

	if (p && here.stage == PIPELINE_READ) {
		if (p->work && p->work->rescue && p->work->rescue(p->work->with)) {
			finish(p);
			here.piece++;
		}
		end(p);
	}
	pipeline_alone();
}

static size_t running; /* pipelines: one may run in an item of another */

static void
open_pipeline(struct pipeline *p)
{
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->moved, NULL);
	if (!running++)
		die_after(write_first);
}

static void
close_pipeline(struct pipeline *p)
{
	if (!--running)
		die_after(NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->moved);
	stats_skip();
}

/* --- a thread for each stage --------------------------------------------------------------------------------------- */

static void *
read_pieces(void *pipeline)
{
	struct pipeline *const p = pipeline;

	while (begin(p) && p->work->read(p->work->with))
		finish(p);
	end(p);
	return NULL;
}

static void
pass_pieces(struct pipeline *p, enum pipeline_stage stage, void (*work)(void *with))
{
	for (here = (struct position){p, 0, stage}; enter(p, stage); here.piece++) {
		work(p->work->with);
		finish(p);
	}
}

static void *
write_pieces(void *pipeline)
{
	struct pipeline *const p = pipeline;

	pass_pieces(p, PIPELINE_WRITE, p->work->write);
	return NULL;
}

bool
pipeline_starves(void)
{
	struct pipeline *const p = here.line;

	if (!p)
		return true;
	pthread_mutex_lock(&p->lock);
	const bool starves = p->done[PIPELINE_COMPUTE] == here.piece;
	pthread_mutex_unlock(&p->lock);
	return starves;
}

/* Returns false, and has done nothing, where there are no threads. */
static bool
run_together(const struct pipeline_work *w)
{
	struct pipeline p = {.work = w};
	const struct position outside = here;
	pthread_t reader, writer;

	open_pipeline(&p);
	const bool writes = !pthread_create(&writer, NULL, write_pieces, &p);
	const bool reads = writes && !pthread_create(&reader, NULL, read_pieces, &p);
	if (reads) {
		pass_pieces(&p, PIPELINE_COMPUTE, w->compute);
		pthread_join(reader, NULL);
	} else {
		here = (struct position){.line = &p};
		end(&p);
	}
	if (writes)
		pthread_join(writer, NULL);
	here = outside;
	close_pipeline(&p);
	return reads;
}

void
pipeline_run(const struct pipeline_work *w, bool together)
{
	if (together && run_together(w))
		return;
	while (w->read(w->with)) {
		w->compute(w->with);
		w->write(w->with);
	}
}

/* --- a thread for each item ---------------------------------------------------------------------------------------- */

void
pipeline_pass(enum pipeline_stage stage)
{
	struct pipeline *const p = here.line;

	if (p && here.stage == PIPELINE_READ)
		source_stay(p->in);
	while (p && here.stage < stage) {
		finish(p);
		enter(p, here.stage + 1);
	}
}

static void *
take_items(void *pipeline)
{
	struct pipeline *const p = pipeline;

	while (begin(p)) {
		if (!p->item(p->with)) {
			end(p);
			break;
		}
		pipeline_pass(PIPELINE_WRITE);
		finish(p);
	}
	source_stay(NULL);
	here.line = NULL;
	return NULL;
}

void
pipeline_items(struct raw_in *in, bool together, bool (*item)(void *with), void *with)
{
	struct pipeline p = {.in = in, .item = item, .with = with};
	pthread_t thread[PIPELINE_STAGES - 1];
	size_t n = 0;

	if (!together) {
		while (item(with))
			;
		return;
	}
	open_pipeline(&p);
	while (n < PIPELINE_STAGES - 1 && !pthread_create(&thread[n], NULL, take_items, &p))
		n++;
	take_items(&p);
	while (n)
		pthread_join(thread[--n], NULL);
	close_pipeline(&p);
}
