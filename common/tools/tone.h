/*
 * Samples as levels of a picture:
 *
 *	t = (f(v) - f(lo)) / (f(hi) - f(lo)),	f(v) = v or log10 v,	level = floor(maxval clip(t)^(1/gamma) + 1/2)
 *
 * and as colours, for samples of both signs: t = v / max(|lo|, |hi|) in -1..1 goes from blue over white to red, which
 * fade by |t|^(1/gamma). v is the sample itself, or the magnitude or phase of a complex one. NaN is black, and so is what
 * has no logarithm. Pure.
 */
#ifndef TOOLS_TONE_H
#define TOOLS_TONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/img.h"

enum tone_part { TONE_VALUE, TONE_ABS, TONE_PHASE };

/* One end of the range, as asked for: a number, or the value that `percent` of the finite samples lie below. */
struct tone_end {
	bool is_percentile;
	double v; /* the number; or 0..100 */
};

struct tone {
	enum tone_part part;
	bool log;	 /* f is log10 */
	bool diverging;	 /* colours for both signs: three levels a sample */
	double gamma;	 /* > 0 */
	unsigned maxval; /* 1..65535 */
	double lo, hi;	 /* lo > hi turns dark and bright about */
	int threads;
};

/*
 * `LO:HI`, each a number or pN, the Nth percentile; or `minmax`, which is p0:p100. Returns 0, or -1 when text is neither
 * or both ends are the same.
 */
int tone_parse_range(const char *text, struct tone_end end[2]);

/*
 * Sets t->lo and t->hi from what was asked for and the finite samples of x (with t->log: the positive ones), exactly: a
 * percentile is a sample, the one of rank floor(percent/100 (count-1) + 1/2) in ascending order. Both are 0 when there is
 * no such sample. x->data holds the payload.
 */
void tone_find_range(struct tone *t, const struct tone_end end[2], const struct img *x);

/*
 * Levels of n values of x from value number first on: uint8_t when maxval < 256, else uint16_t; three for each value
 * when t->diverging. A complex sample is one value.
 */
void tone_levels(const struct tone *t, const struct img *x, size_t first, size_t n, void *level);

/* How many values x has: samples, or half as many where two make a complex one. */
size_t tone_count(const struct img *x);

#endif
