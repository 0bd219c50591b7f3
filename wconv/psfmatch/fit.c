/* The fit: the normal equations over the stamps, their solution, and the rejection of outliers. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "wconv/psfmatch/normal.h"

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

static int
no_memory(char err[PSFMATCH_ERR])
{
	fail(err, "no memory");
	return -ENOMEM;
}

void
psfmatch_evaluate(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c)
{
	double p[PSFMATCH_TERMS];

	psfmatch_powers(f->m, f->m->degree, (double)s->x, (double)s->y, p);
	for (size_t i = 0; i < f->n; i++) {
		c[i] = 0;
		for (size_t t = 0; t < f->terms[i]; t++)
			c[i] += f->a[f->first[i] + t] * p[t];
	}
}

double
psfmatch_misfit(const struct psfmatch_normal *f, const struct psfmatch_stamp *s, double *c)
{
	double sum = s->yy;

	psfmatch_evaluate(f, s, c);
	for (size_t i = 0; i < f->n; i++) {
		const double *q = s->q + psfmatch_packed(i);
		sum += c[i] * (c[i] * q[i] - 2 * s->b[i] + 2 * psfmatch_dot(q, c, i));
	}
	return (sum > 0 ? sum : 0) / PSFMATCH_PIXELS;
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
			each[i] = c && f->s[i].used ? psfmatch_misfit(f, f->s + i, c) : 0;
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

static int
refuse_few(const struct psfmatch *m, char err[PSFMATCH_ERR])
{
	int degree = m->degree;

	while (degree > 0 && m->used < 2 * psfmatch_terms(degree))
		degree--;
	if (m->used < 2 * psfmatch_terms(degree))
		return fail(err, "%zu stars are too few, %zu were left out", m->used, m->rejected);
	return fail(err,
		    "%zu stars are too few for polynomials of degree %d, %zu were left out; "
		    "they suffice for --degree=%d",
		    m->used, m->degree, m->rejected, degree);
}

/* Counts the used stamps. Fails if they are too few for the polynomials, or if most stamps were rejected. */
static int
count_used(struct psfmatch_normal *f, char err[PSFMATCH_ERR])
{
	struct psfmatch *m = f->m;

	m->used = 0;
	for (size_t i = 0; i < f->stamps; i++)
		m->used += f->s[i].used;
	m->rejected = f->stamps - m->used;
	if (m->rejected > m->used)
		return fail(err,
			    "%zu of %zu stars do not fit the others: the pictures do not match, or "
			    "the first one has the wider stars",
			    m->rejected, f->stamps);
	return m->used < 2 * psfmatch_terms(m->degree) ? refuse_few(m, err) : 0;
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
fit_rounds(struct psfmatch_normal *f, double smooth, char err[PSFMATCH_ERR])
{
	double each[PSFMATCH_STAMPS];
	int e = 0;

	for (int round = 0; round < 10; round++) {
		if (count_used(f, err))
			return -1;
		psfmatch_write_normal(f, smooth);
		if (!psfmatch_factor(f->g, f->unknowns, f->room, f->threads))
			return fail(err,
				    "the stars do not determine the kernel: take fewer unknowns");
		psfmatch_substitute(f->g, f->a, f->unknowns);
		if ((e = find_misfits(f, each)))
			return no_memory(err);
		if (!reject(f, each))
			break;
	}
	return shows_stars(f, each) ? 0 : fail(err, "it does not show the stars of the reference");
}

static int
sum_stamps(struct psfmatch_normal *f, const struct psfmatch_field *field)
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
				psfmatch_remove_constant(f->s + i, f->k.n, f->n);
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
		psfmatch_sum_kernels(f, f->planes);
		for (size_t i = 0; i < planes * samples; i++)
			m->kernel[i] = (float)f->planes[i];
		memcpy(m->b, f->a + f->first[f->k.n], terms * sizeof *m->b);
		m->ratio = f->a[0];
		m->b[0] += field->n.level - m->ratio * field->r.level;
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

/* Does what psfmatch_fit() does, with a kernel that convolves ref. */
static int
fit(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
    const struct psfmatch_options *o, char err[PSFMATCH_ERR])
{
	struct psfmatch_field field = {.ref = ref, .new = new, .w = w, .h = h, .gain = o->gain};
	struct psfmatch_normal f = {.m = m, .threads = o->threads};
	const bool smooth = o->smooth > 0 && o->basis == PSFMATCH_DELTA;
	int e = 0;

	*m = (struct psfmatch){.size = o->size ? o->size : PSFMATCH_SIZE,
			       .degree = o->degree,
			       .background = o->background,
			       .zero_x = ((double)w - 1) / 2,
			       .zero_y = ((double)h - 1) / 2,
			       .scale_x = (double)w / 2,
			       .scale_y = (double)h / 2};
	if ((e = psfmatch_measure_sky(&field, o->top)))
		return e == -EDOM ? fail(err, "too few pixels are known") : no_memory(err);
	if (find_stamps(&f, &field, o))
		e = no_memory(err);
	e = e ? e : count_used(&f, err);
	if (!e && (psfmatch_make_kernels(&f.k, o->basis, m->size, m->stretch) ||
		   psfmatch_make_normal(&f) || (smooth && psfmatch_make_penalty(&f)) ||
		   sum_stamps(&f, &field)))
		e = no_memory(err);
	e = e ? e : fit_rounds(&f, o->smooth, err);
	if (!e)
		psfmatch_correct(&f, field.shared);
	if (!e && !psfmatch_fit_background(&f))
		e = fail(err, "the stars do not determine the background: lower its degree");
	if (!e)
		psfmatch_judge_sky(&f, field.noise);
	if (!e && write_model(&f, &field))
		e = no_memory(err);
	if (!e)
		m->sharp = psfmatch_sharpness(m);
	else
		psfmatch_free(m);
	psfmatch_free_normal(&f);
	return e;
}

static int
fit_exchanged(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
	      const struct psfmatch_options *o, char err[PSFMATCH_ERR])
{
	const int e = fit(m, new, ref, w, h, o, err);

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
	   const struct psfmatch_options *o, char err[PSFMATCH_ERR])
{
	const int e = fit(m, ref, new, w, h, o, err);
	char why[PSFMATCH_ERR];
	struct psfmatch other;

	if (e == -ENOMEM || (!e && m->sharp <= PSFMATCH_SHARP))
		return e;
	const int other_e = fit_exchanged(&other, ref, new, w, h, o, why);
	if (other_e == -ENOMEM) {
		psfmatch_free(m);
		return no_memory(err);
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
	     const struct psfmatch_options *o, char err[PSFMATCH_ERR])
{
	if (o->convolve == PSFMATCH_NEW)
		return fit_exchanged(m, ref, new, w, h, o, err);
	if (o->convolve == PSFMATCH_EITHER)
		return fit_either(m, ref, new, w, h, o, err);
	return fit(m, ref, new, w, h, o, err);
}

void
psfmatch_free(struct psfmatch *m)
{
	weir_free(m->kernel);
	weir_free(m->b);
	*m = (struct psfmatch){0};
}
