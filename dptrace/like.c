/*
 * The picture of --like: the likeness of the pixels to a colour,
 *
 *	L = exp(-D / T)		D the square of the distance between the colours, over all planes
 *
 * T is a fifth of the mean of D over the picture of L. A click may be beside its line: of the pixels within NEAR px of a point,
 * the colour of that one is sought which differs most from the mean of the picture, less OFF times what the likest pixels at
 * the points are off. The colour of the line is the mean of these likest pixels. Without --like it must be APART: the mean of D is
 * twice the variance, or more.
 */
#include <math.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "dptrace/args.h"
#include "dptrace/numbers.h"
#include "dptrace/resolve.h"

#define OFF   8.
#define SCALE .2
#define ASIDE 2.5
#define APART 2.

enum {
	FAR = 80, /* D / T from which on L counts as 0 */
	NEAR = 2,
	SIDE = 2 * NEAR + 1,
	TRIED = 8 /* points, at most, whose pixels are tried as the colour */
};

static double
sample(const struct dptrace_image *im, size_t i, size_t c)
{
	return (double)im->v[c * im->w * im->h + i];
}

/* The square of the distance of pixel i to a colour. */
static double
square_to(const struct dptrace_image *im, size_t i, const double *colour)
{
	double sum = 0;

	for (size_t c = 0; c < im->c; c++)
		sum += (sample(im, i, c) - colour[c]) * (sample(im, i, c) - colour[c]);
	return sum;
}

/* The pixels around a point, j < SIDE^2. */
static size_t
pixel_near(const struct dptrace_image *im, const double p[2], int j)
{
	const double x = floor(p[0] + .5) + j % SIDE - NEAR, y = floor(p[1] + .5) + j / SIDE - NEAR;

	return clamp_index((ptrdiff_t)y, im->h) * im->w + clamp_index((ptrdiff_t)x, im->w);
}

/* The pixel around a point that is likest to a colour. */
static size_t
likest(const struct dptrace_image *im, const double p[2], const double *colour)
{
	size_t best = pixel_near(im, p, 0);

	for (int j = 1; j < SIDE * SIDE; j++) {
		const size_t i = pixel_near(im, p, j);
		if (square_to(im, i, colour) < square_to(im, best, colour))
			best = i;
	}
	return best;
}

/* Seeks the colour of a line. mean is that of the picture; work is [c]. */
static void
seek_colour(const struct dptrace_image *im, const struct dptrace_line *l, const double *mean,
	    double *colour, double *work)
{
	const size_t tried = l->n < TRIED ? l->n : TRIED;
	double most = -INFINITY;
	size_t best = 0;

	for (size_t t = 0; t < tried * SIDE * SIDE; t++) {
		const size_t from = t % tried * (l->n - 1) / (tried - 1),
			     i = pixel_near(im, l->xy[from], (int)(t / tried));
		double gain = square_to(im, i, mean);
		for (size_t c = 0; c < im->c; c++)
			work[c] = sample(im, i, c);
		for (size_t k = 0; k < l->n; k++)
			gain -=
			    OFF / (double)l->n * square_to(im, likest(im, l->xy[k], work), work);
		if (gain > most) {
			most = gain;
			best = i;
		}
	}
	for (size_t c = 0; c < im->c; c++) {
		work[c] = sample(im, best, c);
		colour[c] = 0;
	}
	for (size_t k = 0; k < l->n; k++)
		for (size_t c = 0; c < im->c; c++)
			colour[c] += sample(im, likest(im, l->xy[k], work), c) / (double)l->n;
}

double
like_contrast(const struct dptrace_image *im, const struct dptrace_plan *p, size_t i)
{
	const struct dptrace_trace *t = &p->trace[i];
	const double aside = ASIDE * p->shape[p->first[i]].sigma, n = 4 * (double)(t->n - 1);
	double square = 0, variance = 0;

	for (size_t c = 0; c < im->c; c++) {
		const float *plane = im->v + c * im->w * im->h;
		double sum = 0, squares = 0;
		for (size_t k = 0; k < 4 * (t->n - 1); k++) {
			const struct dptrace_vertex *a = &t->v[k / 4], *b = a + 1;
			const double dx = b->x - a->x, dy = b->y - a->y, u = (double)(k % 4) / 4,
				     off = aside / sqrt(dx * dx + dy * dy), x = a->x + u * dx,
				     y = a->y + u * dy;
			const float mid = sample_clamped(plane, im->w, im->h, x, y, 0),
				    left = sample_clamped(plane, im->w, im->h, x + off * dy,
							  y - off * dx, mid),
				    right = sample_clamped(plane, im->w, im->h, x - off * dy,
							   y + off * dx, mid);
			sum += (double)(left + right) / n;
			squares += (double)(left + right) * (double)(left + right) / n;
		}
		square += sum * sum;
		variance += squares - sum * sum;
	}
	return square / larger(variance, 1e-9 * square);
}

