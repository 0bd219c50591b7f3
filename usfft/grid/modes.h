/* Moves modes between the transformed grid and the caller's array, in the caller's order. */
#ifndef WEIR_USFFT_MODES_H
#define WEIR_USFFT_MODES_H

#include "usfft/grid/grid.h"

/*
 * Copies modes from..to-1 of a row, from the grid or to it, and divides the window out. sign -1: also conjugates them, since
 * the FFTs of the grid have the sign -1.
 */
void modes_get(const struct grid *g, int sign, size_t row, size_t from, size_t to, void *modes);
void
modes_put(const struct grid *g, int sign, size_t row, size_t from, size_t to, const void *modes);

/*
 * The same for one row of a grid of several layers. modes: for each layer the caller's whole array. get takes the first
 * `count` layers, and put all layers, which may come from the same array.
 */
void modes_get_layers(const struct grid *g, int sign, size_t row, size_t count, void *const *modes);
void modes_put_layers(const struct grid *g, int sign, size_t row, const void *const *modes);

/* Multiplies a row of a cut 1-D grid by the twiddle factors between its two passes. */
void modes_twiddle(const struct grid *g, size_t row);

#endif
