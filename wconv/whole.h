/*
 * The adjoint and the deconvolution of an item, and all work on volumes. They hold one picture, or volume, in memory.
 * On failure the program ends with a line that names the item.
 */
#ifndef WCONV_WHOLE_H
#define WCONV_WHOLE_H

#include "wconv/job.h"

/* The work on an item, a plane at a time. */
struct whole;

/* Makes f the work on item x, a picture at a time. f->head and f->mapped are kept. The caller ends it with whole_end(). */
struct whole *whole_start(struct job *j, const struct img *x, struct wconv_flow *f);

/* w may be NULL. */
void whole_end(struct whole *w);

#endif
