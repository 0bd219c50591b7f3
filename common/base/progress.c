#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/progress.h"

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
	double now;

	if (p->start == 0)
		return;
	now = clock_now();
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
