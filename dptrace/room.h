/* What a plan takes once its lines have their shapes. */
#ifndef DPTRACE_ROOM_H
#define DPTRACE_ROOM_H

#include "dptrace/dptrace.h"

/*
 * Takes vertices, shares the threads out and takes the working memory of dptrace_run(), unless the plan has a runner that
 * traces the lines. Returns 0, or -1 with a sentence in err.
 */
int room_take(struct dptrace_plan *p, char err[DPTRACE_ERR]);

#endif
