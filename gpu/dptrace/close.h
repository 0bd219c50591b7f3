/* Closed lines: which first links are tried next. Of the host alone. */
#ifndef WEIR_GPU_DPTRACE_CLOSE_H
#define WEIR_GPU_DPTRACE_CLOSE_H

extern "C" {
#include "dptrace/pass.h"
}

/* chain.c's close_best() of one line, an attempt at a time. */
struct closing {
	unsigned line;
	enum { WHOLE, CHOSEN, LEFT, RIGHT, DONE } at;
	struct branch *branch; /* those that are known, and the one tried now */
	int n, i;
	struct branch chosen;
};

/* The first links to try now. */
struct branch *closing_try(struct closing *c);

/* After an attempt, whose bound stands in that branch. */
void closing_go_on(struct closing *c, bool agrees);

#endif
