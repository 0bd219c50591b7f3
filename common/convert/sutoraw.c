/* sutoraw: converts SU to raw, one item a gather. */
#include "common/convert/traces.h"

const char *const weir_prog = "sutoraw";

static const struct opt_program program = {.what = "Turns SU traces into raw items, one a gather.",
					   .example = "sutoraw gather.su >gather.nrrd",
					   .table = traces_table + TRACES_OF_SU,
					   .operands = "[FILE]",
					   .max_operands = 1};

int
main(int argc, char **argv)
{
	return traces_to_raw(&program, argc, argv, traces_open_su);
}
