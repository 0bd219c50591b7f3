#include <string.h>

#include "common/par.h"
#include "radon/block.h"
#include "radon/recurrence.h"

void
radon_block_adjoint(const struct radon_core *p, struct radon_lane *w, size_t k, const float *d,
		    size_t ldd, float *m, size_t ldm)
{
	if (p->nufft)
		usfft_line_type1(&p->line, &w->line, 1, k, d, ldd, m, ldm);
	else
		recurrence_adjoint(p, w, k, d, ldd, m, ldm);
}

void
radon_block_model(const struct radon_core *p, struct radon_lane *w, size_t k, const float *m,
		  size_t ldm, float *d, size_t ldd)
{
	if (p->nufft)
		usfft_line_type2(&p->line, &w->line, -1, k, m, ldm, d, ldd);
	else
		recurrence_model(p, w, k, m, ldm, d, ldd);
}

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
		struct radon_lane *l = &w->lane[omp_get_thread_num()];
		radon_block_adjoint(p, l, b * LANES, w->d + 2 * b * LANES, p->ld, l->m, LANES);
		radon_weigh_rows(p, l->m, w->m + 2 * b * LANES, p->ld);
	}
}

void
radon_model_all(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_lane *l = &w->lane[omp_get_thread_num()];
		radon_block_model(p, l, b * LANES, w->m + 2 * b * LANES, p->ld, l->d, LANES);
		for (size_t j = 0; j < p->o.nx; j++)
			memcpy(w->d + 2 * (j * p->ld + b * LANES), l->d + 2 * j * LANES,
			       2 * LANES * sizeof *l->d);
	}
}
