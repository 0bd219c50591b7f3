/* Memory for the passes of a plan, and their run. */
#include <math.h>

#include "common/mem.h"
#include "common/par.h"
#include "dptrace/pass.h"
#include "dptrace/room.h"

/* The memory that the largest line needs. */
static size_t
measure(struct dptrace_plan *p, int nslot)
{
	struct work w = {.plan = p};
	size_t most = 0;

	for (size_t i = 0; i < p->nline; i++)
		for (size_t pass = 0; pass < p->o.passes; pass++) {
			const size_t n = p->first[i + 1] - p->first[i];
			w.chain.threads = p->inner;
			size_t bytes = pass_bytes(&w, p->shape + p->first[i], n, pass, nslot);
			most = bytes > most ? bytes : most;
		}
	return most;
}

/* Chooses the number of slots: fewer where memory is short. */
static int
fit_memory(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t each;

	for (p->nslot = SLOTS;; p->nslot /= 2) {
		each = measure(p, p->nslot);
		if (!weir_mul(each, (size_t)p->outer, &p->bytes))
			return dptrace_fail(err, "more memory than can be addressed");
		if (!p->o.max_bytes || p->bytes <= p->o.max_bytes)
			break;
		if (p->nslot == 1)
			return dptrace_fail(err,
					    "%zu bytes of link sums exceed the limit of %zu; see "
					    "--max-bytes, -d, -n",
					    p->bytes, p->o.max_bytes);
	}
	for (int i = 0; i < p->outer; i++) {
		p->work[i].plan = p;
		if (!(p->work[i].memory = weir_alloc_large(each, 1)))
			return dptrace_fail(err, "no memory for %zu bytes of link sums", p->bytes);
	}
	return 0;
}

/* The number of vertices of a line of n segments after that many passes. */
static size_t
vertices_of(const struct segment_shape *s, size_t n, size_t passes)
{
	size_t sum = 1;

	for (size_t i = 0; i < n; i++)
		sum += (size_t)pass_guides(&s[i], passes - 1) - 1;
	return sum;
}

/* Makes room for the vertices of all traces. */
static int
take_vertices(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t vertices = 0;

	for (size_t i = 0; i < p->nline; i++) {
		p->trace[i].n =
		    vertices_of(p->shape + p->first[i], p->first[i + 1] - p->first[i], p->o.passes);
		vertices += p->trace[i].n;
	}
	if (!(p->vertex = weir_calloc(vertices, sizeof *p->vertex)))
		return dptrace_fail(err, "no memory for %zu vertices", vertices);
	for (size_t i = 0, at = 0; i < p->nline; at += p->trace[i++].n)
		p->trace[i].v = p->vertex + at;
	return 0;
}

/* Shares the threads out over lines, or gives them all to each line, and takes the memory. */
int
room_take(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	p->outer = p->nline >= (size_t)p->o.threads ? p->o.threads : 1;
	p->inner = p->outer > 1 ? 1 : p->o.threads;
	if (!(p->work = weir_calloc((size_t)p->outer, sizeof *p->work)))
		return dptrace_fail(err, "no memory for %d threads", p->outer);
	return take_vertices(p, err) || fit_memory(p, err) ? -1 : 0;
}

static void
trace_line(struct work *w, size_t i)
{
	pass_begin(w, i);
	for (size_t pass = 0; pass < w->plan->o.passes; pass++)
		pass_run(w, pass);
	pass_put(w, &w->plan->trace[i]);
}

void
dptrace_run(struct dptrace_plan *p)
{
#pragma omp parallel for num_threads(p->outer) schedule(dynamic, 1) if (p->outer > 1)
	for (size_t i = 0; i < p->nline; i++)
		trace_line(&p->work[omp_get_thread_num() % p->outer], i);
}
