/*
 * Cuts the chosen samples of a picture or volume into parts, one around each peak. Samples are taken from the highest down.
 * A sample joins the part of its highest neighbour, or begins a part when no neighbour has been taken. Where two parts meet,
 * at a saddle of height v, the one with the lower peak is joined to the other when its peak is less than v + rise. The peaks
 * that stay are therefore those that --hdome of morphrec shows with the full height `rise`. This is the watershed of their
 * markers (Beucher and Lantuejoul, 1979), found by the persistence of peaks (Edelsbrunner, Letscher, Zomorodian, 2002).
 *
 * Equal samples join from the border of their plateau inwards; among equal neighbours, the first in the order of rows counts.
 */
#ifndef WEIR_PICTURE_SPLIT_H
#define WEIR_PICTURE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "common/picture/order.h"

/*
 * Sets part[i] to 0 where chosen[i] is 0, and else to the number of the part, from 1, in the order of first samples. No
 * chosen sample is NaN. Returns 0, -ENOMEM, or -EOVERFLOW at 2^32 - 2 samples.
 */
int split(const struct order_shape *s, const double *v, const uint8_t *chosen, double rise,
	  uint32_t *part);

#endif
