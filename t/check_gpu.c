/* The kernels against the definitions, in every order of t/cudacpu, or on the GPU. */
#include "t/check.h"
#include "t/check_gpu.h"

void
check_gpu(void)
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);

	if (!g) {
		check_skip("gpu", why);
		return;
	}
	check_gpu_morphrec(g);
	check_gpu_emst(g);
	check_gpu_wconv(g);
	check_gpu_dptrace(g);
	check_order(0);
	gpu_close(g);
	check(!gpu_open("7x", why), "gpu: what is no number of a device is refused",
	      "it was taken");
}
