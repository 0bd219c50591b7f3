/* What gpu/prim.cu includes of CUB under t/cudacpu: the same calls, each a loop on the CPU in its stream's turn. */
#ifndef CUDACPU_CUB_SCAN_H
#define CUDACPU_CUB_SCAN_H

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

} // namespace cub

#endif
