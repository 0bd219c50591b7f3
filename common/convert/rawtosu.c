/* rawtosu: writes raw items as SU. */
#include "common/convert/traces.h"

const char *const weir_prog = "rawtosu";

static const struct opt table[] = {{0, "headers", OPT_STR, offsetof(struct traces_sink, path),
				    "FILE", "take the headers of this SU file over, byte for byte"},
				   {0, "endian", OPT_WORD, offsetof(struct traces_sink, word),
				    "ORDER", "%s, without --headers (big)", .words = "big|little"},
				   {0, "ns", OPT_INT, offsetof(struct traces_sink, ns), "N",
				    "samples of a trace of --headers, whatever it says", 1, 1e9},
				   {0, "sorted", OPT_FLAG, offsetof(struct traces_sink, sorted),
				    NULL, "traces stay sorted, and do not return to FILE's order"},
				   {0}};

static const struct opt_program program = {.what = "Turns raw items into SU traces.",
					   .example =
					       "rawtosu --headers=gather.su gather.nrrd >clean.su",
					   .table = table,
					   .operands = "[FILE]",
					   .max_operands = 1};

int
main(int argc, char **argv)
{
	struct traces_sink sink = {.word = -1, .own = "--endian", .open = traces_open_su};

	return traces_from_raw(&sink, &program, argc, argv);
}