/* Lays the picture around a line: the strip, a way's guides beside it, and the reach of derivatives at the coarsest scale. */
static void
lay_picture(struct dptrace_image *to, size_t corner[2], const struct dptrace_image *im,
	    const struct dptrace_line *l, const struct dptrace_options *o)
{
	double lo[2] = {INFINITY, INFINITY}, hi[2] = {0, 0}, longest = 0, shortest = INFINITY;

	for (size_t k = 0; k < l->n; k++) {
		for (int i = 0; i < 2; i++) {
			lo[i] = smaller(lo[i], l->xy[k][i]);
			hi[i] = larger(hi[i], l->xy[k][i]);
		}
		if (k) {
			const double length = distance(l->xy[k - 1], l->xy[k]);
			longest = larger(longest, length);
			shortest = smaller(shortest, length);
		}
	}
	const double sigma = o->sigma > 0 ? o->sigma : clamp(shortest / 7, 2, 16),
		     half = o->halfwidth > 0 ? o->halfwidth : clamp(.4 * longest, 32, 128),
		     reach = half + 16 * (1 + sigma);
	corner[0] = (size_t)larger(0, floor(lo[0] - reach));
	corner[1] = (size_t)larger(0, floor(lo[1] - reach));
	to->w = (size_t)smaller(ceil(hi[0] + reach) + 1, (double)im->w) - corner[0];
	to->h = (size_t)smaller(ceil(hi[1] + reach) + 1, (double)im->h) - corner[1];
}

/* The mean colour of the part of a picture, and the mean of the squares of distances to it. */
static double
mean_of(const struct dptrace_image *im, const struct dptrace_image *part, size_t from, double *mean)
{
	const double n = (double)part->w * (double)part->h;
	double spread = 0;

	for (size_t c = 0; c < im->c; c++) {
		double sum = 0, square = 0;
		for (size_t y = 0; y < part->h; y++)
			for (size_t x = 0; x < part->w; x++) {
				const double v = sample(im, from + y * im->w + x, c);
				sum += v;
				square += v * v;
			}
		mean[c] = sum / n;
		spread += larger(0, square / n - mean[c] * mean[c]);
	}
	return spread;
}

struct dptrace_image
like_make(const struct raw_in *in, const struct args *a, const struct dptrace_image *im,
	  const struct dptrace_line *l, size_t corner[2])
{
	const struct dptrace_options o = dptrace_args_options(a);
	double *const mean = weir_xalloc(im->c + 1, 3 * sizeof *mean), *const colour = mean + im->c;
	struct dptrace_image to = {.c = 1, .h = im->h, .w = im->w};

	if (l)
		lay_picture(&to, corner, im, l, &o);
	const size_t from = corner[1] * im->w + corner[0];
	double spread = mean_of(im, &to, from, mean);
	if (l)
		seek_colour(im, l, mean, colour, colour + im->c);
	else if (opt_reals_upto("--like", a->like, ',', colour, im->c + 1) != im->c)
		raw_die(in, "--like=%s: a colour has a number for each of the %zu planes", a->like,
			im->c);
	const double around = spread;
	bool gray = true;
	for (size_t c = 0; c < im->c; c++) {
		spread += (colour[c] - mean[c]) * (colour[c] - mean[c]);
		gray &= colour[c] - mean[c] == colour[0] - mean[0];
	}
	if (!a->like && (gray || spread < APART * around)) {
		weir_free(mean);
		return to;
	}
	const double scale = spread > 0 ? SCALE * spread : 1;
	float *v = weir_xalloc_large(to.w * to.h, sizeof *v);
	unsigned char *mask = im->mask ? weir_xalloc_large(to.w * to.h, 1) : NULL;
#pragma omp parallel for num_threads(o.threads)
	for (size_t y = 0; y < to.h; y++)
		for (size_t x = 0; x < to.w; x++) {
			const size_t at = from + y * im->w + x;
			const double d = square_to(im, at, colour) / scale;
			v[y * to.w + x] = d < FAR ? (float)libm_exp_minus(d) : 0;
			if (mask)
				mask[y * to.w + x] = im->mask[at];
		}
	weir_free(mean);
	to.v = v;
	to.mask = mask;
	return to;
}
