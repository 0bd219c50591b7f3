#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/die.h"
#include "common/mem.h"
#include "common/stats.h"

void
stats_start(struct stats *st)
{
	*st = (struct stats){0};
	st->start = st->last = clock_now();
}

void
stats_lap(struct stats *st, enum stats_stage stage)
{
	double now = clock_now();

	st->seconds[stage] += now - st->last;
	st->last = now;
}

void
stats_add(struct stats *st, const char *name, const char *fmt, ...)
{
	const size_t used = strlen(st->own);
	char value[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	snprintf(st->own + used, sizeof st->own - used, ", \"%s\": %s", name, value);
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
	fprintf(f, ", \"total\": %.6f}%s}\n", clock_now() - st->start, st->own);
}

void
stats_print(struct stats *st, const struct opt_common *o)
{
	FILE *f = stderr;

	if (!o->stats)
		return;
	if (strcmp(o->stats, "-") && !(f = fopen(o->stats, "w")))
		die("%s: %s", o->stats, strerror(errno));
	put(f, st);
	if (f != stderr && fclose(f))
		die("%s: %s", o->stats, strerror(errno));
}

void
stats_close(struct stats *st, struct raw_in *in, struct raw_out *out, const struct opt_common *o)
{
	st->bytes_in = raw_bytes_in(in);
	st->bytes_out = raw_bytes_out(out);
	raw_close(in);
	raw_finish(out);
	stats_print(st, o);
}
