#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void
stats_add(struct stats *st, const char *name, const char *fmt, ...)
{
	char *value = NULL, *own = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0)
		die("no memory");
	va_end(ap);
	/* JSON has neither NaN nor infinity. */
	const char *size = value + (*value == '-');
	const bool none = !strcmp(size, "nan") || !strcmp(size, "inf");
	if (asprintf(&own, "%s, \"%s\": %s", st->own ? st->own : "", name, none ? "null" : value) <
	    0)
		die("no memory");
	weir_free_all(value, st->own);
	st->own = own;
}

void
stats_print(struct stats *st, const struct opt_common *o)
{
	FILE *f = o->report ? file_stream(o->report) : stderr;
	const double *s = st->seconds;

	if (o->stats) {
		errno = 0;
		fprintf(f, "{\"program\": \"%s\", \"version\": \"%s\", \"items\": %llu", weir_prog,
			weir_version, (unsigned long long)st->items);
		fprintf(f, ", \"bytes_in\": %llu, \"bytes_out\": %llu",
			(unsigned long long)st->bytes_in, (unsigned long long)st->bytes_out);
		fprintf(f, ", \"threads\": %d, \"device\": \"%s\", \"peak_bytes\": %zu",
			st->threads ? st->threads : 1, st->device ? st->device : "cpu",
			weir_peak_bytes());
		fprintf(f,
			", \"seconds\": {\"read\": %.6f, \"plan\": %.6f, \"compute\": %.6f, "
			"\"write\": %.6f",
			s[STATS_READ], s[STATS_PLAN], s[STATS_COMPUTE], s[STATS_WRITE]);
		fprintf(f, ", \"total\": %.6f}%s}\n", clock_now() - st->start,
			st->own ? st->own : "");
		if (ferror(f))
			die("%s: %s", o->report ? o->stats : "(stderr)", strerror(errno));
		if (o->report)
			file_finish(o->report);
	}
	free(st->own);
	st->own = NULL;
}

/* --- progress --- */

enum { WIDTH = 40 };

void
progress_start(struct progress *p, bool quiet)
{
	*p = (struct progress){0};
	if (!quiet)
		p->start = p->last = clock_now();
}

void
progress_step(struct progress *p, double done)
{
	static const char bar[WIDTH + 1] = "########################################";

	if (p->start == 0)
		return;
	double now = clock_now();
	if (now - p->start < 2 || now - p->last < .2)
		return;
	if (!isatty(STDERR_FILENO)) {
		*p = (struct progress){0};
		return;
	}
	p->last = now;
	fprintf(stderr, "\r[%-*.*s] %3.0f %%", WIDTH, (int)(done * WIDTH), bar, 100 * done);
}

void
progress_end(struct progress *p)
{
	if (p->last > p->start)
		fprintf(stderr, "\r%*s\r", WIDTH + 8, "");
	p->start = 0;
}
