#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/picture/mosaic.h"
#include "common/picture/world.h"
#include "common/stream/axes.h"

void
world_open(struct world *w, const struct raw_in *in, const struct img *x, enum world_need need)
{
	const bool must = need == WORLD_MUST;
	const int row = img_row_axis(x);
	const char *why = NULL;

	*w = (struct world){.x = x};
	w->kind = map_of_page(x, w->g) ? WORLD_MAP : WORLD_NONE;
	if (!w->kind && axis_counts_pixels(x, row) && axis_counts_pixels(x, row + 1))
		why = world_find_sky(w, x);
	w->kind = w->sky ? WORLD_SKY : w->kind;
	if (!w->kind)
		memcpy(w->g, (const double[6]){-.5, 1, 0, -.5, 0, 1}, sizeof w->g);
	if (!w->sky)
		strcpy(w->system, w->kind ? "on a map" : "positions along the axes");
	if (must && !w->kind && !img_key(x, "fits.NAXIS"))
		raw_die(in, "it has no geotransform:= that places it on a map; see tifftoraw");
	if ((must && !w->kind) || (need == WORLD_RIGHT && why))
		raw_die(in, "its cards give no places in the sky: %s",
			why ? why : "two axes of it are missing");
	if (why)
		warn("%s: item %zu: its cards give no places in the sky: %s", raw_name(in),
		     raw_item(in), why);
	if (w->sky && (img_key(x, "fits.CPDIS1") || img_key(x, "fits.D2IMDIS1")))
		warn("%s: item %zu: places in the sky are without the tables of distortions",
		     raw_name(in), raw_item(in));
}

/* The pixel of FITS at the positions p, and where the first sample is along the other axes. Returns its number along rows. */
static double *
find_pixel(const struct world *w, const double *p, int n, double pixel[IMG_MAXDIM])
{
	const int row = img_row_axis(w->x);

	for (int i = 0; i < IMG_MAXDIM; i++) {
		const double min = i < w->x->dim ? w->x->axis[i].min : 0;
		pixel[i] = 1 + (i >= row && i < row + n ? p[i - row] : isnan(min) ? 0 : min);
	}
	return pixel + row;
}

void
world_place(const struct world *w, const double *p, int n, double place[2])
{
	double pixel[IMG_MAXDIM];

	if (!w->sky) {
		map_place(w->g, p[0] + .5, p[1] + .5, place);
		return;
	}
	find_pixel(w, p, n, pixel);
	world_place_sky(w, pixel, place);
}

void
world_find(const struct world *w, const double place[2], double p[2])
{
	const double shift = w->sky ? 1 : .5;
	double pixel[IMG_MAXDIM], *along = pixel;

	if (w->sky) {
		along = find_pixel(w, NULL, 0, pixel);
		world_pixel_sky(w, place, pixel);
	} else {
		map_find(w->g, place, along);
	}
	p[0] = along[0] - shift;
	p[1] = along[1] - shift;
}
