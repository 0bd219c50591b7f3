/*
 * skeleton: multiplies samples by a number. It is the smallest whole filter: copy it to begin a program (CONTRIBUTING.md).
 * The tests run it through every page that goes over all programs.
 */
#include <stddef.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/progress.h"
#include "common/base/sample.h"
#include "common/base/stats.h"
#include "common/stream/raw.h"

const char *const weir_prog = "skeleton";

enum { BLOCK = 1 << 14 }; /* samples that are held at a time */

/* --- arguments ----------------------------------------------------------------------------------------------------- */

struct args {
	struct opt_common common; /* the first member of every struct args */
	double gain;
	char **path;
	size_t npath;
};

static const struct opt table[] = {
    {'G', "gain", OPT_REAL, offsetof(struct args, gain), "G", "what samples are multiplied by"},
    {0}};

static const struct opt_program program = {.what = "Multiplies samples by a number.",
					   .table = table,
					   .operands = "[FILE ...]",
					   .max_operands = SIZE_MAX};

static struct args
parse(int argc, char **argv)
{
	struct args args = {.gain = 1};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	return args;
}

/* --- arithmetic: no input, no output ------------------------------------------------------------------------------- */

static void
multiply(double *v, size_t n, double gain)
{
	for (size_t i = 0; i < n; i++)
		v[i] *= gain;
}

/* --- one item ------------------------------------------------------------------------------------------------------ */

/* What a block of samples passes through. Owned; of BLOCK samples each. */
struct work {
	void *in;
	double *values;
	float *out;
};

static struct work
plan(void)
{
	return (struct work){weir_xalloc(BLOCK, sizeof(double)), weir_xalloc(BLOCK, sizeof(double)),
			     weir_xalloc(BLOCK, sizeof(float))};
}

static void
free_work(struct work *w)
{
	weir_free(w->in);
	weir_free(w->values);
	weir_free(w->out);
}

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
run(struct raw_in *in, struct raw_out *out, const struct img *x, const struct work *w,
    const struct args *args, struct stats *st)
{
	struct progress bar;
	struct img y;
	size_t total, n;

	if (!img_count(x, &total))
		raw_die(in, "its size overflows");
	describe_result(&y, x, args);
	raw_head(out, &y);
	progress_start(&bar, args->common.quiet);
	for (size_t i = 0; i < total; i += n) {
		n = total - i < BLOCK ? total - i : BLOCK;
		raw_read(in, w->in, n);
		stats_charge(st, STATS_READ);
		sample_load(w->values, w->in, x->type, n);
		multiply(w->values, n, args->gain);
		sample_store(w->out, w->values, y.type, n);
		stats_charge(st, STATS_COMPUTE);
		raw_write(out, w->out, n);
		stats_charge(st, STATS_WRITE);
		progress_step(&bar, (double)(i + n) / (double)total);
	}
	progress_end(&bar);
	img_free(&y);
}

int
main(int argc, char **argv)
{
	const struct args args = parse(argc, argv);
	struct raw_out *out = raw_create(args.common.out, RAW_AS_RAW);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	struct work work = plan();
	struct stats st;
	struct img x;

	stats_start(&st);
	for (; raw_next(in, &x); st.items++) {
		if (args.common.verbose)
			raw_say(in, &x);
		run(in, out, &x, &work, &args, &st);
		img_free(&x);
	}
	free_work(&work);
	stats_close(&st, in, out, &args.common);
	return 0;
}
