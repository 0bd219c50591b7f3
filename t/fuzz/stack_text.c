/* Any bytes as the description of a stack by ImageJ or OME; what was read is printed and read again, as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/convert/tiff.h"

const char *const weir_prog = "fuzz";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1), again[1024];
	struct stackmeta m, back;
	size_t pages = 1;

	if (!text)
		return 0;
	if (n)
		memcpy(text, bytes, n);
	text[n] = 0;
	stackmeta_read(text, 1 + n % 4, &m);
	free(stackmeta_set(text, "Type", "float"));
	if (strlen(m.order) > 3)
		abort();
	for (size_t i = 0; m.n && i < strlen(m.order); i++)
		pages *= m.size[i];
	if (m.n && pages != m.n)
		abort();
	stackmeta_print(&m, again, sizeof again);
	stackmeta_read(again, 1, &back);
	if (!back.imagej)
		abort();
	free(text);
	return 0;
}
