/*
 * The definition of sparse, and of lsq with one set of weights: iteratively reweighted least squares by conjugate gradients, in
 * double, sample by sample.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "radon/direct.h"

struct sparse {
	const struct radon_options *o;
	struct direct_axes x;
	const float *gather;
	double *u, *w, *dir, *grad, *row; /* [nq][ntau] */
	complex double *m;		  /* [nq][nw] */
	complex double *res, *step;	  /* [nx][nw] */
};

static bool
sparse_room(struct sparse *s)
{
	const size_t panel = s->o->nq * s->x.ntau, gather = s->o->nx * s->x.nw;

	s->u = weir_calloc(panel, sizeof *s->u);
	s->w = weir_alloc(panel, sizeof *s->w);
	s->dir = weir_alloc(panel, sizeof *s->dir);
	s->grad = weir_alloc(panel, sizeof *s->grad);
	s->row = weir_alloc(panel, sizeof *s->row);
	s->m = weir_alloc(s->o->nq * s->x.nw, sizeof *s->m);
	s->res = weir_alloc(gather, sizeof *s->res);
	s->step = weir_alloc(gather, sizeof *s->step);
	return s->u && s->w && s->dir && s->grad && s->row && s->m && s->res && s->step;
}

static void
sparse_free(struct sparse *s)
{
	weir_free(s->u);
	weir_free(s->w);
	weir_free(s->dir);
	weir_free(s->grad);
	weir_free(s->row);
	weir_free(s->m);
	weir_free(s->res);
	weir_free(s->step);
}

/* Zeroes in d the times of the zeros that each trace of the gather begins or ends with. Returns 0 or -ENOMEM. */
static int
mute(const struct sparse *s, complex double *d)
{
	int err = 0;

	for (size_t j = 0; j < s->o->nx && !err; j++) {
		const float *x = s->gather + j * s->o->nt;
		size_t first = 0, end = s->o->nt;
		while (first < s->o->nt && x[first] == 0)
			first++;
		while (end > first && x[end - 1] == 0)
			end--;
		complex double *at = d + j * s->x.nw, *masked = NULL;
		if (first == end || (first == 0 && end == s->o->nt))
			continue;
		if (!(err = radon_direct_to_rows(&s->x, at, 1, s->row, s->x.ntau, 0))) {
			for (size_t t = 0; t < s->x.ntau; t++)
				if ((first && t < s->x.lead + first) ||
				    (end < s->o->nt && t >= s->x.lead + end))
					s->row[t] = 0;
			masked = radon_direct_to_spectra(&s->x, s->row, 1, s->x.ntau, 0);
			err = masked ? 0 : -ENOMEM;
		}
		if (masked)
			memcpy(at, masked, s->x.nw * sizeof *at);
		weir_free(masked);
	}
	return err;
}

/* Zeroes dead traces, frequencies outside the band, and muted times. Returns the energy of the remaining samples. */
static double
keep_equations(const struct sparse *s, complex double *d)
{
	double sum = 0;

	for (size_t j = 0; j < s->o->nx; j++)
		for (size_t k = 0; k < s->x.nw; k++)
			if (!radon_direct_is_live(s->o, j) || !radon_direct_in_band(s->o, &s->x, k))
				d[j * s->x.nw + k] = 0;
	if (mute(s, d))
		return NAN;
	for (size_t i = 0; i < s->o->nx * s->x.nw; i++) {
		const size_t k = i % s->x.nw;
		sum += (k == 0 || 2 * k == s->x.nfft ? 1 : 2) * creal(d[i] * conj(d[i]));
	}
	return sum / (double)s->x.nfft;
}

/* s->step = A W v; returns its energy. */
static double
apply(struct sparse *s, const double *v)
{
	complex double *m;

	for (size_t i = 0; i < s->o->nq * s->x.ntau; i++)
		s->row[i] = s->w[i] * v[i];
	if (!(m = radon_direct_to_spectra(&s->x, s->row, s->o->nq, s->x.ntau, 0)))
		return NAN;
	radon_direct_model_sums(s->o, &s->x, m, s->step);
	weir_free(m);
	return keep_equations(s, s->step);
}

