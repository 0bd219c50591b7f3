/* The fit: the normal equations over the stamps, their solution, and the rejection of outliers. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/par.h"
#include "wconv/psfmatch/inside.h"

/*
 * A stamp has n + 1 functions: function f < n is kernel f of the basis, and function n is the background. The coefficient
 * of function f is a polynomial, for kernel 0 a constant. Its terms are the unknowns first[f] .. first[f] + terms[f] - 1.
 */
struct fit {
	const struct psfmatch_options *o;
	struct psfmatch *m;
	struct psfmatch_kernels k;
	struct psfmatch_stamp *s;
	size_t stamps, n, unknowns;
	size_t *first, *terms;
	double *a,
	    *g; /* [unknowns]: right side, then solution; [unknowns][unknowns]: normal equations */
	double *memory, *room; /* of all stamps' sums; for psfmatch_solve() */
};

static int fail(char err[PSFMATCH_ERR], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int
fail(char err[PSFMATCH_ERR], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, PSFMATCH_ERR, fmt, ap);
	va_end(ap);
	return -1;
}

static size_t
count_terms(int degree)
{
	return (size_t)((degree + 1) * (degree + 2) / 2);
}

/* Fills in the powers u^i v^j, i + j <= degree, at (x,y). */
static void
fill_powers(const struct psfmatch *m, int degree, double x, double y, double *p)
{
	const double u = (x - m->zero_x) / m->scale_x, v = (y - m->zero_y) / m->scale_y;

	for (int j = 0; j <= degree; j++)
		for (int i = 0; i + j <= degree; i++)
			*p++ = pow(u, i) * pow(v, j);
}

enum { TERMS = 66 }; /* the terms of a polynomial of degree 10 */

double
psfmatch_background(const struct psfmatch *m, double x, double y)
{
	double p[TERMS], sum = 0;

	fill_powers(m, m->background, x, y, p);
	for (size_t t = 0; t < count_terms(m->background); t++)
		sum += m->b[t] * p[t];
	return sum;
}

/* Returns the powers of a function of a stamp: those of the kernels, or those of the background. */
static const double *
powers_of(const struct fit *f, size_t fun, const double *kernel, const double *background)
{
	return fun == f->k.n ? background : kernel;
}

/* Adds function i of a stamp to the lower triangle of the normal equations, and to their right side. z: [unknowns]. */
static void
add_function(struct fit *f, const struct psfmatch_stamp *s, size_t i, const double *kernel,
	     const double *background, double *z)
{
	const double *p = powers_of(f, i, kernel, background), *q = s->q + i * (f->k.n + 1);
	const size_t end = f->first[i] + f->terms[i];

	for (size_t j = 0; j <= i; j++) {
		const double *r = powers_of(f, j, kernel, background);
		for (size_t e = 0; e < f->terms[j]; e++)
			z[f->first[j] + e] = q[j] * r[e];
	}
	for (size_t t = 0; t < f->terms[i]; t++) {
		psfmatch_add(p[t], z, end, f->g + (f->first[i] + t) * f->unknowns);
		f->a[f->first[i] + t] += s->b[i] * p[t];
	}
}

/* Adds the used stamps to the normal equations. Each thread has functions of its own. Returns 0 or -ENOMEM. */
static int
add_stamps(struct fit *f)
{
	int e = 0;

#pragma omp parallel for num_threads(f->o->threads) schedule(dynamic, 4) reduction(min : e)
	for (size_t i = 0; i <= f->k.n; i++) {
		double kernel[TERMS], background[TERMS];
		double *z = weir_alloc(f->unknowns, sizeof *z);
		for (size_t k = 0; z && k < f->stamps; k++) {
			const struct psfmatch_stamp *s = f->s + k;
			if (!s->used)
				continue;
			fill_powers(f->m, f->o->degree, (double)s->x, (double)s->y, kernel);
			fill_powers(f->m, f->o->background, (double)s->x, (double)s->y, background);
			add_function(f, s, i, kernel, background, z);
		}
		e = z ? e : -ENOMEM;
		weir_free(z);
	}
	return e;
}

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

