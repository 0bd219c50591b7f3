/*
 * Streams, events and graphs of cuda_runtime.h. What a stream is given waits in its queue. When it is done depends on the
 * order that cudacpu_order() chose:
 *
 *	forward		at once, so that a copy may overtake the work of other streams that should come before it
 *	backward	when somebody waits for it, and no sooner: work that nobody waits for is not seen
 *	shuffled	some of it now and then, on any stream
 *
 * So a wait that is missing between two streams, or between a stream and the host, shows as a wrong result in one of them. A
 * host thread that waits does the work. One thread at a time works for a device.
 */
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include <cuda_runtime.h>

typedef std::function<void()> task;

struct cudacpu_stream {
	int device;
	std::deque<task> todo;
	std::vector<task> *taken; /* not NULL: what comes is captured here */
};

/* Its records are counted; those up to `done` were reached. */
struct cudacpu_event {
	int device;
	cudacpu_stream *stream; /* of the last record */
	size_t records, done;
	double seconds;
	bool timed;
};

struct cudacpu_graph {
	std::vector<task> tasks;
};

namespace
{

std::recursive_mutex lock; /* of all below */
std::set<cudacpu_stream *> streams;
int policy;
unsigned long long dice = 1;
thread_local int captures; /* streams that this host thread captures */

unsigned
roll(unsigned n)
{
	dice = dice * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(dice >> 33) % n;
}

void
step(cudacpu_stream *s)
{
	const task t = std::move(s->todo.front());

	s->todo.pop_front();
	cudacpu_work(t);
}

/* A task that runs may have work of its own stream done: none of ours does. */
void
finish(cudacpu_stream *s)
{
	while (!s->todo.empty())
		step(s);
}

void
reach(cudacpu_event *e, cudacpu_stream *s, size_t record)
{
	while (e->done < record && !s->todo.empty())
		step(s);
}

/* Lets the streams of a device go on by a few tasks. */
void
advance(int device)
{
	for (cudacpu_stream *s : streams)
		if (s->device == device)
			for (unsigned n = roll(4); n && !s->todo.empty(); n--)
				step(s);
}

/* Gives the stream a task. The NULL stream waits for all others of its device, and its work is done at once. */
cudaError_t
give(cudaStream_t s, task t)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	if (!s && cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	if (s && s->device != cudacpu_device())
		return cudacpu_result(cudaErrorInvalidResourceHandle);
	if (!s) {
		cudacpu_drain();
		cudacpu_work(t);
		cudacpu_rest();
	} else if (s->taken) {
		s->taken->push_back(t);
	} else {
		s->todo.push_back(t);
		if (policy == CUDACPU_FORWARD)
			finish(s);
		else if (policy == CUDACPU_SHUFFLED)
			advance(s->device);
	}
	return cudaSuccess;
}

bool
kind_is_true(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

	return !bytes || (cudacpu_is_on_device(to, bytes) == to_device &&
			  cudacpu_is_on_device(from, bytes) == from_device);
}

/* Memory of the host that is not pinned is copied before the call returns. */
bool
must_wait(const void *to, const void *from, cudaMemcpyKind kind)
{
	return (kind == cudaMemcpyHostToDevice && !cudacpu_is_pinned(from)) ||
	       (kind == cudaMemcpyDeviceToHost && !cudacpu_is_pinned(to));
}

double
now(void)
{
	const auto t = std::chrono::steady_clock::now().time_since_epoch();
	return std::chrono::duration<double>(t).count();
}

} // namespace

void
cudacpu_policy(int order, unsigned seed)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	policy = order;
	dice = seed;
}

cudaError_t
cudacpu_give(cudaStream_t s, std::function<void()> t)
{
	return give(s, std::move(t));
}

bool
cudacpu_captures(void)
{
	return captures > 0;
}

bool
cudacpu_is_open(void)
{
	return !streams.empty();
}

void
cudacpu_drain(void)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	for (cudacpu_stream *s : streams)
		if (s->device == cudacpu_device())
			finish(s);
	cudacpu_rest();
}

