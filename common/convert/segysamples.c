/* The samples of SEG-Y traces: IBM floats, IEEE floats and integers of both byte orders, to floats and back. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/sample.h"
#include "common/convert/traces.h"

enum kind { NONE, IBM, IEEE, SIGNED, UNSIGNED };

static const struct format {
	enum kind kind;
	size_t bytes;
} formats[] = {
    [1] = {IBM, 4},	  [2] = {SIGNED, 4},	[3] = {SIGNED, 2},    [5] = {IEEE, 4},
    [6] = {IEEE, 8},	  [7] = {SIGNED, 3},	[8] = {SIGNED, 1},    [9] = {SIGNED, 8},
    [10] = {UNSIGNED, 4}, [11] = {UNSIGNED, 2}, [12] = {UNSIGNED, 8}, [15] = {UNSIGNED, 3},
    [16] = {UNSIGNED, 1}};

static struct format
format_of(int format)
{
	const int n = (int)(sizeof formats / sizeof *formats);

	return format >= 0 && format < n ? formats[format] : (struct format){NONE, 0};
}

size_t
segy_sample_size(int format)
{
	return format_of(format).bytes;
}

bool
segy_has_nan(int format)
{
	return format_of(format).kind == IEEE;
}

/* --- IBM ---------------------------------------------------------------------------------------------------------- */

static inline double
of_bits(uint64_t v)
{
	double x;

	memcpy(&x, &v, sizeof x);
	return x;
}

static inline uint64_t
bits_of(double x)
{
	uint64_t v;

	memcpy(&v, &x, sizeof v);
	return v;
}

/* 2^n, for n from -1022 to 1023. */
static inline double
power(int n)
{
	return of_bits((uint64_t)(1023 + n) << 52);
}

/*
 * The nearest IBM float with f from 2^20 to 2^24 - 1. Every finite float has one. The sum rounds to an integer, since doubles
 * from 2^52 to 2^53 are the integers; its low bits are f.
 */
static inline uint32_t
to_ibm(float x)
{
	const double wide = (double)x;
	const uint64_t v = bits_of(wide);
	const uint32_t sign = (uint32_t)(v >> 32) & 1U << 31;
	if (x == 0 || isnan(x))
		return sign;
	if (isinf(x))
		return sign | 0x7fffffff;
	const int two = (int)(v >> 52 & 2047) - 1022; /* |x| = 2^two times .5 to 1 */
	const uint32_t e = (uint32_t)(two + 256 + 3) / 4;
	const double f = fabs(wide) * power(24 + 256 - 4 * (int)e) + 0x1p52;

	return sign | e << 24 | (uint32_t)(bits_of(f) & 0xffffff);
}

/* --- the others --------------------------------------------------------------------------------------------------- */

/* The integer of `bytes` bytes nearest to x. Its range ends at a double, so that the conversion is defined. */
static uint64_t
to_integer(float x, struct format f)
{
	const int bits = 8 * (int)f.bytes;
	const double end = ldexp(1, f.kind == SIGNED ? bits - 1 : bits),
		     top = f.bytes == 8 ? nextafter(end, 0) : end - 1,
		     v = rint(fmin(fmax((double)x, f.kind == SIGNED ? -end : 0), top));

	if (isnan(x))
		return 0;
	return f.kind == SIGNED ? (uint64_t)(int64_t)v : (uint64_t)v;
}

void
segy_decode(int format, bool little, size_t n, float *to, const unsigned char *from)
{
	const struct format f = format_of(format);
	const int spare = 64 - 8 * (int)f.bytes;

	/* Formats 1 and 5 are those of nearly all files: all bytes are swapped at once. */
	if (format == SEGY_IBM || format == SEGY_IEEE) {
		memcpy(to, from, 4 * n);
		if (!little)
			swap_bytes(to, n, 4);
		for (size_t i = 0; format == SEGY_IBM && i < n; i++) {
			uint32_t v;
			memcpy(&v, &to[i], sizeof v);
			const int sign = 1 - 2 * (int)(v >> 31), f24 = (int)(v & 0xffffff);
			/* The product is exact in double. */
			to[i] = (float)(sign * power(4 * (int)(v >> 24 & 127) - 280) * f24);
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const uint64_t v = bytes_load(from + f.bytes * i, f.bytes, little);
		to[i] = f.kind == IEEE	     ? (float)of_bits(v)
			: f.kind == UNSIGNED ? (float)v
					     : (float)((int64_t)(v << spare) >> spare);
	}
}

void
segy_encode(int format, bool little, size_t n, unsigned char *to, const float *from)
{
	const struct format f = format_of(format);

	if (format == SEGY_IBM || format == SEGY_IEEE) {
		for (size_t i = 0; format == SEGY_IBM && i < n; i++)
			memcpy(to + 4 * i, &(uint32_t){to_ibm(from[i])}, 4);
		if (format == SEGY_IEEE)
			memcpy(to, from, 4 * n);
		if (!little)
			swap_bytes(to, n, 4);
		return;
	}
	for (size_t i = 0; i < n; i++)
		bytes_store(to + f.bytes * i, f.bytes, little,
			    f.kind == IEEE ? bits_of((double)from[i]) : to_integer(from[i], f));
}

void
segy_count(struct segy_digits *d, bool little, size_t n, const unsigned char *from)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t v = bytes_load(from + 4 * i, 4, little);
		if (!(v & 0x7fffffff))
			continue;
		d->digit[v >> 20 & 15]++;
		d->exponent[v >> 24 & 127]++;
		d->n++;
	}
}

int
segy_seems(const struct segy_digits *d)
{
	const double n = (double)d->n, zeros = (double)d->digit[0] / n;
	double likelier = 0; /* the logarithm of how much likelier IBM makes a sample, on average */
	int orders = 0;	     /* of 16 that the samples are spread over */

	for (int i = 0; i < 16; i++) {
		const double ibm = i ? log((i + 1.) / i) / log(16) : .001,
			     ieee = log2((i % 8 + 9.) / (i % 8 + 8.)) / 2;
		likelier += (double)d->digit[i] / n * log(ibm / ieee);
	}
	for (int i = 0; i < 128; i++)
		orders += (double)d->exponent[i] > .002 * n;
	if (d->n < 256 || orders < 3)
		return 0;
	/* Integers, and IBM floats that are not normalised, have far more zeros. */
	return likelier < -.15 && zeros > .01 && zeros < .3 ? SEGY_IEEE
	       : likelier > .15 && zeros < .001		    ? SEGY_IBM
							    : 0;
}
