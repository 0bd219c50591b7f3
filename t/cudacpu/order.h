/* The orders of cudacpu_order(), in which blocks, warps and lanes take turns. For fibers.cu. */
#ifndef CUDACPU_ORDER_H
#define CUDACPU_ORDER_H

#include <cuda_runtime.h>
#include <numeric>

/* s: the state of the random numbers, from a seed. */
struct turns {
	int order;
	uint64_t s;

	unsigned
	below(unsigned n)
	{
		s = s * 6364136223846793005u + 1442695040888963407u;
		return (unsigned)((s >> 33) % n);
	}

	/* v = 0 .. count-1 in this order. */
	void
	permute(unsigned *v, unsigned count)
	{
		for (unsigned i = 0; i < count; i++)
			v[i] = order == CUDACPU_BACKWARD ? count - 1 - i : i;
		for (unsigned i = count; order == CUDACPU_SHUFFLED && i > 1; i--) {
			const unsigned k = below(i), t = v[k];
			v[k] = v[i - 1];
			v[i - 1] = t;
		}
	}
};

/* Block number i of n. A shuffle is a stride that has no divisor in common with n. */
static inline size_t
block_number(int order, unsigned seed, size_t i, size_t n)
{
	size_t stride = 1;

	if (order == CUDACPU_BACKWARD)
		return n - 1 - i;
	if (order == CUDACPU_SHUFFLED)
		for (stride = n / 3 + seed % 7 + 1; stride > 1; stride--)
			if (std::gcd(n, stride) == 1)
				break;
	return i * stride % n;
}

#endif
