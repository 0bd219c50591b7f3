/* FFTs by FFTW along one axis of the grid, in place and with the sign -1. */
#ifndef WEIR_USFFT_FFTW_AXIS_H
#define WEIR_USFFT_FFTW_AXIS_H

#include "usfft/usfft.h"

struct fftw_axis {
	void *plan; /* owned; NULL: none */
	size_t n;
	bool single;
	/* The plan is of one line of consecutive samples and was not measured: it serves any such plan of n samples. */
	bool plain;
};

/*
 * Plans the FFTs of `many` neighbouring lines of n samples, which lie `stride` samples apart from one to the next, or of one
 * line whose stride is 1. o->measure overwrites data. Returns 0 or -ENOMEM. One thread at a time may call it.
 */
int fftw_axis_make(struct fftw_axis *f, const struct usfft_options *o, size_t n, size_t many,
		   size_t stride, void *data);

/* Transforms the lines at `at`, which is aligned as data was. Any thread may call it. */
void fftw_axis_run(const struct fftw_axis *f, void *at);

/* Frees the plan, or keeps it for the next grid of the same length. It accepts a zeroed struct. */
void fftw_axis_free(struct fftw_axis *f);

#endif
