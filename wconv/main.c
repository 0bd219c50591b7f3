/* wconv convolves items with a kernel that varies over the image. */
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/pipeline.h"
#include "gpu/use.h"
#include "wconv/job.h"
#include "wconv/flow.h"

const char *const weir_prog = "wconv";

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
stream_item(struct job *j, struct img *x)
{
	struct wconv_flow flow = {.mapped = map_item(j->in, x)};
	struct progress bar;
	struct img y;

	progress_start(&bar, j->args->common.quiet);
	j->bar = &bar;
	job_pose(j, x);
	if (job_is_whole(j)) {
		job_flow_whole(j, x, &flow);
	} else {
		job_plan(j);
		job_flow(j, &flow);
	}
	job_describe(j, x, &y);
	flow.head = &y;
	wconv_io_run(j->io, &flow, j->bar);
	if (job_is_whole(j))
		job_drop_whole(&flow);
	img_free(&y);
	progress_end(&bar);
	j->bar = NULL;
}

/* Convolves x in its only step, which f describes, while the next item is read and the last one is written. */
static void
run_one_step(const struct job *j, struct img *x, const struct wconv_flow *f)
{
	const size_t bytes = f->most.out * f->out_size;
	void *results = weir_xalloc_large(f->most.out, f->out_size);
	struct img y;

	job_describe(j, x, &y);
	if (!map_item(j->in, x))
		raw_load(j->in, x);
	f->ahead(f->with, x->data, f->most.in * f->in_size);
	stats_charge(j->st, STATS_READ);
	pipeline_pass(PIPELINE_COMPUTE);
	f->run(f->with, x->data, results);
	stats_charge(j->st, STATS_COMPUTE);
	pipeline_pass(PIPELINE_WRITE);
	f->arrive(f->with, results, bytes);
	raw_head(j->out, &y);
	raw_write(j->out, results, f->most.out);
	stats_charge(j->st, STATS_WRITE);
	pipeline_flush(j->out);
	weir_free(results);
	img_free(&y);
}

/* Items of one step overlap. An item of several steps, whose own steps overlap, and one that needs another plan are alone. */
static void
overlap_item(struct job *shared, struct img *x)
{
	struct wconv_flow flow = {0};
	struct job j = *shared;

	job_pose(&j, x);
	if (!j.planned) {
		pipeline_alone();
		*shared = j; /* plans may keep the pointer that they are made with */
		job_plan(shared);
		j = *shared;
	}
	job_flow(&j, &flow);
	if (flow.steps == 1) {
		run_one_step(&j, x, &flow);
	} else {
		pipeline_alone();
		stream_item(shared, x);
	}
}

/* An adjoint and a deconvolution keep a whole picture on the device, so their items do not overlap. */
static bool
overlaps(const struct args *a)
{
	return a->gpu && !a->adjoint && !a->steps;
}

static bool
take_item(void *with)
{
	struct job *j = with;
	struct img x;

	if (!raw_next(j->in, &x))
		return false;
	if (j->args->common.verbose)
		raw_say(j->in, &x);
	stats_charge(j->st, STATS_READ);
	(overlaps(j->args) ? overlap_item : stream_item)(j, &x);
	j->st->items++;
	img_free(&x);
	return true;
}

int
main(int argc, char **argv)
{
	struct args args = wconv_args(argc, argv);
	struct stats st;
	struct job job = {.args = &args, .st = &st};

	stats_start(&st);
	job_start(&job);
	job.out = raw_create(args.common.out, raw_as_of(&args.common));
	job.in = raw_open(args.path, args.npath, args.common.max_bytes);
	job.io = wconv_io_start(job.in, job.out, &st);
	if (args.common.share.n)
		share_run(&job);
	else
		pipeline_items(job.in, overlaps(&args), take_item, &job);
	wconv_io_end(job.io);
	st.threads = args.common.threads;
	job_report(&job);
	gpu_report(args.gpu, &st);
	stats_close(&st, job.in, job.out, &args.common);
	job_end(&job);
	wconv_args_free(&args);
	return 0;
}
