#include "common/base/mem.h"
#include "common/stream/relay.h"
#include "wconv/stream.h"
#include "wconv/whole.h"

struct stream {
	struct job *j;
	struct raw_in *in;
	struct raw_out *out;
	struct wconv_io *io;
};

/* Pictures in files are mapped if the item is at least this long: mapping a small one takes longer than reading it. */
enum { WORTH_MAPPING = 1 << 18 };

static const char *
map_item(struct raw_in *in, struct img *x)
{
	size_t bytes;

	return img_bytes(x, &bytes) && bytes >= WORTH_MAPPING && raw_try_map(in, x) ? x->data
										    : NULL;
}

/* Processes x step by step: the next step is read and the last one is written while one is computed. */
static void
run_item(struct stream *s, struct img *x)
{
	struct job *j = s->j;
	struct wconv_flow flow = {.mapped = map_item(s->in, x)};
	struct whole *whole = NULL;
	struct progress bar;
	struct img y;

	progress_start(&bar, j->args->common.quiet);
	j->bar = &bar;
	job_pose(j, s->in, x);
	if (j->args->adjoint || j->args->steps || j->q.kd) {
		whole = whole_start(j, x, &flow);
	} else {
		job_plan(j);
		job_flow(j, &flow);
	}
	job_describe(j, x, &y);
	flow.head = &y;
	wconv_io_run(s->io, &flow, j->bar);
	whole_end(whole);
	img_free(&y);
	progress_end(&bar);
}

/* --- on a GPU ---------------------------------------------------------------------------------------------------- */

/* Convolves x in its only step, which f describes, while the next item is read and the last one is written. */
static void
run_one_step(struct stream *s, const struct job *j, struct img *x, const struct wconv_flow *f)
{
	const size_t bytes = f->most.out * f->out_size;
	void *results = weir_xalloc_large(f->most.out, f->out_size);
	struct img y;

	job_describe(j, x, &y);
	if (!map_item(s->in, x))
		raw_load(s->in, x);
	f->ahead(f->with, x->data, f->most.in * f->in_size);
	stats_charge(j->st, STATS_READ);
	relay_pass(RELAY_COMPUTE);
	f->run(f->with, x->data, results);
	stats_charge(j->st, STATS_COMPUTE);
	relay_pass(RELAY_WRITE);
	f->arrive(f->with, results, bytes);
	raw_head(s->out, &y);
	raw_write(s->out, results, f->most.out);
	stats_charge(j->st, STATS_WRITE);
	relay_flush(s->out);
	weir_free(results);
	img_free(&y);
}

/* Items of one step overlap. An item of several steps, whose own steps overlap, and one that needs another plan are alone. */
static void
relay_item(struct stream *s, struct img *x)
{
	struct wconv_flow flow = {0};
	struct job j = *s->j;

	job_pose(&j, s->in, x);
	if (!j.planned) {
		relay_alone();
		job_plan(&j);
		*s->j = j;
	}
	job_flow(&j, &flow);
	if (flow.steps == 1) {
		run_one_step(s, &j, x, &flow);
	} else {
		relay_alone();
		run_item(s, x);
	}
}

/* --- the stream -------------------------------------------------------------------------------------------------- */

/* An adjoint and a deconvolution keep a whole picture on the device, so their items do not overlap. */
static bool
overlaps(const struct args *a)
{
	return a->gpu && !a->adjoint && !a->steps;
}

static bool
take_item(void *stream)
{
	struct stream *s = stream;
	const struct args *a = s->j->args;
	struct img x;

	if (!raw_next(s->in, &x))
		return false;
	if (a->common.verbose)
		raw_say(s->in, &x);
	stats_charge(s->j->st, STATS_READ);
	(overlaps(a) ? relay_item : run_item)(s, &x);
	s->j->st->items++;
	img_free(&x);
	return true;
}

void
stream_run(struct job *j, struct raw_in *in, struct raw_out *out)
{
	struct stream s = {.j = j, .in = in, .out = out, .io = wconv_io_start(in, out, j->st)};

	relay_run(in, overlaps(j->args), take_item, &s);
	wconv_io_end(s.io);
}
