#include <pthread.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "wconv/overlap_io.h"

/* Items whose steps take and give fewer bytes than this together run without threads: handing a buffer over takes 10 us. */
enum { SMALL = 1 << 18 };

/* Two buffers that one thread fills in turn while another thread empties them. */
struct belt {
	char *buffer[2];
	size_t bytes;		/* of a buffer */
	size_t filled, emptied; /* how many times a buffer was */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

/* A thread that does its part of every item. */
struct worker {
	struct wconv_io *io;
	void (*work)(struct wconv_io *io);
	/* items that it was given, and that it is done with */
	size_t given, done;
	bool started;
	pthread_t thread;
};

struct wconv_io {
	struct raw_in *in;
	struct raw_out *out;
	struct stats *st;
	struct belt source, sink;
	/* the current item */
	const struct wconv_flow *flow;
	struct worker reader, writer;
	bool ended; /* there will be no more items */
	pthread_mutex_t lock;
	pthread_cond_t turn;
};

/* --- belts ----------------------------------------------------------------------------------- */

static void
start_belt(struct belt *b)
{
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->moved, NULL);
}

static void
stop_belt(struct belt *b)
{
	for (size_t i = 0; i < 2; i++)
		weir_free(b->buffer[i]);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->moved);
}

/* Makes the buffers hold n samples of this size. Their memory is committed as it is written to. */
static void
widen_belt(struct belt *b, size_t n, size_t size)
{
	for (size_t i = 0; i < 2 && b->bytes < n * size; i++) {
		weir_free(b->buffer[i]);
		b->buffer[i] = weir_xalloc_large(n, size);
	}
	b->bytes = b->bytes < n * size ? n * size : b->bytes;
}

/* Waits for the next buffer to fill, or to empty, and returns it. */
static char *
await(struct belt *b, bool to_fill)
{
	pthread_mutex_lock(&b->lock);
	while (to_fill ? b->filled - b->emptied == 2 : b->filled == b->emptied)
		pthread_cond_wait(&b->moved, &b->lock);
	char *buffer = b->buffer[(to_fill ? b->filled : b->emptied) % 2];
	pthread_mutex_unlock(&b->lock);
	return buffer;
}

/* Tells the other thread that the buffer is filled, or emptied. Returns whether no buffer is filled now. */
static bool
pass(struct belt *b, bool filled)
{
	pthread_mutex_lock(&b->lock);
	if (filled)
		b->filled++;
	else
		b->emptied++;
	const bool empty = b->filled == b->emptied;
	pthread_cond_signal(&b->moved);
	pthread_mutex_unlock(&b->lock);
	return empty;
}

/* --- workers --------------------------------------------------------------------------------- */

/* Reads a byte of each page, so that the system loads n bytes of a mapped file. */
static void
touch(const volatile char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 4096)
		(void)p[i];
}

static void
read_ahead(struct wconv_io *io)
{
	const struct wconv_flow *f = io->flow;
	const char *next = f->mapped;

	for (size_t i = 0; i < f->steps; i++) {
		const size_t n = f->samples(f->with, i).in;
		char *to = await(&io->source, true);
		if (f->mapped)
			touch(next, n * f->in_size);
		else
			raw_read(io->in, to, n);
		if (f->ahead)
			f->ahead(f->with, f->mapped ? next : to, n * f->in_size);
		if (f->mapped)
			next += n * f->in_size;
		pass(&io->source, true);
	}
}

static void
write_behind(struct wconv_io *io)
{
	const struct wconv_flow *f = io->flow;

	for (size_t i = 0; i < f->steps; i++) {
		const char *from = await(&io->sink, false);
		const size_t n = f->samples(f->with, i).out;
		if (f->arrive)
			f->arrive(f->with, from, n * f->out_size);
		if (i == 0)
			raw_head(io->out, f->head);
		raw_write(io->out, from, n);
		if (pass(&io->sink, false))
			raw_flush(io->out);
	}
}

static void *
serve(void *arg)
{
	struct worker *w = arg;
	struct wconv_io *io = w->io;

	pthread_mutex_lock(&io->lock);
	while (true) {
		while (w->done == w->given && !io->ended)
			pthread_cond_wait(&io->turn, &io->lock);
		if (w->done == w->given)
			break;
		pthread_mutex_unlock(&io->lock);
		w->work(io);
		pthread_mutex_lock(&io->lock);
		w->done++;
		pthread_cond_broadcast(&io->turn);
	}
	pthread_mutex_unlock(&io->lock);
	return NULL;
}

/* Gives the worker the current item, and starts it if this is its first. */
static void
give_item(struct wconv_io *io, struct worker *w)
{
	if (!w->started && pthread_create(&w->thread, NULL, serve, w))
		raw_die(io->in, "no thread to read or write with");
	w->started = true;
	pthread_mutex_lock(&io->lock);
	w->given++;
	pthread_cond_broadcast(&io->turn);
	pthread_mutex_unlock(&io->lock);
}

