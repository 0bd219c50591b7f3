#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/base/cpu.h"
#include "common/base/sample.h"
#include "common/base/words.h"

#define LOAD(NAME, TYPE)                                                                    \
	WEIR_CLONES(load_##NAME, (double *restrict out, const void *restrict in, size_t n), \
		    (out, in, n))                                                           \
	{                                                                                   \
		const TYPE *const v = in;                                                   \
                                                                                            \
		for (size_t i = 0; i < n; i++)                                              \
			out[i] = (double)v[i];                                              \
	}
LOAD(i8, int8_t)
LOAD(u8, uint8_t)
LOAD(i16, int16_t)
LOAD(u16, uint16_t)
LOAD(i32, int32_t)
LOAD(u32, uint32_t)
LOAD(i64, int64_t)
LOAD(u64, uint64_t)
LOAD(f32, float)
LOAD(f64, double)
#undef LOAD

/* NaN compares false, so it is refused. END is the first double above the range; 2^63 and 2^64 are exact as doubles. */
#define STORE(NAME, TYPE, LO, END)                                                          \
	static size_t store_##NAME(void *restrict out, const double *restrict in, size_t n) \
	{                                                                                   \
		for (size_t i = 0; i < n; i++) {                                            \
			if (!(in[i] >= (LO) && in[i] < (END) && in[i] == trunc(in[i])))     \
				return i;                                                   \
			((TYPE *)out)[i] = (TYPE)in[i];                                     \
		}                                                                           \
		return n;                                                                   \
	}
STORE(i8, int8_t, -0x1p7, 0x1p7)
STORE(u8, uint8_t, 0, 0x1p8)
STORE(i16, int16_t, -0x1p15, 0x1p15)
STORE(u16, uint16_t, 0, 0x1p16)
STORE(i32, int32_t, -0x1p31, 0x1p31)
STORE(u32, uint32_t, 0, 0x1p32)
STORE(i64, int64_t, -0x1p63, 0x1p63)
STORE(u64, uint64_t, 0, 0x1p64)
#undef STORE

WEIR_CLONES_OF(size_t, store_f32, (void *restrict out, const double *restrict in, size_t n),
	       (out, in, n))
{
	float *const v = out;
	unsigned fails = 0;

	for (size_t i = 0; i < n; i++) {
		v[i] = (float)in[i];
		fails |= (fabsf(v[i]) > FLT_MAX) & (fabs(in[i]) <= DBL_MAX);
	}
	for (size_t i = 0; fails && i < n; i++)
		if (isinf(v[i]) && !isinf(in[i]))
			return i;
	return n;
}

static size_t
store_f64(void *restrict out, const double *restrict in, size_t n)
{
	memcpy(out, in, n * sizeof *in);
	return n;
}

/* What is known of each type; words: all that NRRD has for it. */
static const struct {
	size_t size;
	bool floating;
	const char *name, *words;
	void (*load)(double *restrict out, const void *restrict in, size_t n);
	size_t (*store)(void *restrict out, const double *restrict in, size_t n);
} types[] = {
    [IMG_NONE] = {0, false, "none", "none", NULL, NULL},
    [IMG_I8] = {1, false, "signed char", "signed char|int8|int8_t", load_i8, store_i8},
    [IMG_U8] = {1, false, "uchar", "uchar|unsigned char|uint8|uint8_t", load_u8, store_u8},
    [IMG_I16] = {2, false, "short", "short|short int|signed short|signed short int|int16|int16_t",
		 load_i16, store_i16},
    [IMG_U16] = {2, false, "ushort", "ushort|unsigned short|unsigned short int|uint16|uint16_t",
		 load_u16, store_u16},
    [IMG_I32] = {4, false, "int", "int|signed int|int32|int32_t", load_i32, store_i32},
    [IMG_U32] = {4, false, "uint", "uint|unsigned int|uint32|uint32_t", load_u32, store_u32},
    [IMG_I64] = {8, false, "int64",
		 "int64|long long|longlong|long long int|signed long long|int64_t", load_i64,
		 store_i64},
    [IMG_U64] = {8, false, "uint64",
		 "uint64|unsigned long long|ulonglong|unsigned long long int|uint64_t", load_u64,
		 store_u64},
    [IMG_F32] = {4, true, "float", "float", load_f32, store_f32},
    [IMG_F64] = {8, true, "double", "double", load_f64, store_f64},
};

size_t
img_type_size(enum img_type type)
{
	return types[type].size;
}