/* Adds the penalty: for each term of the polynomials, the sum of squares of the kernel's Laplacian. Returns 0 or -ENOMEM. */
static int
add_penalty(struct fit *f)
{
	const size_t n = f->k.n, samples = f->k.size * f->k.size, terms = count_terms(f->o->degree);
	double *kernel = weir_calloc(samples, sizeof *kernel),
	       *l = weir_alloc(n * samples, sizeof *l);
	double data = 0, penalty = 0;

	if (kernel && l) {
		for (size_t k = 0; k < n; k++) {
			memset(kernel, 0, samples * sizeof *kernel);
			psfmatch_add_kernel(&f->k, k, 1, kernel);
			laplacian(kernel, f->k.size, l + k * samples);
			data += f->g[f->first[k] * f->unknowns + f->first[k]];
			for (size_t i = 0; i < samples; i++)
				penalty += l[k * samples + i] * l[k * samples + i];
		}
		const double by = f->o->smooth * data / penalty;
		for (size_t k = 0; k < n; k++)
			for (size_t i = 0; i <= k; i++) {
				const double v =
				    psfmatch_dot(l + k * samples, l + i * samples, samples);
				for (size_t t = 0; t < (i ? terms : 1); t++)
					f->g[(f->first[k] + t) * f->unknowns + f->first[i] + t] +=
					    by * v;
			}
	}
	const int e = kernel && l ? 0 : -ENOMEM;
	weir_free(kernel);
	weir_free(l);
	return e;
}

/* Returns the mean over the stamp's pixels of misfit^2 / variance. c: room for n + 1 coefficients. */
static double
misfit(const struct fit *f, const struct psfmatch_stamp *s, double *c)
{
	double kernel[TERMS], background[TERMS], sum = s->yy;
	const size_t m = f->k.n + 1;

	fill_powers(f->m, f->o->degree, (double)s->x, (double)s->y, kernel);
	fill_powers(f->m, f->o->background, (double)s->x, (double)s->y, background);
	for (size_t i = 0; i < m; i++) {
		const double *p = powers_of(f, i, kernel, background);
		c[i] = 0;
		for (size_t t = 0; t < f->terms[i]; t++)
			c[i] += f->a[f->first[i] + t] * p[t];
	}
	for (size_t i = 0; i < m; i++) {
		const double *q = s->q + i * m;
		sum += c[i] * (c[i] * q[i] - 2 * s->b[i] + 2 * psfmatch_dot(q, c, i));
	}
	return (sum > 0 ? sum : 0) / (double)s->pixels;
}

/* Rejects the stamps whose misfit is above the median by more than 3 spreads. Returns how many they are. */
static size_t
reject(struct fit *f, double *c)
{
	double each[PSFMATCH_STAMPS], sorted[PSFMATCH_STAMPS];
	size_t n = 0, out = 0;

	for (size_t i = 0; i < f->stamps; i++) {
		each[i] = f->s[i].used ? misfit(f, f->s + i, c) : 0;
		if (f->s[i].used)
			sorted[n++] = each[i];
	}
	const double middle = psfmatch_median(sorted, n);
	f->m->misfit = middle;
	for (size_t i = 0; i < n; i++)
		sorted[i] = fabs(sorted[i] - middle);
	const double spread = 1.4826 * psfmatch_median(sorted, n) + .05 * middle + 1e-9;
	for (size_t i = 0; i < f->stamps; i++)
		if (f->s[i].used && each[i] > middle + 3 * spread) {
			f->s[i].used = false;
			out++;
		}
	return out;
}

/* Fits and rejects in turn, until no stamp is rejected, at most 10 times. */
static int
fit_rounds(struct fit *f, char err[PSFMATCH_ERR])
{
	double *c = weir_alloc(f->k.n + 1, sizeof *c);
	int e = c ? 0 : fail(err, "no memory");

	for (int round = 0; !e && round < 10; round++) {
		size_t used = 0;
		memset(f->g, 0, f->unknowns * f->unknowns * sizeof *f->g);
		memset(f->a, 0, f->unknowns * sizeof *f->a);
		for (size_t i = 0; i < f->stamps; i++)
			used += f->s[i].used;
		if (add_stamps(f))
			e = fail(err, "no memory");
		else if (used < 2 * count_terms(f->o->degree))
			e = fail(err, "%zu stars are too few for polynomials of degree %d", used,
				 f->o->degree);
		else if (f->o->smooth > 0 && f->o->basis == PSFMATCH_DELTA && add_penalty(f))
			e = fail(err, "no memory");
		else if (!psfmatch_solve(f->g, f->a, f->unknowns, f->room, f->o->threads))
			e = fail(err, "the stars do not determine the kernel: take fewer unknowns");
		f->m->used = used;
		f->m->rejected = f->stamps - used;
		if (e || !reject(f, c))
			break;
	}
	weir_free(c);
	return e;
}

