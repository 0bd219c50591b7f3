#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "usfft/loops/loops.h"

/* ---- batch ---- */

/*
 * Splits n into radices 8, 4, 2, 3, 5 and 7. A radix 2 occurs only where n has a single factor 2. Returns how many radices
 * there are, or 0 when n has other prime factors.
 */
static int
factorize(size_t n, int radix[BATCH_STAGES])
{
	static const int odd[] = {3, 5, 7};
	int twos = 0, count = 0;

	for (; n && n % 2 == 0; n /= 2)
		twos++;
	for (; twos > 4 || twos == 3; twos -= 3)
		radix[count++] = 8;
	for (; twos > 1; twos -= 2)
		radix[count++] = 4;
	if (twos)
		radix[count++] = 2;
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		for (; n && n % (size_t)odd[i] == 0; n /= (size_t)odd[i])
			radix[count++] = odd[i];
	return n == 1 ? count : 0;
}

bool
batch_suits(size_t n)
{
	int radix[BATCH_STAGES];

	return n <= (size_t)1 << (BATCH_STAGES - 1) && factorize(n, radix) > 1;
}

/* Fills in the roots exp(-2 pi i p k / n) of one stage. */
static void
fill_roots(double *root, size_t n, size_t radix)
{
	for (size_t p = 0; p < n / radix; p++)
		for (size_t k = 1; k < radix; k++) {
			const double a = -2 * M_PI * (double)(p * k) / (double)n;
			*root++ = cos(a);
			*root++ = sin(a);
		}
}

int
batch_make(struct batch *f, size_t n, bool single)
{
	size_t count = 0, left = n, at = 0;

	*f = (struct batch){.n = n};
	f->stages = factorize(n, f->radix);
	for (int i = 0; i < f->stages; left /= (size_t)f->radix[i++])
		count += left - left / (size_t)f->radix[i];
	double *root = weir_alloc(count, 2 * sizeof *root);
	f->root = root;
	if (!root)
		return -ENOMEM;
	for (int i = 0; i < f->stages; n /= (size_t)f->radix[i++]) {
		fill_roots(root + at, n, (size_t)f->radix[i]);
		at += 2 * (n - n / (size_t)f->radix[i]);
	}
	for (size_t i = 0; single && i < 2 * count; i++) {
		const float v = (float)root[i];
		memcpy((float *)f->root + i, &v, sizeof v);
	}
	return 0;
}

void
batch_free(struct batch *f)
{
	weir_free(f->root);
}

/* ---- loops ---- */

extern const struct loops usfft_f32_generic, usfft_f32_avx2, usfft_f32_avx512;
extern const struct loops usfft_f64_generic, usfft_f64_avx2, usfft_f64_avx512;

const struct loops *
usfft_loops(int registers, bool single)
{
	static const struct loops *const level[3][2] = {{&usfft_f64_generic, &usfft_f32_generic},
							{&usfft_f64_avx2, &usfft_f32_avx2},
							{&usfft_f64_avx512, &usfft_f32_avx512}};

	return level[registers ? registers / 32 : (int)weir_cpu][single];
}
