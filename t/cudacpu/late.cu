/*
 * What __stcg() of cuda_runtime.h writes: stores that other blocks see as late as CUDA's memory model lets them. A block has one
 * host thread, so what it has written is that thread's.
 */
#include <vector>

#include <cuda_runtime.h>

#include "t/cudacpu/watch.h"

namespace
{

constexpr unsigned THREADS = 256;

/* A store that other blocks do not see yet. number: how many of the block came before it. */
struct store {
	void *at;
	uint64_t v;
	unsigned bytes, thread;
	size_t number;
};

/* What a fence of its thread lets go: the first stores of the block; of its own. */
struct fence {
	size_t known, own;
};

/* Of the block that this host thread runs. met: stores before the last barrier. */
struct running {
	std::vector<store> stores;
	size_t number, met;
	fence last[THREADS];
};

thread_local running now;

unsigned
current(void)
{
	return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/* Writes the stores of which(s), in their order, and forgets them. */
template <class F>
void
write(F which)
{
	size_t left = 0;

	if (now.stores.empty())
		return;
	for (const store &s : now.stores) {
		if (!which(s))
			now.stores[left++] = s;
		else if (s.bytes == sizeof(unsigned))
			__atomic_store_n(static_cast<unsigned *>(s.at), (unsigned)s.v,
					 __ATOMIC_RELAXED);
		else
			__atomic_store_n(static_cast<uint64_t *>(s.at), s.v, __ATOMIC_RELAXED);
	}
	now.stores.resize(left);
}

} // namespace

void
cudacpu_late_begin(void)
{
	now.number = now.met = 0;
	memset(now.last, 0, sizeof now.last);
}

void
cudacpu_late_meet(void)
{
	now.met = now.number;
}

void
cudacpu_late_end(void)
{
	write([](const store &) { return true; });
}

bool
cudacpu_keep(void *p, const void *v, unsigned bytes)
{
	store s = {p, 0, bytes, current(), now.number};

	if (watch_run || (bytes != sizeof(unsigned) && bytes != sizeof s.v))
		return false;
	memcpy(&s.v, v, bytes);
	now.stores.push_back(s);
	now.number++;
	return true;
}

bool
cudacpu_find(const void *p, void *v)
{
	for (size_t i = now.stores.size(); i--;)
		if (now.stores[i].at == p) {
			memcpy(v, &now.stores[i].v, now.stores[i].bytes);
			return true;
		}
	return false;
}

void
cudacpu_fence(void)
{
	now.last[current()] = {now.met, now.number};
}

void
cudacpu_publish(void)
{
	const unsigned t = current();
	const fence f = now.last[t];

	write([=](const store &s) { return s.number < (s.thread == t ? f.own : f.known); });
}
