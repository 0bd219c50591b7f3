/* Transforms rows of samples to spectra and back. The threads share out the rows. */
#ifndef RADON_SPECTRA_H
#define RADON_SPECTRA_H

#include "radon/core.h"

/* Finds the spectra of rows x[r][n]. The samples are placed at sample `at` of rows of nfft zeros. */
void radon_forward(const struct radon_core *p, struct radon_room *w, const float *x, size_t rows,
		   size_t n, size_t at, float *spectra);

/* Turns the band of a spectrum into samples, times nfft. The spectrum is destroyed. */
void radon_backward(const struct radon_core *p, float *spectrum, float *row);

/* Turns the spectra in w->m into panel [nq][ntau]. A mute that depends on time is applied. */
void radon_panel_out(const struct radon_core *p, struct radon_room *w, float *panel);

/*
 * Turns the spectra in w->d into gather [nx][nt]. When minus_from is a gather, the result is minus_from minus that in live
 * traces, and minus_from itself in dead ones.
 */
void radon_gather_out(const struct radon_core *p, struct radon_room *w, const float *minus_from,
		      float *gather);

/* Weights a panel of samples [nq][ntau] by the mute. */
void radon_mute_rows(const struct radon_core *p, float *panel, int threads);

/* Weights the panel in w->m by a mute that depends on time. */
void radon_mute_panel(const struct radon_core *p, struct radon_room *w);

/* Finds the edges of a report from three sums: the energy of the first two curves, of the last two and of all. */
void radon_edges(const struct radon_core *p, const double sum[3], double edge[2]);

/* Weights the panel in w->m by a mute that depends on q alone. */
void radon_weigh_panel(const struct radon_core *p, struct radon_room *w);

#endif
