/*
 * The point spread function of a frame: the kernel that turns points into its stars.
 *
 * Points between pixels have no samples, so each star is drawn as a narrow Gaussian with its place and light. The kernel that turns
 * those into the stars, convolved with the Gaussian, is the function. Places and light are first those of a window and of an
 * aperture, and then what makes the misfit of the last kernel least.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "wconv/psfmatch/psfmatch.h"

/* STRONG: how many times the noise a star's peak is above the sky. ROUNDS: of fits. */
enum { STRONG = 10, ROUNDS = 3, HALF = PSFMATCH_HALF };

/* A star: the pixel of its peak, its centre, its light, the sky around, and its width at half height. */
struct star {
	size_t at;
	double x, y, light, sky, width;
};

struct stars {
	struct star *s;
	size_t n;
	double width; /* the lower quartile of theirs */
	double sigma; /* of the Gaussians */
};

/* Returns the median of the border of a square of PSFMATCH_SIDE around pixel `at`; NAN where a pixel of it is unknown. */
static double
sky_around(const float *x, size_t w, size_t at)
{
	double v[4 * (PSFMATCH_SIDE - 1)];
	size_t n = 0;

	for (size_t j = 0; j < PSFMATCH_SIDE; j++)
		for (size_t i = 0; i < PSFMATCH_SIDE;
		     i += j % (PSFMATCH_SIDE - 1) ? PSFMATCH_SIDE - 1 : 1)
			v[n++] = (double)x[at + j * w + i - HALF * (w + 1)];
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return NAN;
	return psfmatch_median(v, n);
}

/* Whether the pixel is the peak of a star that is not a lone bright pixel. */
static bool
is_star(const struct psfmatch_field *f, size_t at, double sky)
{
	const float *p = f->new + at;
	double around = 0;

	if (!((double)*p - sky > STRONG * f->n.noise) || (double)*p >= f->n.top)
		return false;
	for (ptrdiff_t k = 0; k < 25; k++) {
		const float v = p[(k / 5 - 2) * (ptrdiff_t)f->w + k % 5 - 2];
		/* of equal pixels the first is the peak */
		if (!(k < 12 ? v < *p : v <= *p))
			return false;
		/* the eight beside it */
		around += k / 5 % 4 && k % 5 % 4 && k != 12 ? (double)v - sky : 0;
	}
	return around > .16 * ((double)*p - sky);
}

/* Sets the centre of a Gaussian window that moves with the star, and the light within 1.5 widths of there. */
static void
measure_star(const struct psfmatch_field *f, double width, struct star *s)
{
	const double sigma = width / 2.3548, reach = fmin(1.5 * width, HALF - 1);
	const size_t column = s->at % f->w, row = s->at / f->w;
	double sum, moved[2];

	s->x = (double)column;
	s->y = (double)row;
	for (int round = 0; round < 12; round++) {
		sum = moved[0] = moved[1] = s->light = 0;
		for (size_t j = row - HALF; j <= row + HALF; j++)
			for (size_t i = column - HALF; i <= column + HALF; i++) {
				const double dx = (double)i - s->x, dy = (double)j - s->y,
					     r = dx * dx + dy * dy,
					     v = (double)f->new[j * f->w + i] - s->sky;
				const double by = v * exp(-r / (2 * sigma * sigma));
				sum += by;
				moved[0] += by * dx;
				moved[1] += by * dy;
				s->light += r < reach * reach ? v : 0;
			}
		s->x += fmin(fmax(2 * moved[0] / sum, -.5), .5);
		s->y += fmin(fmax(2 * moved[1] / sum, -.5), .5);
	}
	if (!(hypot(s->x - (double)column, s->y - (double)row) < 2) || !(s->light > 0))
		s->light = 0;
}

/* Finds the stars, which are about as wide as the narrow ones. Returns 0 or -ENOMEM. */
static int
find_stars(const struct psfmatch_field *f, struct stars *found)
{
	const size_t room = f->w * f->h / 9 + 1;
	double *widths = weir_alloc(room, sizeof *widths);

	*found = (struct stars){.s = weir_alloc(room, sizeof *found->s)};
	for (size_t y = HALF; y + HALF < f->h && widths && found->s; y++)
		for (size_t x = HALF; x + HALF < f->w; x++) {
			struct star s = {.at = y * f->w + x};
			if (!is_star(f, s.at, f->n.level))
				continue;
			s.sky = sky_around(f->new, f->w, s.at);
			if (!isfinite(s.sky) || !is_star(f, s.at, s.sky))
				continue;
			s.width = psfmatch_width(f->new, f->w, s.at, s.sky);
			widths[found->n] = s.width;
			found->s[found->n++] = s;
		}
	const int e = widths && found->s ? 0 : -ENOMEM;
	found->width = !e && found->n ? psfmatch_quartile(widths, found->n) : 0;
	found->sigma = fmin(.3 * found->width, .8);
	for (size_t i = 0; i < found->n && !e; i++)
		if (fabs(found->s[i].width / found->width - 1.15) < .45)
			measure_star(f, found->width, found->s + i);
	weir_free(widths);
	return e;
}

/* Fills in g[2 HALF + 1], the samples of a Gaussian whose centre is `off` from the middle one; its integral is 1. */
static void
fill_gauss(double sigma, double off, double *g)
{
	for (int i = -HALF; i <= HALF; i++) {
		const double d = (i - off) / sigma;
		g[i + HALF] = exp(-d * d / 2) / (sigma * sqrt(2 * M_PI));
	}
}

