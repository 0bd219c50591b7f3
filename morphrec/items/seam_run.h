/* A run of one share: --seam=DIR --part=I/N. See seam.h. */
#ifndef MORPHREC_SEAM_RUN_H
#define MORPHREC_SEAM_RUN_H

#include "common/base/stats.h"
#include "morphrec/args.h"
#include "morphrec/items/masks.h"

/*
 * Reads the one item of the input, runs the share, and writes its picture when there is -o. Then prints a line on standard
 * output: `rose` and the shares that must run again, or `still`. Dies on failure. Adds to *f.
 */
void seam_run(struct raw_in *in, struct masks *m, const struct args *a, struct stats *st,
	      struct morphrec_figures *f);

#endif
