/*
 * Moves single colours between classes (Hartigan 1975). This leaves many local minima of Lloyd's method where classes have few
 * colours. Moving colour x of weight w from class i to class j changes the SSE by
 *
 *	w W[j] / (W[j] + w) |x - c[j]|^2 - w W[i] / (W[i] - w) |x - c[i]|^2	c means, W weights of the classes
 */
#ifndef EMST_EXCHANGE_H
#define EMST_EXCHANGE_H

#include "emst/palette/lloyd.h"

/* Moves colours until no move lowers the SSE. label[] and sum[] are those of the last round; the centres become the means. */
void exchange_run(struct lloyd *l);

#endif
