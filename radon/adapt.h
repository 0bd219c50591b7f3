/*
 * Adaptive subtraction: matches the multiples that were subtracted to the gather, by a short filter for each window of traces
 * and times. d is the gather, m = d - left is what was subtracted, and delta is the filter that changes nothing:
 *
 *	f minimises sum w (d - f * m)^2 + L sum w d^2 |f - delta|^2		left becomes d - f * m
 *
 * Windows overlap by half. The weights w of a window fall linearly from its centre to 0 at the centres of its neighbours, so
 * that the weights of all windows sum to 1 at each sample; the results of overlapping windows are added with these weights. The
 * sums take in the data of live traces alone (radon_span()). L sum w d^2 is at least 1e-10 of the mean of sum w m^2 over the
 * delays of the filter. Without that a nearly dead trace, whose d is nothing beside m, has equations that rounding makes
 * unsolvable.
 *
 * The gather chooses L from {3, 1, .3, .1, .03, .01} by cross-validation. The time axis is cut into blocks of .2 s. In each
 * window the filter of the even blocks is applied to the odd ones, and that of the odd blocks to the even ones. L is the one
 * with the least energy of d - f * m in these other blocks, summed over all windows. Where that energy is not at least 1 % below
 * that of d - m, left stays as it was. Multiples and primaries that are independent lose nothing to a filter that was found
 * elsewhere, whereas the energy in its own blocks always falls.
 *
 * Source: Verschuur and Berkhout, Geophysics 62(5), 1997; the damping towards delta and the choice of L are ours.
 */
#ifndef WEIR_RADON_ADAPT_H
#define WEIR_RADON_ADAPT_H

#include "radon/radon.h"

struct radon_adapter;

/* Allocates the arrays of one gather. o is borrowed. Returns NULL when there is no memory. */
struct radon_adapter *radon_adapter(const struct radon_options *o, int threads);
void radon_adapter_free(struct radon_adapter *a); /* accepts NULL */

/* Changes left, and returns L; infinite: left stays as it was. */
double radon_adapt(struct radon_adapter *a, const float *gather, float *left);

#endif