static void
draw(const struct stars *stars, size_t w, size_t h, float *points)
{
	double gx[PSFMATCH_SIDE], gy[PSFMATCH_SIDE];

	memset(points, 0, w * h * sizeof *points);
	for (const struct star *s = stars->s; s < stars->s + stars->n; s++) {
		if (!(s->light > 0))
			continue;
		float *to = points + s->at - HALF * (w + 1);
		fill_gauss(stars->sigma, s->x - (double)(s->at % w), gx);
		fill_gauss(stars->sigma, s->y - (double)(s->at / w), gy);
		for (size_t j = 0; j < PSFMATCH_SIDE; j++)
			for (size_t i = 0; i < PSFMATCH_SIDE; i++)
				to[j * w + i] += (float)(s->light * gy[j] * gx[i]);
	}
}

/*
 * Changes light and place of the star so that what is left of the frame around it becomes least: left = a model + x d/dx model +
 * y d/dy model + constant. Steps that are too large for that are not taken. room: that of psfmatch_factor() for 4 unknowns.
 */
static void
improve(const float *left, const float *model, size_t w, double width, double *room, struct star *s)
{
	const ptrdiff_t reach = (ptrdiff_t)fmin(ceil(width), HALF - 1), row = (ptrdiff_t)w;
	double g[16] = {0}, a[4] = {0};

	for (ptrdiff_t j = -reach; j <= reach; j++)
		for (ptrdiff_t i = -reach; i <= reach; i++) {
			const float *m = model + (ptrdiff_t)s->at + j * row + i;
			const double v[4] = {(double)*m, .5 * ((double)m[-1] - (double)m[1]),
					     .5 * ((double)m[-row] - (double)m[row]), 1},
				     d = (double)left[m - model];
			for (size_t k = 0; k < 16 && isfinite(d); k++)
				g[k] += v[k / 4] * v[k % 4];
			for (size_t k = 0; k < 4 && isfinite(d); k++)
				a[k] += v[k] * d;
		}
	if (!psfmatch_factor(g, 4, room, 1))
		return;
	psfmatch_substitute(g, a, 4);
	if (fabs(a[0]) < .5 && hypot(a[1], a[2]) < 1) {
		s->light *= 1 + a[0];
		s->x += a[1];
		s->y += a[2];
	}
}

/* Improves all stars by the misfit of m. left, model: room for [h][w]. */
static int
improve_all(const struct psfmatch *m, const float *points, const float *frame, size_t w, size_t h,
	    int threads, float *left, float *model, struct stars *stars, struct why *why)
{
	double *room = weir_alloc(psfmatch_room(4), sizeof *room);
	int e = room ? 0 : why_set(why, "no memory");

	memcpy(left, frame, w * h * sizeof *left);
	e = e ? e : psfmatch_subtract(m, points, left, w, h, threads, why);
	e = e ? e : psfmatch_convolve(m, points, w, h, PSFMATCH_PLAIN, threads, model, why);
	for (size_t i = 0; i < stars->n && !e; i++)
		if (stars->s[i].light > 0)
			improve(left, model, w, stars->width, room, stars->s + i);
	weir_free(room);
	return e;
}

/* Convolves the kernels with the Gaussian that the stars were, and divides them by their sum. Returns 0 or -ENOMEM. */
static int
smear(struct psfmatch *m, double sigma)
{
	enum { REACH = 5 };
	const size_t n = m->size, samples = n * n, all = psfmatch_terms(m->degree) * samples;
	float *k = weir_alloc(all, sizeof *k);
	double g[PSFMATCH_SIDE];

	if (!k)
		return -ENOMEM;
	fill_gauss(sigma, 0, g);
	for (size_t i = 0; i < all; i++) {
		double sum = 0;
		for (size_t y = HALF - REACH; y <= HALF + REACH; y++)
			for (size_t x = HALF - REACH; x <= HALF + REACH; x++) {
				const size_t row = i / n % n + y - HALF, column = i % n + x - HALF;
				if (row < n && column < n)
					sum +=
					    g[y] * g[x] *
					    (double)m->kernel[i - i % samples + row * n + column];
			}
		k[i] = (float)(sum / m->ratio);
	}
	weir_free(m->kernel);
	m->kernel = k;
	return 0;
}

int
psfmatch_find_psf(struct psfmatch *m, const float *frame, size_t w, size_t h,
		  const struct psfmatch_options *asked, struct why *why)
{
	struct psfmatch_field f = {.ref = frame, .new = frame, .w = w, .h = h};
	struct psfmatch_options o = *asked;
	struct stars stars = {0};
	float *points = weir_alloc_large(3 * w * h, sizeof *points);
	int e = points ? psfmatch_measure_sky(&f, o.top) : -ENOMEM;

	o.convolve = PSFMATCH_REF;
	o.points = true;
	*m = (struct psfmatch){0};
	e = e ? e : find_stars(&f, &stars);
	if (e)
		e = why_set(why, e == -EDOM ? "too few pixels are known" : "no memory");
	for (int round = 0; round < ROUNDS && !e; round++) {
		if (round)
			e = improve_all(m, points, frame, w, h, o.threads, points + w * h,
					points + 2 * w * h, &stars, why);
		psfmatch_free(m);
		if (!e) {
			draw(&stars, w, h, points);
			e = psfmatch_fit(m, points, frame, w, h, &o, why);
		}
	}
	if (!e && smear(m, stars.sigma))
		e = why_set(why, "no memory");
	if (e)
		psfmatch_free(m);
	weir_free_all(points, stars.s);
	return e;
}