/* Counts the unknowns, and allocates memory for all sums. Returns 0 or -ENOMEM. */
static int
make_room(struct fit *f)
{
	const size_t m = f->k.n + 1, each = m * m + m;

	f->first = weir_alloc(m, sizeof *f->first);
	f->terms = weir_alloc(m, sizeof *f->terms);
	if (!f->first || !f->terms)
		return -ENOMEM;
	for (size_t i = 0; i < m; i++) {
		f->first[i] = f->unknowns;
		f->terms[i] = i == 0	    ? 1
			      : i == f->k.n ? count_terms(f->o->background)
					    : count_terms(f->o->degree);
		f->unknowns += f->terms[i];
	}
	f->a = weir_alloc(f->unknowns, sizeof *f->a);
	f->g = weir_alloc(f->unknowns, f->unknowns * sizeof *f->g);
	f->memory = weir_alloc(f->stamps, each * sizeof *f->memory);
	f->room = weir_alloc(psfmatch_room(f->unknowns), sizeof *f->room);
	if (!f->a || !f->g || !f->memory || !f->room)
		return -ENOMEM;
	for (size_t i = 0; i < f->stamps; i++) {
		f->s[i].q = f->memory + i * each;
		f->s[i].b = f->s[i].q + m * m;
	}
	return 0;
}

static int
sum_stamps(struct fit *f, const struct psfmatch_field *field)
{
	int e = 0;

#pragma omp parallel for num_threads(f->o->threads) schedule(dynamic) reduction(min : e)
	for (size_t i = 0; i < f->stamps; i++)
		if (psfmatch_sum_stamp(field, &f->k, f->s + i))
			e = -ENOMEM;
	return e;
}

/* Writes the solution as kernels for wconv, and the background, with the skies added that were subtracted. */
static int
write_model(struct fit *f, const struct psfmatch_field *field)
{
	struct psfmatch *m = f->m;
	const size_t samples = m->size * m->size, planes = count_terms(m->degree);
	double *sum = weir_calloc(planes * samples, sizeof *sum);

	m->kernel = weir_alloc(planes * samples, sizeof *m->kernel);
	m->b = weir_alloc(count_terms(m->background), sizeof *m->b);
	if (sum && m->kernel && m->b) {
		for (size_t k = 0; k < f->k.n; k++)
			for (size_t t = 0; t < f->terms[k]; t++)
				psfmatch_add_kernel(&f->k, k, f->a[f->first[k] + t],
						    sum + t * samples);
		for (size_t i = 0; i < planes * samples; i++)
			m->kernel[i] = (float)sum[i];
		memcpy(m->b, f->a + f->first[f->k.n], count_terms(m->background) * sizeof *m->b);
		m->ratio = f->a[0];
		m->b[0] += field->sky_new - m->ratio * field->sky_ref;
	}
	weir_free(sum);
	return sum && m->kernel && m->b ? 0 : -ENOMEM;
}

int
psfmatch_fit(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
	     const struct psfmatch_options *o, char err[PSFMATCH_ERR])
{
	struct psfmatch_field field = {
	    .ref = ref, .new = new, .w = w, .h = h, .gain = o->gain, .top = o->top};
	struct fit f = {.o = o, .m = m};
	int e = 0;

	*m = (struct psfmatch){.size = o->size,
			       .degree = o->degree,
			       .background = o->background,
			       .zero_x = ((double)w - 1) / 2,
			       .zero_y = ((double)h - 1) / 2,
			       .scale_x = (double)w / 2,
			       .scale_y = (double)h / 2};
	if ((e = psfmatch_measure_sky(&field)))
		return fail(err, e == -EDOM ? "too few pixels are known" : "no memory");
	if (psfmatch_make_kernels(&f.k, o) ||
	    psfmatch_find_stamps(&field, o->size / 2, &f.s, &f.stamps) || make_room(&f) ||
	    sum_stamps(&f, &field))
		e = fail(err, "no memory");
	e = e ? e : fit_rounds(&f, err);
	if (!e && write_model(&f, &field))
		e = fail(err, "no memory");
	if (e)
		psfmatch_free(m);
	psfmatch_free_kernels(&f.k);
	weir_free(f.s);
	weir_free(f.first);
	weir_free(f.terms);
	weir_free(f.a);
	weir_free(f.g);
	weir_free(f.memory);
	weir_free(f.room);
	return e;
}

void
psfmatch_free(struct psfmatch *m)
{
	weir_free(m->kernel);
	weir_free(m->b);
	*m = (struct psfmatch){0};
}
