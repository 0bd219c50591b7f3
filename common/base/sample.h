/* Samples of any type: their words, byte order, range and sum, and their values as doubles. Pure. */
#ifndef WEIR_BASE_SAMPLE_H
#define WEIR_BASE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum img_type {
	IMG_NONE,
	IMG_I8,
	IMG_U8,
	IMG_I16,
	IMG_U16,
	IMG_I32,
	IMG_U32,
	IMG_I64,
	IMG_U64,
	IMG_F32,
	IMG_F64
};

/* The words of an option that chooses a type; the first one is IMG_I8. */
#define IMG_WORDS "char|uchar|short|ushort|int|uint|int64|uint64|float|double"

size_t img_type_size(enum img_type type);
const char *img_type_name(enum img_type type);	/* the NRRD word: "uchar", "float" ... */
enum img_type img_type_named(const char *word); /* any of NRRD's words; IMG_NONE when unknown */
bool img_is_float(enum img_type type);

/* out[i] = in[i], or 0 where type is IMG_NONE. 64-bit integers beyond 2^53 are rounded. in and out do not overlap. */
void sample_load(double *out, const void *in, enum img_type type, size_t n);

/*
 * out[i] = in[i]. Floats are rounded to nearest; integers must be exact. Returns n, or the index of the first number that
 * the type cannot hold: a fraction or NaN as an integer, or a number out of range. in and out do not overlap.
 */
size_t sample_store(void *out, const double *in, enum img_type type, size_t n);

/*
 * Sets chosen[i] to 1 where sample i of from is greater than `above`, or, where that is NaN, is not 0; to 0 elsewhere. A NaN is
 * never chosen. work has room for n doubles.
 */
void sample_threshold(uint8_t *chosen, double *work, const void *from, enum img_type type, size_t n,
		      double above);

/* to[i * to_step] = from[i * from_step], samples of `size` bytes: 1, 2, 4 or 8. to and from do not overlap. */
void
sample_copy(void *to, size_t to_step, const void *from, ptrdiff_t from_step, size_t n, size_t size);

/* The least and greatest finite sample, the sum and number of finite samples, and the numbers of NaN and infinite ones. */
struct sample_stats {
	double lo, hi, sum; /* inf, -inf, 0 before the first */
	double unit;	    /* of the sum: 1, or 2^64 once it has passed the doubles */
	uint64_t finite, nan, inf;
};

void sample_stats_start(struct sample_stats *s);
void sample_stats_add(struct sample_stats *s, const double *v, size_t n);

/* Does the same with samples of any type. The sum of small unsigned integers is exact, and quick. */
void sample_measure(struct sample_stats *s, const void *in, enum img_type type, size_t n);

/* Returns the mean of the finite samples; NaN where there is none. */
double sample_mean(const struct sample_stats *s);

/* Reverses the bytes of each of count samples of 1, 2, 4 or 8 bytes, at memory speed. */
void swap_bytes(void *buf, size_t count, size_t size);

/* Returns the largest of count unsigned samples of 1 or 2 bytes, at memory speed. */
unsigned sample_max(const void *buf, size_t count, size_t size);

/*
 * Returns the float whose bits are a sign, an exponent of e bits, up to 7, and a fraction of m bits, up to 23: each has its place in a
 * float, whose exponent is larger. It is exact.
 */
static inline float
float_of_bits(uint32_t bits, int e, int m)
{
	const uint32_t sign = bits >> (e + m) << 31, rest = bits & ((1u << (e + m)) - 1);
	const int bias = (1 << (e - 1)) - 1;
	union {
		uint32_t bits;
		float value;
	} u = {sign | rest << (23 - m)};

	if (rest >> m == (1u << e) - 1) /* infinity and NaN */
		u.bits |= 0x7f800000;
	else if (rest >> m)
		u.bits += (uint32_t)(127 - bias) << 23;
	else /* subnormal: rest * 2^(1 - bias - m) */
		u.value = (sign ? -1.f : 1.f) / (float)(1ull << bias) / (float)(1u << (m - 1)) *
			  (float)rest;
	return u.value;
}

/* The integer of 1 to 8 bytes at `at`, without a sign. */
static inline uint64_t
bytes_load(const unsigned char *at, size_t bytes, bool little)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | at[little ? bytes - 1 - i : i];
	return v;
}

static inline void
bytes_store(unsigned char *at, size_t bytes, bool little, uint64_t v)
{
	for (size_t i = 0; i < bytes; i++)
		at[little ? i : bytes - 1 - i] = (unsigned char)(v >> 8 * i);
}

#endif
