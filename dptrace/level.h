/* What the points of a line lie on, beside what lies around it. */
#ifndef DPTRACE_LEVEL_H
#define DPTRACE_LEVEL_H

#include "dptrace/dptrace.h"

/*
 * The largest response near a point; of a ridge the bright and the dark one, of an edge twice the same. The polarity is
 * told by those nearer to it: farther away lie the flanks of a line, of the other polarity.
 */
struct level {
	double bright, dark;
	double near_bright, near_dark;
};

struct level level_at(const struct dptrace_image *image, const float *gray,
		      const struct dptrace_options *o, const double p[2]);

/*
 * Pixel noise in the strip of that half-width around ab, from second differences of neighbours, which lines hardly touch:
 * adds the sum of their sizes at some hundred places, and counts them.
 */
struct noise {
	double sum;
	size_t n;
};

void level_add_noise(struct noise *to, const struct dptrace_image *image, const float *gray,
		     const double a[2], const double b[2], double halfwidth);

/* The response that such noise has by itself, as a rule; 0 where nothing was counted. */
double level_of_noise(const struct noise *n, double sigma);

#endif
