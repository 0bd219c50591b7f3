/* The sums over the pixels of a stamp. */
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "wconv/psfmatch/inside.h"

enum { LANES = 4, TOGETHER = 8, SLACK = 64 };
typedef double vec
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* to[i] = sum_a tap[a] from[i + (size - 1 - a) stride], i < n */
WEIR_CLONES(sum_taps,
	    (const double *restrict from, const double *restrict tap, size_t size, size_t stride,
	     size_t n, double *restrict to),
	    (from, tap, size, stride, n, to))
{
	const double *last = from + (size - 1) * stride;
	size_t i = 0;

	for (; i + TOGETHER * LANES <= n; i += TOGETHER * LANES) {
		vec sum[TOGETHER] = {{0}};
		for (size_t a = 0; a < size; a++)
			for (size_t k = 0; tap[a] != 0 && k < TOGETHER; k++)
				sum[k] +=
				    tap[a] * *(const vec *)(last + i + k * LANES - a * stride);
		for (size_t k = 0; k < TOGETHER; k++)
			*(vec *)(to + i + k * LANES) = sum[k];
	}
	for (; i < n; i++) {
		to[i] = 0;
		for (size_t a = 0; a < size; a++)
			to[i] += tap[a] * last[i - a * stride];
	}
}

/* Copies the pixels of ref that the kernels need for the stamp, minus the sky. */
static void
take_window(const struct psfmatch_field *f, const struct psfmatch_stamp *s, struct psfmatch_view *v)
{
	const size_t wide = v->wide, reach = wide / 2;
	const float *first = f->ref + (s->y - reach) * f->w + s->x - reach;

	for (size_t r = 0; r < wide; r++)
		for (size_t c = 0; c < wide; c++)
			v->window[r * wide + c] = (double)first[r * f->w + c] - f->r.level;
	memset(v->window + wide * wide, 0, SLACK * sizeof *v->window);
}

/* Returns the light at pixel `at` of both pictures above the sky around the stamp. What may be noise is not counted. */
static double
light(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t at)
{
	const double n = (double)f->new[at] - s->sky_new, r = (double)f->ref[at] - s->sky_ref;

	return (n > 3 * f->n.noise ? n : 0) + (r > 3 * f->r.noise ? r : 0);
}

/* Returns the variance of pixel `at` of ref. */
static double
variance(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t at)
{
	const double r = (double)f->ref[at] - s->sky_ref;

	return f->r.noise * f->r.noise + (r > 3 * f->r.noise ? r / f->gain : 0);
}

/* Fills in weight, data, dark and p, and the stamp's noise. */
static void
weigh(const struct psfmatch_field *f, const struct psfmatch *m, struct psfmatch_stamp *s,
      struct psfmatch_view *v)
{
	const double sky = f->noise * f->noise;
	double p[PSFMATCH_TERMS];

	v->dark = 1 / f->noise;
	s->noise = 0;
	for (size_t i = 0; i < PSFMATCH_PIXELS; i++) {
		const size_t x = s->x - PSFMATCH_HALF + i % PSFMATCH_SIDE,
			     y = s->y - PSFMATCH_HALF + i / PSFMATCH_SIDE, at = y * f->w + x;
		const double photons = light(f, s, at) / f->gain;
		v->weight[i] = photons > .1 * sky ? 1 / sqrt(sky + photons) : v->dark;
		v->data[i] = v->weight[i] * ((double)f->new[at] - f->n.level);
		s->noise += v->weight[i] * v->weight[i] * variance(f, s, at);
		psfmatch_powers(m, m->background, (double)x, (double)y, p);
		for (size_t t = 0; t < v->terms; t++)
			v->p[t * PSFMATCH_PIXELS + i] = p[t];
	}
}

/* Convolves the window with x along its rows. to: [wide][PSFMATCH_SIDE]. work: room for the window. */
static void
convolve_x(const struct psfmatch_view *v, const double *x, double *work, double *to)
{
	const size_t size = v->k->size, n = v->wide * v->wide - (size - 1);

	sum_taps(v->window, x, size, 1, n, work);
	for (size_t r = 0; r < v->wide; r++)
		memcpy(to + r * PSFMATCH_SIDE, work + r * v->wide, PSFMATCH_SIDE * sizeof *to);
}

/* Fills in g: g[k] = (kernel k * ref) / sigma, and after these the background's terms / sigma. */
static void
fill_functions(const struct psfmatch_view *v)
{
	const struct psfmatch_kernels *k = v->k;
	const size_t pixels = PSFMATCH_PIXELS, line = v->wide * PSFMATCH_SIDE;
	double *rows = v->more, *lines = rows + v->wide * v->wide, *g = v->g;
	size_t made = 0;

	for (size_t i = 0; i < k->n; i++) {
		double *to = g + i * pixels, *along = lines + k->which[i] * line;
		if (k->which[i] == made) {
			convolve_x(v, k->x + i * k->size, rows, along);
			made++;
		}
		sum_taps(along, k->y + i * k->size, k->size, PSFMATCH_SIDE, pixels, to);
		for (size_t p = 0; p < pixels; p++)
			to[p] = to[p] * v->weight[p] - k->sum[i] * g[p];
	}
	for (size_t t = 0; t < v->terms; t++)
		for (size_t p = 0; p < pixels; p++)
			g[(k->n + t) * pixels + p] = v->p[t * pixels + p] * v->weight[p];
}

static size_t
more_room(const struct psfmatch_kernels *k)
{
	const size_t wide = PSFMATCH_SIDE + k->size - 1;
	const size_t lines = wide * wide + k->different * wide * PSFMATCH_SIDE;
	const size_t shifts = k->basis == PSFMATCH_DELTA ? psfmatch_shifts_room(k->size) : 0;

	return lines > shifts ? lines : shifts;
}

size_t
psfmatch_stamp_room(const struct psfmatch_kernels *k, size_t terms)
{
	const size_t wide = PSFMATCH_SIDE + k->size - 1, m = k->n + terms;

	return wide * wide + SLACK + (2 + terms + m) * PSFMATCH_PIXELS + psfmatch_room(m) +
	       more_room(k);
}

void
psfmatch_sum_stamp(const struct psfmatch_field *f, const struct psfmatch_kernels *k,
		   const struct psfmatch *m, struct psfmatch_stamp *s, double *work)
{
	const size_t terms = psfmatch_terms(m->background), n = k->n + terms;
	struct psfmatch_view v = {
	    .k = k, .wide = PSFMATCH_SIDE + k->size - 1, .window = work, .terms = terms};

	v.weight = v.window + v.wide * v.wide + SLACK;
	v.data = v.weight + PSFMATCH_PIXELS;
	v.p = v.data + PSFMATCH_PIXELS;
	v.g = v.p + terms * PSFMATCH_PIXELS;
	v.room = v.g + n * PSFMATCH_PIXELS;
	v.more = v.room + psfmatch_room(n);
	take_window(f, s, &v);
	weigh(f, m, s, &v);
	s->yy = psfmatch_dot(v.data, v.data, PSFMATCH_PIXELS);
	if (k->basis == PSFMATCH_DELTA && psfmatch_sum_shifts(&v, s->q, s->b))
		return;
	fill_functions(&v);
	memset(s->q, 0, psfmatch_packed(n) * sizeof *s->q);
	psfmatch_gram(v.g, n, PSFMATCH_PIXELS, 1, v.room, s->q);
	for (size_t i = 0; i < n; i++)
		s->b[i] = psfmatch_dot(v.g + i * PSFMATCH_PIXELS, v.data, PSFMATCH_PIXELS);
}
