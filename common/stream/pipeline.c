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

/* Whether the next piece may be read: no other is, and at most one waits to be computed. */
static bool
may_begin(const struct pipeline *p)
{
	return p->begun == p->done[PIPELINE_READ] && p->begun - p->done[PIPELINE_COMPUTE] < 2 &&
	       (!p->work || p->begun - p->done[PIPELINE_WRITE] < p->work->slots);
}

/* Takes the next piece into the first stage. Returns false when there is none. */
static bool
begin(struct pipeline *p)
{
	pthread_mutex_lock(&p->lock);
	while (!p->ended && !may_begin(p))
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

/* The work of this thread's piece in its stage is done. */
static void
finish(struct pipeline *p)
{
	pthread_mutex_lock(&p->lock);
	p->done[here.stage]++;
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
}

/* Whether a piece may enter a later stage: it is done with the one before, no other is there, and at most one waits behind it. */
static bool
may_enter(const struct pipeline *p, enum pipeline_stage stage, size_t piece)
{
	return p->done[stage - 1] > piece && p->done[stage] == piece &&
	       (stage == PIPELINE_WRITE || piece - p->done[stage + 1] < 2);
}

/* The piece of this thread enters that stage. Returns false when there is no such piece. */
static bool
enter(struct pipeline *p, enum pipeline_stage stage)
{
	pthread_mutex_lock(&p->lock);
	while (!may_enter(p, stage, here.piece) && !(p->ended && p->begun == here.piece))
		pthread_cond_wait(&p->moved, &p->lock);
	const bool enters = p->begun > here.piece;
	here.stage = stage;
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
	while (p->done[PIPELINE_WRITE] < here.piece)
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

/* --- threads --------------------------------------------------------------------------------------------------------- */

/*
 * Threads are kept for the next pipeline: to start and end two takes .2 ms, where a small item is computed in 2 ms. Items on a
 * device take two threads, and a pipeline in one of them takes two more.
 */
enum { HELPERS = 4 };

static struct helper {
	void (*work)(struct pipeline *p); /* NULL: it waits for work */
	struct pipeline *p;
	bool started;
} helpers[HELPERS];
static pthread_mutex_t helpers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t helpers_moved = PTHREAD_COND_INITIALIZER;

static void *
serve(void *helper)
{
	struct helper *const h = helper;

	pthread_mutex_lock(&helpers_lock);
	while (true) {
		while (!h->work)
			pthread_cond_wait(&helpers_moved, &helpers_lock);
		pthread_mutex_unlock(&helpers_lock);
		h->work(h->p);
		here = (struct position){0};
		pthread_mutex_lock(&helpers_lock);
		h->work = NULL;
		pthread_cond_broadcast(&helpers_moved);
	}
	return NULL;
}

/* Has a thread do the work. NULL: there is none to be had. */
static struct helper *
give_work(void (*work)(struct pipeline *p), struct pipeline *p)
{
	struct helper *h = helpers;
	pthread_t thread;

	pthread_mutex_lock(&helpers_lock);
	while (h < helpers + HELPERS && h->work)
		h++;
	if (h == helpers + HELPERS ||
	    (!h->started && (pthread_create(&thread, NULL, serve, h) || pthread_detach(thread))))
		h = NULL;
	else
		*h = (struct helper){work, p, true};
	pthread_cond_broadcast(&helpers_moved);
	pthread_mutex_unlock(&helpers_lock);
	return h;
}

/* Waits until the work is done; there may be none. */
static void
await_work(const struct helper *h)
{
	pthread_mutex_lock(&helpers_lock);
	while (h && h->work)
		pthread_cond_wait(&helpers_moved, &helpers_lock);
	pthread_mutex_unlock(&helpers_lock);
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

static void
read_pieces(struct pipeline *p)
{
	while (begin(p) && p->work->read(p->work->with))
		finish(p);
	end(p);
}

/* The caller's part where reading takes no time. */
static void
read_and_compute(struct pipeline *p)
{
	while (begin(p) && p->work->read(p->work->with)) {
		finish(p);
		enter(p, PIPELINE_COMPUTE);
		p->work->compute(p->work->with);
		finish(p);
	}
	end(p);
}

static void
pass_pieces(struct pipeline *p, enum pipeline_stage stage, void (*work)(void *with))
{
	for (here = (struct position){p, 0, stage}; enter(p, stage); here.piece++) {
		work(p->work->with);
		finish(p);
	}
}

static void
write_pieces(struct pipeline *p)
{
	pass_pieces(p, PIPELINE_WRITE, p->work->write);
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

	open_pipeline(&p);
	const struct helper *const writer = give_work(write_pieces, &p);
	const struct helper *const reader =
	    writer && !w->at_hand ? give_work(read_pieces, &p) : NULL;
	const bool runs = writer && (reader || w->at_hand);
	if (reader) {
		pass_pieces(&p, PIPELINE_COMPUTE, w->compute);
	} else if (runs) {
		read_and_compute(&p);
	} else {
		here = (struct position){.line = &p};
		end(&p);
	}
	await_work(reader);
	await_work(writer);
	here = outside;
	close_pipeline(&p);
	return runs;
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

static void
take_items(struct pipeline *p)
{
	while (begin(p)) {
		if (!p->item(p->with)) {
			end(p);
			break;
		}
		pipeline_pass(PIPELINE_WRITE);
		finish(p);
	}
	source_stay(NULL);
	here = (struct position){0};
}

void
pipeline_items(struct raw_in *in, bool together, bool (*item)(void *with), void *with)
{
	struct pipeline p = {.in = in, .item = item, .with = with};
	const struct helper *other[PIPELINE_STAGES - 1];

	if (!together) {
		while (item(with))
			;
		return;
	}
	open_pipeline(&p);
	for (size_t i = 0; i < PIPELINE_STAGES - 1; i++)
		other[i] = give_work(take_items, &p);
	take_items(&p);
	for (size_t i = 0; i < PIPELINE_STAGES - 1; i++)
		await_work(other[i]);
	close_pipeline(&p);
}
