#include <stdint.h>

#include "common/base/cpu.h"
#include "common/base/swap.h"

WEIR_CLONES(swap16, (uint16_t *restrict v, size_t n), (v, n))
{
	for (size_t i = 0; i < n; i++)
		v[i] = __builtin_bswap16(v[i]);
}

WEIR_CLONES(swap32, (uint32_t *restrict v, size_t n), (v, n))
{
	for (size_t i = 0; i < n; i++)
		v[i] = __builtin_bswap32(v[i]);
}

WEIR_CLONES(swap64, (uint64_t *restrict v, size_t n), (v, n))
{
	for (size_t i = 0; i < n; i++)
		v[i] = __builtin_bswap64(v[i]);
}

void
swap_bytes(void *buf, size_t count, size_t size)
{
	if (size == 2)
		swap16(buf, count);
	else if (size == 4)
		swap32(buf, count);
	else if (size == 8)
		swap64(buf, count);
}

WEIR_CLONES_OF(unsigned, max8, (const uint8_t *v, size_t n), (v, n))
{
	uint8_t m = 0;

	for (size_t i = 0; i < n; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

WEIR_CLONES_OF(unsigned, max16, (const uint16_t *v, size_t n), (v, n))
{
	uint16_t m = 0;

	for (size_t i = 0; i < n; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

unsigned
sample_max(const void *buf, size_t count, size_t size)
{
	return size == 1 ? max8(buf, count) : max16(buf, count);
}
