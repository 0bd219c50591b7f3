/* Any bytes as the description of a stack by ImageJ, OME or tifffile; what was read is printed and read again. */
#include "common/base/mem.h"
#include "common/convert/tiff.h"
#include "t/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n), again[1024];
	struct stackmeta m, back;
	size_t pages = 1;

	if (!text)
		return 0;
	const struct stackpage page = {
	    .planes = 1 + n % 4, .w = 3, .h = 2, .pages = n % 7, .name = n % 2 ? "a.tif" : NULL};
	if (stackmeta_read(text, n % 3, &page, &m) && m.placed && m.n < 1 << 20)
		weir_free(stackmeta_pages(text, n % 3, &page, &m));
	if (m.ome)
		stackmeta_in_order(text, &page, &m);
	free(stackmeta_set(text, "Type", "float"));
	if (strlen(m.order) > (m.shaped ? sizeof m.order - 1 : 3))
		abort();
	for (size_t i = 0; m.n && i < strlen(m.order); i++)
		pages *= m.size[i];
	if (m.n && pages != m.n)
		abort();
	stackmeta_print(&m, again, sizeof again);
	stackmeta_read(again, 0, &page, &back);
	if (!back.imagej)
		abort();
	free(text);
	return 0;
}
