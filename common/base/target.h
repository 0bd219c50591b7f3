/*
 * Compiles the functions between TARGET_BEGIN and TARGET_END for one level. The file defines
 *	TARGET	the level, such as "arch=x86-64-v3"; not defined for the generic level
 *	BYTES	the bytes of its registers
 */
#ifndef WEIR_BASE_TARGET_H
#define WEIR_BASE_TARGET_H

#if defined(TARGET) && defined(__x86_64__)
#define VEC_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef __clang__
#define VEC_PUSH(what)	      VEC_PRAGMA(clang attribute push(__attribute__((what)), apply_to = function))
#define VEC_FOR(level, bytes) VEC_PUSH(target(level)) VEC_PUSH(min_vector_width(bytes * 8))
#define TARGET_END	      VEC_PRAGMA(clang attribute pop) VEC_PRAGMA(clang attribute pop)
#else
#define VEC_FOR(level, bytes) VEC_PRAGMA(GCC target(level))
#define TARGET_END
#endif
#define TARGET_BEGIN VEC_FOR(TARGET, BYTES)
#else
#define TARGET_BEGIN
#define TARGET_END
#endif

#endif
