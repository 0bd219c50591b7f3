/* Faults that t/cudacpu is there to find: kernels that are wrong, memory used as it must not be, and what a device refuses. */
#include "t/cudacpu/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <unistd.h>

#include "gpu/device.h"
#include "gpu/fft.h"
#include "t/cudacpu/dlfcn.h"

namespace
{

constexpr unsigned N = 96, WORDS = 4096;

/* Words of the device in use, zeros. They stay where a function aborts. */
unsigned *
take_words(unsigned n)
{
	unsigned *a = nullptr;

	if (cudaMalloc(&a, n * sizeof *a) == cudaSuccess)
		cudaMemset(a, 0, n * sizeof *a);
	return a;
}

/* Launches a kernel on 32 such words, and returns the first of them. */
unsigned
run(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	unsigned *const a = take_words(32);
	unsigned first = 0;

	WEIR_LAUNCH(kernel, grid, block, 0, (cudaStream_t)0, a);
	cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost);
	cudaFree(a);
	return first;
}

/* --- barriers and races -------------------------------------------------------------------------------------------- */

/* Each thread reads its neighbour's word: the one before it, which is stale when the fibers go backward. */
__global__ void
no_barrier(unsigned *stale)
{
	__shared__ unsigned s[N];
	const unsigned t = threadIdx.x;

	s[t] = 0;
	__syncthreads();
	s[t] = 1;
	if (s[(t + N - 1) % N] != 1)
		atomicAdd(stale, 1u);
}

__global__ void
barrier_of_some(unsigned *a)
{
	if (threadIdx.x % 32 < 16)
		__syncthreads();
	else
		__syncwarp();
	a[0] = 1;
}

/* A lane reads what its neighbour wrote; only __syncwarp() lets it. */
template <bool together>
__global__ void
hand_on(unsigned *a)
{
	__shared__ unsigned s[32];
	const unsigned t = threadIdx.x;

	s[t] = t;
	if (together)
		__syncwarp();
	a[t] = __shfl_sync(~0u, t, 0) + s[t ^ 1];
}

/* A block leaves a word, and then a flag, for the other one, whichever comes first. */
template <bool fenced>
__global__ void
leave(unsigned *a)
{
	const unsigned me = blockIdx.x;

	a[me] = 1 + me;
	if (fenced)
		__threadfence();
	if (atomicAdd(&a[2], 1u) == 1) {
		__threadfence();
		a[3] = __ldcg(&a[!me]);
	}
}

/*
 * Thread 1 leaves a word, and thread 0 tells other blocks of it. They see the word for sure if thread 0 calls __threadfence() after
 * the barrier. A plain load shows here what they may see.
 */
template <bool fenced>
__global__ void
tell_of(unsigned *a)
{
	if (threadIdx.x == 1) {
		__stcg(&a[1], 1u);
		if (!fenced)
			__threadfence();
	}
	__syncthreads();
	if (threadIdx.x)
		return;
	if (fenced)
		__threadfence();
	atomicAdd(&a[2], 1u);
	a[0] = *static_cast<volatile unsigned *>(&a[1]);
}

__global__ void
count_all(unsigned *a)
{
	atomicAdd(a, 1u);
}

__global__ void
count_some(unsigned *a)
{
	a[0]++;
}

__global__ void
read_unset(unsigned *a)
{
	__shared__ volatile unsigned s[32];

	a[threadIdx.x] = s[threadIdx.x];
}

bool
is_racy(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	run(kernel, grid, block);
	return cudacpu_races() > 0;
}

/* In one of the orders of fibers; and as a race. */
bool
finds_barrier()
{
	unsigned stale = 0;

	for (int order : {CUDACPU_FORWARD, CUDACPU_BACKWARD, CUDACPU_SHUFFLED}) {
		cudacpu_order(order, 1);
		stale += run(no_barrier, 1, N);
	}
	return stale > 0 && (!cudacpu_races || cudacpu_races() > 0);
}

bool
finds_fence()
{
	return cudacpu_races || cudacpu_traffic ||
	       (run(tell_of<false>, 1, 2) != 1 && run(tell_of<true>, 1, 2) == 1);
}

void
abort_barrier()
{
	run(barrier_of_some, 1, N);
}

/* Four kernels with a race each, and three as they should be. */
bool
finds_races()
{
	return !cudacpu_races || (is_racy(hand_on<false>, 1, 32) && is_racy(leave<false>, 2, 1) &&
				  is_racy(count_some, 2, 1) && is_racy(read_unset, 1, 32) &&
				  !is_racy(hand_on<true>, 1, 32) && !is_racy(leave<true>, 2, 1) &&
				  !is_racy(count_all, 2, 1));
}

/* --- traffic ------------------------------------------------------------------------------------------------------- */

