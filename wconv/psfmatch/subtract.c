/* The result of a fit: the difference of two pictures. */
#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "wconv/psfmatch/inside.h"
#include "wconv/wconv.h"

void
psfmatch_powers(const struct psfmatch *m, int degree, double x, double y, double *p)
{
	const double u = (x - m->zero_x) / m->scale_x, v = (y - m->zero_y) / m->scale_y;
	double row = 1;

	for (int j = 0; j <= degree; j++, row *= v) {
		double power = row;
		for (int i = 0; i + j <= degree; i++, power *= u)
			*p++ = power;
	}
}

/* made[x] = by (from[x] - made[x] - a polynomial c of degree `degree` in (x - zero) / scale) */
WEIR_CLONES(subtract_row,
	    (float *restrict made, const float *restrict from, float by, size_t w,
	     const double *restrict c, int degree, double zero, double scale),
	    (made, from, by, w, c, degree, zero, scale))
{
	for (size_t x = 0; x < w; x++) {
		const double u = ((double)x - zero) / scale;
		double sum = 0;
		for (int i = degree; i >= 0; i--)
			sum = sum * u + c[i];
		made[x] = by * (from[x] - (made[x] + (float)sum));
	}
}

/* Subtracts made and the background from the picture that is not convolved. */
static void
subtract_all(const struct psfmatch *m, float *made, const float *ref, float *new, size_t w,
	     size_t h, int threads)
{
	const float *from = m->exchanged ? ref : new;
	const float by = m->exchanged ? (float)-m->ratio : 1;

#pragma omp parallel for num_threads(threads) schedule(static)
	for (size_t y = 0; y < h; y++) {
		const double v = ((double)y - m->zero_y) / m->scale_y;
		const double *b = m->b;
		double c[PSFMATCH_TERMS] = {0}, row = 1;
		for (int j = 0; j <= m->background; j++, row *= v)
			for (int i = 0; i + j <= m->background; i++)
				c[i] += *b++ * row;
		subtract_row(made + y * w, from + y * w, by, w, c, m->background, m->zero_x,
			     m->scale_x);
		memcpy(new + y *w, made + y * w, w * sizeof *new);
	}
}

/* Describes the kernels to wconv. */
static struct wconv_problem
pose(const struct psfmatch *m, size_t w, size_t h, int threads)
{
	const size_t planes = psfmatch_terms(m->degree);

	return (struct wconv_problem){.w = w,
				      .h = h,
				      .planes = 1,
				      .in = IMG_F32,
				      .out = IMG_F32,
				      .W = w,
				      .H = h,
				      .kw = m->size,
				      .kh = m->size,
				      .gx = planes,
				      .gy = 1,
				      .kernels = m->kernel,
				      .step_row = m->size,
				      .step_x = m->size * m->size,
				      .step_y = m->size * m->size * planes,
				      .degree = m->degree,
				      .zero_x = m->zero_x,
				      .zero_y = m->zero_y,
				      .scale_x = m->scale_x,
				      .scale_y = m->scale_y,
				      .cx = m->size / 2,
				      .cy = m->size / 2,
				      .edge = WCONV_NEAREST,
				      .threads = threads};
}

int
psfmatch_subtract(const struct psfmatch *m, const float *ref, float *new, size_t w, size_t h,
		  int threads, char err[PSFMATCH_ERR])
{
	const struct wconv_problem q = pose(m, w, h, threads);
	char why[WCONV_ERR];
	struct wconv_plan *p;

	if (wconv_plan(&p, &q, why)) {
		snprintf(err, PSFMATCH_ERR, "%s", why);
		return -1;
	}
	const float *from = m->exchanged ? new : ref;
	float *made = weir_alloc_large(w * h, sizeof *made), *to = made;
	if (!made) {
		snprintf(err, PSFMATCH_ERR, "no memory");
		wconv_free(p);
		return -1;
	}
	for (size_t i = 0; i < wconv_count(p); i++) {
		const struct wconv_step s = wconv_steps(p, i);
		wconv_run(p, from, to);
		from += s.rows_in * w;
		to += s.rows_out * w;
	}
	subtract_all(m, made, ref, new, w, h, threads);
	weir_free(made);
	wconv_free(p);
	return 0;
}
