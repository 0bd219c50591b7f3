/* The samples of a picture or volume in the order of their values, and the neighbours of each. Pure. */
#ifndef WEIR_PICTURE_PEAKS_H
#define WEIR_PICTURE_PEAKS_H

#include <stddef.h>
#include <stdint.h>

struct order_shape {
	size_t w, h, depth;
	int connectivity; /* 4, 8; 6, 18, 26 */
};

/*
 * Cuts the chosen samples of a picture or volume into parts, one around each peak. Samples are taken from the highest down.
 * A sample joins the part of its highest neighbour, or begins a part when no neighbour has been taken. Where two parts meet,
 * at a saddle of height v, the one with the lower peak is joined to the other when its peak is less than v + rise. The peaks
 * that stay are therefore those that --hdome of morphrec shows with the full height `rise`. This is the watershed of their
 * markers (Beucher and Lantuejoul, 1979), found by the persistence of peaks (Edelsbrunner, Letscher, Zomorodian, 2002).
 *
 * Equal samples join from the border of their plateau inwards; among equal neighbours, the first in the order of rows counts.
 */

/*
 * Sets part[i] to 0 where chosen[i] is 0, and else to a number that the samples of one part have, and no others. No chosen sample
 * is NaN. Work is 8 bytes a sample, and 12 a peak. Returns 0, -ENOMEM, or -EOVERFLOW at 2^32 - 2 samples.
 */
int split(const struct order_shape *s, const double *v, const uint8_t *chosen, double rise,
	  uint32_t *part);

/*
 * The watershed of markers (Meyer 1991): every chosen sample gets a marker, and the borders run where the values are lowest.
 * Samples are taken one by one. First the samples of the markers wait. The highest one that waits is taken; of equal ones, the
 * one that has waited longest, those of the markers in the order of rows. Its neighbours without a marker get its marker and
 * wait: first those that share a side, then an edge, then a corner, each in the order of rows. scikit-image's
 * watershed floods the negative of the values by the same rule, but leaves open which of equal samples of markers comes first.
 */

/*
 * part[i]: on entry, the number of the marker at sample i, below 2^32 - 1, or 0; on return, the marker that it got, or 0. A marker
 * where chosen[i] is 0 does not count, and no chosen sample is NaN. Returns 0, -ENOMEM, or -EOVERFLOW at 2^32 - 2 samples.
 */
int watershed(const struct order_shape *s, const double *v, const uint8_t *chosen, uint32_t *part);

#endif
