/*
 * wconv --part=I/N: convolves one share of the rows of tiles of all pictures of the input, which are regular files.
 * On failure the program ends with a line that names the item.
 */
#ifndef WCONV_SHARE_H
#define WCONV_SHARE_H

#include "wconv/job.h"

/* Reads in, of which nothing has been read, and writes the share to out. */
void share_run(struct job *j, struct raw_in *in, struct raw_out *out);

#endif
