/* Plans and traces the lines of a picture on the CPU or the GPU. Functions die where something is wrong. */
#include <errno.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "dptrace/args.h"
#include "gpu/dptrace/dptrace.h"

/* The function run() of struct dptrace_runner, on the GPU. */
static int
run_on_gpu(void *ctx, struct dptrace_plan *p)
{
	struct trace *t = ctx;
	const int err = gpu_enter(t->gpu);

	return err || !p->nline ? err : gpu_dptrace_run(t->gpu, p, &t->held);
}

/* Ends with what either half of the planning said. */
static void
die_of_plan(const struct trace *t, size_t nline, const struct why *why)
{
	if (!*why->text)
		raw_die(t->in, "-g: %s", gpu_why(t->gpu));
	if (t->p.bad < nline)
		raw_die(t->in, "line %zu: %s", t->first + t->p.bad, why->text);
	raw_die(t->in, "%s", why->text);
}

void
trace_plan(struct trace *t, const struct args *a, const struct dptrace_image *image,
	   const struct points *lines)
{
	struct dptrace_options o = dptrace_args_options(a);
	struct why why;

	t->gpu = a->gpu;
	t->held = false;
	t->runner = (struct dptrace_runner){run_on_gpu, t};
	o.runner = a->gpu ? &t->runner : NULL;
	if (dptrace_plan_lines(&t->p, image, lines->line, lines->nline, &o, &why))
		die_of_plan(t, lines->nline, &why);
	if (a->gpu)
		gpu_dptrace_ahead(a->gpu, &t->p);
}

void
trace_settle(struct trace *t)
{
	const size_t nline = t->p.nline;
	struct why why;

	if (dptrace_plan_settle(&t->p, &why))
		die_of_plan(t, nline, &why);
}

void
trace_run(struct trace *t)
{
	const int err = t->gpu ? run_on_gpu(t, &t->p) : (dptrace_run(&t->p), 0);

	if (err)
		raw_die(t->in, "-g: %s", err == -ENOMEM ? "no memory" : gpu_why(t->gpu));
}

/* The function tables() of struct dptrace_solver, on the GPU. */
static int
solve_on_gpu(void *ctx, const struct dptrace_table *seg, size_t nseg, double phi, int *at,
	     double *best, double *margin)
{
	const struct args *a = ctx;
	const int err = gpu_enter(a->gpu);

	return err ? err
		   : gpu_dptrace_tables(a->gpu, seg, nseg, phi, (enum dptrace_method)a->method, at,
					best, margin);
}

void
trace_scores(const struct args *a, const struct points *lines, struct report *r, struct stats *st)
{
	const struct dptrace_options o = dptrace_args_options(a);
	const struct dptrace_solver gpu = {solve_on_gpu, (void *)a};
	struct scores given = read_scores(a, lines);
	struct dptrace_trace t;
	struct why why;

	stats_charge(st, STATS_READ);
	if (dptrace_given(given.v, given.n, given.d, &lines->line[0], &o, a->gpu ? &gpu : NULL, &t,
			  &why))
		die("%s: %s%s", a->scores,
		    *why.text ? why.text : "-g: ", *why.text ? "" : gpu_why(a->gpu));
	stats_charge(st, STATS_COMPUTE);
	report_begin(r);
	report_line(r, a->scores, &t, 0, 0);
	weir_free(t.v);
	img_free(&given.x);
	st->items++;
}
