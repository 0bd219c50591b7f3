/* rawtosegy: writes raw items as SEG-Y. */
#include <string.h>

#include "common/base/die.h"
#include "common/convert/segy.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawtosegy";

struct args {
	struct opt_common common;
	const char *headers;
	int format;
};

#define AT(member) offsetof(struct args, member)
static const struct opt table[] = {
    {0, "headers", OPT_STR, AT(headers), "FILE",
     "take all headers of this SEG-Y file over, byte for byte, and its format"},
    {0, "format", OPT_WORD, AT(format), "FORMAT", "%s, without --headers (ieee)",
     .words = "ieee|ibm"},
    {0}};

static const struct opt_program program = {.what = "Turns raw items into SEG-Y traces.",
					   .table = table,
					   .operands = "[FILE]",
					   .max_operands = 1};

static void
encode(const struct traces_sink *s, unsigned char *to, const float *from, size_t n)
{
	segy_encode(s->format, !s->swap, n, to, from);
}

static void
decode(const struct traces_sink *s, float *to, const unsigned char *from, size_t n)
{
	segy_decode(s->format, !s->swap, n, to, from);
}

/* Makes the file headers: 40 lines of 80 characters, and the binary words that a reader needs. */
static void
make_lead(const struct traces_sink *s, struct raw_out *out, size_t ns, unsigned dt)
{
	unsigned char lead[SEGY_LEAD] = {0};

	memset(lead, ' ', 3200);
	for (int i = 0; i < 40; i++) {
		char line[81];
		int n = snprintf(line, sizeof line, "C%2d%s", i + 1,
				 i == 0	   ? " WRITTEN BY RAWTOSEGY"
				 : i == 38 ? " SEG Y REV1"
				 : i == 39 ? " END TEXTUAL HEADER"
					   : "");
		memcpy(lead + i * 80, line, (size_t)n);
	}
	trace_set(lead + SEGY_AT_INTERVAL, 2, (long)dt, s->swap);
	trace_set(lead + SEGY_AT_SAMPLES, 2, (long)ns, s->swap);
	trace_set(lead + SEGY_AT_FORMAT, 2, s->format, s->swap);
	trace_set(lead + SEGY_AT_SORTING, 2, 2, s->swap);
	trace_set(lead + SEGY_AT_REVISION, 2, 0x100, s->swap);
	trace_set(lead + SEGY_AT_FIXED, 2, 1, s->swap);
	raw_text(out, (const char *)lead, sizeof lead);
}

static void
copy_lead(const struct traces_sink *s, struct raw_out *out, size_t ns, unsigned dt)
{
	const struct segy *from = (const struct segy *)s->headers;

	(void)ns;
	(void)dt;
	raw_text(out, (const char *)from->lead, from->nlead);
}

int
main(int argc, char **argv)
{
	struct args args = {.format = -1};
	struct traces_sink sink = {.encode = encode, .decode = decode, .lead = make_lead};
	struct segy headers = {0};
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	sink.format = args.format == 1 ? SEGY_IBM : SEGY_IEEE;
	sink.swap = traces_swapped(TRACE_BIG);
	if (args.headers) {
		if (args.format >= 0)
			die_usage(
			    "--format cannot differ from that of --headers: give one of them");
		segy_open_traces(&headers, args.headers, TRACE_DETECT, true);
		sink.headers = &headers.traces;
		sink.format = headers.format;
		sink.swap = headers.traces.swap;
		sink.lead = copy_lead;
	}
	sink.sample = segy_sample_size(sink.format);
	sink.no_nan = !segy_has_nan(sink.format);
	traces_from_raw(&sink, n ? *operand : NULL, &args.common);
	segy_close_traces(&headers);
	return 0;
}
