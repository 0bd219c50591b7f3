/*
 * What noise in ref takes from the ratio of fluxes. The matrix of the normal equations is S + C: S is that of ref without its
 * noise, and C is what the noise adds. So the solution a = (S + C)^-1 b lacks, to first order, (S + C)^-1 (C a - m). m is what
 * noise that both pictures have adds to b; it is not 0 where one of them is a sum of frames that has the other one in it.
 *
 * Only the ratio takes this, and the kernel keeps its shape: with all of it, the difference was noisier by up to 1 %. To second
 * order the ratio became too large where NEW is hardly wider than REF.
 */
#include <string.h>

#include "wconv/psfmatch/normal.h"

void
psfmatch_sum_kernels(const struct psfmatch_normal *f, double *planes)
{
	const size_t samples = f->m->size * f->m->size;

	memset(planes, 0, psfmatch_terms(f->m->degree) * samples * sizeof *planes);
	for (size_t k = 0; k < f->k.n; k++)
		for (size_t t = 0; t < f->terms[k]; t++)
			psfmatch_add_kernel(&f->k, k, f->a[f->first[k] + t], planes + t * samples);
}

/*
 * Fills in by[t][u]: the sum over the used stamps of p_t p_u times the noise of ref there. Returns the sum of the squares of
 * their misfits.
 */
static double
sum_stamps(const struct psfmatch_normal *f, size_t terms, double *by)
{
	double p[PSFMATCH_TERMS], sum = 0;

	memset(by, 0, terms * terms * sizeof *by);
	for (size_t i = 0; i < f->stamps; i++) {
		if (!f->s[i].used)
			continue;
		sum += PSFMATCH_PIXELS * psfmatch_misfit(f, f->s + i, psfmatch_work(f));
		psfmatch_powers(f->m, f->m->degree, (double)f->s[i].x, (double)f->s[i].y, p);
		for (size_t t = 0; t < terms * terms; t++)
			by[t] += f->s[i].noise * p[t / terms] * p[t % terms];
	}
	return sum;
}

/*
 * Computes C a - m for kernels added up in planes; mixed: as much room. The products with the kernel of each sample come first.
 * The misfit has the noise of ref, and that of new. Where it has less than that of ref, the light of stars was taken for noise,
 * and all is scaled.
 */
static void
find_lack(const struct psfmatch_normal *f, const double *planes, double shared, double *mixed,
	  double *lack)
{
	const size_t terms = psfmatch_terms(f->m->degree), samples = f->m->size * f->m->size;
	double by[PSFMATCH_TERMS * PSFMATCH_TERMS], *kernel = psfmatch_work(f);
	const double *plane[PSFMATCH_TERMS], misfit = sum_stamps(f, terms, by);

	memset(mixed, 0, terms * samples * sizeof *mixed);
	for (size_t t = 0; t < terms; t++)
		plane[t] = planes + t * samples;
	for (size_t t = 0; t < terms; t++)
		psfmatch_add(by + t * terms, plane, terms, samples, mixed + t * samples);
	const double noise = psfmatch_dot(planes, mixed, terms * samples);
	const double scale = noise > misfit ? misfit / noise : 1;
	for (size_t t = 0; t < terms; t++) /* p_0 = 1 */
		mixed[t * samples + samples / 2] -= shared * by[t];
	memset(lack, 0, f->unknowns * sizeof *lack);
	for (size_t k = 0; k < f->k.n; k++) {
		memset(kernel, 0, samples * sizeof *kernel);
		psfmatch_add_kernel(&f->k, k, scale, kernel);
		for (size_t t = 0; t < f->terms[k]; t++)
			lack[f->first[k] + t] = psfmatch_dot(kernel, mixed + t * samples, samples);
	}
}

void
psfmatch_correct(struct psfmatch_normal *f, double shared)
{
	const size_t samples = f->m->size * f->m->size;
	double *mixed = psfmatch_work(f) + samples + f->n,
	       *lack = mixed + psfmatch_terms(f->m->degree) * samples;

	psfmatch_sum_kernels(f, f->planes);
	find_lack(f, f->planes, shared, mixed, lack);
	psfmatch_substitute(f->g, lack, f->unknowns);
	const double by = 1 + lack[0] / f->a[0];
	for (size_t i = 0; by > .5 && by < 2 && i < f->first[f->k.n]; i++)
		f->a[i] *= by;
}
