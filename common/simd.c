#include "common/simd.h"

const char *
simd_level(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl"))
		return "x86-64-v4";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "x86-64-v3";
#endif
	return "baseline";
}
