/* The level of a line's points, and the noise around the line. */
#ifndef DPTRACE_LEVEL_H
#define DPTRACE_LEVEL_H

#include "dptrace/dptrace.h"

/*
 * The largest responses near a point. A ridge has one for bright and one for dark lines; for an edge both are the same.
 * near_bright and near_dark weigh responses by their nearness to the point, less COST_FLANK of the gradient's. They decide
 * the polarity, because the flanks of a line respond with the other polarity.
 */
struct level {
	double bright, dark;
	double near_bright, near_dark;
};

/* The responses at scale sigma within reach px of p, at most LEVEL_REACH. o->sigma is not read. */
enum { LEVEL_REACH = 48 };
struct level
level_at(const struct dptrace_image *image, const float *gray, const struct dptrace_options *o,
	 double sigma, double reach, const double p[2]);

/* The sum of n sizes of second differences of neighbouring pixels. Lines hardly change these, noise does. */
struct noise {
	double sum;
	size_t n;
};

/* Adds the second differences at some hundred places in the strip of that half-width around ab. */
void level_add_noise(struct noise *to, const struct dptrace_image *image, const float *gray,
		     const double a[2], const double b[2], double halfwidth);

/* The typical response to such noise alone; 0 where nothing was counted. */
double level_of_noise(const struct noise *n, double sigma);

/* The longest stretch of links, px, whose brighter side is the other one than along most of the polyline. */
double level_turned(const struct dptrace_trace *t, const struct dptrace_image *image,
		    const float *gray, double sigma);

#endif
