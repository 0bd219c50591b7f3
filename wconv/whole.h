/*
 * The adjoint and the deconvolution of an item. They hold each picture whole in memory.
 * On failure the program ends with a line that names the item.
 */
#ifndef WCONV_WHOLE_H
#define WCONV_WHOLE_H

#include "common/progress.h"
#include "wconv/job.h"

/*
 * Reads the item x whole, then computes and writes its n pictures one after the other, as the item y.
 * The header of y is written when the first picture is done.
 */
void whole_pictures(struct job *j, struct raw_in *in, struct img *x, struct img *y, size_t n,
		    struct raw_out *out, struct progress *bar, struct stats *st);

#endif
