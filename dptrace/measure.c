/* Measures what the options of a line depend on: its scale, the levels of its segments, its polarity and the noise. */
#include <math.h>

#include "dptrace/bounds.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/level.h"
#include "dptrace/resolve.h"

enum { SCALES = 6 };
#define STEP	1.4142 /* from a scale to the next */
#define PER	.75    /* what a response at the next scale counts, against one at this scale */
#define NOISE	2. /* responses of noise alone that are subtracted: they are larger at fine scales */
#define SPACING 14 /* times the scale: a segment must be that long */

/* How well the points of a line lie on lines of that scale: the smallest of their responses, of the better polarity. */
static double
response_at(const struct dptrace_line *l, const struct dptrace_image *im, const float *gray,
	    const struct dptrace_options *o, double sigma)
{
	double bright = INFINITY, dark = INFINITY;

	for (size_t i = 0; i < l->n; i++) {
		const struct level at = level_at(im, gray, o, sigma, 3, l->xy[i]);
		bright = smaller(bright, at.near_bright);
		dark = smaller(dark, at.near_dark);
	}
	return larger(bright, dark);
}

/*
 * The scale of a line: 2, or a coarser one at which its points respond more. A segment that is short has room for a fine
 * scale only.
 */
static double
scale_of(const struct segment_shape *s, size_t n, const struct dptrace_line *l,
	 const struct noise *noise, const struct dptrace_image *im, const float *gray,
	 const struct dptrace_options *o)
{
	double sigma = s->fine.sigma, best = 0, length = INFINITY, scale = sigma, weight = 1;

	if (o->sigma > 0 || o->score != DPTRACE_RIDGE)
		return sigma;
	for (size_t i = 0; i < n; i++)
		length = smaller(length, s[i].length);
	for (int k = 0; k < SCALES && scale * SPACING <= length; k++) {
		const double r = weight * (response_at(l, im, gray, o, scale) -
					   NOISE * level_of_noise(noise, scale));
		if (r > best)
			sigma = scale;
		best = larger(r, best);
		scale *= STEP;
		weight *= PER;
	}
	return sigma;
}

static double
share_of_bright(const struct level *l)
{
	const double both = l->near_bright + l->near_dark;

	return both > 0 ? l->near_bright / both : .5;
}

static struct level
level_of(const double p[2], const struct dptrace_image *im, const float *gray,
	 const struct dptrace_options *o, double sigma)
{
	return level_at(im, gray, o, sigma, larger(3, 1.5 * sigma), p);
}

/*
 * Finds the levels of a line's segments at that scale. The level of a segment is the smaller one of its points' levels.
 * The points of each segment vote for a polarity: the share of bright in a point's two responses is its vote.
 */
static void
find_levels(struct segment_shape *s, size_t n, const struct dptrace_line *l,
	    const struct dptrace_image *im, const float *gray, const struct dptrace_options *o,
	    double sigma)
{
	struct level last = level_of(l->xy[0], im, gray, o, sigma);
	double votes = 0;

	for (size_t i = 0; i < n; i++) {
		const struct level next = level_of(l->xy[(i + 1) % l->n], im, gray, o, sigma);
		s[i].own =
		    (struct levels){.sigma = sigma,
				    .bright = smaller(last.bright, next.bright),
				    .dark = smaller(last.dark, next.dark),
				    .near_bright = smaller(last.near_bright, next.near_bright),
				    .near_dark = smaller(last.near_dark, next.near_dark)};
		votes += share_of_bright(&last) + share_of_bright(&next) - 1;
		last = next;
	}
	for (size_t i = 0; i < n; i++)
		s[i].vote = votes / (double)n;
}

void
measure_levels(struct segment_shape *s, size_t n, const struct dptrace_line *l,
	       const struct dptrace_image *im, const float *gray, const struct dptrace_options *o)
{
	struct noise noise = {0, 0};

	for (size_t i = 0; i < n; i++)
		level_add_noise(&noise, im, gray, l->xy[i], l->xy[(i + 1) % l->n], s[i].halfwidth);
	const double fine = s->fine.sigma, own = scale_of(s, n, l, &noise, im, gray, o);

	find_levels(s, n, l, im, gray, o, fine);
	for (size_t i = 0; i < n; i++)
		s[i].fine = s[i].own;
	if (own > fine)
		find_levels(s, n, l, im, gray, o, own);
	for (size_t i = 0; i < n; i++) {
		s[i].fine.noise = level_of_noise(&noise, fine);
		s[i].own.noise = level_of_noise(&noise, own);
	}
}
