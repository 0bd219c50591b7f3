/*
 * The walk of a tile through points in 2-D: those of the tile itself and of its neighbours, whose windows may meet it. Points are sorted
 * by tile, so those of neighbours in a row follow each other. Where an axis is shorter than a tile and the windows beside it, a point
 * can meet the tile several times: it comes once for each image of the axis.
 */
#ifndef WEIR_GPU_USFFT_WALK_H
#define WEIR_GPU_USFFT_WALK_H

#include "gpu/usfft/work.h"

namespace
{

constexpr unsigned SIDE = 16; /* cells of a tile along an axis: tile_span(2) */

/*
 * Along an axis of n cells, a tile has the cells origin .. origin + length - 1. The windows of points in the cells from .. to meet them.
 * from and to may lie beyond the ends of the axis: image s of the axis has the cells s n .. s n + n - 1.
 */
struct reach {
	long long from, to;
	unsigned n, origin, length;
	int first, last; /* images that from .. to meets */
};

template <class T>
__device__ reach
reach_of(const work<T> &k, int axis, unsigned tile)
{
	reach r;

	r.n = k.n[axis];
	r.origin = tile * SIDE;
	r.length = min(SIDE, r.n - r.origin);
	r.from = (long long)r.origin + k.lead - (k.w - 1);
	r.to = (long long)r.origin + r.length - 1 + k.lead;
	r.first = r.from < 0 ? -(int)(((unsigned)-r.from + r.n - 1) / r.n) : 0;
	r.last = (int)((unsigned)r.to / r.n);
	return r;
}

/* The tiles of an axis that hold the cells from .. to in an image. */
__device__ void
tiles_of(const reach &r, int image, unsigned *first, unsigned *last)
{
	const long long ahead = (long long)image * r.n;

	*first = (unsigned)max(r.from - ahead, 0ll) / SIDE;
	*last = (unsigned)min(r.to - ahead, (long long)r.n - 1) / SIDE;
}

/* Goes through images of y, rows of tiles and images of x, slowest first. Points at .. to - 1 come next. */
struct walk {
	reach x, y;
	int image_x, image_y;
	unsigned row, last_row;
	unsigned at, to;
};

template <class T>
__device__ walk
begin_walk(const work<T> &k, unsigned tile)
{
	walk v = {};

	v.x = reach_of(k, 0, tile % k.tiles[0]);
	v.y = reach_of(k, 1, tile / k.tiles[0]);
	v.image_x = v.x.last;
	v.image_y = v.y.first - 1;
	return v;
}

/* Goes to the next tiles of a row. False: there are none. */
template <class T>
__device__ bool
next_tiles(const work<T> &k, walk *v)
{
	unsigned first, last;

	if (v->image_x < v->x.last) {
		v->image_x++;
	} else if (v->row < v->last_row) {
		v->row++;
		v->image_x = v->x.first;
	} else if (v->image_y < v->y.last) {
		tiles_of(v->y, ++v->image_y, &v->row, &v->last_row);
		v->image_x = v->x.first;
	} else {
		return false;
	}
	tiles_of(v->x, v->image_x, &first, &last);
	v->at = k.start[v->row * k.tiles[0] + first];
	v->to = k.start[v->row * k.tiles[0] + last + 1];
	return true;
}

} // namespace

#endif
