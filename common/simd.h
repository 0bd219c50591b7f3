/*
 * Fast on every CPU from one binary. WEIR_CLONES before a static leaf function makes the compiler emit it for x86-64-v4
 * (AVX-512), x86-64-v3 (AVX2, FMA) and the baseline, and choose when the program starts. The leaf does one row or one
 * block; the parallel pragma sits in its caller, since clang clones no OpenMP bodies. Empty off x86 and under
 * ThreadSanitizer, whose runtime is not up yet when the choice is made.
 */
#ifndef WEIR_SIMD_H
#define WEIR_SIMD_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR_NO_CLONES
#endif
#endif

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(WEIR_NO_CLONES) && \
    !defined(__SANITIZE_THREAD__)
#define WEIR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WEIR_CLONES
#endif

/* The level that clones run at on this CPU: "x86-64-v4", "x86-64-v3" or "baseline". */
const char *simd_level(void);

#endif
