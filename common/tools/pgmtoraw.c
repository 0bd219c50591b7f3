/* pgmtoraw: converts pictures and arrays, of every format that the suite reads, to raw items. */
#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/stream/raw.h"

const char *const weir_prog = "pgmtoraw";

struct args {
	struct opt_common common;
	char **path;
	size_t npath;
};

static const struct opt table[] = {{0}};

static const struct opt_program program = {
    .what = "Turns PNM, PAM, PFM and NumPy files into raw items; raw items pass through.",
    .table = table,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX};

static struct args
parse(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	return args;
}

static void
convert(const struct args *args, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct img x;

	for (; raw_next(in, &x); st->items++) {
		if (args->common.verbose)
			raw_say(in, &x);
		if (x.format != IMG_RAW)
			opt_add_history(&x, &args->common);
		raw_copy(in, out, &x, args->common.quiet, st);
		img_free(&x);
	}
}

int
main(int argc, char **argv)
{
	struct args args = parse(argc, argv);
	struct raw_out *out = raw_create(args.common.out, RAW_AS_RAW);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	struct stats st;

	stats_start(&st);
	convert(&args, in, out, &st);
	stats_close(&st, in, out, &args.common);
	return 0;
}
