/* How the wrong kernels of wrong.cu and wrong_device.cu run. */
#ifndef CUDACPU_WRONG_H
#define CUDACPU_WRONG_H

#include "gpu/device.h"
#include "t/cudacpu/selftest.h"

namespace
{

/* 32 words of the device in use. They stay where a function aborts. */
unsigned *
take_words(void)
{
	unsigned *a = nullptr;

	if (cudaMalloc(&a, 32 * sizeof *a) == cudaSuccess)
		cudaMemset(a, 0, 32 * sizeof *a);
	return a;
}

/* Launches a kernel on such words, and returns the first of them. */
unsigned
run(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	unsigned *const a = take_words();
	unsigned first = 0;

	WEIR_LAUNCH(kernel, grid, block, 0, (cudaStream_t)0, a);
	cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost);
	cudaFree(a);
	return first;
}

} // namespace

#endif
