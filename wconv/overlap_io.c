#include <pthread.h>

#include "common/mem.h"
#include "gpu/wconv/wconv.h"
#include "wconv/overlap_io.h"

/* Two buffers that one thread fills in turn while another thread empties them. */
struct belt {
	char *buffer[2];
	size_t filled, emptied; /* how many times a buffer was */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

struct overlap {
	struct wconv_plan *plan;
	struct raw_in *in;
	const char *mapped; /* all rows, in their mapped file; NULL: rows are read */
	struct raw_out *out;
	size_t in_row, out_row; /* samples in a row of the item, of the result */
	size_t in_size;		/* bytes of a sample of the item */
	size_t steps;
	struct belt source, sink;
};

static void
start_belt(struct belt *b, size_t samples, size_t size)
{
	for (size_t i = 0; i < 2; i++)
		b->buffer[i] = samples ? weir_xalloc_large(samples, size) : NULL;
	b->filled = b->emptied = 0;
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

/* Tells the other thread that the buffer is filled, or emptied. */
static void
pass(struct belt *b, bool filled)
{
	pthread_mutex_lock(&b->lock);
	if (filled)
		b->filled++;
	else
		b->emptied++;
	pthread_cond_signal(&b->moved);
	pthread_mutex_unlock(&b->lock);
}

/* Reads a byte of each page, so that the system loads n bytes of a mapped file. */
static void
touch(const volatile char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 4096)
		(void)p[i];
}

static void *
read_ahead(void *arg)
{
	struct overlap *p = arg;
	const char *next = p->mapped;

	for (size_t i = 0; i < p->steps; i++) {
		const size_t samples = wconv_steps(p->plan, i).rows_in * p->in_row;
		char *to = await(&p->source, true);
		if (p->mapped) {
			touch(next, samples * p->in_size);
			next += samples * p->in_size;
		} else {
			raw_read(p->in, to, samples);
		}
		pass(&p->source, true);
	}
	return NULL;
}

static void *
write_behind(void *arg)
{
	struct overlap *p = arg;

	for (size_t i = 0; i < p->steps; i++) {
		const size_t rows = wconv_steps(p->plan, i).rows_out;
		raw_write(p->out, await(&p->sink, false), rows * p->out_row);
		pass(&p->sink, false);
	}
	return NULL;
}

static void
run_step(const struct overlap *p, struct gpu *g, const void *in, void *out)
{
	if (!g)
		wconv_run(p->plan, in, out);
	else if (gpu_wconv_run(g, p->plan, in, out))
		raw_die(p->in, "-g: %s", gpu_why(g));
}

/* Runs all steps. Rows come from the source, results go to the sink. */
static void
run_steps(struct overlap *p, struct gpu *g, struct progress *bar, struct stats *st)
{
	const char *next = p->mapped, *kept = next;

	for (size_t i = 0; i < p->steps; i++) {
		const char *buffer = await(&p->source, false), *from = p->mapped ? next : buffer;
		stats_charge(st, STATS_READ);
		char *to = await(&p->sink, true);
		stats_charge(st, STATS_WRITE);
		run_step(p, g, from, to);
		stats_charge(st, STATS_COMPUTE);
		if (p->mapped) {
			next += wconv_steps(p->plan, i).rows_in * p->in_row * p->in_size;
			kept = weir_forget(kept, (size_t)(next - kept));
		}
		pass(&p->source, false);
		pass(&p->sink, true);
		progress_step(bar, (double)(i + 1) / (double)p->steps);
	}
}

/* Runs a picture of one step without threads: for 32x32 pixels, threads took 100 of 140 us. */
static void
run_alone(const struct overlap *p, struct gpu *g, struct stats *st)
{
	const struct wconv_step s = wconv_steps(p->plan, 0);
	const void *from = p->mapped;

	if (!p->mapped) {
		raw_read(p->in, p->source.buffer[0], s.rows_in * p->in_row);
		from = p->source.buffer[0];
	}
	stats_charge(st, STATS_READ);
	run_step(p, g, from, p->sink.buffer[0]);
	stats_charge(st, STATS_COMPUTE);
	raw_write(p->out, p->sink.buffer[0], s.rows_out * p->out_row);
	stats_charge(st, STATS_WRITE);
}

/* Runs with three threads: one reads ahead, one writes behind, and this one computes. */
static void
run_beside(struct overlap *p, struct gpu *g, struct progress *bar, struct stats *st)
{
	pthread_t reader, writer;

	if (pthread_create(&reader, NULL, read_ahead, p) ||
	    pthread_create(&writer, NULL, write_behind, p))
		raw_die(p->in, "no thread to read or write with");
	run_steps(p, g, bar, st);
	pthread_join(reader, NULL);
	pthread_join(writer, NULL);
	stats_charge(st, STATS_WRITE);
}

void
wconv_overlap_io(struct wconv_plan *plan, const struct wconv_problem *q, struct gpu *g,
		 struct raw_in *in, const void *mapped, struct raw_out *out, struct progress *bar,
		 struct stats *st)
{
	const struct wconv_step most = wconv_most(plan);
	struct overlap p = {.plan = plan,
			    .in = in,
			    .mapped = mapped,
			    .out = out,
			    .steps = wconv_count(plan),
			    .in_row = q->w * q->planes,
			    .in_size = img_type_size(q->in)};
	ptrdiff_t x0, y0;
	size_t w, h;

	wconv_shape(plan, &w, &h, &x0, &y0);
	p.out_row = w * q->planes;
	start_belt(&p.source, mapped ? 0 : most.rows_in * p.in_row, p.in_size);
	start_belt(&p.sink, most.rows_out * p.out_row, img_type_size(q->out));
	if (p.steps == 1)
		run_alone(&p, g, st);
	else
		run_beside(&p, g, bar, st);
	stop_belt(&p.source);
	stop_belt(&p.sink);
}
