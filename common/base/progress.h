/*
 * A progress bar on stderr. It appears after two seconds, when stderr is a terminal and --quiet is not given. Only one thread
 * may call these functions.
 */
#ifndef WEIR_BASE_PROGRESS_H
#define WEIR_BASE_PROGRESS_H

#include <stdbool.h>

struct progress {
	double start, last; /* seconds; start 0: no bar is shown */
};

void progress_start(struct progress *p, bool quiet);
void progress_step(struct progress *p, double done); /* done: 0..1 */
void progress_end(struct progress *p);		     /* wipes the bar */

#endif
