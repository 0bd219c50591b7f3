/* The kernels against the definitions, in every order of t/cudacpu, or on the GPU. */
#include <stdio.h>
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
check_on_devices(const char *name,
		 void (*cases)(struct gpu *one, struct gpu *several, struct check_many *m))
{
	static const char *const lists[] = {"0,1", "2,0,1"};
	char why[GPU_WHY], text[160];

	if (cudacpu_devices)
		cudacpu_devices(3);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct gpu *one = gpu_open("", why),
			   *several = one ? gpu_open(lists[i], why) : NULL;
		struct check_many m = {0};
		snprintf(text, sizeof text, "%s, on devices %s", name, lists[i]);
		if (several)
			cases(one, several, &m);
		if (several)
			check_end(&m, text);
		else
			check_skip(text, why);
		gpu_close(several);
		gpu_close(one);
	}
	if (cudacpu_devices)
		cudacpu_devices(1);
}

static const struct {
	const char *name;
	void (*run)(struct gpu *g);
} twins[] = {{"gpu/morphrec", check_gpu_morphrec},
	     {"gpu/emst", check_gpu_emst},
	     {"gpu/wconv", check_gpu_wconv},
	     {"gpu/wconv-adjoint", check_gpu_wconv_adjoint},
	     {"gpu/wconv-restore", check_gpu_wconv_restore},
	     {"gpu/usfft", check_gpu_usfft},
	     {"gpu/radon", check_gpu_radon},
	     {"gpu/dptrace", check_gpu_dptrace}};

void
check_gpu(void)
{
	for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
		char why[GPU_WHY];
		struct gpu *g = check_wanted(twins[i].name) ? gpu_open("", why) : NULL;
		if (g)
			twins[i].run(g);
		else if (check_wanted(twins[i].name))
			check_skip(twins[i].name, why);
		check_order(0);
		gpu_close(g);
	}
	lists_are_read_whole();
}
