/* Places in the sky where WCSLIB is absent: there are none, and an item that has cards of them is told why. */
#include <math.h>

#include "common/picture/world.h"

const char *
world_find_sky(struct world *w, const struct img *x)
{
	(void)w;
	return img_key(x, "fits.CTYPE1") ? "this build is without WCSLIB" : NULL;
}

/* No world has a sky, so nobody calls it. */
void
world_place_sky(const struct world *w, const double *pixel, double place[2])
{
	(void)w;
	(void)pixel;
	place[0] = place[1] = NAN;
}

void
world_pixel_sky(const struct world *w, const double place[2], double *pixel)
{
	(void)place;
	world_place_sky(w, NULL, pixel);
}

void
world_close(struct world *w)
{
	(void)w;
}
