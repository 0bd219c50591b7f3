/*
 * The place of a picture on a map: the key geotransform:= with the positions of the axes, which count pixels of the page that
 * the key is of. Pure.
 *
 *	x = g0 + g1 i + g2 j
 *	y = g3 + g4 i + g5 j
 *
 * i and j are columns and rows of samples of the item, counted from the outer corner of its first sample: the centre of that
 * sample is i = j = .5, as in GDAL's geotransform.
 */
#ifndef WEIR_PICTURE_MAP_H
#define WEIR_PICTURE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/stream/img.h"

/* Fills g from the key and the axes of x. Returns false when x has no such key that gives every pixel a place of its own. */
bool map_of(const struct img *x, double g[6]);

/* Does the same from the key alone: i and j count pixels of the page. A position p along an axis is the centre of pixel p, at p + .5. */
bool map_of_page(const struct img *x, double g[6]);

/* Changes g, the transform of pixels of the page, to that of the samples of x. */
void map_follow(const struct img *x, double g[6]);

/* The place of i, j. */
void map_place(const double g[6], double i, double j, double place[2]);

/*
 * Finds the column and the row, in the samples of g, at which the first sample of a picture of w by h samples with the
 * transform f lies: at[]. Returns NULL, or words with a sentence that says why the two have no common grid: all four corners of
 * the picture must be within .01 of a sample from the grid's.
 */
enum { MAP_ERR = 320 };
const char *map_align(const double g[6], const double f[6], size_t w, size_t h, int64_t at[2],
		      char words[MAP_ERR]);

/*
 * Returns the name of a key that tells the coordinate system of one of the two in other words than that of the other, or NULL.
 * Where both have crs:=, it decides; else all keys of GeoTIFF do.
 */
const char *map_other_system(const struct img *a, const struct img *b);

/* Where samples along an axis lie on the page: sample i is its pixel first + step i. An axis that x does not have: 0, 1. */
struct map_cut {
	double first, step;
};
struct map_cut map_cut_of(const struct img *x, int axis);

/* The outer corner of the first sample, half a step before its centre, in pixels from the outer corner of the page. */
double map_corner(struct map_cut c);

#endif
