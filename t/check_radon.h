/* The scene of the checks of radon: 24 traces of 90 samples, 30 curves, and where the traces lie. */
#ifndef WEIR_CHECK_RADON_H
#define WEIR_CHECK_RADON_H

#include "radon/radon.h"
#include "t/check.h"

enum { SCENE_TRACES = 500 };

extern double scene_g[SCENE_TRACES];
extern bool scene_live[SCENE_TRACES];
extern const struct radon_options scene_small;

/* nx traces at regular offsets, jittered by up to jitter of their distance; all live. */
void scene_lay_out(struct check_rng *r, size_t nx, enum radon_curve curve, double jitter);

#endif
