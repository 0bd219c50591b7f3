#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/picture/number.h"

/* Powers of ten that are exact as doubles: 10^k at [k + 4], except for those below 1, which are only compared with. */
static const double power[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,	1e3, 1e4,
			       1e5,  1e6,  1e7,	 1e8,  1e9, 1e10, 1e11, 1e12};

/* Returns the exponent of ten of v, which lies from 1e-4 to 1e9. */
static int
exponent(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	/* log10(2) is 1233 / 4096. The estimate is right or one too low. */
	const int e = ((int)(bits >> 52) - 1023) * 1233 >> 12;
	return e + (v >= power[e + 5]);
}

/*
 * Writes the nine digits of u, with the point behind digit number e (from 0; the first digit is not 0), and leaves out zeros
 * at the end of the fraction.
 */
static size_t
put_digits(char *to, uint32_t u, int e)
{
	char digits[9];
	int n = 9;
	size_t used = 0;

	for (int k = 8; k >= 0; k--, u /= 10)
		digits[k] = (char)('0' + u % 10);
	while (n > e + 1 && n > 1 && digits[n - 1] == '0')
		n--;
	if (e < 0) {
		memcpy(to, "0.000", 5);
		used = (size_t)(1 - e);
	}
	for (int k = 0; k < n; k++) {
		if (k == e + 1 && e >= 0)
			to[used++] = '.';
		to[used++] = digits[k];
	}
	return used;
}

static size_t
put_whole(char *to, uint64_t u)
{
	char digits[20];
	size_t n = 0, used = 0;

	do
		digits[n++] = (char)('0' + u % 10);
	while (u /= 10);
	while (n)
		to[used++] = digits[--n];
	return used;
}

size_t
number_print(char *to, double v)
{
	const double a = fabs(v);
	size_t used = 0;

	/* printf shows the sign of a NaN, which depends on the CPU. */
	if (isnan(v)) {
		memcpy(to, "nan", 3);
		return 3;
	}
	if (v < 0)
		to[used++] = '-';
	if (a < 0x1p53 && a == (double)(uint64_t)a && (a > 0 || !signbit(v)))
		return used + put_whole(to + used, (uint64_t)a);
	if (!(a >= 1e-4 && a < 999999999))
		return (size_t)snprintf(to, NUMBER_ROOM, "%.9g", v);
	int e = exponent(a);
	/* The product has one rounding error, below 1e-7. Digits that it could change are left to printf. */
	const double scaled = a * power[8 - e + 4];
	uint32_t u = (uint32_t)scaled;
	const double rest = scaled - u;

	if (fabs(rest - .5) < 1e-6)
		return (size_t)snprintf(to, NUMBER_ROOM, "%.9g", v);
	u += rest > .5;
	if (u == 1000000000) {
		u /= 10;
		e++;
	}
	return used + put_digits(to + used, u, e);
}
