/*
 * The cheapest way from a to b over a grid of cells: a first look at a segment, which may double back as its polyline may not.
 *
 *	 . . . . . . . .	Cells are c x c pixels, c = sigma rounded down. The grid covers both points and
 *	 . . ####. . . .	the half-width around them. A step leads to one of eight neighbours. It costs
 *	 .b# . . # . . .	its length times the mean cost of its two cells.
 *	 . . . . # . . .
 *	 .a######. . . .	A cell costs 1 / (min(max((r - f) / (l - f), 0), 1) + k), as a pixel does in the
 *	 . . . . . . . .	first pass. r is the response in its best direction at the middle of the cell.
 *
 * Costs are whole numbers, so that the way is the same on any CPU.
 */
#ifndef WEIR_DPTRACE_WAY_H
#define WEIR_DPTRACE_WAY_H

#include <stdint.h>

#include "dptrace/dptrace.h"
#include "dptrace/resolve.h"

enum {
	WAY_UNIT = 24,	/* the cost of a pixel of cost 1 */
	WAY_SIDE = 5,	/* a step to the side costs so much times the sum of the two cells' costs */
	WAY_CORNER = 7, /* a step across a corner */
	WAY_CELLS = 1 << 18,	/* cells of a grid, at most: a segment that needs more has no way */
	WAY_MOST = 4 * WAY_UNIT /* the cost of a cell is below it */
};

/*
 * Fills cost[h][w] of the grid over segment s. x0 and y0 are the middle of the upper left cell, step the px between cells.
 * Returns 0; 1 when the grid is too large; or -ENOMEM. The caller frees cost.
 */
struct way_grid {
	int w, h, step;
	double x0, y0;
	uint8_t *cost; /* [h][w] */
};
int way_costs(struct way_grid *g, const struct dptrace_image *image, const float *gray,
	      const struct dptrace_options *o, const struct segment_shape *s);

/* The bytes that the way of segment s needs while it is sought: way_costs() takes them, way_search() fewer. 0: no way. */
size_t way_bytes(const struct dptrace_image *image, const struct segment_shape *s);

/*
 * Finds the cheapest way from one cell to another. cell[] has room for w h cells; it receives their numbers y w + x in order.
 * *sum receives what the way costs. Returns the number of cells, or 0 when there is no memory. Costs are 1 to WAY_MOST - 1.
 * Ties are decided by the order of the search, which is the same everywhere.
 */
size_t way_search(const struct way_grid *g, int from, int to, int *cell, uint32_t *sum);

/*
 * The way along segment s as points of the picture, from a to b. *n receives their number. NULL: there is none, and *err
 * receives 0 or -ENOMEM. The caller frees the points.
 */
double (*way_of(const struct dptrace_image *image, const float *gray,
		const struct dptrace_options *o, const struct segment_shape *s, size_t *n,
		int *err))[2];

#endif