cudaError_t
cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s)
{
	const void *const host = kind == cudaMemcpyHostToDevice ? from : to;

	if (!kind_is_true(to, from, bytes, kind))
		return cudacpu_result(cudaErrorInvalidValue);
	const bool counts = !cudacpu_captures() && cudacpu_is_pinned(host);
	const auto count = [=](int more) {
		if (counts)
			cudacpu_count_copy(host, more);
	};
	count(1);
	const cudaError_t e = give(s, [=] {
		memcpy(to, from, bytes);
		count(-1);
	});
	if (e != cudaSuccess)
		count(-1);
	return e == cudaSuccess && s && must_wait(to, from, kind) ? cudaStreamSynchronize(s) : e;
}

cudaError_t
cudaMemsetAsync(void *p, int v, size_t bytes, cudaStream_t s)
{
	if (bytes && !cudacpu_is_on_device(p, bytes))
		return cudacpu_result(cudaErrorInvalidValue);
	return give(s, [=] { memset(p, v, bytes); });
}

cudaError_t
cudaStreamCreate(cudaStream_t *s)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	cudacpu_watch_exit();
	*s = new cudacpu_stream{cudacpu_device(), {}, nullptr};
	streams.insert(*s);
	return cudaSuccess;
}

cudaError_t
cudaStreamDestroy(cudaStream_t s)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	finish(s);
	streams.erase(s);
	delete s;
	return cudaSuccess;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t s)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	if (cudacpu_captures() || (s && s->taken))
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	s ? finish(s) : cudacpu_drain();
	cudacpu_rest();
	return cudaSuccess;
}

cudaError_t
cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);
	cudacpu_stream *const from = e->stream;
	const size_t record = e->records;

	return record ? give(s, [=] { reach(e, from, record); }) : cudaSuccess;
}

cudaError_t
cudaEventCreate(cudaEvent_t *e)
{
	return cudaEventCreateWithFlags(e, cudaEventDefault);
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
	*e = new cudacpu_event{
	    cudacpu_device(), nullptr, 0, 0, 0, !(flags & cudaEventDisableTiming)};
	return cudaSuccess;
}

cudaError_t
cudaEventDestroy(cudaEvent_t e)
{
	cudacpu_drain();
	delete e;
	return cudaSuccess;
}

cudaError_t
cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	if (!s || e->device != s->device)
		return cudacpu_result(cudaErrorInvalidResourceHandle);
	const size_t record = ++e->records;
	e->stream = s;
	return give(s, [=] {
		e->done = record;
		e->seconds = now();
	});
}

cudaError_t
cudaEventSynchronize(cudaEvent_t e)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	if (cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	if (e->records)
		reach(e, e->stream, e->records);
	cudacpu_rest();
	return cudaSuccess;
}

/* As on a GPU, both must have been reached. */
cudaError_t
cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	if (!from->timed || !to->timed)
		return cudacpu_result(cudaErrorInvalidResourceHandle);
	if (from->done < from->records || to->done < to->records)
		return cudacpu_result(cudaErrorNotReady);
	*ms = (float)(1e3 * (to->seconds - from->seconds));
	return cudaSuccess;
}

/* --- graphs -------------------------------------------------------------------------------------------------------- */

cudaError_t
cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	if (s->taken)
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	s->taken = new std::vector<task>;
	captures++;
	return cudaSuccess;
}

cudaError_t
cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph)
{
	const std::lock_guard<std::recursive_mutex> hold(lock);

	if (!s->taken)
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	*graph = new cudacpu_graph{std::move(*s->taken)};
	delete s->taken;
	s->taken = nullptr;
	captures--;
	return cudaSuccess;
}

cudaError_t
cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long)
{
	*run = new cudacpu_graph{graph->tasks};
	return cudaSuccess;
}

cudaError_t
cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t s)
{
	cudaError_t e = cudaSuccess;

	for (size_t i = 0; i < run->tasks.size() && e == cudaSuccess; i++)
		e = give(s, run->tasks[i]);
	return e;
}

cudaError_t
cudaGraphExecDestroy(cudaGraphExec_t run)
{
	delete run;
	return cudaSuccess;
}

cudaError_t
cudaGraphDestroy(cudaGraph_t graph)
{
	delete graph;
	return cudaSuccess;
}
