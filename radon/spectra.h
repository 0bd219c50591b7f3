/* Rows of samples to spectra and back, shared out by rows. */
#ifndef RADON_SPECTRA_H
#define RADON_SPECTRA_H

#include "radon/core.h"

/* The spectra of rows x[r][n], which lie at sample `at` of rows of nfft. */
void radon_forward(const struct radon_core *p, struct radon_room *w, const float *x, size_t rows,
		   size_t n, size_t at, float *spectra);

/* The samples, times nfft, of a spectrum, of which the band alone counts; the spectrum is destroyed. */
void radon_backward(const struct radon_core *p, float *spectrum, float *row);

/* The panel in w->m, weighted by the mute where that depends on time, to panel [nq][ntau]. */
void radon_panel_out(const struct radon_core *p, struct radon_room *w, float *panel);

/* The gather in w->d; or minus_from without it, where the trace is live, and minus_from itself where it is dead. */
void radon_gather_out(const struct radon_core *p, struct radon_room *w, const float *minus_from,
		      float *gather);

/* Weighs the panel in w->m by a mute that depends on time. */
void radon_mute_panel(const struct radon_core *p, struct radon_room *w);

/* The edges of a report, from three sums: the energy of the two first curves, of the two last, of all. */
void radon_edges(const struct radon_core *p, const double sum[3], double edge[2]);

/* Weighs the panel in w->m by a mute that depends on q alone. */
void radon_weigh_panel(const struct radon_core *p, struct radon_room *w);

/* The weight of the mute at sample t of curve i. */
float radon_time_weight(const struct radon_core *p, size_t i, size_t t);

#endif
