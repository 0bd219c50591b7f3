#include "t/check_radon.h"

double scene_g[SCENE_TRACES];
bool scene_live[SCENE_TRACES];

const struct radon_options scene_small = {.nt = 90,
					  .nx = 24,
					  .nq = 30,
					  .dt = .004,
					  .q0 = -.05,
					  .dq = .007,
					  .g = scene_g,
					  .eps = .01,
					  .outer = 3,
					  .inner = 10,
					  .threads = 2};

void
scene_lay_out(struct check_rng *r, size_t nx, enum radon_curve curve, double jitter)
{
	for (size_t j = 0; j < nx; j++) {
		const double x = ((double)j + .5 + jitter * (rng_unit(r) - .5)) / (double)nx;
		radon_curve(curve, 3000 * x, 3000, 2000, &scene_g[j]);
		scene_live[j] = true;
	}
}