const char *
img_type_name(enum img_type type)
{
	return types[type].name;
}

bool
img_is_float(enum img_type type)
{
	return types[type].floating;
}

enum img_type
img_type_named(const char *word)
{
	for (enum img_type t = IMG_I8; t <= IMG_F64; t++)
		if (word_index(types[t].words, '|', word, strlen(word), strncasecmp) >= 0)
			return t;
	return IMG_NONE;
}

void
sample_load(double *restrict out, const void *restrict in, enum img_type type, size_t n)
{
	types[type].load(out, in, n);
}

size_t
sample_store(void *restrict out, const double *restrict in, enum img_type type, size_t n)
{
	return types[type].store(out, in, n);
}

void
sample_copy(void *restrict to, size_t to_step, const void *restrict from, ptrdiff_t from_step,
	    size_t n, size_t size)
{
#define COPY(TYPE)                     \
	for (size_t i = 0; i < n; i++) \
	((TYPE *)to)[i * to_step] = ((const TYPE *)from)[(ptrdiff_t)i * from_step]
	if (size == 1)
		COPY(uint8_t);
	else if (size == 2)
		COPY(uint16_t);
	else if (size == 4)
		COPY(uint32_t);
	else
		COPY(uint64_t);
#undef COPY
}

#define THRESHOLD(NAME, TYPE)                                                               \
	WEIR_CLONES(threshold_##NAME,                                                       \
		    (uint8_t *restrict to, const TYPE *restrict v, size_t n, double above), \
		    (to, v, n, above))                                                      \
	{                                                                                   \
		if (isnan(above))                                                           \
			for (size_t i = 0; i < n; i++)                                      \
				to[i] = v[i] < 0 || v[i] > 0;                               \
		else                                                                        \
			for (size_t i = 0; i < n; i++)                                      \
				to[i] = (double)v[i] > above;                               \
	}
THRESHOLD(u8, uint8_t)
THRESHOLD(u16, uint16_t)
THRESHOLD(f32, float)
THRESHOLD(f64, double)
#undef THRESHOLD

/* Compares integers of 64 bits, which a double would round, with the greatest integer that is not above `above`. */
#define THRESHOLD_LONG(NAME, TYPE, LEAST, END)                                                   \
	static void NAME(uint8_t *to, const TYPE *v, size_t n, double above)                     \
	{                                                                                        \
		const double t = floor(above);                                                   \
                                                                                                 \
		for (size_t i = 0; i < n; i++)                                                   \
			to[i] = isnan(t) ? v[i] != 0 : t < LEAST || (t < END && v[i] > (TYPE)t); \
	}
THRESHOLD_LONG(threshold_i64, int64_t, -0x1p63, 0x1p63)
THRESHOLD_LONG(threshold_u64, uint64_t, 0, 0x1p64)
#undef THRESHOLD_LONG

void
sample_threshold(uint8_t *restrict chosen, double *restrict work, const void *restrict from,
		 enum img_type type, size_t n, double above)
{
	if (type == IMG_U8) {
		threshold_u8(chosen, from, n, above);
	} else if (type == IMG_U16) {
		threshold_u16(chosen, from, n, above);
	} else if (type == IMG_F32) {
		threshold_f32(chosen, from, n, above);
	} else if (type == IMG_I64) {
		threshold_i64(chosen, from, n, above);
	} else if (type == IMG_U64) {
		threshold_u64(chosen, from, n, above);
	} else {
		sample_load(work, from, type, n);
		threshold_f64(chosen, work, n, above);
	}
}

void
sample_stats_start(struct sample_stats *s)
{
	*s = (struct sample_stats){.lo = INFINITY, .hi = -INFINITY, .unit = 1};
}

/* Eight running results side by side, so that the compiler has independent chains to vectorise. */
enum { LANES = 8 };

WEIR_CLONES(add_finite, (struct sample_stats *restrict s, const double *v, size_t n), (s, v, n))
{
	double lo[LANES], hi[LANES], sum[LANES] = {0};

	for (int k = 0; k < LANES; k++) {
		lo[k] = s->lo;
		hi[k] = s->hi;
	}
	for (size_t i = 0; i + LANES <= n; i += LANES)
		for (int k = 0; k < LANES; k++) {
			const double x = v[i + (size_t)k];
			lo[k] = x < lo[k] ? x : lo[k];
			hi[k] = x > hi[k] ? x : hi[k];
			sum[k] += x;
		}
	for (size_t i = n - n % LANES; i < n; i++) {
		lo[0] = v[i] < lo[0] ? v[i] : lo[0];
		hi[0] = v[i] > hi[0] ? v[i] : hi[0];
		sum[0] += v[i];
	}
	for (int k = 0; k < LANES; k++) {
		s->lo = lo[k] < s->lo ? lo[k] : s->lo;
		s->hi = hi[k] > s->hi ? hi[k] : s->hi;
		s->sum += sum[k];
	}
	s->finite += n;
}

