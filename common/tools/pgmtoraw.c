/* pgmtoraw: converts pictures and arrays, of every format that the suite reads, to raw items. */
#include "common/stream/raw.h"

const char *const weir_prog = "pgmtoraw";

static const struct opt table[] = {{0}};

static const struct opt_program program = {
    .what = "Turns PNM, PAM, PFM and NumPy files into raw items; raw items pass through.",
    .example = "pgmtoraw photo.ppm >photo.nrrd",
    .table = table};

static void
convert(void *args, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct opt_common *common = args;

	if (x->format != IMG_RAW)
		opt_add_history(x, common);
	raw_copy(in, out, x, common->quiet, st);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, NULL, convert, NULL};
	struct opt_common common = {.as = RAW_AS_RAW};

	return raw_each(&filter, argc, argv, &common);
}
