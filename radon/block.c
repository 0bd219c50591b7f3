#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "radon/block.h"
#include "radon/recurrence.h"

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
