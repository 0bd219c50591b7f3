/* Closed lines: chooses the first links to try next. This runs on the host alone. */
#ifndef WEIR_GPU_DPTRACE_CLOSE_H
#define WEIR_GPU_DPTRACE_CLOSE_H

extern "C" {
#include "dptrace/pass.h"
}

/* close_best() of chain.c for one line, one attempt at a time. */
struct closing {
	unsigned line;
	enum { WHOLE, CHOSEN, LEFT, RIGHT, DONE } at;
	struct branch *branch; /* the known branches, and the one that is being tried */
	int n, i;
	struct branch chosen;
};

/* Returns the first links to try now. */
struct branch *closing_try(struct closing *c);

/* Continues after an attempt, whose bound stands in the branch that closing_try() returned. */
void closing_go_on(struct closing *c, bool agrees);

#endif
