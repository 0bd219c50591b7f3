/* psfmatch: the pictures that its checks share. */
#ifndef CHECK_PSFMATCH_H
#define CHECK_PSFMATCH_H

#include "t/check.h"
#include "wconv/psfmatch/psfmatch.h"

enum { W = 360, H = 330, SIZE = 11, STARS = 110 };

struct pair {
	float *ref, *new;
	double x[STARS], y[STARS], flux[STARS];
};

/*
 * Stars of width 1.4 in ref on a sky of 100, of `width` at (x,y) in new, `ratio` times as bright, on a sky of 50 + x / 10.
 * Both have noise of variance 1.
 */
void check_psfmatch_pose(struct pair *p, struct check_rng *rng, double ratio,
			 double (*width)(double x, double y));
void check_psfmatch_drop(struct pair *p);

/* A width that does not vary. */
double check_psfmatch_wide(double x, double y);

struct psfmatch_options check_psfmatch_options(enum psfmatch_basis basis);

/* The checks of the sums over stamps. */
void check_psfmatch_sums(void);

#endif
