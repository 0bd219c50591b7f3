/* The fit: the normal equations over the stamps, their solution, and the rejection of outliers. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "wconv/psfmatch/psfmatch.h"

/* Returns work for one kernel, or for n coefficients. */
static inline double *
work_of(const struct psfmatch_normal *f)
{
	return f->planes + psfmatch_terms(f->m->degree) * f->m->size * f->m->size;
}

/* Computes c[n], the coefficients of the functions at the stamp. */
static void
evaluate(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c)
{
	double p[PSFMATCH_TERMS];

	psfmatch_powers(f->m, f->m->degree, (double)s->x, (double)s->y, p);
	for (size_t i = 0; i < f->n; i++) {
		c[i] = 0;
		for (size_t t = 0; t < f->terms[i]; t++)
			c[i] += f->a[f->first[i] + t] * p[t];
	}
}

/* Returns the mean over the stamp's pixels of misfit^2 / variance. c: room for n coefficients. */
static double
misfit_of(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c)
{
	double sum = s->yy;

	evaluate(f, s, c);
	for (size_t i = 0; i < f->n; i++) {
		const double *q = s->q + psfmatch_packed(i);
		sum += c[i] * (c[i] * q[i] - 2 * s->b[i] + 2 * psfmatch_dot(q, c, i));
	}
	return (sum > 0 ? sum : 0) / PSFMATCH_PIXELS;
}

/* ---- equations ---- */

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

/* Computes the products of the kernels' Laplacians. Returns 0 or -ENOMEM. */
static int
make_penalty(struct psfmatch_normal *f)
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
	weir_free_all(kernel, l);
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
	weir_free_all(f->s, f->first, f->terms, f->moment, f->a, f->g, f->penalty, f->memory,
		      f->planes, f->room);
}

/* ---- noise ---- */

/*
 * What noise in ref takes from the ratio of fluxes. The matrix of the normal equations is S + C: S is that of ref without its
 * noise, and C is what the noise adds. So the solution a = (S + C)^-1 b lacks, to first order, (S + C)^-1 (C a - m). m is what
 * noise that both pictures have adds to b; it is not 0 where one of them is a sum of frames that has the other one in it.
 *
 * Only the ratio takes this, and the kernel keeps its shape: with all of it, the difference was noisier by up to 1 %. To second
 * order the ratio became too large where NEW is hardly wider than REF.
 */

/* Adds up the kernels: planes[t] = sum_k a_kt B_k. planes: [terms][size][size]. */
static void
sum_kernels(const struct psfmatch_normal *f, double *planes)
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
		sum += PSFMATCH_PIXELS * misfit_of(f, f->s + i, work_of(f));
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
	double by[PSFMATCH_TERMS * PSFMATCH_TERMS], *kernel = work_of(f);
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

/*
 * Scales the kernels by what noise in ref has taken from the ratio of fluxes, to first order, unless that would be half of it or
 * more. g has been factored. shared: that of struct psfmatch_field.
 */
static void
correct(struct psfmatch_normal *f, double shared)
{
	const size_t samples = f->m->size * f->m->size;
	double *mixed = work_of(f) + samples + f->n,
	       *lack = mixed + psfmatch_terms(f->m->degree) * samples;

	sum_kernels(f, f->planes);
	find_lack(f, f->planes, shared, mixed, lack);
	psfmatch_substitute(f->g, lack, f->unknowns);
	const double by = 1 + lack[0] / f->a[0];
	for (size_t i = 0; by > .5 && by < 2 && i < f->first[f->k.n]; i++)
		f->a[i] *= by;
}

/* ---- offsets ---- */

/*
 * The sky. Each stamp has a constant of its own while the kernel is fitted, so that a sky that the background's polynomial
 * does not follow spoils no kernel. The background is fitted last. With the polynomial alone, a sky that curved by five times its
 * noise gave a ratio of fluxes of 1.01 or 1.41 where 1.2 was right.
 */

