/* Pictures that are held whole: the adjoint and the deconvolution of an item. These die with a line that names it. */
#ifndef WCONV_WHOLE_H
#define WCONV_WHOLE_H

#include "common/progress.h"
#include "wconv/job.h"

/* Reads the n pictures of the item x, and writes the item y, its head first, when all are done. */
void whole_pictures(struct job *j, struct raw_in *in, struct img *x, struct img *y, size_t n,
		    struct raw_out *out, struct progress *bar, struct stats *st);

#endif
