/* Where an item lies in the whole picture. On failure the program ends with a line that names the file and the item. */
#ifndef WCONV_PLACE_H
#define WCONV_PLACE_H

#include "wconv/job.h"

/* Reads from the header where the item lies in the whole image. An item that is not a part is the whole. */
void job_find_place(const struct raw_in *in, const struct img *x, struct wconv_problem *q);

/* The item of the adjoint holds results. Makes j->q the problem of the picture that gives them, and j->at_* their position. */
void job_find_source(struct job *j, const struct raw_in *in, const struct img *x);

#endif
