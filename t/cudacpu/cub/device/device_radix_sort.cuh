/* The sort of CUB, as in device_scan.cuh. As CUB may, it leaves its result in the other buffer and destroys the first. */
#ifndef CUDACPU_CUB_SORT_H
#define CUDACPU_CUB_SORT_H

#include <algorithm>
#include <utility>
#include <vector>

#include <cub/device/device_scan.cuh>

namespace cub
{

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
