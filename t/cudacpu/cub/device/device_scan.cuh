/* What gpu/prim.cu includes of CUB under t/cudacpu: the same calls, each a loop on the CPU in its stream's turn. */
#ifndef CUDACPU_CUB_H
#define CUDACPU_CUB_H

#include <algorithm>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace cub
{

enum { ROOM = 256 };

/* As CUB does, asks for room where there is none; else does the task, if the room is as large as it said, and writes to it. */
template <class F>
cudaError_t
cudacpu_do(void *room, size_t &bytes, cudaStream_t s, F task)
{
	if (!room) {
		bytes = ROOM;
		return cudaSuccess;
	}
	if (bytes < ROOM)
		return cudacpu_result(cudaErrorInvalidValue);
	return cudacpu_give(s, [=] {
		memset(room, 0xff, ROOM);
		task();
	});
}

struct DeviceScan {
	template <class T>
	static cudaError_t
	ExclusiveSum(void *room, size_t &bytes, const T *in, T *out, int n, cudaStream_t s)
	{
		return cudacpu_do(room, bytes, s, [=] {
			T sum = 0;
			for (int i = 0; i < n; i++) {
				const T v = in[i];
				out[i] = sum;
				sum += v;
			}
		});
	}
};

/* As CUB may, the sort leaves its result in the other buffer and destroys the first. */
template <class T> struct DoubleBuffer {
	T *d_buffers[2] = {};
	int selector = 0;

	DoubleBuffer() = default;
	DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}
	{
	}
	T *
	Current()
	{
		return d_buffers[selector];
	}
	T *
	Alternate()
	{
		return d_buffers[selector ^ 1];
	}
};

struct DeviceRadixSort {
	/* By the bits [begin, end) of the keys, which are unsigned. */
	template <class K, class V>
	static cudaError_t
	SortPairs(void *room, size_t &bytes, DoubleBuffer<K> &key, DoubleBuffer<V> &value, int n,
		  int begin, int end, cudaStream_t s)
	{
		K *const from = key.Current(), *const to = key.Alternate();
		V *const value_from = value.Current(), *const value_to = value.Alternate();
		const auto digits = [=](K k) {
			return (unsigned long long)k << (64 - end) >> (64 - end + begin);
		};

		if (room)
			key.selector = value.selector ^= 1;
		return cudacpu_do(room, bytes, s, [=] {
			std::vector<std::pair<K, V>> all((size_t)n);
			for (int i = 0; i < n; i++)
				all[(size_t)i] = {from[i], value_from[i]};
			std::stable_sort(all.begin(), all.end(), [=](const auto &a, const auto &b) {
				return digits(a.first) < digits(b.first);
			});
			memset(from, 0xff, (size_t)n * sizeof *from);
			memset(value_from, 0xff, (size_t)n * sizeof *value_from);
			for (int i = 0; i < n; i++) {
				to[i] = all[(size_t)i].first;
				value_to[i] = all[(size_t)i].second;
			}
		});
	}
};

} // namespace cub

#endif
