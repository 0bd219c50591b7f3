/*
 * Loops whose layout depends on the width of a vector are compiled once for each level of the CPU and each precision. The
 * first line of such a file, which is called NAME_simd.c, is a comment of what it is compiled for:
 *
 *	variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512
 *
 * The Makefile compiles it once for each, with -DVARIANT=f32_avx2 -DFOR_f32 -DFOR_avx2. This header defines from these
 *	REAL, SAMPLE	float and 4, or double and 8 for f64
 *	BYTES		the bytes of a register: 16, 32 for avx2, 64 for avx512
 *	SIMD_NAME(a)	the name of what this variant exports, such as a_f32_avx2
 * Functions between TARGET_BEGIN and TARGET_END may use the level's instructions. Another file lists what the variants export,
 * one table of functions each, and the plan chooses one by weir_cpu.
 */
#ifndef WEIR_BASE_SIMD_H
#define WEIR_BASE_SIMD_H

#include "common/base/cpu.h"

#ifndef VARIANT
#error "the file is compiled for the variants that its first line names"
#endif

#define SIMD_CAT2(a, b) a##_##b
#define SIMD_CAT(a, b)	SIMD_CAT2(a, b)
#define SIMD_NAME(a)	SIMD_CAT(a, VARIANT)

#ifdef FOR_f64
#define REAL   double
#define SAMPLE 8
#else
#define REAL   float
#define SAMPLE 4
#endif

#if defined(FOR_avx512)
#define BYTES  64
#define TARGET CPU_V4
#elif defined(FOR_avx2)
#define BYTES  32
#define TARGET CPU_V3
#else
#define BYTES 16
#endif

#if defined(TARGET) && defined(__x86_64__)
#define SIMD_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef __clang__
#define SIMD_PUSH(what) \
	SIMD_PRAGMA(clang attribute push(__attribute__((what)), apply_to = function))
#define SIMD_FOR(level, bytes) SIMD_PUSH(target(level)) SIMD_PUSH(min_vector_width(bytes * 8))
#define TARGET_END	       SIMD_PRAGMA(clang attribute pop) SIMD_PRAGMA(clang attribute pop)
#else
#define SIMD_FOR(level, bytes) SIMD_PRAGMA(GCC push_options) SIMD_PRAGMA(GCC target(level))
#define TARGET_END	       SIMD_PRAGMA(GCC pop_options)
#endif
#define TARGET_BEGIN SIMD_FOR(TARGET, BYTES)
#else
#define TARGET_BEGIN
#define TARGET_END
#endif

#endif
