#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/sample.h"

#define LOAD(NAME, TYPE)                                                                    \
	WEIR_CLONES(load_##NAME, (double *restrict out, const TYPE *restrict in, size_t n), \
		    (out, in, n))                                                           \
	{                                                                                   \
		for (size_t i = 0; i < n; i++)                                              \
			out[i] = (double)in[i];                                             \
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

void
sample_load(double *restrict out, const void *restrict in, enum img_type type, size_t n)
{
	switch (type) {
	case IMG_I8:
		load_i8(out, in, n);
		break;
	case IMG_U8:
		load_u8(out, in, n);
		break;
	case IMG_I16:
		load_i16(out, in, n);
		break;
	case IMG_U16:
		load_u16(out, in, n);
		break;
	case IMG_I32:
		load_i32(out, in, n);
		break;
	case IMG_U32:
		load_u32(out, in, n);
		break;
	case IMG_I64:
		load_i64(out, in, n);
		break;
	case IMG_U64:
		load_u64(out, in, n);
		break;
	case IMG_F32:
		load_f32(out, in, n);
		break;
	case IMG_F64:
		load_f64(out, in, n);
		break;
	case IMG_NONE:
	default:
		memset(out, 0, n * sizeof *out);
	}
}

/* NaN compares false, so it is refused. END is the first double above the range; 2^63 and 2^64 are exact as doubles. */
#define STORE(NAME, TYPE, LO, END)                                                          \
	static size_t store_##NAME(TYPE *restrict out, const double *restrict in, size_t n) \
	{                                                                                   \
		for (size_t i = 0; i < n; i++) {                                            \
			if (!(in[i] >= (LO) && in[i] < (END) && in[i] == trunc(in[i])))     \
				return i;                                                   \
			out[i] = (TYPE)in[i];                                               \
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

static size_t
store_f32(float *restrict out, const double *restrict in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		out[i] = (float)in[i];
		if (isinf(out[i]) && !isinf(in[i]))
			return i;
	}
	return n;
}

size_t
sample_store(void *restrict out, const double *restrict in, enum img_type type, size_t n)
{
	switch (type) {
	case IMG_I8:
		return store_i8(out, in, n);
	case IMG_U8:
		return store_u8(out, in, n);
	case IMG_I16:
		return store_i16(out, in, n);
	case IMG_U16:
		return store_u16(out, in, n);
	case IMG_I32:
		return store_i32(out, in, n);
	case IMG_U32:
		return store_u32(out, in, n);
	case IMG_I64:
		return store_i64(out, in, n);
	case IMG_U64:
		return store_u64(out, in, n);
	case IMG_F32:
		return store_f32(out, in, n);
	case IMG_F64:
		memcpy(out, in, n * sizeof *in);
		break;
	case IMG_NONE:
		break;
	}
	return n;
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
	} else {
		sample_load(work, from, type, n);
		threshold_f64(chosen, work, n, above);
	}
}

void
sample_stats_start(struct sample_stats *s)
{
	*s = (struct sample_stats){.lo = INFINITY, .hi = -INFINITY};
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
	if (all_finite(v, n)) {
		add_finite(s, v, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (isnan(v[i]))
			s->nan++;
		else if (isinf(v[i]))
			s->inf++;
		else
			add_finite(s, v + i, 1);
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
