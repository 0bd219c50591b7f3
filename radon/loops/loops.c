#include "common/base/cpu.h"
#include "radon/loops/loops.h"

extern const struct radon_loops radon_loops_generic, radon_loops_avx2, radon_loops_avx512;

const struct radon_loops *
radon_loops(void)
{
	return weir_cpu == CPU_AVX512 ? &radon_loops_avx512
	       : weir_cpu == CPU_AVX2 ? &radon_loops_avx2
				      : &radon_loops_generic;
}
