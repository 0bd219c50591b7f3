/* Modes in the caller's order, taken from the transformed grid and put there. */
#ifndef WEIR_USFFT_MODES_H
#define WEIR_USFFT_MODES_H

#include <stddef.h>

struct usfft_plan;

/*
 * Modes from..to-1 of a row, with the window divided out. The grid's FFT has the sign -1: sign is -1 where values are
 * conjugated on the way, else 1.
 */
void
modes_get(const struct usfft_plan *p, int sign, size_t row, size_t from, size_t to, void *modes);
void modes_put(const struct usfft_plan *p, int sign, size_t row, size_t from, size_t to,
	       const void *modes);

/* The factors between the two passes of a long 1-D grid, for one of its rows. */
void modes_twiddle(const struct usfft_plan *p, size_t row);

#endif
