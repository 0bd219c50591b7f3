/*
 * morphrec on one device, in bands of rows (of slices, in volumes): what it has to do, and a band. A band is taken with one
 * unit beyond each end, whose mask is made equal to its marker: it takes part and stays as it is.
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
	size_t w, h, d;	    /* of the picture or volume that J and I now are */
	size_t units, unit; /* rows or slices, and samples of one */
	bool rim;	    /* a band touches the ones beside it; not so the slices of a stack */

	part share; /* what this device does */
	char *
	    beyond[2]; /* the units of J before and behind the share, as they were when all began */
	size_t band;   /* units of a band */
	bool overlap;  /* copies of other bands while one is at work */
	char *owed;    /* owned: band b may have something to do: owed[b + 1] */
	part here;     /* the band whose words are on the device, and right; n = 0: none */
	part staged;   /* the band whose samples are there */
	part pending;  /* the band whose result is there, all but its ends */
	part next;     /* the band to be staged while another is at work */
	size_t tiles, visits; /* for the figures */
};

/* Units of a band such that all of it fits in room bytes; 0: not even one. Fills o->overlap. */
size_t band_units(job *o, size_t room);

/* Band a to its fixpoint between its neighbours as they are; next: what will come then, as far as one knows, n = 0: nothing. */
int band_settle(job *o, const part *a, const part *next, bool *changed);

/* Brings down what still lies on the device. */
int band_flush(job *o);

#endif
