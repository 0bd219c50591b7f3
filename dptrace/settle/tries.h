/* Tries: lines of a plan of their own, of which only the first pass is run. */
#ifndef DPTRACE_TRIES_H
#define DPTRACE_TRIES_H

#include <stdbool.h>

#include "dptrace/dptrace.h"

/*
 * Makes q a plan of that many tries on the picture of p, without lines so far: their first pass alone. line is [tries]. Returns
 * whether there was memory for it; tries_free() frees it, also if not.
 */
bool tries_take(struct dptrace_plan *q, const struct dptrace_plan *p, size_t tries, size_t segments,
		struct dptrace_line **line);

/* Takes room for the lines of q and runs them, all at once, by the plan's runner if there is one. Returns 0, or -1 with a sentence in err. */
int tries_run(struct dptrace_plan *q, char err[DPTRACE_ERR]);

void tries_free(struct dptrace_plan *q, struct dptrace_line *line);

#endif
