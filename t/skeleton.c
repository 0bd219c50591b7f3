/*
 * skeleton: multiplies samples by a number. It is the smallest whole filter: copy it to begin a program (CONTRIBUTING.md).
 * The tests run it through every page that goes over all programs.
 */
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/stream/raw.h"

const char *const weir_prog = "skeleton";

/* --- arguments ----------------------------------------------------------------------------------------------------- */

struct args {
	struct opt_common common; /* the first member of every struct args */
	double gain;
};

static const struct opt table[] = {
    {'G', "gain", OPT_REAL, AT(gain), "G", "what samples are multiplied by"}, {0}};

static const struct opt_program program = {.what = "Multiplies samples by a number.",
					   .table = table};

/* --- arithmetic: no input, no output ------------------------------------------------------------------------------- */

static void
multiply(double *v, size_t n, double gain)
{
	for (size_t i = 0; i < n; i++)
		v[i] *= gain;
}

/* --- one item ------------------------------------------------------------------------------------------------------ */

/* The result is of floats, which PNM cannot hold. */
static void
describe_result(struct img *y, const struct img *x, const struct args *args)
{
	img_copy_head(y, x);
	y->type = IMG_F32;
	y->format = IMG_RAW;
	img_drop_key(y, "maxval");
	opt_add_history(y, &args->common);
}

static void
run(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct raw_blocks b = {.x = x, .quiet = args->common.quiet};
	struct img y;

	describe_result(&y, x, args);
	raw_head(out, &y);
	while (raw_next_block(&b, in, st)) {
		double *v = weir_xalloc(b.n, sizeof *v);
		float *to = weir_xalloc(b.n, sizeof *to);
		sample_load(v, b.data, x->type, b.n);
		multiply(v, b.n, args->gain);
		sample_store(to, v, y.type, b.n);
		stats_charge(st, STATS_COMPUTE);
		raw_write(out, to, b.n);
		stats_charge(st, STATS_WRITE);
		weir_free_all(v, to);
	}
	img_free(&y);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, NULL, run, NULL};
	struct args args = {.common.as = RAW_AS_RAW, .gain = 1};

	return raw_each(&filter, argc, argv, &args);
}
