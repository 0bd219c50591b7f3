/*
 * Converts samples to levels of a picture:
 *
 *	t = (f(v) - f(lo)) / (f(hi) - f(lo)),	f(v) = v or log10 v,	level = floor(maxval clip(t)^(1/gamma) + 1/2)
 *
 * Samples of both signs can be shown in colours instead: t = v / max(|lo|, |hi|) is -1..1, where -1 is blue, 0 is white and 1
 * is red. The strength of the colour is |t|^(1/gamma). v is the sample itself, or the magnitude of a complex sample. NaN is black. With log, a sample without a logarithm is black, too.
 *
 * Samples that are numbers of objects can be shown in colours, one for each number: 0 is black. Pure.
 */
#ifndef WEIR_PICTURE_TONE_H
#define WEIR_PICTURE_TONE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stream/img.h"

/* One end of the range: a number, or a percentile of the finite samples. */
struct tone_end {
	bool is_percentile;
	double v; /* the number; the percentile, 0..100 */
};

struct tone {
	bool log;	 /* f is log10 */
	bool diverging;	 /* colours for both signs: three levels a sample */
	bool labels;	 /* a colour for each number: three levels a sample, maxval is 255 */
	double gamma;	 /* > 0 */
	unsigned maxval; /* 1..65535 */
	double lo, hi;	 /* lo > hi exchanges dark and bright */
	int threads;
	void *table; /* of tone_make_table(); NULL: none; the caller frees it by weir_free() */
};

/*
 * Parses `LO:HI` or `minmax`. LO and HI are numbers or pN, the Nth percentile. `minmax` means p0:p100. Returns 0, or -1 when
 * text is malformed or both ends are the same.
 */
int tone_parse_range(const char *text, struct tone_end end[2]);

/*
 * Sets t->lo and t->hi from end[] and the finite samples of x; with t->log, from the positive ones only. Percentiles are
 * exact: a percentile is the sample of rank floor(percent/100 (count-1) + 1/2) in ascending order. lo and hi are 0 when there
 * is no such sample. x->data holds the payload.
 */
void tone_find_range(struct tone *t, const struct tone_end end[2], const struct img *x);

/*
 * Makes the table of the levels of all samples that there can be, for integers of at most 16 bits; t->lo and t->hi are known.
 * Other samples, and few of them, need no table. Returns 0 or -ENOMEM.
 */
int tone_make_table(struct tone *t, const struct img *x);

/*
 * Computes the levels of n values of x, from value number `first` on. Levels are uint8_t when maxval < 256, else uint16_t.
 * A complex sample is one value.
 */
void tone_levels(const struct tone *t, const struct img *x, size_t first, size_t n, void *level);

/* The levels of a value: three where it becomes a colour. */
static inline size_t
tone_planes(const struct tone *t)
{
	return t->diverging || t->labels ? 3 : 1;
}

#endif