/* Writes a[t], a sector for 8 lanes: 4 in all. */
template <unsigned stride>
__global__ void
read_strided(unsigned *a)
{
	a[threadIdx.x] = a[WORDS / 2 + stride * threadIdx.x];
}

/* Both warps of a block read the same sectors. */
__global__ void
read_again(unsigned *a)
{
	a[threadIdx.x] = a[WORDS / 2 + threadIdx.x % 32];
}

/* Writes 32 words of as many banks in a turn, and reads them; which of them only the device knows. */
template <unsigned stride>
__global__ void
share(unsigned *a)
{
	__shared__ unsigned s[32 * 32];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	a[threadIdx.x] = reinterpret_cast<volatile unsigned *>(s)[stride * threadIdx.x];
}

/* Each row: a kernel, its threads, and what it asks for, as one counts it by hand. */
bool
counts_traffic()
{
	static const struct {
		void (*run)(unsigned *);
		unsigned threads;
		struct cudacpu_traffic is;
	} rows[] = {{read_strided<1>, 32, {2, 64, 8, 8, 8, 8, 0, 0}},
		    {read_strided<8>, 32, {2, 64, 36, 8, 36, 36, 0, 0}},
		    {read_again, 64, {4, 128, 16, 16, 12, 12, 0, 0}},
		    {count_all, 32, {1, 32, 1, 1, 1, 1, 0, 0}},
		    {share<2>, 32, {3, 96, 4, 4, 4, 4, 3, 2}},
		    {share<32>, 32, {3, 96, 4, 4, 4, 4, 33, 2}}};
	unsigned *const a = cudacpu_traffic ? take_words(WORDS) : nullptr;
	bool right = true;

	if (!a)
		return true;
	cudacpu_traffic();
	for (const auto &row : rows) {
		WEIR_LAUNCH(row.run, 1, row.threads, 0, (cudaStream_t)0, a);
		const struct cudacpu_traffic t = cudacpu_traffic();
		right &= !memcmp(&t, &row.is, sizeof t);
	}
	cudaFree(a);
	return right;
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

__global__ void
do_nothing(unsigned *)
{
}

/* As far beyond 32 words as a block may be from where memory ends. */
__global__ void
write_beyond(unsigned *a)
{
	a[64] = 1;
}

/* Pointers within a structure are not looked at when a kernel is launched. */
struct hidden {
	unsigned *at;
};

__global__ void
follow(hidden h)
{
	*h.at = 1;
}

void
abort_follow(unsigned *at)
{
	WEIR_LAUNCH(follow, 1, 1, 0, (cudaStream_t)0, hidden{at});
}

void
abort_beyond()
{
	run(write_beyond, 1, 1);
}

void
abort_freed()
{
	unsigned *const a = take_words(32);

	cudaFree(a);
	abort_follow(a);
}

/* The copy waits until somebody does. */
void
abort_free()
{
	unsigned *const a = take_words(1), *b = nullptr;
	cudaStream_t s;

	cudacpu_order(CUDACPU_BACKWARD, 1);
	cudaStreamCreate(&s);
	cudaMallocHost(&b, sizeof *b);
	cudaMemcpyAsync(b, a, sizeof *b, cudaMemcpyDeviceToHost, s);
	cudaFreeHost(b);
}

void
abort_host_pointer()
{
	unsigned here = 0;

	WEIR_LAUNCH(do_nothing, 1, 1, 0, (cudaStream_t)0, &here);
}

void
abort_host_touch()
{
	*const_cast<volatile unsigned *>(take_words(1)) = 1;
}

void
abort_hidden_pointer()
{
	unsigned here = 0;

	abort_follow(&here);
}

void
abort_alignment()
{
	char *const a = reinterpret_cast<char *>(take_words(32));

	abort_follow(reinterpret_cast<unsigned *>(a + 2));
}

/* --- what a device refuses: a twin that did it would pass here and fail there ---------------------------------------- */

/* What a launch is answered on that device, of two. */
cudaError_t
launch(int device, size_t shared, cudaStream_t s)
{
	cudaSetDevice(device);
	WEIR_LAUNCH(do_nothing, 1, 1, shared, s, static_cast<unsigned *>(nullptr));
	cudaSetDevice(0);
	return cudaGetLastError();
}

bool
refuses_stream()
{
	cudaStream_t s;

	cudacpu_devices(2);
	cudaStreamCreate(&s);
	const cudaError_t e = launch(1, 0, s);
	cudaStreamDestroy(s);
	cudacpu_devices(1);
	return e == cudaErrorInvalidResourceHandle;
}

bool
refuses_shared()
{
	constexpr int MUCH = 49 << 10;

	cudacpu_devices(2);
	const cudaError_t before = launch(0, MUCH, 0);
	cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, MUCH);
	const cudaError_t after = launch(0, MUCH, 0), other = launch(1, MUCH, 0);
	cudacpu_devices(1);
	return before == cudaErrorInvalidValue && after == cudaSuccess &&
	       other == cudaErrorInvalidValue;
}

