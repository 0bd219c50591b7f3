/*
 * One binary is fast on every CPU. weir_cpu is the level that the CPU and the system grant: a level is granted only when
 * every feature that its -march implies is there. WEIR_CPU=generic or WEIR_CPU=avx2 in the environment lowers it.
 *
 * There are two ways to use it.
 *   WEIR_CLONES compiles a leaf, a function over one row or block, once for each level:
 *
 *	WEIR_CLONES(scale, (float *x, size_t n, float by), (x, n, by))
 *	{
 *		for (size_t i = 0; i < n; i++)
 *			x[i] *= by;
 *	}
 *
 *   This defines `static void scale(float *x, size_t n, float by)`. WEIR_CLONES_OF(type, ...) defines a leaf that returns a
 *   value. What the leaf calls must be inlined into it. The OpenMP pragma sits in its caller. (GCC's target_clones chooses
 *   before the environment can be read, and crashes under ThreadSanitizer; clang 14's chooses the slowest level on every
 *   CPU.)
 *
 *   Where the width of a vector shapes the layout, a file is compiled once for each level: common/base/simd.h.
 *
 * On other architectures, and when MARCH lets the compiler use AVX everywhere, WEIR_CLONES compiles its leaf once.
 */
#ifndef WEIR_BASE_CPU_H
#define WEIR_BASE_CPU_H

#include <stdbool.h>

/* Payloads are written and tiles are packed in little-endian order. Nobody has tested weir on a big-endian machine. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "weir needs a little-endian machine"
#endif

enum cpu_level {
	CPU_GENERIC,
	CPU_AVX2,  /* x86-64-v3: AVX2, FMA, BMI1, BMI2, LZCNT, MOVBE, F16C */
	CPU_AVX512 /* x86-64-v4: also AVX-512 F, BW, CD, DQ, VL */
};

/* It is set before main() and never changes. */
extern enum cpu_level weir_cpu;

/* Whether the CPU writes a register of 64 bytes to its cache in two halves, as Zen 4 does. It is set with weir_cpu. */
extern bool weir_halves_stores;

/* Returns "generic", "avx2" or "avx512", the names that WEIR_CPU takes. */
const char *cpu_name(enum cpu_level level);

/* Returns the value of WEIR_CPU when it names no level, and NULL otherwise. Such a value does not change weir_cpu. */
const char *cpu_misnamed(void);

#define CPU_INLINE static inline __attribute__((always_inline))

/* The levels as lists of instructions: arch= does not go with a -march= of conda or Spack, whose tuning is another. */
#define CPU_V3 "avx2,fma,bmi,bmi2,lzcnt,movbe,f16c"
#define CPU_V4 "avx2,fma,bmi,bmi2,lzcnt,movbe,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"

#if defined(__x86_64__) && !defined(__AVX__)
#define CPU_CLONES(give, type, name, params, args)                        \
	CPU_INLINE type name##_leaf params;                               \
	CPU_CLONE(give, type, name, generic, noinline, params, args)      \
	CPU_CLONE(give, type, name, avx2, target(CPU_V3), params, args)   \
	CPU_CLONE(give, type, name, avx512, target(CPU_V4), params, args) \
	static inline type name params                                    \
	{                                                                 \
		if (weir_cpu == CPU_AVX512)                               \
			give name##_avx512 args;                          \
		else if (weir_cpu == CPU_AVX2)                            \
			give name##_avx2 args;                            \
		else                                                      \
			give name##_generic args;                         \
	}                                                                 \
	CPU_INLINE type name##_leaf params
#define CPU_CLONE(give, type, name, level, how, params, args)  \
	__attribute__((how)) static type name##_##level params \
	{                                                      \
		give name##_leaf args;                         \
	}
#else
#define CPU_CLONES(give, type, name, params, args) static type name params
#endif

#define WEIR_CLONES(name, params, args)		 CPU_CLONES(, void, name, params, args)
#define WEIR_CLONES_OF(type, name, params, args) CPU_CLONES(return, type, name, params, args)

#endif
