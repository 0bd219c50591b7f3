/* Any text as a number, a size, a range and a slice. */
#include "common/base/opt.h"
#include "common/picture/tone.h"
#include "common/stream/axes.h"
#include "t/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n);
	struct tone_end end[2];
	struct slice cut;
	size_t size;
	double v;

	if (!text)
		return 0;
	opt_number(text, &v);
	if (opt_size(text, &size) && (*text < '0' || *text > '9'))
		abort();
	if (!tone_parse_range(text, end) && !(isfinite(end[0].v) && isfinite(end[1].v)))
		abort();
	if (!slice_parse(text, &cut) && !strchr(text, ':'))
		abort();
	free(text);
	return 0;
}
