#include <math.h>
#include <string.h>

#include "common/convert/unpack.h"

/* Returns sample i of a row of packed bits. */
static uint32_t
bits_at(const unsigned char *from, size_t i, unsigned bits)
{
	const size_t first = i * bits;
	uint64_t v = 0;

	for (size_t b = first / 8; b <= (first + bits - 1) / 8; b++)
		v = v << 8 | from[b];
	v >>= 7 - (first + bits - 1) % 8;
	return (uint32_t)(v & ((1ull << bits) - 1));
}

static void
store(void *to, size_t i, size_t size, uint32_t v)
{
	if (size == 1)
		((uint8_t *)to)[i] = (uint8_t)v;
	else if (size == 2)
		((uint16_t *)to)[i] = (uint16_t)v;
	else
		((uint32_t *)to)[i] = v;
}

static void
unpack_whole(void *to, const unsigned char *from, size_t n, size_t size, size_t apart)
{
	if (apart == 1) {
		memcpy(to, from, n * size);
		return;
	}
	for (size_t i = 0; i < n; i++)
		memcpy((char *)to + i * apart * size, from + i * size, size);
}

void
unpack_samples(void *to, const unsigned char *from, size_t n, unsigned bits, enum img_type type,
	       size_t apart)
{
	const size_t size = img_type_size(type);
	const bool is_signed = type == IMG_I8 || type == IMG_I16 || type == IMG_I32;
	const uint32_t sign = is_signed ? 1u << (bits - 1) : 0;

	if (bits == 8 * size) {
		unpack_whole(to, from, n, size, apart);
		return;
	}
	for (size_t i = 0; i < n; i++)
		store(to, i * apart, size, (bits_at(from, i, bits) ^ sign) - sign);
}

/*
 * Returns the float whose bits are a sign, an exponent of e bits and a mantissa of m bits. It is exact: m is at most 23. A NaN
 * loses its payload.
 */
static float
float_of(uint32_t bits, int e, int m)
{
	const int top = (1 << e) - 1, exponent = (int)(bits >> m) & top;
	const int mantissa = (int)(bits & ((1u << m) - 1)), least = 2 - (1 << (e - 1)) - m;
	float v;

	if (exponent == top)
		v = mantissa ? NAN : INFINITY;
	else if (exponent)
		v = ldexpf((float)((1 << m) + mantissa), exponent - 1 + least);
	else
		v = ldexpf((float)mantissa, least);
	return bits >> (e + m) ? -v : v;
}

void
unpack_half(float *to, const unsigned char *from, size_t n, size_t apart)
{
	uint16_t h;

	for (size_t i = 0; i < n; i++) {
		memcpy(&h, from + 2 * i, 2);
		to[i * apart] = float_of(h, 5, 10);
	}
}

void
unpack_float24(float *to, const unsigned char *from, size_t n, size_t apart)
{
	const uint32_t one = 1;
	const bool little = *(const unsigned char *)&one;

	for (size_t i = 0; i < n; i++, from += 3) {
		const uint32_t high = from[little ? 2 : 0], low = from[little ? 0 : 2];
		to[i * apart] = float_of(high << 16 | (uint32_t)from[1] << 8 | low, 7, 16);
	}
}

void
unpack_integers(void *to, const unsigned char *from, size_t n, unsigned bits)
{
	int16_t h;
	int32_t v;

	for (size_t i = 0; i < n; i++)
		if (bits == 8) {
			((float *)to)[i] = (int8_t)from[i];
		} else if (bits == 16) {
			memcpy(&h, from + 2 * i, 2);
			((float *)to)[i] = h;
		} else {
			memcpy(&v, from + 4 * i, 4);
			((double *)to)[i] = v;
		}
}

void
unpack_palette(void *to, const unsigned char *from, size_t n, size_t step, unsigned bits,
	       const struct palette *p, size_t apart)
{
	uint16_t h;

	for (size_t i = 0; i < n; i++) {
		uint32_t v;

		if (bits == 16) {
			memcpy(&h, from + 2 * i * step, 2);
			v = h;
		} else {
			v = bits == 8 ? from[i * step] : bits_at(from, i * step, bits);
		}
		for (size_t k = 0; k < 3; k++)
			if (p->shift >= 0)
				((uint8_t *)to)[apart * i + k] =
				    (uint8_t)(p->map[k][v] >> p->shift);
			else
				((uint16_t *)to)[apart * i + k] = p->map[k][v];
	}
}

void
unpack_invert(void *samples, size_t n, enum img_type type, unsigned bits)
{
	const uint64_t top = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;

	for (size_t i = 0; i < n; i++)
		switch (type) {
		case IMG_U8:
			((uint8_t *)samples)[i] = (uint8_t)(top - ((uint8_t *)samples)[i]);
			break;
		case IMG_U16:
			((uint16_t *)samples)[i] = (uint16_t)(top - ((uint16_t *)samples)[i]);
			break;
		case IMG_U32:
			((uint32_t *)samples)[i] = (uint32_t)(top - ((uint32_t *)samples)[i]);
			break;
		default:
			((uint64_t *)samples)[i] = top - ((uint64_t *)samples)[i];
		}
}
