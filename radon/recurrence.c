/*
 * The sums of one block of frequencies, term by term. One complex multiplication in double turns the phase of a trace from one
 * curve to the next, and LANES frequencies are processed together. Rows of work arrays are LANES re and then LANES im.
 */
#include <math.h>
#include <string.h>

#include "radon/recurrence.h"

enum { PAIRS = 2 * LANES };

void
recurrence_phases(double x, size_t k, int sign, double *z)
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

void
recurrence_adjoint(const struct radon_core *p, struct radon_worker *w, size_t k, const float *d,
		   size_t ldd, float *m, size_t ldm)
{
	for (size_t j = 0; j < p->o.nx; j++) {
		double *z = w->z + j * PAIRS;
		recurrence_phases(p->c[j], k, 1, w->e + j * PAIRS);
		recurrence_phases(p->a[j], k, 1, z);
		for (int l = 0; l < LANES; l++) {
			const double dr = (double)d[2 * (j * ldd) + 2 * (size_t)l],
				     di = (double)d[2 * (j * ldd) + 2 * (size_t)l + 1];
			const double re = dr * z[l] - di * z[LANES + l];
			z[LANES + l] = dr * z[LANES + l] + di * z[l];
			z[l] = re;
		}
	}
	p->loops->turn_and_add(p->o.nx, p->nq, w->z, w->e, w->sum);
	for (size_t i = 0; i < p->nq; i++)
		for (size_t l = 0; l < LANES; l++) {
			m[2 * (i * ldm + l)] = (float)w->sum[i * PAIRS + l];
			m[2 * (i * ldm + l) + 1] = (float)w->sum[i * PAIRS + LANES + l];
		}
}

void
recurrence_model(const struct radon_core *p, struct radon_worker *w, size_t k, const float *m,
		 size_t ldm, float *d, size_t ldd)
{
	for (size_t i = 0; i < p->nq; i++)
		for (size_t l = 0; l < LANES; l++) {
			w->sum[i * PAIRS + l] = (double)m[2 * (i * ldm + l)];
			w->sum[i * PAIRS + LANES + l] = (double)m[2 * (i * ldm + l) + 1];
		}
	for (size_t j = 0; j < p->o.nx; j++)
		recurrence_phases(p->c[j], k, -1, w->e + j * PAIRS);
	p->loops->add_and_turn(p->o.nx, p->nq, w->sum, w->e, w->z);
	for (size_t j = 0; j < p->o.nx; j++) {
		const double *z = w->z + j * PAIRS;
		double t[PAIRS];
		recurrence_phases(p->a[j], k, -1, t);
		for (size_t l = 0; l < LANES; l++) {
			float *to = d + 2 * (j * ldd + l);
			to[0] = (float)(z[l] * t[l] - z[LANES + l] * t[LANES + l]);
			to[1] = (float)(z[l] * t[LANES + l] + z[LANES + l] * t[l]);
		}
	}
}

void
recurrence_column(const struct radon_core *p, struct radon_worker *w, size_t k, double *t)
{
	for (size_t j = 0; j < p->o.nx; j++) {
		recurrence_phases(p->c[j], k, 1, w->e + j * PAIRS);
		for (int l = 0; l < PAIRS; l++)
			w->z[j * PAIRS + (size_t)l] = l < LANES && p->live[j] ? 1 : 0;
	}
	p->loops->turn_and_add(p->o.nx, p->nq, w->z, w->e, t);
}
