/* Any bytes as a PNM or PAM file: its header, and the payload of the formats that libnetpbm reads for us. */
#include "common/stream/formats.h"
#include "t/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct why why;
	size_t size;
	struct img x;
	bool block;
	FILE *f;

	/* pnm_head is called on P1 to P7 only. */
	if (n < 2 || bytes[0] != 'P' || bytes[1] < '1' || bytes[1] > '7' ||
	    !(f = fmemopen((void *)(uintptr_t)bytes, n, "rb")))
		return 0;
	if (!pnm_head(f, &x, &block, &why)) {
		if (!img_maxval(&x) || img_maxval(&x) > (x.type == IMG_U8 ? 255 : 65535))
			abort();
		if (!block && img_bytes(&x, &size) && size < 1 << 20 && !img_alloc(&x))
			pnm_load(f, &x, (char)bytes[1], &why);
		img_free(&x);
	}
	fclose(f);
	return 0;
}
