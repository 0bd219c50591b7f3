/* The kernels against the definitions, in every order of t/cudacpu, or on the GPU. */
#include "t/check_gpu.h"

/* Each reason why no device can be used is one sentence. */
static void
unusable_devices_are_refused(void)
{
	static const struct {
		int version, kernels;
		const char *why;
	} cases[] = {
	    {0, 1, "no GPU: there is no driver"},
	    {12040, 1, "no GPU: the driver is of CUDA 12.4, and CUDA 13.0 needs a newer one"},
	    {13000, 0,
	     "cudacpu has compute capability 7.5, and this program was built for others"}};
	static const char name[] = "gpu: a driver or a device that cannot be used is refused";
	struct check_many m = {0};
	char why[GPU_WHY];

	if (!cudacpu_driver) {
		check_skip(name, "the driver is what it is");
		return;
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cudacpu_driver(cases[i].version, cases[i].kernels);
		struct gpu *g = gpu_open("", why);
		check_case(&m, !g && !strcmp(why, cases[i].why), "%s", g ? "taken" : why);
		gpu_close(g);
		cudacpu_driver(13000, 1);
	}
	check_end(&m, name);
}

/* --gpu=auto: what is open is taken, and what cannot be opened refuses nothing. */
static void
devices_take_over(void)
{
	static const char name[] =
	    "gpu: the CPU computes until a device is open, and where there is none";
	struct check_many m = {0};
	char why[GPU_WHY];

	for (int n = cudacpu_devices ? 0 : 1; n < 2; n++) {
		if (cudacpu_devices)
			cudacpu_devices(n);
		struct gpu *g = gpu_start("", NULL);
		gpu_enter(g); /* waits until it is known */
		struct gpu *const now = gpu_now(g), *const any = gpu_open("", why);
		check_case(&m, now == (any ? g : NULL), "%d devices: %s", n, any ? "" : why);
		gpu_close(any);
		gpu_close(g);
	}
	check_end(&m, name);
}

bool check_large;
struct gpu *gpu_on;

void
check_on_devices(const char *name, void (*cases)(struct gpu *one, struct check_many *m))
{
	static const char *const lists[] = {"0,1", "2,0,1"};
	struct gpu *const before = gpu_on;
	char why[GPU_WHY], text[160];

	if (cudacpu_devices)
		cudacpu_devices(3);
	for (size_t i = check_large; i < sizeof lists / sizeof *lists; i++) {
		struct gpu *one = gpu_open("", why);
		struct check_many m = {0};
		snprintf(text, sizeof text, "%s, on devices %s", name, lists[i]);
		gpu_on = one ? gpu_open(lists[i], why) : NULL;
		if (gpu_on) {
			cases(one, &m);
			check_end(&m, text);
		} else {
			check_skip(text, why);
		}
		gpu_close(gpu_on);
		gpu_close(one);
	}
	gpu_on = before;
	if (cudacpu_devices)
		cudacpu_devices(1);
}

/* grows: launches have another shape on a device that has more multiprocessors or more shared memory. */
static const struct {
	const char *name;
	void (*run)(void);
	bool grows;
} twins[] = {{"gpu/morphrec", check_gpu_morphrec, true},
	     {"gpu/emst", check_gpu_emst, true},
	     {"gpu/wconv", check_gpu_wconv, false},
	     {"gpu/wconv-adjoint", check_gpu_wconv_adjoint, false},
	     {"gpu/wconv-restore", check_gpu_wconv_restore, false},
	     {"gpu/usfft", check_gpu_usfft, true},
	     {"gpu/radon", check_gpu_radon, false},
	     {"gpu/dptrace", check_gpu_dptrace, true}};

static void
check_twins(void)
{
	for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
		char why[GPU_WHY];
		if (check_large && !twins[i].grows)
			continue;
		gpu_on = check_wanted(twins[i].name) ? gpu_open("", why) : NULL;
		if (gpu_on)
			twins[i].run();
		else if (check_wanted(twins[i].name))
			check_skip(twins[i].name, why);
		check_order(0);
		gpu_close(gpu_on);
	}
}

/* Once more with the shapes that kernels have on a device of 132 multiprocessors and 227 KB of shared memory a block. */
static void
check_twins_large(void)
{
	cudacpu_large(1);
	check_large = true;
	check_where(", on a large device");
	check_twins();
	check_where("");
	check_large = false;
	cudacpu_large(0);
}

void
check_gpu(void)
{
	check_twins();
	if (cudacpu_large && !cudacpu_races)
		check_twins_large();
	if (cudacpu_races)
		check(cudacpu_races() == 0, "gpu: the kernels have no races", "see above");
	unusable_devices_are_refused();
	devices_take_over();
}
