/*
 * The sky. Each stamp has a constant of its own while the kernel is fitted, so that a sky that the background's polynomial
 * does not follow spoils no kernel. The background is fitted last. With the polynomial alone, a sky that curved by five times its
 * noise gave a ratio of fluxes of 1.01 or 1.41 where 1.2 was right.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "wconv/psfmatch/normal.h"

void
psfmatch_remove_constant(struct psfmatch_stamp *s, size_t z, size_t n)
{
	double *q = s->q, *one = s->one;

	for (size_t i = 0; i < n; i++)
		one[i] = i <= z ? q[psfmatch_packed(z) + i] : q[psfmatch_packed(i) + z];
	s->sum = s->b[z];
	for (size_t i = 0; i < n; i++) {
		const double by = one[i] / one[z];
		for (size_t j = 0; j <= i; j++)
			*q++ -= by * one[j];
		s->b[i] -= by * s->sum;
	}
	s->yy -= s->sum * s->sum / one[z];
	memset(s->q + psfmatch_packed(z), 0, (z + 1) * sizeof *s->q);
	for (size_t i = z; i < n; i++)
		s->q[psfmatch_packed(i) + z] = 0;
	s->b[z] = 0;
}

/* Adds the products of the background's terms to q and both. both: with what the kernel leaves. c: room for n coefficients. */
static void
add_terms(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c, double *q,
	  double *both)
{
	const size_t z = f->k.n, terms = f->n - z;

	psfmatch_evaluate(f, s, c);
	const double left = (s->sum - psfmatch_dot(s->one, c, z)) / s->one[z];
	for (size_t t = 0; t < terms; t++) {
		const double *row = s->q + psfmatch_packed(z + t), by = s->one[z + t];
		both[t] += s->b[z + t] - psfmatch_dot(row, c, z) + by * left;
		for (size_t u = 0; u <= t; u++)
			q[t * terms + u] += row[z + u] + by * s->one[z + u] / s->one[z];
	}
}

bool
psfmatch_fit_background(struct psfmatch_normal *f)
{
	const size_t terms = f->n - f->k.n;
	double q[PSFMATCH_TERMS * PSFMATCH_TERMS] = {0}, *b = f->a + f->first[f->k.n];

	memset(b, 0, terms * sizeof *b);
	for (size_t i = 0; i < f->stamps; i++)
		if (f->s[i].used)
			add_terms(f, f->s + i, psfmatch_work(f), q, b);
	if (!psfmatch_factor(q, terms, f->room, 1))
		return false;
	psfmatch_substitute(q, b, terms);
	return true;
}

/*
 * Returns the constant that the misfit of the stamp has, when the star may also be a little brighter. c: room for n
 * coefficients.
 */
static double
find_offset(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c)
{
	const size_t z = f->k.n;
	double light = 0, of_star, left;

	psfmatch_evaluate(f, s, c);
	of_star = psfmatch_dot(s->b, c, z);
	left = s->sum - psfmatch_dot(s->one, c, f->n);
	for (size_t i = 0; i < f->n; i++) {
		const double *q = s->q + psfmatch_packed(i),
			     both = psfmatch_dot(q, c, i < z ? i : z);
		light += i < z ? c[i] * (c[i] * q[i] + 2 * both) : 0;
		of_star -= i < z ? 0 : c[i] * both;
	}
	of_star -= light;
	return (left - (light > 0 ? of_star / light : 0) * psfmatch_dot(s->one, c, z)) / s->one[z];
}

void
psfmatch_judge_sky(const struct psfmatch_normal *f, double noise)
{
	double each[PSFMATCH_STAMPS];

	for (size_t i = 0; i < f->stamps; i++)
		each[i] = fabs(find_offset(f, f->s + i, psfmatch_work(f))) / noise;
	f->m->sky = psfmatch_median(each, f->stamps);
}
