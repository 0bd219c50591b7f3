/*
 * What the twins in gpu/ rely on, with results that one can compute by hand: proof that t/cudacpu means the same as CUDA, since on
 * a machine with a GPU these run there.
 */
extern "C" {
#include "t/cudacpu/selftest.h"
}

#include <vector>

#include "gpu/device.h"
#include "gpu/fft.h"

namespace
{

/* Runs the kernel of one block on n zeros, and brings them back; empty: that failed. */
std::vector<unsigned>
run(void (*kernel)(unsigned *), unsigned threads, size_t shared, size_t n)
{
	const size_t bytes = n * sizeof(unsigned);
	std::vector<unsigned> host(n);
	unsigned *a = nullptr;

	bool ok = cudaMalloc(&a, bytes) == cudaSuccess &&
		  cudaMemsetAsync(a, 0, bytes, NULL) == cudaSuccess;
	if (ok)
		WEIR_LAUNCH(kernel, 1, threads, shared, (cudaStream_t)0, a);
	ok = ok && cudaGetLastError() == cudaSuccess &&
	     cudaMemcpy(host.data(), a, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
	cudaFree(a);
	return ok ? host : std::vector<unsigned>();
}

/* How many of n results are not want(i); -1: there are none. */
template <class F>
int
count_wrong(const std::vector<unsigned> &got, F want)
{
	int wrong = got.empty() ? -1 : 0;

	for (size_t i = 0; i < got.size(); i++)
		wrong += got[i] != want((unsigned)i);
	return wrong;
}

/* A device that is open as long as its scope lasts, and arrays on it. */
struct device {
	char why[GPU_WHY];
	struct gpu *g;

	explicit device(const char *list = "") : g(gpu_open(list, why))
	{
	}
	~device()
	{
		gpu_close(g);
	}
	template <class T>
	T *
	hold(int slot, size_t n) const
	{
		void *at;
		return gpu_hold(g, slot, n * sizeof(T), &at) ? NULL : static_cast<T *>(at);
	}
};

/* --- threads of a block -------------------------------------------------------------------------------------------- */

constexpr unsigned SIZE = 192, ROUNDS = 4;

__global__ void
reverse(unsigned *a)
{
	WEIR_SHARED(unsigned, s);
	const unsigned t = threadIdx.x;

	for (unsigned round = 0; round < ROUNDS; round++) {
		s[t] = 1000 * round + t;
		__syncthreads();
		a[SIZE * round + t] = s[SIZE - 1 - t];
		__syncthreads();
	}
}

/* A warp writes, another reads a round later: they meet at different places. */
__global__ void
hand_to_warp(unsigned *a)
{
	__shared__ unsigned s[2][32];
	const unsigned lane = threadIdx.x % 32;

	if (threadIdx.x < 32) {
		for (unsigned round = 0; round < ROUNDS; round++) {
			s[round % 2][lane] = 100 * round + lane;
			__barrier_sync_count(1, 64);
		}
		return;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		__barrier_sync_count(1, 64);
		a[32 * round + lane] = s[round % 2][31 - lane];
	}
}

int
test_barrier()
{
	const int all = count_wrong(run(reverse, SIZE, SIZE * 4, ROUNDS * SIZE), [](unsigned i) {
		return 1000 * (i / SIZE) + SIZE - 1 - i % SIZE;
	});
	const int named = count_wrong(run(hand_to_warp, 64, 0, ROUNDS * 32),
				      [](unsigned i) { return 100 * (i / 32) + 31 - i % 32; });

	return all < 0 || named < 0 ? -1 : all + named;
}

constexpr unsigned MEETINGS = 10;

__global__ void
meet(unsigned *a)
{
	const unsigned t = threadIdx.x, v = 100 + t;
	unsigned *const out = a + MEETINGS * t;

	out[0] = __shfl_up_sync(~0u, v, 1);
	out[1] = __shfl_down_sync(~0u, v, 3, 8);
	out[2] = __shfl_xor_sync(~0u, v, 5);
	out[3] = __shfl_sync(~0u, v, 7);
	out[4] = (unsigned)(__shfl_xor_sync(~0u, (unsigned long long)t << 40, 1) >> 40);
	out[5] = (unsigned)(2 * __shfl_down_sync(~0u, t + .5, 2));
	if (t % 32 < 16) /* a part of the warp by itself */
		out[6] = __shfl_sync(0xffffu, v, 15);
	__syncwarp();
	out[7] = __ballot_sync(~0u, t % 3 == 0);
	out[8] = __syncthreads_or(t == 40) != 0;
	out[9] = __any_sync(~0u, t == 40) != 0;
}

int
test_meetings()
{
	return count_wrong(run(meet, 64, 0, MEETINGS * 64), [](unsigned i) {
		const unsigned t = i / MEETINGS, lane = t % 32, base = t - lane;
		const unsigned want[MEETINGS] = {100 + (lane ? t - 1 : t),
						 100 + (t % 8 + 3 < 8 ? t + 3 : t),
						 100 + (t ^ 5),
						 100 + base + 7,
						 t ^ 1,
						 2 * (lane + 2 < 32 ? t + 2 : t) + 1,
						 lane < 16 ? 100 + base + 15 : 0,
						 t < 32 ? 0x49249249u : 0x92492492u,
						 1,
						 t >= 32};
		return want[i % MEETINGS];
	});
}

/* --- copies beside runs: sizes around a chunk, items one after another, by two pairs of buffers --------------------- */

constexpr size_t MOST = 2 * GPU_CHUNK + 3, LONG = (size_t)24 << 20, ITEMS = 7;
constexpr size_t sizes[ITEMS] = {1, GPU_CHUNK, 1000, MOST, 77, GPU_CHUNK - 1, GPU_CHUNK + 5};

typedef std::vector<unsigned char> bytes;

__global__ void
add_one(unsigned char *a, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
	     i += (size_t)gridDim.x * blockDim.x)
		a[i]++;
}

/* An item is fresh in `in`; its result is its bytes and 1. */
int
run_item(struct gpu *g, const bytes &in, bytes *out, size_t n, bool later)
{
	void *at;
	int err;

	if ((err = gpu_hold(g, 0, n, &at)) || (err = gpu_up(g, at, in.data(), n)) ||
	    (err = gpu_begin(g)))
		return err;
	GPU_LAUNCH(g, add_one, 8, 64, 0, static_cast<unsigned char *>(at), n);
	if ((err = gpu_end(g)))
		return err;
	const gpu_result r = {out->data(), at, n};
	return later ? gpu_later(g, &r, 1) : gpu_down(g, out->data(), at, n);
}

unsigned char
byte_of(size_t item, size_t i)
{
	return (unsigned char)(i * 7 + i / 251 + 31 * item);
}

/* Waits for item k; how many of its bytes are wrong. */
int
look(struct gpu *g, const bytes &out, size_t k)
{
	int wrong = gpu_settle(g, out.data(), sizes[k]) ? -1 : 0;

	for (size_t i = 0; i < sizes[k] && wrong >= 0; i++)
		wrong += out[i] != (unsigned char)(byte_of(k, i) + 1);
	return wrong;
}

/* Item k + 1 is filled and told before item k runs; item k - 1 is looked at after item k has run. */
int
run_items(struct gpu *g, bytes in[2], bytes out[2], bool overlap)
{
	int wrong = 0;

	for (size_t k = 0; k <= ITEMS && wrong == 0; k++) {
		for (size_t i = 0; k < ITEMS && i < sizes[k]; i++)
			in[k % 2][i] = byte_of(k, i);
		const gpu_span next = {in[k % 2].data(), k < ITEMS ? sizes[k] : 0};
		if (overlap && k && k < ITEMS)
			gpu_ahead(g, &next, 1);
		if (k && run_item(g, in[(k - 1) % 2], &out[(k - 1) % 2], sizes[k - 1], overlap))
			return -1;
		if (k > 1)
			wrong = look(g, out[k % 2], k - 2);
	}
	return wrong ? wrong : look(g, out[(ITEMS - 1) % 2], ITEMS - 1);
}

/* The room of a device, asked for again and again while blocks for copies beside runs grow: no more than there was at first. */
int
test_room()
{
	constexpr size_t OFTEN = 500, STEP = (size_t)1 << 20;
	const bytes b(LONG);
	const device d;
	size_t most = 0, room;
	int wrong = d.g ? gpu_room(d.g, &most) : -1;

	for (size_t n = STEP; n <= LONG && wrong >= 0; n += STEP) {
		const gpu_span next = {b.data(), n};
		gpu_ahead(d.g, &next, 1);
		for (size_t i = 0; i < OFTEN && wrong >= 0; i++)
			wrong = gpu_room(d.g, &room) ? -1 : wrong + (room > most);
		gpu_ahead(d.g, NULL, 0);
	}
	return wrong;
}

/*
 * A thread that writes results looks at them while the devices are at their next run; here it is the thread of one, which begins
 * with the byte that arrives last.
 */
int
test_settle()
{
	const bytes in(LONG);
	bytes out[] = {bytes(LONG), bytes(LONG)}; /* of each device */
	int wrong = 0;

	if (cudacpu_devices)
		cudacpu_devices(2);
	{
		const device d("0,1"); /* NULL: there is one */
		const auto run = [&](struct gpu *g, size_t i) {
			return run_item(g, in, &out[i], LONG, true);
		};
		const auto look = [&](struct gpu *, size_t i) {
			for (size_t k = i ? 0 : 2; k--;) {
				if (gpu_settle(d.g, out[k].data(), LONG))
					return -1;
				for (size_t at = LONG; at--;)
					wrong += out[k][at] != 1;
			}
			return 0;
		};
		if (d.g && (gpu_each(d.g, run) || gpu_each(d.g, look)))
			wrong = -1;
	}
	if (cudacpu_devices)
		cudacpu_devices(1);
	return wrong;
}

/* --- plans ---------------------------------------------------------------------------------------------------------- */

/* An event after gpu_begin() lies before what gpu_end() measures from if a plan was made between; else behind it. */
int
test_plan()
{
	const struct gpu_fft f = gpu_fft_lines(GPU_FFT_C2C, false, 8, 1, 1, 8, 1, 8);
	const device d;
	cudaEvent_t begun = NULL;
	float ms[2] = {};
	float *const x = d.g ? d.hold<float>(0, 8 * 2) : NULL;
	bool ok = x && cudaEventCreate(&begun) == cudaSuccess;

	for (int i = 0; i < 2; i++)
		ok = ok && !gpu_begin(d.g) &&
		     cudaEventRecord(begun, d.g->stream[0]) == cudaSuccess &&
		     !gpu_fft(d.g, &f, 1, x, x) && !gpu_end(d.g) &&
		     cudaEventElapsedTime(&ms[i], begun, d.g->from) == cudaSuccess;
	if (begun)
		cudaEventDestroy(begun);
	return ok ? !(ms[0] > 0) + !(ms[1] <= 0) : -1;
}

} // namespace

int
selftest_copies(void)
{
	bytes in[] = {bytes(MOST), bytes(MOST)}, out[] = {bytes(MOST), bytes(MOST)};
	const device d;
	int wrong = d.g ? run_items(d.g, in, out, false) : -1;

	for (int round = 0; round < 2 && wrong == 0; round++)
		wrong = run_items(d.g, in, out, true);
	return wrong;
}

const struct cudacpu_selftest cudacpu_selftests[] = {
    {"a barrier, named or not, orders shared memory, static and dynamic", test_barrier, false},
    {"shuffles and votes bring what is meant, in groups and parts of a warp too", test_meetings,
     false},
    {"gpu/copy.cu: items go up and come down beside the run of others", selftest_copies, false},
    {"gpu/copy.cu: results of all devices have arrived, while their next run goes on too",
     test_settle, false},
    {"gpu/copy.cu: memory that is taken for the next item counts once as room", test_room, true},
    {"the time of kernels stands still while a plan is made", test_plan, false},
    {}};
