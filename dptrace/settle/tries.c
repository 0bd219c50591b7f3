#include <errno.h>

#include "common/base/mem.h"
#include "dptrace/resolve.h"
#include "dptrace/room.h"
#include "dptrace/settle/tries.h"

bool
tries_take(struct dptrace_plan *q, const struct dptrace_plan *p, size_t tries, size_t segments,
	   struct dptrace_line **line)
{
	*q = (struct dptrace_plan){.image = p->image, .gray = p->gray, .o = p->o};
	q->o.passes = 1;
	q->o.margins = false;
	q->line = *line = weir_alloc(tries, sizeof **line);
	q->first = weir_calloc(tries + 1, sizeof *q->first);
	q->shape = weir_alloc(segments, sizeof *q->shape);
	q->trace = weir_calloc(tries, sizeof *q->trace);
	return *line && q->first && q->shape && q->trace;
}

int
tries_run(struct dptrace_plan *q, char err[DPTRACE_ERR])
{
	const struct dptrace_runner *const by = q->o.runner;
	int failed;

	if (room_take(q, err))
		return -1;
	if (!by) {
		dptrace_run(q);
		return 0;
	}
	if (!(failed = by->run(by->ctx, q)))
		return 0;
	*err = '\0';
	return failed == -ENOMEM ? dptrace_fail(err, "no memory for %zu tries", q->nline) : -1;
}

void
tries_free(struct dptrace_plan *q, struct dptrace_line *line)
{
	dptrace_free(q);
	weir_free(line);
}
