/*
 * --stats writes one JSON object on one line. Time is charged to the stage that just ended. Each thread has a
 * clock of its own, and one thread at a time charges a stage:
 *
 *	stats_start(&st);
 *	...read...	stats_charge(&st, STATS_READ);
 *	...run...	stats_charge(&st, STATS_COMPUTE);
 *	stats_add(&st, "tiles", "%zu", n);
 *	stats_print(&st, &args.common);
 */
#ifndef WEIR_BASE_STATS_H
#define WEIR_BASE_STATS_H

#include <stdint.h>

#include "common/base/opt.h"

enum stats_stage { STATS_READ, STATS_PLAN, STATS_COMPUTE, STATS_WRITE, STATS_STAGES };

struct stats {
	double start; /* seconds */
	double seconds[STATS_STAGES];
	uint64_t items, bytes_in, bytes_out; /* the program fills these in */
	int threads;
	const char *device; /* NULL: "cpu" */
	char *own;	    /* the members that stats_add added, each `, "name": value`; owned */
};

void stats_start(struct stats *st);
void stats_charge(struct stats *st, enum stats_stage stage);

/* Charges the time since this thread's last charge to no stage: it waited for another thread. */
void stats_skip(void);

/* Adds a figure of the program's own. fmt makes a JSON value, or nan or inf, which become null; each name is used once. */
void stats_add(struct stats *st, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* With --stats, writes the object to its file or to stderr, and dies when that fails. Always frees what st owns. */
void stats_print(struct stats *st, const struct opt_common *o);

/*
 * A progress bar on stderr. It appears after two seconds, when stderr is a terminal and --quiet is not given. Only one thread
 * may call these functions.
 */
struct progress {
	double start, last; /* seconds; start 0: no bar is shown */
};

void progress_start(struct progress *p, bool quiet);
void progress_step(struct progress *p, double done); /* done: 0..1 */
void progress_end(struct progress *p);		     /* wipes the bar */

#endif
