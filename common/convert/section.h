/*
 * Sections of a CCD image that FITS cards name, of the form '[first:last,first:last]', also with a digit or a letter behind the
 * name. DATASEC, TRIMSEC, BIASSEC, PRESEC, POSTSEC, DSEC, TSEC and BSEC count the pixels of the image from 1. CCDSEC, DETSEC and AMPSEC
 * count pixels of the detector and name those that lie under DATASEC, or under the whole image where that is missing; CSEC and
 * ASEC lie under DSEC. Pure.
 */
#ifndef WEIR_CONVERT_SECTION_H
#define WEIR_CONVERT_SECTION_H

#include "common/stream/img.h"

#define SECTION_NAMES 128

/*
 * Updates the sections of x for the cut and the flip of an axis, whose position says where its samples lie in the image, as in
 * wcs.h. Sections without a pixel left are removed, and those of the detector also when the axis was thinned; their names, each
 * behind a blank, are added to `gone`.
 */
void section_follow(struct img *x, int axis, char gone[SECTION_NAMES]);

/* Renumbers the ranges of sections: axis i of the item was axis from[i] before, i < n. */
void section_permute(struct img *x, const int *from, int n);

#endif
