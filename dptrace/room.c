/* Memory for the passes of a plan, and their run. */
#include <math.h>

#include "common/base/mem.h"
#include "common/base/par.h"
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

/* Says whether some segment has gaps that are worth sharing among threads. */
static bool
has_wide_gaps(const struct dptrace_plan *p)
{
	for (size_t k = 0; k < p->first[p->nline]; k++) {
		const size_t d = (size_t)pass_samples(&p->shape[k], 0),
			     climb = (size_t)p->shape[k].steepest;
		if (d * (2 * (climb && climb < d ? climb : d - 1) + 1) >= WORTH_SHARING)
			return true;
	}
	return false;
}

/* The lines that are traced at once. Where they are few and their gaps are wide, all threads share one line after the other. */
static int
lines_at_once(const struct dptrace_plan *p)
{
	if (p->nline >= (size_t)p->o.threads)
		return p->o.threads;
	return p->nline == 0 || has_wide_gaps(p) ? 1 : (int)p->nline;
}

/*
 * Chooses how many lines are traced at once, and the number of slots: fewer where memory is short. *each receives the bytes
 * for one of these lines. Returns 0, or -1 with a sentence in err.
 */
static int
fit_memory(struct dptrace_plan *p, size_t *each, char err[DPTRACE_ERR])
{
	bool counted = false;

	for (p->outer = lines_at_once(p); p->outer; p->outer /= 2) {
		p->inner = p->outer > 1 ? 1 : p->o.threads;
		for (p->nslot = SLOTS; p->nslot; p->nslot /= 2) {
			*each = measure(p, p->nslot);
			counted = weir_mul(*each, (size_t)p->outer, &p->bytes);
			if (counted && (!p->o.max_bytes || p->bytes <= p->o.max_bytes))
				return 0;
		}
	}
	if (!counted)
		return dptrace_fail(err, "more memory than can be addressed");
	return dptrace_fail(
	    err, "%zu bytes of link sums exceed the limit of %zu; see --max-bytes, -d, -n",
	    p->bytes, p->o.max_bytes);
}

/* Takes the memory of the lines that are traced at once. */
static int
take_work(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t each = 0;

	if (fit_memory(p, &each, err))
		return -1;
	if (!(p->work = weir_calloc((size_t)p->outer, sizeof *p->work)))
		return dptrace_fail(err, "no memory for %d threads", p->outer);
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

int
room_take(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	return take_vertices(p, err) || (!p->o.runner && take_work(p, err)) ? -1 : 0;
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
