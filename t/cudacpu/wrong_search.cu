/* Where gpu/fft.cu finds cuFFT: libraries that are nothing but a name, in directories made for the purpose. */
#include "gpu/device.h"

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>

#include "gpu/fft.h"
#include "t/cudacpu/dlfcn.h"
#include "t/cudacpu/selftest.h"

namespace
{

/* A variable of the environment that names a directory, or the file, and the place below it. */
struct place {
	const char *variable, *path;
};

constexpr place PLACES[] = {
    {"WEIR_CUFFT", "/anywhere/libcufft.so.12.0.0.61"},
    {"CUDA_HOME", "/lib64/libcufft.so.12"},
    {"CONDA_PREFIX", "/lib/libcufft.so.11"},
    {"VIRTUAL_ENV", "/lib/python3.12/site-packages/nvidia/cu13/lib/libcufft.so.12"},
    {"HOME", "/.local/lib/python3.11/site-packages/nvidia/cufft/lib/libcufft.so.11"}};

/* Whether a plan can be made, so that a library was found. */
bool
finds()
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	const struct gpu_fft f = gpu_fft_lines(GPU_FFT_C2C, false, 4, 1, 1, 4, 1, 4);
	const bool found = g && !gpu_fft_prepare(g, &f);

	gpu_close(g);
	return found;
}

/* Whether a library that lies only there is found, and not with another name in WEIR_CUFFT. */
bool
finds_at(const place &p, const std::string &below)
{
	const std::string file = below + p.path;
	const bool named = !strcmp(p.variable, "WEIR_CUFFT");

	std::filesystem::create_directories(std::filesystem::path(file).parent_path());
	std::ofstream(file).put('\n');
	cudacpu_library_at(file.c_str());
	setenv(p.variable, named ? file.c_str() : below.c_str(), 1);
	const bool found = finds();
	setenv("WEIR_CUFFT", "/nowhere/libcufft.so.12", 1);
	const bool wrongly = finds();
	unsetenv("WEIR_CUFFT");
	unsetenv(p.variable);
	return found && !wrongly;
}

} // namespace

int
wrong_search(void)
{
	const char *const home = getenv("HOME");
	const std::string was = home ? home : "";
	char below[] = "/tmp/cudacpu.XXXXXX";
	int missed = 0;

	if (!mkdtemp(below))
		return -1;
	for (const place &p : PLACES)
		missed += !finds_at(p, below);
	if (home)
		setenv("HOME", was.c_str(), 1);
	cudacpu_library_at("");
	std::filesystem::remove_all(below);
	return missed;
}