/* x - x is NaN when x is NaN or infinite, and 0 for every other x. */
WEIR_CLONES_OF(bool, all_finite, (const double *v, size_t n), (v, n))
{
	double d = 0;

	for (size_t i = 0; i < n; i++)
		d = v[i] - v[i] == 0 ? d : 1;
	return d == 0;
}

void
sample_stats_add(struct sample_stats *s, const double *v, size_t n)
{
	const double unit = 0x1p64, sum = s->sum / (unit / s->unit);

	if (!(n == 1 ? isfinite(*v) : all_finite(v, n))) {
		for (size_t i = 0; i < n; i++)
			if (isnan(v[i]))
				s->nan++;
			else if (isinf(v[i]))
				s->inf++;
			else
				sample_stats_add(s, v + i, 1);
		return;
	}
	add_finite(s, v, n);
	if (s->unit == 1 && isfinite(s->sum))
		return;
	s->unit = unit; /* the sum has passed the doubles */
	s->sum = sum;
	for (size_t i = 0; i < n; i++)
		s->sum += v[i] / unit;
}

double
sample_mean(const struct sample_stats *s)
{
	const double mean = s->sum / (double)s->finite;

	return s->unit == 1 ? mean : fmin(fmax(mean * s->unit, s->lo), s->hi);
}

/* The sums of a block of at most 65536 samples fit 32 bits. */
#define MEASURE(NAME, TYPE, MOST)                                                               \
	WEIR_CLONES(measure_##NAME, (struct sample_stats *restrict s, const TYPE *v, size_t n), \
		    (s, v, n))                                                                  \
	{                                                                                       \
		TYPE lo = MOST, hi = 0;                                                         \
		uint32_t sum = 0;                                                               \
                                                                                                \
		for (size_t i = 0; i < n; i++) {                                                \
			lo = v[i] < lo ? v[i] : lo;                                             \
			hi = v[i] > hi ? v[i] : hi;                                             \
			sum += v[i];                                                            \
		}                                                                               \
		s->lo = lo < s->lo ? lo : s->lo;                                                \
		s->hi = hi > s->hi ? hi : s->hi;                                                \
		s->sum += sum;                                                                  \
		s->finite += n;                                                                 \
	}
MEASURE(u8, uint8_t, UINT8_MAX)
MEASURE(u16, uint16_t, UINT16_MAX)
#undef MEASURE

void
sample_measure(struct sample_stats *s, const void *in, enum img_type type, size_t n)
{
	enum { BLOCK = 2048 };
	double v[BLOCK];

	for (size_t at = 0, some; at < n; at += some) {
		const char *from = (const char *)in + at * img_type_size(type);
		some = n - at < BLOCK ? n - at : BLOCK;
		if (type == IMG_U8) {
			measure_u8(s, (const uint8_t *)from, some);
		} else if (type == IMG_U16) {
			measure_u16(s, (const uint16_t *)(const void *)from, some);
		} else {
			sample_load(v, from, type, some);
			sample_stats_add(s, v, some);
		}
	}
}

#define SWAP(BITS)                                                              \
	WEIR_CLONES(swap##BITS, (uint##BITS##_t *restrict v, size_t n), (v, n)) \
	{                                                                       \
		for (size_t i = 0; i < n; i++)                                  \
			v[i] = __builtin_bswap##BITS(v[i]);                     \
	}
SWAP(16)
SWAP(32)
SWAP(64)
#undef SWAP

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

#define MAX(BITS)                                                                        \
	WEIR_CLONES_OF(unsigned, max##BITS, (const uint##BITS##_t *v, size_t n), (v, n)) \
	{                                                                                \
		uint##BITS##_t m = 0;                                                    \
                                                                                         \
		for (size_t i = 0; i < n; i++)                                           \
			m = v[i] > m ? v[i] : m;                                         \
		return m;                                                                \
	}
MAX(8)
MAX(16)
#undef MAX

unsigned
sample_max(const void *buf, size_t count, size_t size)
{
	return size == 1 ? max8(buf, count) : max16(buf, count);
}
