/* The kernels against the definitions, in every order of t/cudacpu, or on the GPU. */
#include <string.h>

#include "t/check.h"
#include "t/check_gpu.h"

static void
lists_are_read_whole(void)
{
	static const char *const wrong[] = {"7x", "x", "0,", ",0", "0,,0", "0,0", "-1", "99", "0 "};
	struct check_many m = {0};
	char why[GPU_WHY];

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct gpu *g = gpu_open(wrong[i], why);
		check_case(&m, !g && strstr(why, wrong[i]), "'%s': %s", wrong[i],
			   g ? "taken" : why);
		gpu_close(g);
	}
	check_end(&m, "gpu: what is no list of devices is refused");
}

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
	check_gpu_usfft(g);
	check_gpu_radon(g);
	check_gpu_dptrace(g);
	check_order(0);
	gpu_close(g);
	lists_are_read_whole();
}
