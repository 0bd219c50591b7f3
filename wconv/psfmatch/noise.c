/* The deviation of each pixel of a difference: see psfmatch_find_noise(). */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "wconv/psfmatch/psfmatch.h"

/* ---- light ---- */

/* Writes the light of x[h][w] above the sky, the mean of 3x3 pixels. It is NaN where the pixel is. */
static void
find_light(const float *x, size_t w, size_t h, double sky, int threads, float *to)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (size_t at = 0; at < w * h; at++) {
		const size_t i = at % w, j = at / w;
		double sum = 0, n = 0;
		for (size_t y = j ? j - 1 : 0; y <= j + 1 && y < h; y++)
			for (size_t k = i ? i - 1 : 0; k <= i + 1 && k < w; k++)
				if (isfinite(x[y * w + k])) {
					sum += (double)x[y * w + k] - sky;
					n++;
				}
		to[at] = isfinite(x[at]) ? (float)fmax(sum / n, 0) : NAN;
	}
}

/*
 * Makes light NaN where it matters what is beyond the edges: the difference would change by more than PSFMATCH_RIM times the noise
 * of the skies if `of`, the light that is convolved, was mirrored there and not repeated. A star at an edge gave false alarms.
 */
static int
drop_rim(const struct psfmatch *m, const float *of, size_t w, size_t h, int threads, float *light,
	 struct why *why)
{
	const size_t half = m->size / 2;
	const double by = m->exchanged ? 1 / m->ratio : m->ratio;
	const double limit = PSFMATCH_RIM * hypot(m->noise[1], by * m->noise[0]);
	float *made = weir_alloc_large(2 * w * h, sizeof *made), *other = made + w * h;

	if (!made)
		return why_set(why, "no memory");
	int e = psfmatch_convolve(m, of, w, h, PSFMATCH_PLAIN, threads, made, why);
	e = e ? e : psfmatch_convolve(m, of, w, h, PSFMATCH_MIRROR, threads, other, why);
	for (size_t i = 0; i < w * h && !e; i++) {
		const size_t x = i % w, y = i / w;
		if ((x < half || y < half || x + half >= w || y + half >= h) &&
		    fabs((double)(made[i] - other[i])) > limit)
			light[i] = NAN;
	}
	weir_free(made);
	return e;
}

int
psfmatch_find_light(const struct psfmatch *m, const float *ref, const float *new, size_t w,
		    size_t h, int threads, float *light, struct why *why)
{
	float *of = weir_alloc_large(w * h, sizeof *of);

	if (!of)
		return why_set(why, "no memory");
	find_light(m->exchanged ? new : ref, w, h, m->level[0], threads, of);
	int e = psfmatch_convolve(m, of, w, h, PSFMATCH_SQUARED, threads, light, why);
	e = e ? e : drop_rim(m, of, w, h, threads, light, why);
	find_light(m->exchanged ? ref : new, w, h, m->level[1], threads, of);
#pragma omp parallel for num_threads(threads) schedule(static)
	for (size_t i = 0; i < w * h; i++)
		light[i] += of[i];
	weir_free(of);
	return e;
}

/* ---- the noise of the sky ---- */

/* Fills in g[t][u]: the products of the kernels' planes t and u. */
static void
multiply_planes(const struct psfmatch *m, double *g)
{
	const size_t terms = psfmatch_terms(m->degree), samples = m->size * m->size;

	for (size_t t = 0; t < terms * terms; t++) {
		const float *a = m->kernel + t / terms * samples,
			    *b = m->kernel + t % terms * samples;
		g[t] = 0;
		for (size_t i = 0; i < samples; i++)
			g[t] += (double)a[i] * (double)b[i];
	}
}

/*
 * Fills in sky[w]: the variance of row y without light, that of the picture that is not convolved, and that of the other one
 * times the sum of the squares of the kernel there. It is a polynomial of twice the kernels' degree.
 */
static void
find_sky(const struct psfmatch *m, const double *g, size_t y, size_t w, double *sky)
{
	const double v = ((double)y - m->zero_y) / m->scale_y;
	const int d = m->degree;
	double c[2 * 10 + 1] = {0};

	for (int j = 0; j <= d; j++)
		for (int i = 0; i + j <= d; i++)
			for (int l = 0; l <= d; l++)
				for (int k = 0; k + l <= d; k++)
					c[i + k] += *g++ * pow(v, j + l);
	for (size_t x = 0; x < w; x++) {
		const double u = ((double)x - m->zero_x) / m->scale_x;
		double sum = 0;
		for (int i = 2 * d; i >= 0; i--)
			sum = sum * u + c[i];
		sky[x] = m->noise[1] * m->noise[1] + m->noise[0] * m->noise[0] * sum;
	}
}

/* ---- what the difference tells ---- */

/* Octaves of light over the noise of the sky, the first one for the sky; the most pixels that are taken of one; the fewest. */
enum { OCTAVES = 20, MOST = 20000, FEW = 50 };

