/* rawtosu: writes raw items as SU. */
#include "common/convert/traces.h"

const char *const weir_prog = "rawtosu";

struct args {
	struct opt_common common;
	const char *headers;
	int order, ns;
	bool sorted;
};

static const struct opt table[] = {
    {0, "headers", OPT_STR, AT(headers), "FILE",
     "take the headers of this SU file over, byte for byte"},
    {0, "endian", OPT_WORD, AT(order), "ORDER", "%s, without --headers (big)",
     .words = "big|little"},
    {0, "ns", OPT_INT, AT(ns), "N", "samples of a trace of --headers, whatever it says", 1, 1e9},
    {0, "sorted", OPT_FLAG, AT(sorted), NULL,
     "traces stay sorted, and do not return to FILE's order"},
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
	struct args args = {.order = -1};
	struct traces_sink sink = {.open = traces_open_su, .format = SEGY_IEEE};
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	sink.path = args.headers;
	sink.ns = args.ns;
	sink.sorted = args.sorted;
	sink.own = args.order < 0 ? NULL : "--endian";
	sink.little = args.order == 1;
	return traces_from_raw(&sink, n ? *operand : NULL, &args.common);
}
