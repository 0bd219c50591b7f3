/*
 * How fast the GPU copies within its own memory: what gpu.sh measures kernels against. Both ways are counted, so a copy of n bytes
 * moves 2 n.
 */
#include <stdio.h>

#include "common/die.h"
#include "gpu/gpu.h"

const char *const weir_prog = "gpu-rate";

int
main(void)
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);

	if (!g) {
		puts(why);
		return 0;
	}
	const double rate = gpu_copy_rate(g);
	if (rate > 0)
		printf("%s: copies within its memory move %.0f GB/s\n", gpu_name(g), rate / 1e9);
	else
		printf("%s: %s\n", gpu_name(g), gpu_why(g));
	gpu_close(g);
	return rate > 0 ? 0 : 1;
}
