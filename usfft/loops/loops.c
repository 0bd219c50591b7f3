#include "common/base/cpu.h"
#include "usfft/loops/loops.h"

extern const struct loops usfft_f32_generic, usfft_f32_avx2, usfft_f32_avx512;
extern const struct loops usfft_f64_generic, usfft_f64_avx2, usfft_f64_avx512;

static int
widest_registers(void)
{
	return weir_cpu == CPU_AVX512 ? 64 : weir_cpu == CPU_AVX2 ? 32 : 16;
}

const struct loops *
usfft_loops(int registers, bool single)
{
	const int bytes = registers ? registers : widest_registers();

	if (bytes == 64)
		return single ? &usfft_f32_avx512 : &usfft_f64_avx512;
	if (bytes == 32)
		return single ? &usfft_f32_avx2 : &usfft_f64_avx2;
	return single ? &usfft_f32_generic : &usfft_f64_generic;
}
