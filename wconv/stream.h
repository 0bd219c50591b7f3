/* The items of a run, except with --part. On failure the program ends with a line that names the item. */
#ifndef WCONV_STREAM_H
#define WCONV_STREAM_H

#include "wconv/job.h"

/* Processes all items of in, and writes the results. j has its kernels. */
void stream_run(struct job *j, struct raw_in *in, struct raw_out *out);

#endif
