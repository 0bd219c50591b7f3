/* segytoraw: converts SEG-Y to raw, one item a gather. */
#include "common/convert/traces.h"

const char *const weir_prog = "segytoraw";

static const struct opt_program program = {.what =
					       "Turns SEG-Y traces into raw items, one a gather.",
					   .example = "segytoraw gather.sgy >gather.nrrd",
					   .table = traces_table,
					   .operands = "[FILE]",
					   .max_operands = 1};

int
main(int argc, char **argv)
{
	return traces_to_raw(&program, argc, argv, traces_open_segy);
}
