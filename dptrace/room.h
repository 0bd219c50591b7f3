/* What a plan takes once its lines have their shapes. */
#ifndef DPTRACE_ROOM_H
#define DPTRACE_ROOM_H

#include "dptrace/dptrace.h"

/* Shares the threads out, and takes vertices and working memory. Returns 0, or -1 with a sentence in err. */
int room_take(struct dptrace_plan *p, char err[DPTRACE_ERR]);

#endif
