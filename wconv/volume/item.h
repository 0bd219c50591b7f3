/* Items that a kernel of three axes convolves. On failure the program ends with a line that names the file and the item. */
#ifndef WCONV_VOLUME_ITEM_H
#define WCONV_VOLUME_ITEM_H

#include "wconv/job.h"

/* Refuses options that a kernel of three axes excludes. */
void volume_check_args(const struct args *args);

/* Finds the volumes of item x: sets j->q.d and j->pictures. The rest of the problem was posed for its slices. */
void volume_pose(struct job *j, const struct raw_in *in, const struct img *x);

/* Tells the size of the result: rows of all its slices. */
void volume_size(const struct job *j, size_t *w, size_t *rows);

/* Makes y the header of x's result. */
void volume_describe(const struct job *j, const struct img *x, struct img *y);

/* Says the size of the volume and of the kernel on standard error. */
void volume_explain(const struct job *j);

#endif
