#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "radon/spectra.h"

void
radon_forward(const struct radon_core *p, struct radon_room *w, const float *x, size_t rows,
	      size_t n, size_t at, float *spectra)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t r = 0; r < rows; r++) {
		float *row = w->worker[omp_get_thread_num()].row;
		memset(row, 0, at * sizeof *row);
		memcpy(row + at, x + r * n, n * sizeof *row);
		memset(row + at + n, 0, (p->nfft - at - n) * sizeof *row);
		radon_fft_forward(&p->fft, row, spectra + r * p->ld * 2);
	}
}

void
radon_backward(const struct radon_core *p, float *spectrum, float *row)
{
	const size_t above = p->kmax + 1;

	if (p->first == p->last) {
		memset(row, 0, p->nfft * sizeof *row);
		return;
	}
	memset(spectrum, 0, p->kmin * 2 * sizeof *spectrum);
	memset(spectrum + 2 * above, 0, (p->nw - above) * 2 * sizeof *spectrum);
	radon_fft_backward(&p->fft, spectrum, row);
}

WEIR_CLONES(scale, (float *restrict to, const float *restrict from, size_t n, float by),
	    (to, from, n, by))
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] * by;
}

WEIR_CLONES(subtract,
	    (float *restrict to, const float *restrict x, const float *restrict from, size_t n,
	     float by),
	    (to, x, from, n, by))
{
	for (size_t i = 0; i < n; i++)
		to[i] = x[i] - from[i] * by;
}

WEIR_CLONES(mute_row, (float *restrict row, const float *restrict weight, size_t n, float by),
	    (row, weight, n, by))
{
	for (size_t t = 0; t < n; t++)
		row[t] *= by * weight[t];
}

void
radon_mute_rows(const struct radon_core *p, float *panel, int threads)
{
	if (!p->o.mute.n && !p->o.mute.npolygon)
		return;
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = panel + i * p->ntau;
		for (size_t t = 0; t < p->ntau && p->q_mute; t++)
			row[t] *= p->q_weight[i];
		if (!p->q_mute)
			mute_row(row, p->weight + i * p->ntau, p->ntau, 1);
	}
}

void
radon_panel_out(const struct radon_core *p, struct radon_room *w, float *panel)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->worker[omp_get_thread_num()].row;
		radon_backward(p, w->m + i * p->ld * 2, row);
		if (!p->q_mute)
			mute_row(row, p->weight + i * p->ntau, p->nfft, 1);
		scale(panel + i * p->ntau, row, p->ntau, 1 / (float)p->nfft);
	}
}

void
radon_mute_panel(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->worker[omp_get_thread_num()].row, *m = w->m + i * p->ld * 2;
		radon_backward(p, m, row);
		mute_row(row, p->weight + i * p->ntau, p->nfft, 1 / (float)p->nfft);
		radon_fft_forward(&p->fft, row, m);
	}
}

void
radon_gather_out(const struct radon_core *p, struct radon_room *w, const float *x, float *gather)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t j = 0; j < p->o.nx; j++) {
		float *row = w->worker[omp_get_thread_num()].row, *to = gather + j * p->o.nt;
		if (x && !p->live[j]) {
			memcpy(to, x + j * p->o.nt, p->o.nt * sizeof *to);
			continue;
		}
		radon_backward(p, w->d + j * p->ld * 2, row);
		if (x)
			subtract(to, x + j * p->o.nt, row + p->lead, p->o.nt, 1 / (float)p->nfft);
		else
			scale(to, row + p->lead, p->o.nt, 1 / (float)p->nfft);
	}
}

void
radon_edges(const struct radon_core *p, const double sum[3], double edge[2])
{
	const double mean = sum[2] / (double)p->o.nq;

	for (int side = 0; side < 2; side++)
		edge[side] = p->o.nq < 8 ? NAN : mean > 0 ? sum[side] / 2 / mean : 0;
}

void
radon_weigh_panel(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t l = 0; l < 2 * p->ld && p->q_mute; l++)
			w->m[2 * i * p->ld + l] *= p->q_weight[i];
}
