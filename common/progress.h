/* A progress bar on stderr: only when that is a terminal, after two seconds, never with --quiet. One thread calls it. */
#ifndef WEIR_PROGRESS_H
#define WEIR_PROGRESS_H

#include <stdbool.h>

struct progress {
	double start, last; /* seconds; start 0: silent */
};

void progress_start(struct progress *p, bool quiet);
void progress_step(struct progress *p, double done); /* done: 0..1 */
void progress_end(struct progress *p);		     /* wipes the bar */

#endif
