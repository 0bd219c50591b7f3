/* rawtosegy: writes raw items as SEG-Y. */
#include <string.h>

#include "common/convert/traces.h"

const char *const weir_prog = "rawtosegy";

static const struct opt table[] = {
    {0, "headers", OPT_STR, offsetof(struct traces_sink, path), "FILE",
     "take all headers of this SEG-Y file over, byte for byte, and its format"},
    {0, "format", OPT_WORD, offsetof(struct traces_sink, word), "FORMAT",
     "%s, without --headers (ieee)", .words = "ieee|ibm"},
    {0, "ns", OPT_INT, offsetof(struct traces_sink, ns), "N",
     "samples of a trace of --headers, whatever it says", 1, 1e9},
    {0, "sorted", OPT_FLAG, offsetof(struct traces_sink, sorted), NULL,
     "traces stay sorted, and do not return to FILE's order"},
    {0}};

static const struct opt_program program = {
    .what = "Turns raw items into SEG-Y traces.",
    .example = "rawtosegy --headers=gather.sgy gather.nrrd >clean.sgy",
    .table = table,
    .operands = "[FILE]",
    .max_operands = 1};

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
	bytes_store(lead + SEGY_AT_INTERVAL, 2, s->little, dt);
	bytes_store(lead + SEGY_AT_FORMAT, 2, s->little, (uint64_t)s->format);
	bytes_store(lead + SEGY_AT_SORTING, 2, s->little, 2);
	bytes_store(lead + SEGY_AT_REVISION, 2, s->little, ns > TRACE_MAXNS ? 0x200 : 0x100);
	segy_set_samples(lead, s->little, ns);
	bytes_store(lead + SEGY_AT_FIXED, 2, s->little, 1);
	raw_text(out, (const char *)lead, sizeof lead);
}

int
main(int argc, char **argv)
{
	struct traces_sink sink = {
	    .word = -1, .own = "--format", .open = traces_open_segy, .lead = make_lead};

	return traces_from_raw(&sink, &program, argc, argv);
}
