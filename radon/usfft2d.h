/*
 * RADON_USFFT2D, the method of Matveev et al. (radon.h): one 2-D transform of nonequispaced points in single precision
 * takes the points (k, k c_j) of all frequencies to the regular (tau, q). It spreads along k too, although k is regular. It
 * serves comparison and reproduction.
 */
#ifndef RADON_USFFT2D_H
#define RADON_USFFT2D_H

#include "radon/core.h"

struct radon_2d;

/* Returns 0 or -errno. */
int radon_2d_plan(struct radon_2d **two, const struct radon_core *p);
void radon_2d_free(struct radon_2d *two); /* accepts NULL */

/* The adjoint takes w->d to the panel; modelling takes the panel to w->d. */
void radon_2d_adjoint(struct radon_2d *two, const struct radon_core *p, struct radon_room *w,
		      float *panel);
void radon_2d_model(struct radon_2d *two, const struct radon_core *p, const float *panel,
		    struct radon_room *w);

#endif
