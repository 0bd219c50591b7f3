/*
 * Faults that t/cudacpu is there to find: kernels that are wrong, memory used as it must not be, and what a device refuses. Each is
 * made in a process of its own, so nothing is given back.
 */
extern "C" {
#include "t/cudacpu/selftest.h"
}

#include <stdlib.h>
#include <string>

#include "gpu/device.h"
#include "gpu/fft.h"
#include "t/cudacpu/dlfcn.h"

namespace
{

constexpr unsigned N = 96;

#ifdef __SANITIZE_ADDRESS__
#define TOUCHED "AddressSanitizer"
#else
#define TOUCHED "memory of a device is touched by the host, or beyond its end"
#endif

/* Words of the device in use, zeros. */
unsigned *
take_words(unsigned n)
{
	unsigned *a = nullptr;

	if (cudaMalloc(&a, n * sizeof *a) == cudaSuccess)
		cudaMemsetAsync(a, 0, n * sizeof *a, NULL);
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

/* A lane reads what its neighbour wrote; only __syncwarp() would let it, and no shuffle does. */
__global__ void
hand_on(unsigned *a)
{
	__shared__ unsigned s[32];
	const unsigned t = threadIdx.x;

	s[t] = t;
	a[t] = __shfl_sync(~0u, t, 0) + s[t ^ 1];
}

/* A block leaves a word, and then a flag, for the other one, whichever comes first, and no fence between them. */
__global__ void
leave(unsigned *a)
{
	const unsigned me = blockIdx.x;

	a[me] = 1 + me;
	if (atomicAdd(&a[2], 1u) == 1) {
		__threadfence();
		a[3] = __ldcg(&a[!me]);
	}
}

/*
 * Thread 1 leaves a word, and thread 0 tells other blocks of it. They see the word for sure if thread 0 calls __threadfence() after
 * the barrier, and not if thread 1 does before it. A plain load shows here what they may see.
 */
__global__ void
tell_of(unsigned *a)
{
	if (threadIdx.x == 1) {
		__stcg(&a[1], 1u);
		__threadfence();
	}
	__syncthreads();
	if (threadIdx.x)
		return;
	atomicAdd(&a[2], 1u);
	a[0] = *static_cast<volatile unsigned *>(&a[1]);
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
finds_race(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	run(kernel, grid, block);
	return cudacpu_races() > 0;
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

bool
write_to(void *at)
{
	WEIR_LAUNCH(follow, 1, 1, 0, (cudaStream_t)0, hidden{static_cast<unsigned *>(at)});
	return false;
}

bool
use_freed()
{
	unsigned *const a = take_words(32);

	cudaFree(a);
	return write_to(a);
}

/* The copy waits until somebody does. */
bool
free_early()
{
	unsigned *const a = take_words(1), *b = nullptr;
	cudaStream_t s;

	cudacpu_order(CUDACPU_BACKWARD, 1);
	cudaStreamCreate(&s);
	cudaMallocHost(&b, sizeof *b);
	cudaMemcpyAsync(b, a, sizeof *b, cudaMemcpyDeviceToHost, s);
	cudaFreeHost(b);
	return false;
}

/* --- what a device refuses: a twin that did it would pass here and fail there ---------------------------------------- */

/* What a launch is answered on that device, of two. */
cudaError_t
launch(int device, size_t shared, cudaStream_t s, unsigned *at = nullptr)
{
	cudacpu_devices(2);
	cudaSetDevice(device);
	WEIR_LAUNCH(do_nothing, 1, 1, shared, s, at);
	cudaSetDevice(0);
	return cudaGetLastError();
}

bool
pass_host_pointer()
{
	unsigned here = 0;

	return launch(0, 0, 0, &here);
}

bool
refuses_stream()
{
	cudaStream_t s;

	cudaStreamCreate(&s);
	return launch(1, 0, s) == cudaErrorInvalidResourceHandle;
}

bool
refuses_shared()
{
	constexpr int MUCH = 49 << 10;
	const cudaError_t before = launch(0, MUCH, 0);

	cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, MUCH);
	return before == cudaErrorInvalidValue && launch(0, MUCH, 0) == cudaSuccess &&
	       launch(1, MUCH, 0) == cudaErrorInvalidValue;
}

bool
refuses_copy()
{
	unsigned *const a = take_words(4), b[4] = {}, c[4];

	return cudaMemcpy(a + 1, b, sizeof b, cudaMemcpyHostToDevice) == cudaErrorInvalidValue &&
	       cudaMemcpy(c, a, sizeof c, cudaMemcpyHostToDevice) == cudaErrorInvalidValue;
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
	cudacpu_library_at("/nowhere");
	return ask_for_plan() ==
	       "cannot load libcufft.so.12: there is none; WEIR_CUFFT may name the file";
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
	return !system((std::string("rm -r ") + below).c_str()) && all;
}

} // namespace

const struct cudacpu_fault cudacpu_faults[] = {
    {"a missing barrier shows", "", finds_barrier, false},
    {"a fence before the barrier that others need after it shows", "",
     [] { return cudacpu_races || run(tell_of, 1, 2) != 1; }, false},
    {"a barrier that some threads never reach",
     "threads wait for lanes or at a barrier that others never reach",
     [] { return run(barrier_of_some, 1, N) > 1; }, false},
    {"a machine without cuFFT is told so", "", says_no_cufft, false},
    {"cuFFT is found below CUDA_HOME and in Python's packages, unless WEIR_CUFFT names a file", "",
     finds_cufft, false},
    {"a kernel that overruns a block of memory", TOUCHED,
     [] { return run(write_beyond, 1, 1) > 0; }, false},
    {"a kernel that uses memory after it was freed", TOUCHED, use_freed, false},
    {"pinned memory that is freed before its copy is done",
     "pinned memory is freed before a copy of it is done", free_early, false},
    {"a kernel that is given a pointer to the host's memory",
     "a kernel is given a pointer to memory of the host", pass_host_pointer, false},
    {"a host that touches a device's memory", TOUCHED,
     [] { return *const_cast<volatile unsigned *>(take_words(1)) > 0; }, false},
    {"a launch into another device's stream is refused", "", refuses_stream, false},
    {"a copy past the end, or of the wrong kind, is refused", "", refuses_copy, false},
    {"shared memory above 48 KB must be allowed first, on each device", "", refuses_shared, false},
    {"a kernel that touches the host's memory", "a kernel touches memory of the host",
     [] {
	     unsigned here = 0;
	     return write_to(&here);
     },
     true},
    {"an access that is not aligned", "a kernel's access is not aligned",
     [] { return write_to(reinterpret_cast<char *>(take_words(32)) + 2); }, true},
    {"a shuffle orders nothing", "a race in shared memory",
     [] { return finds_race(hand_on, 1, 32); }, true},
    {"a word and its flag want a fence", "a race in global memory",
     [] { return finds_race(leave, 2, 1); }, true},
    {"two blocks change a word", "a race in global memory",
     [] { return finds_race(count_some, 2, 1); }, true},
    {"shared memory is read before it is written", "shared memory that was not written",
     [] { return finds_race(read_unset, 1, 32); }, true},
    {}};