/* Returns the octave of a light. Between the sky and faint light pixels are chosen by their own noise: OCTAVES. */
static size_t
octave(double light, double sky)
{
	const double r = light / sqrt(sky);

	if (!(r >= 2))
		return r < 1 ? 0 : OCTAVES;
	return r < ldexp(1, OCTAVES - 1) ? (size_t)ilogb(r) : OCTAVES;
}

/* What an octave tells: the pixels' squares, sky, light and light^2, means but the first. */
struct octave {
	size_t seen, step, n;
	double *v, square, of[3];
};

/* Finds a >= 0, by steps along one axis after the other, so that a . of is square, relative to it, in all octaves. */
static void
solve(const struct octave *o, const bool *fixed, double *a)
{
	for (int round = 0; round < 3000; round++)
		for (int i = 0; i < 3; i++) {
			double slope = 0, curve = 0;
			for (int k = 0; k < OCTAVES && !fixed[i]; k++) {
				if (o[k].n < FEW || !(o[k].square > 0))
					continue;
				const double by = (double)o[k].n / o[k].square / o[k].square;
				const double left = o[k].square - a[0] * o[k].of[0] -
						    a[1] * o[k].of[1] - a[2] * o[k].of[2];
				slope += by * left * o[k].of[i];
				curve += by * o[k].of[i] * o[k].of[i];
			}
			a[i] = curve > 0 ? fmax(a[i] + slope / curve, 0) : a[i];
		}
}

/* The rows of a difference, and what is known of each pixel. */
struct rows {
	const struct psfmatch *m;
	const double *g;
	const float *difference, *light;
	size_t w, h;
	double unit; /* the difference's, in that of the picture that is not convolved */
};

/* Goes over all pixels. v NULL: counts those of the octaves; else collects some. sky: room for a row. */
static void
survey(const struct rows *r, struct octave *o, bool count, double *sky)
{
	for (size_t y = 0; y < r->h; y++) {
		find_sky(r->m, r->g, y, r->w, sky);
		for (size_t x = 0; x < r->w; x++) {
			const double l = (double)r->light[y * r->w + x],
				     d = (double)r->difference[y * r->w + x] / r->unit;
			const size_t k = isfinite(l) && isfinite(d) ? octave(l, sky[x]) : OCTAVES;
			if (k == OCTAVES)
				continue;
			if (o[k].seen++ % o[k].step || count)
				continue;
			o[k].v[o[k].n++] = fabs(d);
			o[k].of[0] += sky[x];
			o[k].of[1] += l;
			o[k].of[2] += l * l;
		}
	}
}

/* Finds a: the factors of the sky's variance, of light and of light^2. Returns 0 or -ENOMEM. sky: room for a row. */
static int
calibrate(const struct rows *r, double gain, double *sky, double *a)
{
	const bool fixed[3] = {false, gain > 0, false};
	struct octave o[OCTAVES] = {0};
	double *v = weir_alloc_large((size_t)OCTAVES * MOST, sizeof *v);

	a[0] = 1;
	a[1] = gain > 0 ? 1 / gain : 0;
	a[2] = 0;
	if (!v)
		return -ENOMEM;
	for (size_t k = 0; k < OCTAVES; k++)
		o[k].step = 1;
	survey(r, o, true, sky);
	for (size_t k = 0; k < OCTAVES; k++)
		o[k] = (struct octave){.step = o[k].seen / MOST + 1, .v = v + k * MOST};
	survey(r, o, false, sky);
	for (size_t k = 0; k < OCTAVES; k++) {
		if (o[k].n < FEW)
			continue;
		const double median = 1.4826 * psfmatch_median(o[k].v, o[k].n);
		o[k].square = median * median;
		for (int i = 0; i < 3; i++)
			o[k].of[i] /= (double)o[k].n;
	}
	weir_free(v);
	solve(o, fixed, a);
	return 0;
}

int
psfmatch_find_noise(const struct psfmatch *m, const float *difference, size_t w, size_t h,
		    double gain, int threads, float *light, struct psfmatch_noise *n)
{
	double g[PSFMATCH_TERMS * PSFMATCH_TERMS], a[3];
	const struct rows r = {.m = m,
			       .g = g,
			       .difference = difference,
			       .light = light,
			       .w = w,
			       .h = h,
			       .unit = m->exchanged ? m->ratio : 1};
	double *sky = weir_alloc((size_t)threads, w * sizeof *sky);

	multiply_planes(m, g);
	if (!sky || calibrate(&r, gain, sky, a)) {
		weir_free(sky);
		return -ENOMEM;
	}
#pragma omp parallel for num_threads(threads) schedule(static)
	for (size_t y = 0; y < h; y++) {
		double *row = sky + (size_t)omp_get_thread_num() * w;
		find_sky(m, g, y, w, row);
		for (size_t at = y * w, x = 0; x < w; x++, at++) {
			const double l = (double)light[at];
			light[at] =
			    isfinite(difference[at])
				? (float)(r.unit * sqrt(a[0] * row[x] + a[1] * l + a[2] * l * l))
				: NAN;
		}
	}
	*n = (struct psfmatch_noise){sqrt(a[0]), 1 / a[1], sqrt(a[2])};
	weir_free(sky);
	return 0;
}
