/*
 * The world coordinate system that the FITS cards of an item state, fits.CRPIX1 and the like. Cards count pixels of the
 * original image from 1; the item's axes say where its samples lie in that image, from 0:
 *
 *	p = min + spacing * i		pixel p of the original is sample i of the item
 *
 * Pure.
 */
#ifndef TOOLS_WCS_H
#define TOOLS_WCS_H

#include "common/img.h"

/* Makes the cards true of the samples as they lie now, after cuts and flips; axes are then bare. */
void wcs_follow(struct img *x);

/* Renumbers the cards: axis i of the item was axis from[i] before, i < n. */
void wcs_permute(struct img *x, const int *from, int n);

/* The axis is cut to one sample and leaves the item: its cards count from that sample on. */
void wcs_slice(struct img *x, int axis);

/* Writes the positions of an item that is none of FITS, if it has any, as cards: CRPIX, CDELT, CRVAL, CUNIT, CTYPE. */
void wcs_of_axes(struct img *x);

#endif
