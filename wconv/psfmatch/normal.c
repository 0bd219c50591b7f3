/* The normal equations: sums over the stamps, and their assembly. */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "wconv/psfmatch/normal.h"

/* GROUP: stamps that are added at once. CHUNK: elements of a stamp's sums that are added at once, so that they fit the cache. */
enum { GROUP = 16, CHUNK = 512 };

/* --- moments --------------------------------------------------------------------------------------------------------- */

/* Stamps to add to the moments: by[e][s] is term e at stamp s, or less that. */
struct group {
	size_t count;
	const double *q[GROUP];
	double *by; /* [moments][GROUP] */
};

static void
put_in_group(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double sign,
	     struct group *g)
{
	double p[PSFMATCH_MOMENTS];

	psfmatch_powers(f->m, 2 * f->m->degree, (double)s->x, (double)s->y, p);
	for (size_t e = 0; e < f->moments; e++)
		g->by[e * GROUP + g->count] = sign * p[e];
	g->q[g->count++] = s->q;
}

static void
add_group(struct psfmatch_normal *f, struct group *g)
{
#pragma omp parallel for num_threads(f->threads) schedule(static)
	for (size_t i = 0; i < f->each; i += CHUNK) {
		const size_t n = f->each - i < CHUNK ? f->each - i : CHUNK;
		const double *q[GROUP];
		for (size_t s = 0; s < g->count; s++)
			q[s] = g->q[s] + i;
		for (size_t e = 0; e < f->moments; e++)
			psfmatch_add(g->by + e * GROUP, q, g->count, n,
				     f->moment + e * f->each + i);
	}
	g->count = 0;
}

/* Adds the used stamps that the moments do not hold, and subtracts those that are not used any more. */
static void
change_moments(struct psfmatch_normal *f, struct group *g)
{
	for (size_t i = 0; i < f->stamps; i++) {
		if (f->in[i] == f->s[i].used)
			continue;
		put_in_group(f, f->s + i, f->in[i] ? -1 : 1, g);
		f->in[i] = f->s[i].used;
		if (g->count == GROUP)
			add_group(f, g);
	}
	add_group(f, g);
}

/* Makes the moments those of the used stamps. Where differences would be inexact, they are summed anew. */
static void
update_moments(struct psfmatch_normal *f)
{
	double by[PSFMATCH_MOMENTS * GROUP];
	struct group g = {.by = by};

	change_moments(f, &g);
	if (f->moment[0] < 1e-3 * f->most) {
		memset(f->moment, 0, f->moments * f->each * sizeof *f->moment);
		memset(f->in, 0, sizeof f->in);
		f->most = 0;
		change_moments(f, &g);
	}
	f->most = f->moment[0] > f->most ? f->moment[0] : f->most;
}

/* --- equations ------------------------------------------------------------------------------------------------------- */

/* The powers of each term of a polynomial of that degree, in their order. */
static void
list_powers(int degree, int *i, int *j)
{
	for (int b = 0; b <= degree; b++)
		for (int a = 0; a + b <= degree; a++) {
			*i++ = a;
			*j++ = b;
		}
}

/* Returns which term of a polynomial of that degree u^i v^j is. */
static size_t
term_of(int i, int j, int degree)
{
	return (size_t)(j * (degree + 1) - j * (j - 1) / 2 + i);
}

/* Writes the rows of function i. which: [PSFMATCH_TERMS][PSFMATCH_TERMS], the moment of each pair of terms. */
static void
write_rows(struct psfmatch_normal *f, size_t i, const unsigned char *which)
{
	for (size_t t = 0; t < f->terms[i]; t++) {
		double *row = f->g + (f->first[i] + t) * f->unknowns;
		for (size_t j = 0; j <= i; j++) {
			const double *from = f->moment + psfmatch_packed(i) + j;
			for (size_t u = 0; u < f->terms[j]; u++)
				*row++ = from[which[t * PSFMATCH_TERMS + u] * f->each];
		}
	}
}

static void
write_right_side(struct psfmatch_normal *f)
{
	double p[PSFMATCH_TERMS];

	memset(f->a, 0, f->unknowns * sizeof *f->a);
	for (size_t k = 0; k < f->stamps; k++) {
		const struct psfmatch_stamp *s = f->s + k;
		if (!s->used)
			continue;
		psfmatch_powers(f->m, f->m->degree, (double)s->x, (double)s->y, p);
		for (size_t i = 0; i < f->n; i++)
			for (size_t t = 0; t < f->terms[i]; t++)
				f->a[f->first[i] + t] += s->b[i] * p[t];
	}
}

/*
 * Adds the penalty: for each term of the polynomials, the sum of squares of the kernel's Laplacian. It is divided by the square of
 * the ratio of fluxes, to which moment[0] and a[0], of kernel 0 alone, are a guide.
 */
