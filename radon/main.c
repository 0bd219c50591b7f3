/* radon: the Radon transform of seismic gathers, its inverses, removal of multiples. */
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/stats.h"
#include "gpu/use.h"
#include "radon/args.h"
#include "radon/stream/batch.h"

const char *const weir_prog = "radon";

/* Returns the fingerprint of the input files and of the files that options name. */
static uint64_t
fingerprint(const struct args *a, const struct gathers_options *o, char *const *path, size_t npath)
{
	uint64_t hash = part_begin(&a->common);

	if (!a->common.part.n)
		return hash;
	if (o->offsets)
		hash = part_hash_file(hash, o->offsets);
	if (a->polygons)
		hash = part_hash_file(hash, a->polygons);
	return part_hash_files(hash, path, npath);
}

int
main(int argc, char **argv)
{
	struct gathers_options o = {0};
	struct batches *gathers;
	struct slices share;
	struct runner *runner;
	struct raw_out *out;
	struct raw_in *in;
	struct args args;
	struct batch *b;
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
	gathers = batch_open(&o, in, out, &st);
	runner = runner_open(&o, &st);
	while ((b = batch_read(gathers))) {
		runner_plan(runner, b);
		batch_begin_io(gathers);
		runner_run(runner, b);
		batch_end_io(gathers);
		batch_write(gathers, b);
	}
	runner_close(runner);
	batch_close(gathers);
	slices_close(&share, out);
	gpu_report(o.gpu, &st);
	stats_close(&st, in, out, &args.common);
	gpu_close(o.gpu);
	polygons_free(&o.radon.mute);
	return 0;
}
