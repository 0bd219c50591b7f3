#include "common/base/fft.h"

size_t
fft_multiple(size_t n, size_t step, bool columns)
{
	for (n = (n + step - 1) / step * step;; n += step) {
		size_t rest = n, count[3] = {0};
		while (rest % 2 == 0)
			rest /= 2;
		for (size_t i = 0; i < 3; i++)
			for (; rest % (3 + 2 * i) == 0; rest /= 3 + 2 * i)
				count[i]++;
		if (rest == 1 && (columns ? count[0] <= 1 && count[1] + 2 * count[2] <= 3
					  : count[0] + count[1] + count[2] <= 3))
			return n;
	}
}