static void
add_penalty(struct psfmatch_normal *f, double smooth)
{
	const double ratio = f->a[0] / f->moment[0], by = smooth / (ratio * ratio);

	for (size_t k = 0; k < f->k.n && ratio > 0; k++)
		for (size_t t = 0; t < f->terms[k]; t++) {
			double *row = f->g + (f->first[k] + t) * f->unknowns;
			const double *v = f->penalty + psfmatch_packed(k);
			for (size_t i = 0; i <= k; i++)
				if (t < f->terms[i])
					row[f->first[i] + t] += by * v[i];
		}
}

void
psfmatch_write_normal(struct psfmatch_normal *f, double smooth)
{
	unsigned char which[PSFMATCH_TERMS * PSFMATCH_TERMS];
	int i[PSFMATCH_TERMS], j[PSFMATCH_TERMS];
	const int degree = f->m->degree;
	const size_t terms = psfmatch_terms(degree);

	update_moments(f);
	list_powers(degree, i, j);
	for (size_t t = 0; t < terms; t++)
		for (size_t u = 0; u < terms; u++)
			which[t * PSFMATCH_TERMS + u] =
			    (unsigned char)term_of(i[t] + i[u], j[t] + j[u], 2 * degree);
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 4)
	for (size_t k = 0; k < f->n; k++)
		write_rows(f, k, which);
	write_right_side(f);
	/* the background's constant is not fitted here, and all else of its row is 0 */
	f->g[f->first[f->k.n] * (f->unknowns + 1)] = 1;
	if (f->penalty)
		add_penalty(f, smooth);
}

/* --- penalty --------------------------------------------------------------------------------------------------------- */

/* to = the Laplacian of a kernel that is 0 beyond its edges. */
static void
laplacian(const double *x, size_t n, double *to)
{
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < n; i++)
			to[j * n + i] = 4 * x[j * n + i] - (i ? x[j * n + i - 1] : 0) -
					(i + 1 < n ? x[j * n + i + 1] : 0) -
					(j ? x[(j - 1) * n + i] : 0) -
					(j + 1 < n ? x[(j + 1) * n + i] : 0);
}

int
psfmatch_make_penalty(struct psfmatch_normal *f)
{
	const size_t n = f->k.n, samples = f->k.size * f->k.size;
	double *kernel = weir_alloc(samples, sizeof *kernel),
	       *l = weir_alloc(n * samples, sizeof *l);

	f->penalty = weir_calloc(psfmatch_packed(n), sizeof *f->penalty);
	if (kernel && l && f->penalty) {
		for (size_t k = 0; k < n; k++) {
			memset(kernel, 0, samples * sizeof *kernel);
			psfmatch_add_kernel(&f->k, k, 1, kernel);
			laplacian(kernel, f->k.size, l + k * samples);
		}
		psfmatch_gram(l, n, samples, 1, f->room, f->penalty);
	}
	const int e = kernel && l && f->penalty ? 0 : -ENOMEM;
	weir_free(kernel);
	weir_free(l);
	return e;
}

/* --- memory ---------------------------------------------------------------------------------------------------------- */

int
psfmatch_make_normal(struct psfmatch_normal *f)
{
	f->n = f->k.n + psfmatch_terms(f->m->background);
	f->each = psfmatch_packed(f->n);
	f->moments = psfmatch_terms(2 * f->m->degree);
	f->first = weir_alloc(f->n, sizeof *f->first);
	f->terms = weir_alloc(f->n, sizeof *f->terms);
	if (!f->first || !f->terms)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		f->first[i] = f->unknowns;
		f->terms[i] = i == 0 || i >= f->k.n ? 1 : psfmatch_terms(f->m->degree);
		f->unknowns += f->terms[i];
	}
	f->a = weir_alloc(f->unknowns, sizeof *f->a);
	f->g = weir_alloc_large(f->unknowns, f->unknowns * sizeof *f->g);
	f->moment = weir_calloc_large(f->moments, f->each * sizeof *f->moment);
	f->memory = weir_alloc_large(f->stamps, (f->each + 2 * f->n) * sizeof *f->memory);
	f->room = weir_alloc(psfmatch_room(f->unknowns), sizeof *f->room);
	const size_t samples = f->m->size * f->m->size, terms = psfmatch_terms(f->m->degree);
	f->planes = weir_alloc((2 * terms + 1) * samples + f->n + f->unknowns, sizeof *f->planes);
	if (!f->a || !f->g || !f->planes || !f->moment || !f->memory || !f->room)
		return -ENOMEM;
	for (size_t i = 0; i < f->stamps; i++) {
		f->s[i].q = f->memory + i * (f->each + 2 * f->n);
		f->s[i].b = f->s[i].q + f->each;
		f->s[i].one = f->s[i].b + f->n;
	}
	return 0;
}

void
psfmatch_free_normal(struct psfmatch_normal *f)
{
	psfmatch_free_kernels(&f->k);
	weir_free(f->s);
	weir_free(f->first);
	weir_free(f->terms);
	weir_free(f->moment);
	weir_free(f->a);
	weir_free(f->g);
	weir_free(f->penalty);
	weir_free(f->memory);
	weir_free(f->planes);
	weir_free(f->room);
}
