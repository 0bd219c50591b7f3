/* radon: the Radon transform of seismic gathers, its inverses, removal of multiples. */
#include "common/die.h"
#include "common/stats.h"
#include "gpu/use.h"
#include "radon/args.h"
#include "radon/stream/runner.h"
#include "radon/stream/polygons.h"

const char *const weir_prog = "radon";

int
main(int argc, char **argv)
{
	struct gathers_options o = {0};
	struct batches *gathers;
	struct runner *runner;
	struct raw_out *out;
	struct raw_in *in;
	struct args args;
	struct batch *b;
	struct stats st;
	char **operand;
	size_t n;

	radon_args(argc, argv, &args, &o, &operand, &n);
	stats_start(&st);
	st.threads = o.radon.threads;
	in = raw_open(operand, n, args.common.max_bytes);
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
	gpu_report(o.gpu, &st);
	stats_close(&st, in, out, &args.common);
	gpu_close(o.gpu);
	polygons_free(&o.radon.mute);
	return 0;
}
