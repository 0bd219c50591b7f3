#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "radon/core.h"

/* ---- recurrences ---- */

/*
 * The sums of one block of frequencies, term by term. One complex multiplication in double turns the phase of a trace from one
 * curve to the next.
 */

/* z = exp(sign 2 pi i k' x), k' = k .. k + USFFT_LINE - 1, as USFFT_LINE re and USFFT_LINE im. */
static void
recurrence_phases(double x, size_t k, int sign, double *z)
{
	const double base = (double)k * x, step = 2 * M_PI * (x - rint(x)) * sign;
	double re = cos(2 * M_PI * (base - rint(base))),
	       im = sign * sin(2 * M_PI * (base - rint(base)));
	const double cr = cos(step), ci = sin(step);

	for (int l = 0; l < USFFT_LINE; l++) {
		const double next = re * cr - im * ci;
		z[l] = re;
		z[USFFT_LINE + l] = im;
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
		for (int l = 0; l < USFFT_LINE; l++) {
			const double dr = (double)d[2 * (j * ldd) + 2 * (size_t)l],
				     di = (double)d[2 * (j * ldd) + 2 * (size_t)l + 1];
			const double re = dr * z[l] - di * z[USFFT_LINE + l];
			z[USFFT_LINE + l] = dr * z[USFFT_LINE + l] + di * z[l];
			z[l] = re;
		}
	}
	p->loops->turn_and_add(p->o.nx, p->nq, w->z, w->e, w->sum);
	for (size_t i = 0; i < p->nq; i++)
		for (size_t l = 0; l < USFFT_LINE; l++) {
			m[2 * (i * ldm + l)] = (float)w->sum[i * PAIRS + l];
			m[2 * (i * ldm + l) + 1] = (float)w->sum[i * PAIRS + USFFT_LINE + l];
		}
}

static void
recurrence_model(const struct radon_core *p, struct radon_worker *w, size_t k, const float *m,
		 size_t ldm, float *d, size_t ldd)
{
	for (size_t i = 0; i < p->nq; i++)
		for (size_t l = 0; l < USFFT_LINE; l++) {
			w->sum[i * PAIRS + l] = (double)m[2 * (i * ldm + l)];
			w->sum[i * PAIRS + USFFT_LINE + l] = (double)m[2 * (i * ldm + l) + 1];
		}
	for (size_t j = 0; j < p->o.nx; j++)
		recurrence_phases(p->c[j], k, -1, w->e + j * PAIRS);
	p->loops->add_and_turn(p->o.nx, p->nq, w->sum, w->e, w->z);
	for (size_t j = 0; j < p->o.nx; j++) {
		const double *z = w->z + j * PAIRS;
		double t[PAIRS];
		recurrence_phases(p->a[j], k, -1, t);
		for (size_t l = 0; l < USFFT_LINE; l++) {
			float *to = d + 2 * (j * ldd + l);
			to[0] = (float)(z[l] * t[l] - z[USFFT_LINE + l] * t[USFFT_LINE + l]);
			to[1] = (float)(z[l] * t[USFFT_LINE + l] + z[USFFT_LINE + l] * t[l]);
		}
	}
}

void
recurrence_column(const struct radon_core *p, struct radon_worker *w, size_t k, double *t)
{
	for (size_t j = 0; j < p->o.nx; j++) {
		recurrence_phases(p->c[j], k, 1, w->e + j * PAIRS);
		for (int l = 0; l < PAIRS; l++)
			w->z[j * PAIRS + (size_t)l] = l < USFFT_LINE && p->live[j] ? 1 : 0;
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
		recurrence_phases(p->b[j], k, sign, w->turn + 2 * j * USFFT_LINE);
		recurrence_phases(p->e[j], k, sign, w->by + 2 * j * USFFT_LINE);
	}
}

/* z is multiplied by e: USFFT_LINE complex numbers, as USFFT_LINE re and USFFT_LINE im. */
CPU_INLINE void
step(double *restrict z, const double *restrict e)
{
	for (size_t l = 0; l < USFFT_LINE; l++) {
		const double re = z[l] * e[l] - z[USFFT_LINE + l] * e[USFFT_LINE + l];
		z[USFFT_LINE + l] = z[l] * e[USFFT_LINE + l] + z[USFFT_LINE + l] * e[l];
		z[l] = re;
	}
}

/* to = z x for nx rows of USFFT_LINE complex, and z goes on by a step. */
WEIR_CLONES(turn_to,
	    (float *restrict to, const float *restrict x, size_t ldx, double *restrict z,
	     const double *restrict e, size_t nx),
	    (to, x, ldx, z, e, nx))
{
	for (size_t j = 0; j < nx;
	     j++, to += 2 * USFFT_LINE, x += 2 * ldx, z += 2 * USFFT_LINE, e += 2 * USFFT_LINE) {
		for (size_t l = 0; l < USFFT_LINE; l++) {
			const float re = (float)z[l], im = (float)z[USFFT_LINE + l];
			to[2 * l] = x[2 * l] * re - x[2 * l + 1] * im;
			to[2 * l + 1] = x[2 * l] * im + x[2 * l + 1] * re;
		}
		step(z, e);
	}
}

/* to += z x for nx rows of USFFT_LINE complex, and z goes on by a step. */
WEIR_CLONES(add_turned,
	    (float *restrict to, size_t ldt, const float *restrict x, double *restrict z,
	     const double *restrict e, size_t nx),
	    (to, ldt, x, z, e, nx))
{
	for (size_t j = 0; j < nx;
	     j++, to += 2 * ldt, x += 2 * USFFT_LINE, z += 2 * USFFT_LINE, e += 2 * USFFT_LINE) {
		for (size_t l = 0; l < USFFT_LINE; l++) {
			const float re = (float)z[l], im = (float)z[USFFT_LINE + l];
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
		adjoint(p, w, k, w->turned, USFFT_LINE, m + 2 * r * p->nq * ldm, ldm);
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
		memset(d + 2 * j * ldd, 0, 2 * USFFT_LINE * sizeof *d);
	for (size_t r = 0; r < p->o.nr; r++) {
		model(p, w, k, m + 2 * r * p->nq * ldm, ldm, w->turned, USFFT_LINE);
		add_turned(d, ldd, w->turned, w->turn, w->by, p->o.nx);
	}
}

/* --- the whole band ------------------------------------------------------------------------------------------------ */

void
radon_weigh_rows(const struct radon_core *p, const float *m, float *to, size_t ld)
{
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t l = 0; l < 2 * USFFT_LINE; l++)
			to[2 * i * ld + l] =
			    m[2 * i * USFFT_LINE + l] * (p->q_mute ? p->q_weight[i] : 1);
}

void
radon_adjoint_all(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_worker *l = &w->worker[omp_get_thread_num()];
		radon_block_adjoint(p, l, b * USFFT_LINE, w->d + 2 * b * USFFT_LINE, p->ld, l->m,
				    USFFT_LINE);
		radon_weigh_rows(p, l->m, w->m + 2 * b * USFFT_LINE, p->ld);
	}
}

void
radon_model_all(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_worker *l = &w->worker[omp_get_thread_num()];
		radon_block_model(p, l, b * USFFT_LINE, w->m + 2 * b * USFFT_LINE, p->ld, l->d,
				  USFFT_LINE);
		for (size_t j = 0; j < p->o.nx; j++)
			memcpy(w->d + 2 * (j * p->ld + b * USFFT_LINE), l->d + 2 * j * USFFT_LINE,
			       2 * USFFT_LINE * sizeof *l->d);
	}
}
