/*
 * Keys slice.position:=, slice.spacing:=, slice.label:= and slice.unit:= say where an item lay along an axis from which it
 * was cut, so that the axis comes back when the items are put together again. Pure.
 */
#ifndef TOOLS_PLACES_H
#define TOOLS_PLACES_H

#include <stdbool.h>

#include "common/stream/img.h"

/* Sets the keys of x, which was place k of the axis. */
void places_note(struct img *x, const struct img_axis *a, size_t k);

/* Describes the axis along which the items x[0..n) lie. Its positions are set where those of the items are at even distances. */
void places_recall(const struct img *x, size_t n, struct img_axis *a);

/*
 * Directs axis `axis` of y, the stack of the items x[0..n), along their origins. Returns false when the items lie in different
 * spaces or not at even distances: the axis then has no direction, and y lies where x[0] did.
 */
bool places_direct(const struct img *x, size_t n, struct img *y, int axis);

/* Removes the keys. */
void places_forget(struct img *x);

#endif
