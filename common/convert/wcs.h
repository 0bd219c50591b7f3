/*
 * The world coordinate system that the FITS cards of an item state, such as fits.CRPIX1. The cards count pixels of the original
 * image from 1. The item's axes say where its samples lie in that image, counted from 0:
 *
 *	p = min + spacing * i		pixel p of the original is sample i of the item
 *
 * Pure.
 */
#ifndef WEIR_CONVERT_WCS_H
#define WEIR_CONVERT_WCS_H

#include <stdbool.h>

#include "common/convert/section.h"
#include "common/stream/img.h"

/* Before cuts and flips: axes of an item with cards that have no positions get min 0 and spacing 1. */
void wcs_place(struct img *x);

/*
 * Updates the cards for cuts and flips: they then hold for the samples of x. Removes the positions from the axes. gone gets the
 * names of sections (section.h) that lie outside, and are removed.
 */
void wcs_follow(struct img *x, char gone[SECTION_NAMES]);

/*
 * The name of a card of x that does not hold for cut or flipped samples, and that wcs_follow() cannot update: it refers to a
 * lookup table of distortions in another HDU, or it belongs to the plate solution of the Digitized Sky Survey. NULL: there is none.
 */
const char *wcs_left_behind(const struct img *x);

/*
 * Renumbers the cards: axis i of the item was axis from[i] before, i < n. Returns the name of a card that no longer holds, or
 * NULL: SIP's polynomials know axes 0 and 1 only, and those that wcs_left_behind() names do not follow.
 */
const char *wcs_permute(struct img *x, const int *from, int n);

/* Updates the cards of an axis that was cut to one sample and will be removed: they then count from that sample. */
void wcs_slice(struct img *x, int axis);

/*
 * Makes the cards of an item that did not come from FITS. Labels become CTYPE, units become CUNIT, and positions become CRPIX,
 * CRVAL and CDELT.
 */
void wcs_of_axes(struct img *x);

#endif