/* Makes n functions and the data orthogonal to the constant, which is function z, and fills in the array one, and sum. */
static void
remove_constant(struct psfmatch_stamp *s, size_t z, size_t n)
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

	evaluate(f, s, c);
	const double left = (s->sum - psfmatch_dot(s->one, c, z)) / s->one[z];
	for (size_t t = 0; t < terms; t++) {
		const double *row = s->q + psfmatch_packed(z + t), by = s->one[z + t];
		both[t] += s->b[z + t] - psfmatch_dot(row, c, z) + by * left;
		for (size_t u = 0; u <= t; u++)
			q[t * terms + u] += row[z + u] + by * s->one[z + u] / s->one[z];
	}
}

/* Fits the background's terms, with the kernels as they are. Returns false if the stamps do not determine them. */
static bool
fit_background(struct psfmatch_normal *f)
{
	const size_t terms = f->n - f->k.n;
	double q[PSFMATCH_TERMS * PSFMATCH_TERMS] = {0}, *b = f->a + f->first[f->k.n];

	memset(b, 0, terms * sizeof *b);
	for (size_t i = 0; i < f->stamps; i++)
		if (f->s[i].used)
			add_terms(f, f->s + i, work_of(f), q, b);
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

	evaluate(f, s, c);
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

/* Fills in m->sky. noise: that of struct psfmatch_field. */
static void
judge_sky(const struct psfmatch_normal *f, double noise)
{
	double each[PSFMATCH_STAMPS];

	for (size_t i = 0; i < f->stamps; i++)
		each[i] = fabs(find_offset(f, f->s + i, work_of(f))) / noise;
	f->m->sky = psfmatch_median(each, f->stamps);
}

/* ---- sharpness ---- */

/*
 * Lessens m->sharp to that of the kernel in the middle of the field, of which each square is less by twice its own variance. The
 * inverse of g, which has been factored, is the covariance of the coefficients. Of simulated pairs whose fluxes have a ratio of .02 to
 * .05, noise made the kernels of wider stars look sharp. Returns 0 or -ENOMEM.
 */
static int
lessen_sharpness(const struct psfmatch_normal *f)
{
	struct psfmatch *m = f->m;
	const double reach = 3.5 * m->stretch, half = (double)(m->size / 2);
	const size_t samples = m->size * m->size;
	double *by = weir_calloc(2 * f->unknowns + samples, sizeof *by), sum = 0;

	if (!by)
		return -ENOMEM;
	double *const a = by + f->unknowns, *const kernel = a + f->unknowns;
	for (size_t i = 0; i < samples; i++) {
		const double k = (double)m->kernel[i];
		if (hypot((double)(i % m->size) - half, (double)(i / m->size) - half) >= reach)
			continue;
		memset(by, 0, f->unknowns * sizeof *by);
		for (size_t n = 0; n < f->k.n; n++) {
			kernel[i] = 0;
			psfmatch_add_kernel(&f->k, n, 1, kernel);
			by[f->first[n]] = kernel[i];
		}
		memcpy(a, by, f->unknowns * sizeof *a);
		psfmatch_substitute(f->g, a, f->unknowns);
		sum += sqrt(fmax(k * k - 2 * psfmatch_dot(by, a, f->unknowns), 0));
	}
	weir_free(by);
	m->sharp = fmin(m->sharp, sum / fabs(f->a[0]));
	return 0;
}

/* ---- the fit ---- */

static int
no_memory(struct why *why)
{
	why_set(why, "no memory");
	return -ENOMEM;
}

/* Computes each[i], the misfit of stamp i; 0 where it is not used. Returns 0 or -ENOMEM. */
static int
find_misfits(const struct psfmatch_normal *f, double *each)
{
	int e = 0;

#pragma omp parallel num_threads(f->threads) reduction(min : e)
	{
		double *c = weir_alloc(f->n, sizeof *c);
		e = c ? 0 : -ENOMEM;
#pragma omp for schedule(dynamic, 8)
		for (size_t i = 0; i < f->stamps; i++)
			each[i] = c && f->s[i].used ? misfit_of(f, f->s + i, c) : 0;
		weir_free(c);
	}
	return e;
}

/*
 * Rejects the stamps whose misfit is above the median by more than 3 spreads, and above a tenth of what noise makes. Returns
 * how many they are.
 */
static size_t
reject(struct psfmatch_normal *f, const double *each)
{
	double sorted[PSFMATCH_STAMPS];
	size_t n = 0, out = 0;

	for (size_t i = 0; i < f->stamps; i++)
		if (f->s[i].used)
			sorted[n++] = each[i];
	const double middle = psfmatch_median(sorted, n);
	f->m->misfit = middle;
	for (size_t i = 0; i < n; i++)
		sorted[i] = fabs(sorted[i] - middle);
	const double spread = 1.4826 * psfmatch_median(sorted, n) + .05 * middle + 1e-9;
	for (size_t i = 0; i < f->stamps; i++)
		if (f->s[i].used && each[i] > fmax(middle + 3 * spread, .1)) {
			f->s[i].used = false;
			out++;
		}
	return out;
}

/* Lowers m->degree to what the stars suffice for. Returns 1, or -1 where that is none. */
static int
lower_degree(struct psfmatch *m, struct why *why)
{
	while (m->degree >= 0 && m->used < 2 * psfmatch_terms(m->degree))
		m->degree--;
	if (m->degree >= 0)
		return 1;
	return why_set(why, "%zu stars are too few, %zu were left out", m->used, m->rejected);
}

/* Counts the used stamps. Fails if most were rejected. Returns 1 with m->degree lowered if they are too few for the polynomials. */
static int
count_used(struct psfmatch_normal *f, struct why *why)
{
	struct psfmatch *m = f->m;

	m->used = 0;
	for (size_t i = 0; i < f->stamps; i++)
		m->used += f->s[i].used;
	m->rejected = f->stamps - m->used;
	if (m->rejected > m->used)
		return why_set(
		    why,
		    "%zu of %zu stars do not fit the others: the pictures do not match, the first "
		    "one has the wider stars, or cosmic rays were taken for stars: write NaN there",
		    m->rejected, f->stamps);
	return m->used < 2 * psfmatch_terms(m->degree) ? lower_degree(m, why) : 0;
}

/* Whether new shows the stars of ref: the kernel explains at least half of what half of the stamps have beyond noise. */
static bool
shows_stars(const struct psfmatch_normal *f, const double *each)
{
	double left[PSFMATCH_STAMPS];
	size_t n = 0;

	for (size_t i = 0; i < f->stamps; i++)
		if (f->s[i].used)
			left[n++] = each[i] * PSFMATCH_PIXELS / f->s[i].yy;
	return f->a[0] > 0 && (f->m->misfit < 4 || psfmatch_median(left, n) < .5);
}

/* Fits and rejects in turn, until no stamp is rejected, at most 10 times. */
static int
fit_rounds(struct psfmatch_normal *f, double smooth, struct why *why)
{
	double each[PSFMATCH_STAMPS];
	int e = 0;

	for (int round = 0; round < 10; round++) {
		if ((e = count_used(f, why)))
			return e;
		psfmatch_write_normal(f, smooth);
		if (!psfmatch_factor(f->g, f->unknowns, f->room, f->threads))
			return why_set(
			    why, "the stars do not determine the kernel: take fewer unknowns");
		psfmatch_substitute(f->g, f->a, f->unknowns);
		if ((e = find_misfits(f, each)))
			return no_memory(why);
		if (!reject(f, each))
			break;
	}
	return shows_stars(f, each) ? 0
				    : why_set(why, "it does not show the stars of the reference");
}

static int
sum_fitted(struct psfmatch_normal *f, const struct psfmatch_field *field)
{
	const size_t room = psfmatch_stamp_room(&f->k, psfmatch_terms(f->m->background));
	int e = 0;

#pragma omp parallel num_threads(f->threads) reduction(min : e)
	{
		double *work = weir_alloc_large(room, sizeof *work);
		e = work ? 0 : -ENOMEM;
#pragma omp for schedule(dynamic)
		for (size_t i = 0; i < f->stamps; i++)
			if (work) {
				psfmatch_sum_stamp(field, &f->k, f->m, f->s + i, work);
				remove_constant(f->s + i, f->k.n, f->n);
			}
		weir_free(work);
	}
	return e;
}

/* Writes the solution as kernels for wconv, and the background, with the skies added that were subtracted. */
static int
write_model(struct psfmatch_normal *f, const struct psfmatch_field *field)
{
	struct psfmatch *m = f->m;
	const size_t samples = m->size * m->size, planes = psfmatch_terms(m->degree),
		     terms = psfmatch_terms(m->background);

	m->kernel = weir_alloc(planes * samples, sizeof *m->kernel);
	m->b = weir_alloc(terms, sizeof *m->b);
	if (m->kernel && m->b) {
		sum_kernels(f, f->planes);
		for (size_t i = 0; i < planes * samples; i++)
			m->kernel[i] = (float)f->planes[i];
		memcpy(m->b, f->a + f->first[f->k.n], terms * sizeof *m->b);
		m->ratio = f->a[0];
		m->b[0] += field->n.level - m->ratio * field->r.level;
		m->level[0] = field->r.level;
		m->level[1] = field->n.level;
		m->noise[0] = field->r.noise;
		m->noise[1] = field->n.noise;
	}
	return m->kernel && m->b ? 0 : -ENOMEM;
}

/*
 * Finds the stamps, and chooses the stretch. Where o gives no size, kernels of stretched Gaussians are larger, unless too few
 * stars would lie far enough from the edges. Returns 0 or -ENOMEM.
 */
static int
find_stamps(struct psfmatch_normal *f, const struct psfmatch_field *field,
	    const struct psfmatch_options *o)
{
	struct psfmatch *m = f->m;
	struct psfmatch_stamp *s;
	double width[2];
	size_t n;

	if (psfmatch_find_stamps(field, m->size / 2, &f->s, &f->stamps))
		return -ENOMEM;
	psfmatch_find_widths(field, f->s, f->stamps, width);
	psfmatch_find_shift(field, f->s, f->stamps, m->shift);
	for (size_t k = 0; k < 2 && o->convolve == PSFMATCH_NEW; k++)
		m->shift[k] *= -1;
	m->width = width[1];
	m->blur = sqrt(fmax(width[1] * width[1] - width[0] * width[0], 0));
	m->stretch = fmin(fmax(m->width / PSFMATCH_WIDTH, 1), 2.5);
	const size_t size = 2 * (size_t)lround(5 + 5 * m->stretch) + 1;
	if (o->size || o->basis == PSFMATCH_DELTA || size == m->size)
		return 0;
	if (psfmatch_find_stamps(field, size / 2, &s, &n))
		return -ENOMEM;
	if (n >= 2 * psfmatch_terms(m->degree)) {
		weir_free(f->s);
		f->s = s;
		f->stamps = n;
		m->size = size;
	} else
		weir_free(s);
	return 0;
}

/*
 * Does what psfmatch_fit() does, with a kernel that convolves ref; with PSFMATCH_NEW, the caller has exchanged the two. Returns 1
 * with a lower m->degree if the stars suffice for that.
 */
static int
fit_degree(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
	   const struct psfmatch_options *o, int degree, struct why *why)
{
	struct psfmatch_field field = {.ref = ref, .new = new, .w = w, .h = h, .gain = o->gain};
	struct psfmatch_normal f = {.m = m, .threads = o->threads};
	const bool smooth = o->smooth > 0 && o->basis == PSFMATCH_DELTA;
	int e = 0;

	*m = (struct psfmatch){.size = o->size ? (size_t)o->size : PSFMATCH_SIZE,
			       .degree = degree,
			       .background = o->background,
			       .zero_x = ((double)w - 1) / 2,
			       .zero_y = ((double)h - 1) / 2,
			       .scale_x = (double)w / 2,
			       .scale_y = (double)h / 2};
	if ((e = psfmatch_measure_sky(&field, o->top)))
		return e == -EDOM ? why_set(why, "too few pixels are known") : no_memory(why);
	if (o->points) {
		field.r = (struct psfmatch_sky){.top = INFINITY};
		field.noise = field.n.noise;
		field.shared = 0;
	}
	if (find_stamps(&f, &field, o))
		e = no_memory(why);
	e = e ? e : count_used(&f, why);
	if (!e &&
	    (psfmatch_make_kernels(&f.k, o->basis, m->size, m->stretch) ||
	     psfmatch_make_normal(&f) || (smooth && make_penalty(&f)) || sum_fitted(&f, &field)))
		e = no_memory(why);
	e = e ? e : fit_rounds(&f, o->smooth, why);
	if (!e)
		correct(&f, field.shared);
	if (!e && !fit_background(&f))
		e = why_set(why, "the stars do not determine the background: lower its degree");
	if (!e)
		judge_sky(&f, field.noise);
	if (!e && write_model(&f, &field))
		e = no_memory(why);
	if (!e && (m->sharp = psfmatch_sharpness(m)) > PSFMATCH_SHARP && lessen_sharpness(&f))
		e = no_memory(why);
	degree = m->degree;
	if (e)
		psfmatch_free(m);
	m->degree = e < 0 ? 0 : degree;
	psfmatch_free_normal(&f);
	return e;
}

/* Does the same with the highest degree up to that of o for which the stars suffice. */
static int
fit(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
    const struct psfmatch_options *o, struct why *why)
{
	int e;

	m->degree = o->degree;
	while ((e = fit_degree(m, ref, new, w, h, o, m->degree, why)) > 0)
		;
	return e;
}

static int
fit_exchanged(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
	      const struct psfmatch_options *o, struct why *why)
{
	struct psfmatch_options back = *o;

	back.convolve = PSFMATCH_NEW;
	const int e = fit(m, new, ref, w, h, &back, why);
	if (!e) {
		m->exchanged = true;
		m->ratio = 1 / m->ratio;
	}
	return e;
}

/*
 * Whether it is better to convolve new: its kernel sharpens less, and has no larger misfit in units of new. Its own misfit is in
 * those of ref.
 */
static bool
is_better(const struct psfmatch *exchanged, const struct psfmatch *m)
{
	return exchanged->sharp < m->sharp &&
	       exchanged->misfit * exchanged->ratio * exchanged->ratio <= m->misfit;
}

/* Does what psfmatch_fit() does for PSFMATCH_EITHER. */
static int
fit_either(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
	   const struct psfmatch_options *o, struct why *why)
{
	const int e = fit(m, ref, new, w, h, o, why);
	struct psfmatch other;
	struct why other_why;

	if (e == -ENOMEM || (!e && m->sharp <= PSFMATCH_SHARP))
		return e;
	const int other_e = fit_exchanged(&other, ref, new, w, h, o, &other_why);
	if (other_e == -ENOMEM) {
		psfmatch_free(m);
		return no_memory(why);
	}
	if (other_e || (!e && !is_better(&other, m))) {
		psfmatch_free(&other);
		return e;
	}
	psfmatch_free(m);
	*m = other;
	return 0;
}

int
psfmatch_fit(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
	     const struct psfmatch_options *o, struct why *why)
{
	if (o->convolve == PSFMATCH_NEW)
		return fit_exchanged(m, ref, new, w, h, o, why);
	if (o->convolve == PSFMATCH_EITHER)
		return fit_either(m, ref, new, w, h, o, why);
	return fit(m, ref, new, w, h, o, why);
}

void
psfmatch_free(struct psfmatch *m)
{
	weir_free_all(m->kernel, m->b);
	*m = (struct psfmatch){0};
}
