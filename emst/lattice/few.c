#include "emst/lattice/few.h"

/* Sorts keys by their byte at bit `shift`; equal ones keep their order. */
static void
sort_byte(uint64_t *restrict to, const uint64_t *restrict from, size_t n, int shift)
{
	uint32_t at[257] = {0};

	for (size_t i = 0; i < n; i++)
		at[(from[i] >> shift & 255) + 1]++;
	for (int v = 1; v < 256; v++)
		at[v] += at[v - 1];
	for (size_t i = 0; i < n; i++)
		to[at[from[i] >> shift & 255]++] = from[i];
}

size_t
few_colours(const uint8_t *px, size_t n, size_t c, uint32_t *of, uint32_t *code, uint64_t *work)
{
	uint64_t *a = work, *b = work + n;
	size_t distinct = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t x = 0;
		for (size_t p = 0; p < c; p++)
			x = x << 8 | *px++;
		a[i] = x << 32 | i;
	}
	for (size_t p = 0; p < c; p++) {
		uint64_t *t = a;
		sort_byte(b, a, n, 32 + 8 * (int)p);
		a = b;
		b = t;
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t x = (uint32_t)(a[i] >> 32);
		if (!distinct || code[distinct - 1] != x)
			code[distinct++] = x;
		of[(uint32_t)a[i]] = (uint32_t)distinct - 1;
	}
	return distinct;
}
