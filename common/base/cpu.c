#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum cpu_level weir_cpu;
bool weir_halves_stores;

static const char *const names[] = {"generic", "avx2", "avx512"};

const char *
cpu_name(enum cpu_level level)
{
	return names[level];
}

#if defined(__x86_64__)
static enum cpu_level
detect(void)
{
	enum { STATE256 = 0x06, STATE512 = 0xe6 };
	const unsigned one = bit_OSXSAVE | bit_AVX | bit_FMA | bit_MOVBE | bit_F16C | bit_POPCNT |
			     bit_SSE4_2 | bit_CMPXCHG16B,
		       seven = bit_AVX2 | bit_BMI | bit_BMI2,
		       wide =
			   bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL,
		       extended = bit_LZCNT | bit_LAHF_LM;
	unsigned a, b, c, d, state;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & one) != one)
		return CPU_GENERIC;
	/* What the system saves of the CPU's state: 0x06 are the AVX registers, 0xe0 AVX-512's. */
	__asm__("xgetbv" : "=a"(state), "=d"(d) : "c"(0));
	if ((state & STATE256) != STATE256 || !__get_cpuid(0x80000001, &a, &b, &c, &d) ||
	    (c & extended) != extended || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
	    (b & seven) != seven)
		return CPU_GENERIC;
	return (b & wide) == wide && (state & STATE512) == STATE512 ? CPU_AVX512 : CPU_AVX2;
}

/* AMD's family 0x19 is Zen 3 and Zen 4. */
static bool
halves_stores(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || d != signature_AMD_edx ||
	    c != signature_AMD_ecx || !__get_cpuid(1, &a, &b, &c, &d))
		return false;
	return (a >> 8 & 0xf) + (a >> 20 & 0xff) == 0x19;
}
#endif

/* Returns the number of the level with this name, or -1. */
static int
find_level(const char *name)
{
	for (int i = CPU_GENERIC; i <= CPU_AVX512; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

const char *
cpu_misnamed(void)
{
	const char *s = getenv("WEIR_CPU");

	return s && *s && find_level(s) < 0 ? s : NULL;
}

__attribute__((constructor)) static void
choose_level(void)
{
	const char *s = getenv("WEIR_CPU");
	const int most = s ? find_level(s) : -1;

#if defined(__x86_64__)
	weir_cpu = detect();
	weir_halves_stores = halves_stores();
#endif
	if (most >= 0 && most < (int)weir_cpu)
		weir_cpu = (enum cpu_level)most;
}