/* Waits until both workers are done with the item. */
static void
await_item(struct wconv_io *io)
{
	pthread_mutex_lock(&io->lock);
	while (io->reader.done < io->reader.given || io->writer.done < io->writer.given)
		pthread_cond_wait(&io->turn, &io->lock);
	pthread_mutex_unlock(&io->lock);
}

/* --- items ----------------------------------------------------------------------------------- */

/*
 * Moves on in the mapped file by n bytes from next, and gives pages before that place back. Returns the first byte that is
 * not given back.
 */
static const char *
give_back(const char *kept, const char *next, size_t n)
{
	return weir_forget(kept, (size_t)(next + n - kept));
}

static void
run_alone(struct wconv_io *io, struct progress *bar)
{
	const struct wconv_flow *f = io->flow;
	const char *next = f->mapped, *kept = next;

	for (size_t i = 0; i < f->steps; i++) {
		const struct wconv_samples n = f->samples(f->with, i);
		if (!f->mapped) {
			raw_flush_when_idle(io->in);
			raw_read(io->in, io->source.buffer[0], n.in);
		}
		stats_charge(io->st, STATS_READ);
		f->run(f->with, f->mapped ? next : io->source.buffer[0], io->sink.buffer[0]);
		if (f->arrive)
			f->arrive(f->with, io->sink.buffer[0], n.out * f->out_size);
		stats_charge(io->st, STATS_COMPUTE);
		if (f->mapped) {
			kept = give_back(kept, next, n.in * f->in_size);
			next += n.in * f->in_size;
		}
		if (i == 0)
			raw_head(io->out, f->head);
		raw_write(io->out, io->sink.buffer[0], n.out);
		stats_charge(io->st, STATS_WRITE);
		progress_step(bar, (double)(i + 1) / (double)f->steps);
	}
}

/* Computes all steps while the workers read and write. */
static void
run_beside(struct wconv_io *io, struct progress *bar)
{
	const struct wconv_flow *f = io->flow;
	const char *next = f->mapped, *kept = next;
	const bool reads = !f->mapped || !f->loads;

	if (reads)
		give_item(io, &io->reader);
	give_item(io, &io->writer);
	for (size_t i = 0; i < f->steps; i++) {
		const char *buffer = reads ? await(&io->source, false) : NULL,
			   *from = f->mapped ? next : buffer;
		stats_charge(io->st, STATS_READ);
		char *to = await(&io->sink, true);
		stats_charge(io->st, STATS_WRITE);
		f->run(f->with, from, to);
		stats_charge(io->st, STATS_COMPUTE);
		if (f->mapped) {
			const size_t bytes = f->samples(f->with, i).in * f->in_size;
			kept = give_back(kept, next, bytes);
			next += bytes;
		}
		if (reads)
			pass(&io->source, false);
		pass(&io->sink, true);
		progress_step(bar, (double)(i + 1) / (double)f->steps);
	}
	await_item(io);
	stats_charge(io->st, STATS_WRITE);
}

struct wconv_io *
wconv_io_start(struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct wconv_io *io = weir_xalloc(1, sizeof *io);

	*io = (struct wconv_io){.in = in,
				.out = out,
				.st = st,
				.reader = {.io = io, .work = read_ahead},
				.writer = {.io = io, .work = write_behind}};
	start_belt(&io->source);
	start_belt(&io->sink);
	pthread_mutex_init(&io->lock, NULL);
	pthread_cond_init(&io->turn, NULL);
	return io;
}

void
wconv_io_run(struct wconv_io *io, const struct wconv_flow *f, struct progress *bar)
{
	const size_t bytes = f->most.in * f->in_size + f->most.out * f->out_size;

	io->flow = f;
	widen_belt(&io->source, f->mapped ? 0 : f->most.in, f->in_size);
	widen_belt(&io->sink, f->most.out, f->out_size);
	if (f->steps == 1 || bytes < SMALL)
		run_alone(io, bar);
	else
		run_beside(io, bar);
}

void
wconv_io_end(struct wconv_io *io)
{
	pthread_mutex_lock(&io->lock);
	io->ended = true;
	pthread_cond_broadcast(&io->turn);
	pthread_mutex_unlock(&io->lock);
	if (io->reader.started)
		pthread_join(io->reader.thread, NULL);
	if (io->writer.started)
		pthread_join(io->writer.thread, NULL);
	stop_belt(&io->source);
	stop_belt(&io->sink);
	pthread_mutex_destroy(&io->lock);
	pthread_cond_destroy(&io->turn);
	weir_free(io);
}
