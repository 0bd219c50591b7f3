#include <math.h>

#include "common/base/cpu.h"
#include "common/base/real.h"
#include "usfft/phase.h"

WEIR_CLONES(load_doubles, (const double *from, size_t stride, size_t n, double *x),
	    (from, stride, n, x))
{
	for (size_t j = 0; j < n; j++)
		x[j] = from[j * stride];
}

void
phase_load(const struct usfft_points *pt, int a, size_t from, size_t n, double *x)
{
	if (!pt->single)
		load_doubles((const double *)pt->x[a] + from * pt->stride, pt->stride, n, x);
	for (size_t j = 0; pt->single && j < n; j++)
		x[j] = real_at(pt->x[a], (from + j) * pt->stride, true);
}

WEIR_CLONES(add_turns, (double s, const double *x, size_t n, double *turns), (s, x, n, turns))
{
	for (size_t j = 0; j < n; j++) {
		const double p = s * x[j];
		turns[j] += p - rint(p) + fma(s, x[j], -p);
	}
}

void
phase_add(double s, const double *x, size_t n, double *turns)
{
	add_turns(s, x, n, turns);
}

/*
 * v[j] *= factor[j] exp(2 pi i sign turns[j]). The Taylor series of an eighth of a turn are exact to 1e-16. libm's sincos does
 * not vectorise.
 */
WEIR_CLONES(turn_block,
	    (double *restrict v, size_t n, double sign, const double *turns, const double *factor),
	    (v, n, sign, turns, factor))
{
	for (size_t j = 0; j < n; j++) {
		const double part = turns[j] - rint(turns[j]), q = rint(4 * part);
		const double y = 2 * M_PI * (part - q / 4), z = -y * y;
		double even = 1. / 20922789888000, odd = 1. / 1307674368000;
		even = even * z + 1. / 87178291200;
		even = even * z + 1. / 479001600;
		even = even * z + 1. / 3628800;
		even = even * z + 1. / 40320;
		even = even * z + 1. / 720;
		even = even * z + 1. / 24;
		even = even * z + 1. / 2;
		even = even * z + 1;
		odd = odd * z + 1. / 6227020800;
		odd = odd * z + 1. / 39916800;
		odd = odd * z + 1. / 362880;
		odd = odd * z + 1. / 5040;
		odd = odd * z + 1. / 120;
		odd = odd * z + 1. / 6;
		odd = (odd * z + 1) * y;
		/* q quarters of a turn are left, -2 to 2. */
		const double c = q == 0 ? even : q == 1 ? -odd : q == -1 ? odd : -even;
		const double s = q == 0 ? odd : q == 1 ? even : q == -1 ? -even : -odd;
		const double re = v[2 * j] * factor[j], im = v[2 * j + 1] * factor[j];
		v[2 * j] = re * c - im * sign * s;
		v[2 * j + 1] = re * sign * s + im * c;
	}
}

void
phase_turn(void *to, const void *c, size_t from, size_t n, int sign, const double *turns,
	   const double *factor, bool single)
{
	double v[2 * PHASE_BLOCK];

	for (size_t i = 0; i < 2 * n; i++)
		v[i] = real_at(c, 2 * from + i, single);
	if (turns)
		turn_block(v, n, sign, turns, factor);
	for (size_t i = 0; !turns && i < 2 * n; i++)
		v[i] *= factor[i / 2];
	for (size_t i = 0; i < 2 * n; i++)
		real_set(to, 2 * from + i, v[i], single);
}
