#include "dptrace/numbers.h"

void
libm_sincos(double x, double *sine, double *cosine)
{
	enum { HALVINGS = 3, TERMS = 9 };
	double term = x / (1 << HALVINGS), square = term * term, s = term, c = 1, even = 1;

	for (int i = 1; i < TERMS; i++) {
		even = -even * square / ((2 * i - 1) * (2 * i));
		term = -term * square / ((2 * i) * (2 * i + 1));
		c += even;
		s += term;
	}
	for (int i = 0; i < HALVINGS; i++) {
		const double twice = 2 * s * c;
		c = (c - s) * (c + s);
		s = twice;
	}
	*sine = s;
	*cosine = c;
}

double
libm_exp_minus(double x)
{
	enum { TERMS = 14 };
	double term = 1, sum = 1;
	int halvings = 0;

	if (x > 800)
		return 0;
	for (; x > .5; x /= 2)
		halvings++;
	for (int i = 1; i < TERMS; i++) {
		term *= x / i;
		sum += term;
	}
	for (sum = 1 / sum; halvings > 0; halvings--)
		sum *= sum;
	return sum;
}
