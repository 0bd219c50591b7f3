/* rawtosu: writes raw items as SU. */
#include <string.h>

#include "common/base/die.h"
#include "common/base/swap.h"
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
				    TRACE_ORDERS " (as --headers, else big)",
				    .words = TRACE_ORDERS},
				   {0}};

static const struct opt_program program = {.what = "Turns raw items into SU traces.",
					   .table = table,
					   .operands = "[FILE]",
					   .max_operands = 1};

static void
encode(const struct traces_sink *s, unsigned char *to, const float *from, size_t n)
{
	memcpy(to, from, n * sizeof *from);
	if (s->swap)
		swap_bytes(to, n, sizeof *from);
}

int
main(int argc, char **argv)
{
	struct args args = {.order = TRACE_DETECT};
	struct traces_sink sink = {.encode = encode, .sample = sizeof(float)};
	struct traces headers = {0};
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	sink.swap = traces_swapped(args.order);
	if (args.headers) {
		traces_open_su(&headers, args.headers, args.order, true);
		sink.headers = &headers;
		sink.swap = headers.swap;
	}
	traces_from_raw(&sink, n ? *operand : NULL, &args.common);
	traces_close(&headers);
	return 0;
}
