/* Streams, events and graphs: data that one stream hands to another, through pinned memory that is filled again and again. */
#include "gpu/device.h"
#include "t/cudacpu/selftest.h"

namespace
{

constexpr unsigned N = 64, ROUNDS = 5;

/* One stream brings numbers from pinned memory to a; the other one keeps them in b. */
struct rig {
	cudaStream_t up, keep;
	cudaEvent_t arrived, kept;
	unsigned *pinned, *a, *b;
};

bool
make(rig *r)
{
	return cudaStreamCreate(&r->up) == cudaSuccess &&
	       cudaStreamCreate(&r->keep) == cudaSuccess &&
	       cudaEventCreate(&r->arrived) == cudaSuccess &&
	       cudaEventCreate(&r->kept) == cudaSuccess &&
	       cudaMallocHost(&r->pinned, N * sizeof *r->pinned) == cudaSuccess &&
	       cudaMalloc(&r->a, N * sizeof *r->a) == cudaSuccess &&
	       cudaMalloc(&r->b, ROUNDS * N * sizeof *r->b) == cudaSuccess;
}

void
drop(const rig *r)
{
	cudaStreamDestroy(r->up);
	cudaStreamDestroy(r->keep);
	cudaEventDestroy(r->arrived);
	cudaEventDestroy(r->kept);
	cudaFreeHost(r->pinned);
	cudaFree(r->a);
	cudaFree(r->b);
}

void
hand_over(const rig *r, unsigned round, unsigned waits)
{
	const size_t bytes = N * sizeof(unsigned);

	if (waits & SELFTEST_REFILL)
		cudaStreamSynchronize(r->up);
	for (unsigned i = 0; i < N; i++)
		r->pinned[i] = 1000 * round + i;
	if (round && waits & SELFTEST_KEPT)
		cudaStreamWaitEvent(r->up, r->kept, 0);
	cudaMemcpyAsync(r->a, r->pinned, bytes, cudaMemcpyHostToDevice, r->up);
	cudaEventRecord(r->arrived, r->up);
	if (waits & SELFTEST_ARRIVED)
		cudaStreamWaitEvent(r->keep, r->arrived, 0);
	cudaMemcpyAsync(r->b + round * N, r->a, bytes, cudaMemcpyDeviceToDevice, r->keep);
	cudaEventRecord(r->kept, r->keep);
}

__global__ void
add_index(unsigned *a)
{
	a[threadIdx.x] += threadIdx.x;
}

/* A graph that adds the index to each number, launched several times. */
bool
run_graph(const rig *r)
{
	cudaGraph_t graph = nullptr;
	cudaGraphExec_t run = nullptr;

	cudaMemsetAsync(r->a, 0, N * sizeof *r->a, r->keep);
	if (cudaStreamBeginCapture(r->keep, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
		return false;
	WEIR_LAUNCH(add_index, 1, N, 0, r->keep, r->a);
	bool ok = cudaStreamEndCapture(r->keep, &graph) == cudaSuccess &&
		  cudaGraphInstantiate(&run, graph, 0) == cudaSuccess;
	for (unsigned i = 0; i < ROUNDS && ok; i++)
		ok = cudaGraphLaunch(run, r->keep) == cudaSuccess;
	ok = ok && cudaStreamSynchronize(r->keep) == cudaSuccess;
	cudaGraphExecDestroy(run);
	cudaGraphDestroy(graph);
	return ok;
}

} // namespace

extern "C" int
selftest_waits(unsigned waits)
{
	unsigned got[ROUNDS * N];
	int wrong = 0;
	rig r = {};

	if (!make(&r))
		return -1;
	for (unsigned round = 0; round < ROUNDS; round++)
		hand_over(&r, round, waits);
	cudaStreamSynchronize(r.keep);
	cudaMemcpyAsync(got, r.b, sizeof got, cudaMemcpyDeviceToHost, r.keep);
	cudaStreamSynchronize(r.keep);
	for (unsigned i = 0; i < ROUNDS * N; i++)
		wrong += got[i] != 1000 * (i / N) + i % N;
	drop(&r);
	return wrong;
}

extern "C" int
selftest_streams(void)
{
	return selftest_waits(SELFTEST_WAITS);
}

extern "C" int
selftest_graph(void)
{
	unsigned got[N] = {};
	int wrong = 0;
	rig r = {};

	if (!make(&r) || !run_graph(&r) ||
	    cudaMemcpy(got, r.a, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess)
		return -1;
	for (unsigned i = 0; i < N; i++)
		wrong += got[i] != ROUNDS * i;
	drop(&r);
	return wrong;
}
