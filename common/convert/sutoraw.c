/* sutoraw: converts SU to raw, one item a gather. */
#include <string.h>

#include "common/base/die.h"
#include "common/base/swap.h"
#include "common/convert/traces.h"

const char *const weir_prog = "sutoraw";

static const struct opt_program program = {.what = "Turns SU traces into raw items, one a gather.",
					   .table = traces_table,
					   .operands = "[FILE]",
					   .max_operands = 1};

static void
decode(const struct traces *t, float *to, const unsigned char *from)
{
	memcpy(to, from, t->ns * sizeof *to);
	if (t->swap)
		swap_bytes(to, t->ns, sizeof *to);
}

int
main(int argc, char **argv)
{
	struct traces_args args = {.key = TRACE_KEY_CDP, .order = TRACE_DETECT};
	struct traces t;
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	traces_open_su(&t, n ? *operand : NULL, args.order, args.dt_given);
	traces_to_raw(&t, &args, decode);
	traces_close(&t);
	return 0;
}
