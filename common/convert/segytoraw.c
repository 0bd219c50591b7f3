/* segytoraw: converts SEG-Y to raw, one item a gather. */
#include "common/base/die.h"
#include "common/convert/segy.h"

const char *const weir_prog = "segytoraw";

static const struct opt_program program = {.what =
					       "Turns SEG-Y traces into raw items, one a gather",
					   .table = traces_table,
					   .operands = "[FILE]",
					   .max_operands = 1};

static void
decode(const struct traces *t, float *to, const unsigned char *from)
{
	segy_decode(((const struct segy *)t)->format, !t->swap, t->ns, to, from);
}

int
main(int argc, char **argv)
{
	struct traces_args args = {.key = TRACE_KEY_CDP, .order = TRACE_DETECT};
	struct segy s;
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	segy_open_traces(&s, n ? *operand : NULL, args.order, args.dt_given);
	traces_to_raw(&s.traces, &args, decode);
	segy_close_traces(&s);
	return 0;
}
