/*
 * morphrec on one device, in bands of rows or, in volumes, of slices: the job, and one band. A unit is a row or a slice. One
 * unit beyond each end of a band goes to the device too. Its mask is made equal to its marker, so that it raises others and
 * stays as it is.
 */
#ifndef WEIR_GPU_MORPHREC_BAND_H
#define WEIR_GPU_MORPHREC_BAND_H

#include "gpu/morphrec/field.h"

extern "C" {
#include "gpu/morphrec/morphrec.h"
}

/* Units first .. first + n - 1. */
struct part {
	size_t first, n;
};

struct job {
	struct gpu *g;
	struct morphrec_plan *p;
	struct key_map map;
	size_t size; /* bytes of a sample */
	char *J;
	const char *I;
	size_t w, h, d;	    /* sizes of the picture or volume at J and I */
	size_t units, unit; /* rows or slices, and samples of one */
	bool rim;	    /* bands touch each other; false for the slices of a stack */

	/*
	 * made: marker and mask are made of the picture at I by this recipe, and the result of both comes to J. Each share is then
	 * one band. blind: units beside the share are not known yet. nan: the picture has a NaN.
	 */
	morphrec_recipe recipe;
	bool made, blind, nan;

	part share; /* the units of this device */
	/* The units of J before and behind the share, as they were at the start. */
	char *beyond[2];
	size_t band;	      /* units of a band */
	char *owed;	      /* owned; owed[b + 1]: band b may have something to do */
	part here;	      /* the band whose words on the device are up to date; n = 0: none */
	size_t tiles, visits; /* for the figures */
};

/* Returns how many units a band can have so that all of it fits in `room` bytes; 0 if none fits. */
size_t band_units(job *o, size_t room);

/*
 * Brings band a to its fixpoint, its neighbours staying as they are. Its result has come after gpu_settle(). next: the band
 * that probably follows; n = 0: none.
 */
int band_settle(job *o, const part *a, const part *next, bool *changed);

/* Where the share is one band, and made: makes its marker and mask, and sets o->nan; brings its result down. */
int band_make(job *o);
int band_finish(job *o);

#endif
