/*
 * The paper's path: all points (k, k c_j) of all frequencies at once, to the regular (tau, q), by one 2-D transform of
 * nonequispaced points in single precision. It spreads along k too, which is regular already: for comparison and
 * reproduction.
 */
#ifndef RADON_USFFT2D_H
#define RADON_USFFT2D_H

#include "radon/core.h"

struct radon_2d;

/* 0 or -errno. */
int radon_2d_plan(struct radon_2d **two, const struct radon_core *p);
void radon_2d_free(struct radon_2d *two); /* NULL is nothing */

/* w->d to the panel, and the panel to the gather. */
void radon_2d_adjoint(struct radon_2d *two, const struct radon_core *p, struct radon_room *w,
		      float *panel);
void radon_2d_model(struct radon_2d *two, const struct radon_core *p, const float *panel,
		    struct radon_room *w);

#endif
