#include "common/base/mem.h"
#include "common/stream/pipeline.h"
#include "wconv/flow.h"

/* Items whose steps take and give fewer bytes than this together run without threads: handing a buffer over takes 10 us. */
enum { SMALL = 1 << 18 };

/* Two buffers that one stage fills in turn while the next one empties them. */
struct buffers {
	char *at[2];
	size_t bytes; /* of a buffer */
};

struct wconv_io {
	struct raw_in *in;
	struct raw_out *out;
	struct stats *st;
	struct buffers source, sink;
	const struct wconv_flow *flow; /* the current item */
	struct progress *bar;
	bool together;
	/* of the item: steps that were read, computed and written; where reading and computing are in its mapped file */
	size_t read, computed, written;
	const char *read_at, *compute_at;
	const char *kept; /* and the first byte there that was not given back to the system */
};

/* Makes the buffers hold n samples of this size. Their memory is committed as it is written to. */
static void
widen(struct buffers *b, size_t n, size_t size)
{
	for (size_t i = 0; i < 2 && b->bytes < n * size; i++) {
		weir_free(b->at[i]);
		b->at[i] = weir_xalloc_large(n, size);
	}
	b->bytes = b->bytes < n * size ? n * size : b->bytes;
}

/* Reads a byte of each page, so that the system loads n bytes of a mapped file. */
static void
touch(const volatile char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 4096)
		(void)p[i];
}

/* --- stages -------------------------------------------------------------------------------------------------------- */

static bool
read_step(void *with)
{
	struct wconv_io *io = with;
	const struct wconv_flow *f = io->flow;

	if (io->read == f->steps)
		return false;
	const size_t n = f->samples(f->with, io->read).in;
	char *to = io->source.at[io->read++ % 2];
	if (f->mapped) {
		if (io->together && !f->loads)
			touch(io->read_at, n * f->in_size);
	} else {
		if (!io->together)
			raw_flush_when_idle(io->in);
		raw_read(io->in, to, n);
	}
	if (io->together && f->ahead)
		f->ahead(f->with, f->mapped ? io->read_at : to, n * f->in_size);
	if (f->mapped)
		io->read_at += n * f->in_size;
	stats_charge(io->st, STATS_READ);
	return true;
}

static void
compute_step(void *with)
{
	struct wconv_io *io = with;
	const struct wconv_flow *f = io->flow;
	const size_t i = io->computed++;

	f->run(f->with, f->mapped ? io->compute_at : io->source.at[i % 2], io->sink.at[i % 2]);
	if (f->mapped) {
		io->compute_at += f->samples(f->with, i).in * f->in_size;
		io->kept = weir_forget(io->kept, (size_t)(io->compute_at - io->kept));
	}
	progress_step(io->bar, (double)io->computed / (double)f->steps);
	stats_charge(io->st, STATS_COMPUTE);
}

static void
write_step(void *with)
{
	struct wconv_io *io = with;
	const struct wconv_flow *f = io->flow;
	const size_t i = io->written++, n = f->samples(f->with, i).out;
	const char *from = io->sink.at[i % 2];

	if (f->arrive)
		f->arrive(f->with, from, n * f->out_size);
	if (i == 0)
		raw_head(io->out, f->head);
	raw_write(io->out, from, n);
	pipeline_flush(io->out);
	stats_charge(io->st, STATS_WRITE);
}

/* --- items --------------------------------------------------------------------------------------------------------- */

struct wconv_io *
wconv_io_start(struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct wconv_io *io = weir_xalloc(1, sizeof *io);

	*io = (struct wconv_io){.in = in, .out = out, .st = st};
	return io;
}

void
wconv_io_run(struct wconv_io *io, const struct wconv_flow *f, struct progress *bar)
{
	const size_t bytes = f->most.in * f->in_size + f->most.out * f->out_size;

	widen(&io->source, f->mapped ? 0 : f->most.in, f->in_size);
	widen(&io->sink, f->most.out, f->out_size);
	io->flow = f;
	io->bar = bar;
	io->together = f->steps > 1 && bytes >= SMALL;
	io->read = io->computed = io->written = 0;
	io->read_at = io->compute_at = io->kept = f->mapped;
	pipeline_run(&(struct pipeline_work){.read = read_step,
					     .compute = compute_step,
					     .write = write_step,
					     .with = io,
					     .at_hand = f->mapped && f->loads,
					     .slots = 4},
		     io->together);
}

void
wconv_io_end(struct wconv_io *io)
{
	weir_free_all(io->source.at[0], io->source.at[1], io->sink.at[0], io->sink.at[1], io);
}
