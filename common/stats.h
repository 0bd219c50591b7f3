/*
 * What --stats reports: one JSON object on one line. Time is charged to the stage that just ended:
 *
 *	stats_start(&st);
 *	...read...	stats_charge(&st, STATS_READ);
 *	...run...	stats_charge(&st, STATS_COMPUTE);
 *	stats_add(&st, "tiles", "%zu", n);
 *	stats_print(&st, &args.common);
 */
#ifndef WEIR_STATS_H
#define WEIR_STATS_H

#include <stdint.h>

#include "common/opt.h"

enum stats_stage { STATS_READ, STATS_PLAN, STATS_COMPUTE, STATS_WRITE, STATS_STAGES };

struct stats {
	double start, last; /* seconds */
	double seconds[STATS_STAGES];
	uint64_t items, bytes_in, bytes_out; /* the program fills these in */
	int threads;
	const char *device; /* NULL: "cpu" */
	char *own;	    /* owned: the program's own members, each `, "name": value` */
};

void stats_start(struct stats *st);
void stats_charge(struct stats *st, enum stats_stage stage);

/* The program's own figure: a JSON value by printf, each name once. */
void stats_add(struct stats *st, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the object where --stats asked for it, if it did. Dies when it cannot be written. Frees what st owns. */
void stats_print(struct stats *st, const struct opt_common *o);

/*
 * How every program ends: the bytes of in and out are added, both are closed, the object is written. A program with more
 * of them adds and closes the others before; NULL: there is none.
 */
void
stats_close(struct stats *st, struct raw_in *in, struct raw_out *out, const struct opt_common *o);

/*
 * raw_head and the whole payload of in's current item, of which nothing was read, a block at a time; with a progress bar
 * unless quiet. Reading and writing are charged to st.
 */
void
raw_copy(struct raw_in *in, struct raw_out *out, const struct img *x, bool quiet, struct stats *st);

#endif
