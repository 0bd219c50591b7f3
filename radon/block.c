#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "radon/block.h"

/* ---- recurrences ---- */

/*
 * The sums of one block of frequencies, term by term. One complex multiplication in double turns the phase of a trace from one
 * curve to the next, and LANES frequencies are processed together. Rows of work arrays are LANES re and then LANES im.
 */

enum { PAIRS = 2 * LANES };

/* z = exp(sign 2 pi i k' x), k' = k .. k + LANES - 1, as LANES re and LANES im. */
static void
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

static void
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

/* ---- blocks ---- */

/* --- one axis of curves -------------------------------------------------------------------------------------------- */

static void
adjoint(const struct radon_core *p, struct radon_worker *w, size_t k, const float *d, size_t ldd,
	float *m, size_t ldm)
{
	if (p->nufft)
		usfft_line_type1(&p->line, &w->line, 1, k, d, ldd, m, ldm);
	else
		recurrence_adjoint(p, w, k, d, ldd, m, ldm);
}

static void
model(const struct radon_core *p, struct radon_worker *w, size_t k, const float *m, size_t ldm,
      float *d, size_t ldd)
{
	if (p->nufft)
		usfft_line_type2(&p->line, &w->line, -1, k, m, ldm, d, ldd);
	else
		recurrence_model(p, w, k, m, ldm, d, ldd);
}

/* --- two axes: for each r, the traces are turned by the phases of r, and then there is one axis --------------------- */

/* Sets the phases of r0, and their steps from one r to the next. */
static void
begin_turns(const struct radon_core *p, struct radon_worker *w, size_t k, int sign)
{
	for (size_t j = 0; j < p->o.nx; j++) {
		recurrence_phases(p->b[j], k, sign, w->turn + 2 * j * LANES);
		recurrence_phases(p->e[j], k, sign, w->by + 2 * j * LANES);
	}
}

/* z is multiplied by e: LANES complex numbers, as LANES re and LANES im. */
CPU_INLINE void
step(double *restrict z, const double *restrict e)
{
	for (size_t l = 0; l < LANES; l++) {
		const double re = z[l] * e[l] - z[LANES + l] * e[LANES + l];
		z[LANES + l] = z[l] * e[LANES + l] + z[LANES + l] * e[l];
		z[l] = re;
	}
}

/* to = z x for nx rows of LANES complex, and z goes on by a step. */
WEIR_CLONES(turn_to,
	    (float *restrict to, const float *restrict x, size_t ldx, double *restrict z,
	     const double *restrict e, size_t nx),
	    (to, x, ldx, z, e, nx))
{
	for (size_t j = 0; j < nx;
	     j++, to += 2 * LANES, x += 2 * ldx, z += 2 * LANES, e += 2 * LANES) {
		for (size_t l = 0; l < LANES; l++) {
			const float re = (float)z[l], im = (float)z[LANES + l];
			to[2 * l] = x[2 * l] * re - x[2 * l + 1] * im;
			to[2 * l + 1] = x[2 * l] * im + x[2 * l + 1] * re;
		}
		step(z, e);
	}
}

/* to += z x for nx rows of LANES complex, and z goes on by a step. */
WEIR_CLONES(add_turned,
	    (float *restrict to, size_t ldt, const float *restrict x, double *restrict z,
	     const double *restrict e, size_t nx),
	    (to, ldt, x, z, e, nx))
{
	for (size_t j = 0; j < nx;
	     j++, to += 2 * ldt, x += 2 * LANES, z += 2 * LANES, e += 2 * LANES) {
		for (size_t l = 0; l < LANES; l++) {
			const float re = (float)z[l], im = (float)z[LANES + l];
			to[2 * l] += x[2 * l] * re - x[2 * l + 1] * im;
			to[2 * l + 1] += x[2 * l] * im + x[2 * l + 1] * re;
		}
		step(z, e);
	}
}

void
radon_block_adjoint(const struct radon_core *p, struct radon_worker *w, size_t k, const float *d,
		    size_t ldd, float *m, size_t ldm)
{
	if (!p->h) {
		adjoint(p, w, k, d, ldd, m, ldm);
		return;
	}
	begin_turns(p, w, k, 1);
	for (size_t r = 0; r < p->o.nr; r++) {
		turn_to(w->turned, d, ldd, w->turn, w->by, p->o.nx);
		adjoint(p, w, k, w->turned, LANES, m + 2 * r * p->nq * ldm, ldm);
	}
}

void
radon_block_model(const struct radon_core *p, struct radon_worker *w, size_t k, const float *m,
		  size_t ldm, float *d, size_t ldd)
{
	if (!p->h) {
		model(p, w, k, m, ldm, d, ldd);
		return;
	}
	begin_turns(p, w, k, -1);
	for (size_t j = 0; j < p->o.nx; j++)
		memset(d + 2 * j * ldd, 0, 2 * LANES * sizeof *d);
	for (size_t r = 0; r < p->o.nr; r++) {
		model(p, w, k, m + 2 * r * p->nq * ldm, ldm, w->turned, LANES);
		add_turned(d, ldd, w->turned, w->turn, w->by, p->o.nx);
	}
}

/* --- the whole band ------------------------------------------------------------------------------------------------ */

void
radon_weigh_rows(const struct radon_core *p, const float *m, float *to, size_t ld)
{
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t l = 0; l < 2 * LANES; l++)
			to[2 * i * ld + l] =
			    m[2 * i * LANES + l] * (p->q_mute ? p->q_weight[i] : 1);
}

void
radon_adjoint_all(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_worker *l = &w->worker[omp_get_thread_num()];
		radon_block_adjoint(p, l, b * LANES, w->d + 2 * b * LANES, p->ld, l->m, LANES);
		radon_weigh_rows(p, l->m, w->m + 2 * b * LANES, p->ld);
	}
}

void
radon_model_all(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_worker *l = &w->worker[omp_get_thread_num()];
		radon_block_model(p, l, b * LANES, w->m + 2 * b * LANES, p->ld, l->d, LANES);
		for (size_t j = 0; j < p->o.nx; j++)
			memcpy(w->d + 2 * (j * p->ld + b * LANES), l->d + 2 * j * LANES,
			       2 * LANES * sizeof *l->d);
	}
}
