/*
 * The sums of one block of frequencies, term by term: phases turn from curve to curve by one complex multiplication in
 * double, LANES frequencies in a register. Rows of work arrays are LANES re and then LANES im.
 */
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "radon/recurrence.h"

enum { PAIRS = 2 * LANES, AT_ONCE = 4 };

typedef double vec __attribute__((vector_size(LANES * sizeof(double)), may_alias));

/* z = exp(s 2 pi i k' x), k' = k..k+LANES-1. */
static void
phases(double x, size_t k, int sign, double *z)
{
	const double base = (double)k * x, step = 2 * M_PI * (x - rint(x)) * sign;
	double re = cos(2 * M_PI * (base - rint(base))),
	       im = sign * sin(2 * M_PI * (base - rint(base)));
	const double cr = cos(step), ci = sin(step);

	for (int l = 0; l < LANES; l++) {
		const double next = re * cr - im * ci;
		z[l] = re;
		z[LANES + l] = im;
		im = re * ci + im * cr;
		re = next;
	}
}

/* sum[i] = sum_j z[j] e[j]^i; z is used up. */
WEIR_CLONES(turn_and_add, (size_t nx, size_t nq, double *z_, const double *e_, double *sum_),
	    (nx, nq, z_, e_, sum_))
{
	vec *z = (vec *)z_, *sum = (vec *)sum_;
	const vec *e = (const vec *)e_;

	for (size_t i = 0; i < nq; i += AT_ONCE) {
		vec s[2 * AT_ONCE] = {{0}};
		for (size_t j = 0; j < nx; j++) {
			const vec er = e[2 * j], ei = e[2 * j + 1];
			vec re = z[2 * j], im = z[2 * j + 1];
			for (int r = 0; r < AT_ONCE; r++) {
				const vec next = re * er - im * ei;
				s[2 * r] += re;
				s[2 * r + 1] += im;
				im = re * ei + im * er;
				re = next;
			}
			z[2 * j] = re;
			z[2 * j + 1] = im;
		}
		for (size_t r = 0; r < AT_ONCE && i + r < nq; r++) {
			sum[2 * (i + r)] = s[2 * r];
			sum[2 * (i + r) + 1] = s[2 * r + 1];
		}
	}
}

/* z[j] = sum_i m[i] e[j]^i, by Horner's rule. */
WEIR_CLONES(add_and_turn, (size_t nx, size_t nq, const double *m_, const double *e_, double *z_),
	    (nx, nq, m_, e_, z_))
{
	const vec *m = (const vec *)m_, *e = (const vec *)e_;
	vec *z = (vec *)z_;

	for (size_t j = 0; j < nx; j += AT_ONCE) {
		const size_t n = nx - j < AT_ONCE ? nx - j : AT_ONCE;
		vec s[2 * AT_ONCE] = {{0}}, t[2 * AT_ONCE] = {{0}};
		memcpy(t, e + 2 * j, 2 * n * sizeof *t);
		for (size_t i = nq; i-- > 0;)
			for (int r = 0; r < AT_ONCE; r++) {
				const vec re = s[2 * r] * t[2 * r] - s[2 * r + 1] * t[2 * r + 1];
				s[2 * r + 1] = s[2 * r] * t[2 * r + 1] + s[2 * r + 1] * t[2 * r] +
					       m[2 * i + 1];
				s[2 * r] = re + m[2 * i];
			}
		memcpy(z + 2 * j, s, 2 * n * sizeof *s);
	}
}

void
recurrence_adjoint(const struct radon_core *p, struct radon_lane *w, size_t k, const float *d,
		   size_t ldd, float *m, size_t ldm)
{
	for (size_t j = 0; j < p->o.nx; j++) {
		double *z = w->z + j * PAIRS;
		phases(p->c[j], k, 1, w->e + j * PAIRS);
		phases(p->a[j], k, 1, z);
		for (int l = 0; l < LANES; l++) {
			const double dr = (double)d[2 * (j * ldd) + 2 * (size_t)l],
				     di = (double)d[2 * (j * ldd) + 2 * (size_t)l + 1];
			const double re = dr * z[l] - di * z[LANES + l];
			z[LANES + l] = dr * z[LANES + l] + di * z[l];
			z[l] = re;
		}
	}
	turn_and_add(p->o.nx, p->o.nq, w->z, w->e, w->sum);
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t l = 0; l < LANES; l++) {
			m[2 * (i * ldm + l)] = (float)w->sum[i * PAIRS + l];
			m[2 * (i * ldm + l) + 1] = (float)w->sum[i * PAIRS + LANES + l];
		}
}

void
recurrence_model(const struct radon_core *p, struct radon_lane *w, size_t k, const float *m,
		 size_t ldm, float *d, size_t ldd)
{
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t l = 0; l < LANES; l++) {
			w->sum[i * PAIRS + l] = (double)m[2 * (i * ldm + l)];
			w->sum[i * PAIRS + LANES + l] = (double)m[2 * (i * ldm + l) + 1];
		}
	for (size_t j = 0; j < p->o.nx; j++)
		phases(p->c[j], k, -1, w->e + j * PAIRS);
	add_and_turn(p->o.nx, p->o.nq, w->sum, w->e, w->z);
	for (size_t j = 0; j < p->o.nx; j++) {
		const double *z = w->z + j * PAIRS;
		double t[PAIRS];
		phases(p->a[j], k, -1, t);
		for (size_t l = 0; l < LANES; l++) {
			float *to = d + 2 * (j * ldd + l);
			to[0] = (float)(z[l] * t[l] - z[LANES + l] * t[LANES + l]);
			to[1] = (float)(z[l] * t[LANES + l] + z[LANES + l] * t[l]);
		}
	}
}

void
recurrence_column(const struct radon_core *p, struct radon_lane *w, size_t k, double *t)
{
	for (size_t j = 0; j < p->o.nx; j++) {
		phases(p->c[j], k, 1, w->e + j * PAIRS);
		for (int l = 0; l < PAIRS; l++)
			w->z[j * PAIRS + (size_t)l] = l < LANES && p->live[j] ? 1 : 0;
	}
	turn_and_add(p->o.nx, p->o.nq, w->z, w->e, t);
}
