#include <pthread.h>

#include "common/base/die.h"
#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "common/stream/read.h"

enum { THREADS = RELAY_STAGES };

struct relay {
	struct raw_in *in;
	bool (*item)(void *with);
	void *with;
	size_t left[RELAY_STAGES]; /* how many items have left each stage */
	bool reads;		   /* an item is in that stage */
	bool ended;		   /* there are no more items */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

/* What a thread is at. relay NULL: it takes no item through stages. */
static _Thread_local struct {
	struct relay *relay;
	size_t item;
	enum relay_stage stage;
} here;

static bool
begin_item(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->reads)
		pthread_cond_wait(&r->moved, &r->lock);
	const bool begins = r->reads = !r->ended;
	here.item = r->left[RELAY_READ];
	here.stage = RELAY_READ;
	pthread_mutex_unlock(&r->lock);
	source_stay(NULL);
	stats_skip();
	return begins;
}

/* The stages in which there is still an item of this thread are left. more: there was an item. */
static void
end_item(struct relay *r, bool more)
{
	pthread_mutex_lock(&r->lock);
	if (more)
		r->left[here.stage]++;
	else
		r->ended = true;
	if (here.stage == RELAY_READ)
		r->reads = false;
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
}

static void *
take_items(void *relay)
{
	struct relay *const r = relay;
	bool more = true;

	here.relay = r;
	while (more && begin_item(r)) {
		more = r->item(r->with);
		for (enum relay_stage s = here.stage + 1; more && s < RELAY_STAGES; s++)
			relay_pass(s);
		end_item(r, more);
	}
	source_stay(NULL);
	here.relay = NULL;
	return NULL;
}

void
relay_pass(enum relay_stage stage)
{
	struct relay *const r = here.relay;

	if (!r)
		return;
	if (here.stage == RELAY_READ)
		source_stay(r->in);
	pthread_mutex_lock(&r->lock);
	while (r->left[stage] < here.item)
		pthread_cond_wait(&r->moved, &r->lock);
	r->left[here.stage]++;
	if (here.stage == RELAY_READ)
		r->reads = false;
	here.stage = stage;
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
	stats_skip();
}

void
relay_alone(void)
{
	struct relay *const r = here.relay;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	while (r->left[RELAY_WRITE] < here.item)
		pthread_cond_wait(&r->moved, &r->lock);
	pthread_mutex_unlock(&r->lock);
	stats_skip();
}

void
relay_flush(struct raw_out *out)
{
	struct relay *const r = here.relay;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	const bool last = r->left[RELAY_READ] == here.item + 1;
	pthread_mutex_unlock(&r->lock);
	if (last)
		raw_flush(out);
}

void
relay_run(struct raw_in *in, bool together, bool (*item)(void *with), void *with)
{
	struct relay r = {.in = in, .item = item, .with = with};
	pthread_t thread[THREADS - 1];
	size_t n = 0;

	if (!together) {
		while (item(with))
			;
		return;
	}
	pthread_mutex_init(&r.lock, NULL);
	pthread_cond_init(&r.moved, NULL);
	/* Items before one that fails are still written. Of two that fail, the earlier one dies, and the other waits for ever. */
	die_after(relay_alone);
	while (n < THREADS - 1 && !pthread_create(&thread[n], NULL, take_items, &r))
		n++;
	take_items(&r);
	while (n)
		pthread_join(thread[--n], NULL);
	die_after(NULL);
	pthread_mutex_destroy(&r.lock);
	pthread_cond_destroy(&r.moved);
	stats_skip();
}
