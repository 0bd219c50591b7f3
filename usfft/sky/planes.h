/*
 * The members of a plan for images of the sky. Visibilities are sorted by their cells of w: those of a plane are
 * consecutive, since visibility j of cell c touches the planes c .. c + W - 1.
 *
 *	cells	| 0 | 1 | 2 | ... | cells-1 |
 *	plane p takes the cells p - W + 1 .. p, and tap p - c of a visibility in cell c
 */
#ifndef WEIR_USFFT_SKY_PLANES_H
#define WEIR_USFFT_SKY_PLANES_H

#include <stdbool.h>
#include <stdint.h>

#include "usfft/sky/sky.h"
#include "usfft/window.h"

/* One visibility. x: u and v in cycles from pixel to pixel, and what rounding took from them. */
struct visibility {
	double x[2], rest[2];
	double place;	  /* in its cell of w, -1..1 */
	double turn;	  /* w h / 2 modulo 1, in cycles */
	uint32_t index;	  /* in the caller's order */
	int32_t mirrored; /* -1 where it was replaced by its conjugate, else 1 */
};

/* What a plane does to a pixel; symmetric in l and m, so |k| along both axes finds it. */
struct turn {
	double step[2];	 /* exp(2 pi i D nu), nu = n - 1 + h / 2: from plane to plane */
	double first[2]; /* exp(2 pi i w nu) / hat(D nu), w that of plane 0; 0 beyond the horizon */
};

struct usfft_sky {
	struct usfft_sky_options given;
	struct usfft_plan *plan; /* owned: of one plane */
	struct window win;
	double wstep, reach;
	size_t cells, planes, m, modes;
	size_t *start;		/* owned: first visibility of each cell, cells + 1 */
	struct visibility *vis; /* owned: m */
	struct turn *turn;	/* owned: [n[1] / 2 + 1][n[0] / 2 + 1] */

	/* Work. Owned: m values in sorted order, those of one plane, the sum over planes, a row of pixels for each thread. */
	double *value, *some, *sum, *row;
};

/* |k| of pixel i of an axis of n pixels. */
static inline size_t
sky_distance(size_t i, size_t n, bool fft_order)
{
	const size_t centre = n / 2;

	if (fft_order)
		return i < n - centre ? i : n - i;
	return i < centre ? centre - i : i - centre;
}

#endif
