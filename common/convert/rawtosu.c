/* rawtosu: writes raw items as SU. */
#include "common/base/die.h"
#include "common/convert/traces.h"

const char *const weir_prog = "rawtosu";

struct args {
	struct opt_common common;
	const char *headers;
	int order;
};

#define AT(member) offsetof(struct args, member)
static const struct opt table[] = {{0, "headers", OPT_STR, AT(headers), "FILE",
				    "take the headers of this SU file over, byte for byte"},
				   {0, "endian", OPT_WORD, AT(order), "ORDER",
				    "%s, without --headers (big)", .words = "big|little"},
				   {0}};

static const struct opt_program program = {.what = "Turns raw items into SU traces.",
					   .table = table,
					   .operands = "[FILE]",
					   .max_operands = 1};

int
main(int argc, char **argv)
{
	struct args args = {.order = -1};
	struct traces_sink sink = {.format = SEGY_IEEE};
	struct traces headers = {0};
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	sink.little = args.order == 1;
	if (args.headers) {
		if (args.order >= 0)
			die_usage(
			    "--endian cannot differ from that of --headers: give one of them");
		traces_open_su(&headers, args.headers, true);
		sink.headers = &headers;
	}
	traces_from_raw(&sink, n ? *operand : NULL, &args.common);
	traces_close(&headers);
	return 0;
}