/* s->grad = W A^H res - damping u; returns its energy. */
static double
gradient(struct sparse *s)
{
	double sum = 0;

	radon_direct_adjoint_sums(s->o, &s->x, s->res, s->m);
	if (radon_direct_to_rows(&s->x, s->m, s->o->nq, s->row, s->x.ntau, 0))
		return NAN;
	for (size_t i = 0; i < s->o->nq * s->x.ntau; i++) {
		s->grad[i] = s->w[i] * s->row[i] - radon_direct_damping(s->o) * s->u[i];
		sum += s->grad[i] * s->grad[i];
	}
	return sum;
}

/* Minimises |d - A W u|^2 + damping |u|^2 by at most so many steps of conjugate gradients from u = 0. On entry s->res holds d. */
static void
descend(struct sparse *s, int most)
{
	const size_t n = s->o->nq * s->x.ntau, k = s->o->nx * s->x.nw;
	double g, next;

	memset(s->u, 0, n * sizeof *s->u);
	g = gradient(s);
	memcpy(s->dir, s->grad, n * sizeof *s->dir);
	for (int step = 0; step < most && g > 0; step++, g = next) {
		double dd = 0;
		for (size_t i = 0; i < n; i++)
			dd += s->dir[i] * s->dir[i];
		const double alpha = g / (apply(s, s->dir) + radon_direct_damping(s->o) * dd);
		for (size_t i = 0; i < n; i++)
			s->u[i] += alpha * s->dir[i];
		for (size_t i = 0; i < k; i++)
			s->res[i] -= alpha * s->step[i];
		next = gradient(s);
		for (size_t i = 0; i < n; i++)
			s->dir[i] = s->grad[i] + next / g * s->dir[i];
	}
}

/* The amplitude of m = W u around sample t of curve i, over 3 samples to each side. */
static double
amplitude(const struct sparse *s, size_t i, size_t t)
{
	double sum = 0;

	for (size_t v = 0; v < s->x.ntau; v++)
		if (v + 3 >= t && v <= t + 3)
			sum += pow(s->w[i * s->x.ntau + v] * s->u[i * s->x.ntau + v], 2);
	return sqrt(sum);
}

/* W = the square root of the amplitude, scaled so that the greatest weight is 1; weights below .01 become .01. */
static void
reweigh(struct sparse *s)
{
	const size_t n = s->o->nq * s->x.ntau;
	double top = 0;

	for (size_t i = 0; i < n; i++) {
		s->row[i] = amplitude(s, i / s->x.ntau, i % s->x.ntau);
		top = fmax(top, s->row[i]);
	}
	for (size_t i = 0; i < n; i++)
		s->w[i] = top > 0 ? fmax(sqrt(s->row[i] / top), .01) : 1;
}

/* Writes the band of W u to panel. Returns 0 or -ENOMEM. */
static int
put_panel(struct sparse *s, double *panel)
{
	complex double *m;
	int err;

	for (size_t i = 0; i < s->o->nq * s->x.ntau; i++)
		s->row[i] = s->w[i] * s->u[i];
	if (!(m = radon_direct_to_spectra(&s->x, s->row, s->o->nq, s->x.ntau, 0)))
		return -ENOMEM;
	for (size_t i = 0; i < s->o->nq * s->x.nw; i++)
		m[i] *= radon_direct_in_band(s->o, &s->x, i % s->x.nw);
	err = radon_direct_to_rows(&s->x, m, s->o->nq, panel, s->x.ntau, 0);
	weir_free(m);
	return err;
}

int
radon_direct_sparse(const struct radon_options *o, const float *gather, double *panel)
{
	struct radon_options own = *o;
	struct sparse s = {.o = &own, .x = radon_direct_axes(o), .gather = gather};
	complex double *d = radon_direct_gather_spectra(o, &s.x, gather);
	const bool ok = sparse_room(&s) && d;
	const int sets = o->mode == RADON_SPARSE ? o->outer : 1;
	double all = 0;

	for (size_t i = 0; ok && i < o->nq * s.x.ntau; i++)
		s.w[i] = 1;
	for (int i = 0; ok && i < sets; i++) {
		if (i)
			reweigh(&s);
		if (i == 1 && o->raise_nu)
			own.nu = radon_direct_raised(o, keep_equations(&s, s.res) / all);
		memcpy(s.res, d, o->nx * s.x.nw * sizeof *d);
		all = keep_equations(&s, s.res);
		descend(&s, radon_direct_steps(o, i, sets));
	}
	const int err = ok ? put_panel(&s, panel) : -ENOMEM;
	sparse_free(&s);
	weir_free(d);
	return err;
}
