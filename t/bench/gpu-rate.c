/*
 * What the GPU does at most: what gpu.sh sets the kernels' times against. Of copies within its memory both ways are counted, so a
 * copy of n bytes moves 2 n.
 */
#include <stdio.h>

#include "common/base/die.h"
#include "gpu/gpu.h"

const char *const weir_prog = "gpu-rate";

int
main(void)
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	struct gpu_rates r;

	if (!g) {
		puts(why);
		return 0;
	}
	const int err = gpu_measure(g, (size_t)256 << 20, &r);
	if (err)
		printf("%s: %s\n", gpu_name(g), gpu_why(g));
	else
		printf(
		    "%s: copies within its memory move %.0f GB/s, up %.1f, down %.1f; it does %.1f "
		    "T operations/s in float, %.1f in double\n",
		    gpu_name(g), r.within / 1e9, r.up / 1e9, r.down / 1e9, r.single_ops / 1e12,
		    r.double_ops / 1e12);
	gpu_close(g);
	return err ? 1 : 0;
}
