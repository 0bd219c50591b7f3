#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/stats.h"

static _Thread_local double last; /* seconds: when this thread charged its time */

void
stats_start(struct stats *st)
{
	*st = (struct stats){0};
	st->start = last = clock_now();
}

void
stats_charge(struct stats *st, enum stats_stage stage)
{
	double now = clock_now();

	st->seconds[stage] += now - last;
	last = now;
}

void
stats_skip(void)
{
	last = clock_now();
}

/* JSON has neither NaN nor infinity. */
static bool
is_json(const char *value)
{
	value += *value == '-';
	return strcmp(value, "nan") && strcmp(value, "inf");
}

void
stats_add(struct stats *st, const char *name, const char *fmt, ...)
{
	char *value = NULL, *own = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0 ||
	    asprintf(&own, "%s, \"%s\": %s", st->own ? st->own : "", name,
		     is_json(value) ? value : "null") < 0)
		die("no memory");
	va_end(ap);
	free(value);
	free(st->own);
	st->own = own;
}

static void
put(FILE *f, const struct stats *st)
{
	const double *s = st->seconds;

	fprintf(f, "{\"program\": \"%s\", \"version\": \"%s\", \"items\": %llu", weir_prog,
		WEIR_VERSION, (unsigned long long)st->items);
	fprintf(f, ", \"bytes_in\": %llu, \"bytes_out\": %llu", (unsigned long long)st->bytes_in,
		(unsigned long long)st->bytes_out);
	fprintf(f, ", \"threads\": %d, \"device\": \"%s\", \"peak_bytes\": %zu",
		st->threads ? st->threads : 1, st->device ? st->device : "cpu", weir_peak_bytes());
	fprintf(
	    f, ", \"seconds\": {\"read\": %.6f, \"plan\": %.6f, \"compute\": %.6f, \"write\": %.6f",
	    s[STATS_READ], s[STATS_PLAN], s[STATS_COMPUTE], s[STATS_WRITE]);
	fprintf(f, ", \"total\": %.6f}%s}\n", clock_now() - st->start, st->own ? st->own : "");
}

void
stats_print(struct stats *st, const struct opt_common *o)
{
	FILE *f = o->report ? file_stream(o->report) : stderr;

	if (o->stats) {
		errno = 0;
		put(f, st);
		if (ferror(f))
			die("%s: %s", o->report ? o->stats : "(stderr)", strerror(errno));
		if (o->report)
			file_finish(o->report);
	}
	free(st->own);
	st->own = NULL;
}
