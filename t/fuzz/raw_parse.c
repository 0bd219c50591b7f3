/* Any bytes as a header; one that is accepted must be accepted again, as the same, after raw_format. */
#include "common/stream/raw.h"
#include "t/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct why why;
	struct img x, y;
	size_t length;
	bool swap;

	if (raw_parse((const char *)bytes, n, &x, &swap, &why))
		return 0;
	char *text = raw_format(&x, &length);
	if (!text || raw_parse(text, length - 1, &y, &swap, &why) || x.dim != y.dim ||
	    x.type != y.type || x.nkey != y.nkey)
		abort();
	free(text);
	img_free(&x);
	img_free(&y);
	return 0;
}