bool
refuses_copy()
{
	unsigned *const a = take_words(4), b[4] = {};
	const cudaError_t end = cudaMemcpy(a + 1, b, sizeof b, cudaMemcpyHostToDevice);
	const cudaError_t kind =
	    cudaMemcpy(const_cast<unsigned *>(b), a, sizeof b, cudaMemcpyHostToDevice);

	cudaFree(a);
	return end == cudaErrorInvalidValue && kind == cudaErrorInvalidValue;
}

/* --- where gpu/fft.cu finds cuFFT ------------------------------------------------------------------------------------ */

/* What is said of a plan; "": it was made, so a library was found. */
std::string
ask_for_plan()
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	const struct gpu_fft f = gpu_fft_lines(GPU_FFT_C2C, false, 4, 1, 1, 4, 1, 4);
	const std::string said = !g ? why : gpu_fft_prepare(g, &f) ? gpu_why(g) : "";

	gpu_close(g);
	return said;
}

bool
says_no_cufft()
{
	cudacpu_libraries(0);
	const std::string said = ask_for_plan();
	cudacpu_libraries(1);
	return said == "cannot load libcufft.so.12: there is none; WEIR_CUFFT may name the file";
}

/* A library that is nothing but a name lies below the directory that a variable names, or is that file. */
bool
finds_cufft()
{
	static const struct {
		const char *variable, *path;
	} places[] = {
	    {"WEIR_CUFFT", "/anywhere/libcufft.so.12.0.0.61"},
	    {"CUDA_HOME", "/lib64/libcufft.so.12"},
	    {"CONDA_PREFIX", "/lib/libcufft.so.11"},
	    {"VIRTUAL_ENV", "/lib/python3.12/site-packages/nvidia/cu13/lib/libcufft.so.12"},
	    {"HOME", "/.local/lib/python3.11/site-packages/nvidia/cufft/lib/libcufft.so.11"}};
	const char *const home = getenv("HOME");
	const std::string was = home ? home : "";
	char below[] = "/tmp/cudacpu.XXXXXX";
	bool all = mkdtemp(below);

	for (const auto &p : places) {
		const std::string file = std::string(below) + p.path;
		all &= !system(("install -D /dev/null " + file).c_str());
		cudacpu_library_at(file.c_str());
		setenv(p.variable, !strcmp(p.variable, "WEIR_CUFFT") ? file.c_str() : below, 1);
		all &= ask_for_plan().empty();
		setenv("WEIR_CUFFT", "/nowhere/libcufft.so.12", 1); /* then no other is taken */
		all &= !ask_for_plan().empty();
		unsetenv("WEIR_CUFFT");
		unsetenv(p.variable);
	}
	if (home)
		setenv("HOME", was.c_str(), 1);
	cudacpu_library_at("");
	return !system((std::string("rm -r ") + below).c_str()) && all;
}

} // namespace

const struct cudacpu_fault cudacpu_faults[] = {
    {"cudacpu: a missing barrier shows", finds_barrier, NULL, false},
    {"cudacpu: a fence before the barrier that others need after it shows", finds_fence, NULL,
     false},
    {"cudacpu: a barrier that some threads never reach aborts", NULL, abort_barrier, false},
    {"gpu: a machine without cuFFT is told so", says_no_cufft, NULL, false},
    {"gpu: cuFFT is found below CUDA_HOME and in Python's packages, unless WEIR_CUFFT names a file",
     finds_cufft, NULL, false},
    {"cudacpu: a kernel that overruns a block of memory aborts", NULL, abort_beyond, false},
    {"cudacpu: a kernel that uses memory after it was freed aborts", NULL, abort_freed, false},
    {"cudacpu: pinned memory that is freed before its copy is done aborts", NULL, abort_free,
     false},
    {"cudacpu: a kernel that is given a pointer to the host's memory aborts", NULL,
     abort_host_pointer, false},
    {"cudacpu: a host that touches a device's memory ends", NULL, abort_host_touch, false},
    {"cudacpu: a launch into another device's stream is refused", refuses_stream, NULL, false},
    {"cudacpu: a copy past the end, or of the wrong kind, is refused", refuses_copy, NULL, false},
    {"cudacpu: shared memory above 48 KB must be allowed first, on each device", refuses_shared,
     NULL, false},
    {"cudacpu: a kernel that touches the host's memory aborts", NULL, abort_hidden_pointer, true},
    {"cudacpu: an access that is not aligned aborts", NULL, abort_alignment, true},
    {"cudacpu: races are found, and what __syncwarp(), fences and atomics order is none",
     finds_races, NULL, true},
    {"cudacpu: sectors and turns are those that one counts by hand", counts_traffic, NULL, true},
    {}};
