/* radon: the Radon transform of seismic gathers, its inverses, removal of multiples. */
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "gpu/use.h"
#include "radon/args.h"
#include "radon/stream/batch.h"

const char *const weir_prog = "radon";

/* Returns the fingerprint of the input files and of the files that options name. */
static uint64_t
fingerprint(const struct args *a, const struct gathers_options *o, char *const *path, size_t npath)
{
	uint64_t hash = share_begin(&a->common);

	if (!a->common.share.n)
		return hash;
	if (o->offsets)
		hash = share_hash_file(hash, o->offsets);
	if (a->polygons)
		hash = share_hash_file(hash, a->polygons);
	return share_hash_files(hash, path, npath);
}

/* What the stages share. */
struct run {
	struct batches *gathers;
	struct runner *runner;
};

static bool
read_batch(void *run)
{
	return batch_read(((struct run *)run)->gathers);
}

static bool
rescue_batch(void *run)
{
	return batch_rescue(((struct run *)run)->gathers);
}

static void
compute_batch(void *run)
{
	const struct run *r = run;
	struct batch *b = batch_next(r->gathers);

	runner_plan(r->runner, b);
	runner_run(r->runner, b);
}

static void
write_batch(void *run)
{
	batch_write(((struct run *)run)->gathers);
}

int
main(int argc, char **argv)
{
	struct gathers_options o = {0};
	struct slices share;
	struct raw_out *out;
	struct raw_in *in;
	struct args args;
	struct run run;
	struct stats st;
	char **operand;
	size_t n;

	weir_keep_heap(0);
	radon_args(argc, argv, &args, &o, &operand, &n);
	stats_start(&st);
	st.threads = o.radon.threads;
	if (!o.gpu)
		par_start(o.radon.threads);
	in = raw_open(operand, n, args.common.max_bytes);
	slices_open(&share, &args.common, fingerprint(&args, &o, operand, n), in, gathers_count,
		    &o);
	o.share = &share;
	out = raw_create(args.common.out, RAW_FOLLOW);
	run = (struct run){batch_open(&o, in, out, &st), runner_open(&o, &st)};
	pipeline_run(&(struct pipeline_work){.read = read_batch,
					     .compute = compute_batch,
					     .write = write_batch,
					     .rescue = rescue_batch,
					     .with = &run,
					     .slots = 2},
		     batch_threads(run.gathers));
	runner_close(run.runner);
	batch_close(run.gathers);
	slices_close(&share, out);
	gpu_report(o.gpu, &st);
	stats_close(&st, in, out, &args.common);
	gpu_close(o.gpu);
	polygons_free(&o.radon.mute);
	return 0;
}
