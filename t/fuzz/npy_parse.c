/* Any bytes as the dictionary of a .npy file, and as the headers of whole .npy and PFM files. */
#include "common/stream/formats.h"
#include "t/fuzz/fuzz.h"

/* What was accepted has a shape that can be allocated. */
static void
insist(struct img *x)
{
	size_t size;

	if (x->dim < 1 || x->dim > IMG_MAXDIM || !img_bytes(x, &size) || !size)
		abort();
	img_free(x);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct why why;
	struct npy_layout how;
	bool swap;
	struct img x;
	FILE *f;

	if (!npy_parse((const char *)bytes, n, &x, &how, &why))
		insist(&x);
	if (!n || !(f = fmemopen((void *)(uintptr_t)bytes, n, "rb")))
		return 0;
	if (!npy_head(f, &x, &how, &why))
		insist(&x);
	rewind(f);
	if (!pfm_head(f, &x, &swap, &why))
		insist(&x);
	fclose(f);
	return 0;
}
