/* Plans and traces the lines of a picture on the CPU or the GPU. Functions die where something is wrong. */
#include <errno.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "dptrace/args.h"
#include "dptrace/resolve.h"
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

	t->gpu = gpu_now(a->gpu);
	t->held = false;
	t->runner = (struct dptrace_runner){run_on_gpu, t};
	o.runner = t->gpu ? &t->runner : NULL;
	if (dptrace_plan_lines(&t->p, image, lines->line, lines->nline, &o, &why))
		die_of_plan(t, lines->nline, &why);
	if (t->gpu)
		gpu_dptrace_ahead(t->gpu, &t->p);
}

void
trace_settle(struct trace *t)
{
	const size_t nline = t->p.nline;
	struct why why;

	if (dptrace_plan_settle(&t->p, &why))
		die_of_plan(t, nline, &why);
}

static void
run(struct trace *t, struct dptrace_plan *p)
{
	const int err = t->gpu ? run_on_gpu(t, p) : (dptrace_run(p), 0);

	if (err)
		raw_die(t->in, "-g: %s", err == -ENOMEM ? "no memory" : gpu_why(t->gpu));
}

/* The rounds of trace_again(): the line is bright; it is dark; or it has this scale. */
static const double scale[] = {0, 0, 2.83, 4, 5.66, 8, 11.3, 16};
enum { BRIGHT, DARK, COARSER, ROUNDS = sizeof scale / sizeof *scale };

/* A line of more than LONG points is traced again only if the TRIAL segments from its first flank on can be. */
enum { LONG = 256, TRIAL = 64 };

/* Says whether line i lies on a flank, and the scale of the round is coarser than its own and fits its segments. */
static bool
is_for(const struct dptrace_plan *p, size_t i, int round)
{
	const struct segment_shape *s = p->shape + p->first[i];
	bool fits = p->trace[i].flanks && (round < COARSER || scale[round] > s->sigma);

	for (size_t k = 0; fits && k < dptrace_segments(&p->line[i]); k++)
		fits = s[k].length >= 7 * scale[round];
	return fits;
}

void
trace_take(struct trace *t, size_t i, const struct dptrace_plan *q, size_t j)
{
	struct dptrace_plan *p = &t->p;
	const struct dptrace_trace *by = &q->trace[j];

	if (!t->again && !(t->again = weir_calloc(p->nline, sizeof *t->again)))
		raw_die(t->in, "no memory for %zu lines", p->nline);
	weir_free(t->again[i]);
	t->again[i] = weir_xalloc(by->n, sizeof **t->again);
	memcpy(t->again[i], by->v, by->n * sizeof *by->v);
	memcpy(p->shape + p->first[i], q->shape + q->first[j],
	       (q->first[j + 1] - q->first[j]) * sizeof *q->shape);
	p->trace[i] = *by;
	p->trace[i].v = t->again[i];
}

/*
 * Traces lines that lie on a flank once more. A polyline is taken that lies on none, and is not doubtful. Of 1200 generated lines,
 * 1 to 30 px wide, from points up to 1.5 half-widths beside the middle, 711 were right and 286 lay on a flank without a
 * warning; now 975 are right, and 26 lie on a flank without one.
 */
static void
trace_again(struct trace *t, int round, bool trial)
{
	struct dptrace_plan *p = &t->p, q;
	struct dptrace_line *line = weir_xalloc(p->nline, sizeof *line);
	size_t *of = weir_xalloc(p->nline, sizeof *of), n = 0;
	struct dptrace_options o = p->o;
	struct why why;

	for (size_t i = 0; i < p->nline; i++) {
		const struct dptrace_line *l = &p->line[i];
		const size_t last = l->n - 1 - TRIAL, at = p->trace[i].flank_at;
		if (!is_for(p, i, round) || (l->n > LONG ? t->vain[i] > trial : trial))
			continue;
		of[n] = i;
		line[n++] =
		    trial ? (struct dptrace_line){TRIAL + 1, l->xy + (at < last ? at : last)} : *l;
	}
	o.margins = true; /* for the doubts, which decide the same under --quiet */
	if (round < COARSER)
		o.polarity = round == BRIGHT ? 1 : -1;
	else
		o.sigma = scale[round];
	if (n) {
		if (dptrace_plan(&q, &p->image, line, n, &o, &why)) {
			p->bad = q.bad < n ? of[q.bad] : p->nline;
			die_of_plan(t, p->nline, &why);
		}
		run(t, &q);
		for (size_t j = 0; j < n; j++) {
			const bool good = !q.trace[j].lopsided && q.trace[j].doubt <= DPTRACE_DOUBT;
			if (good && !trial)
				trace_take(t, of[j], &q, j);
			/* before COARSER, a trial may have another scale than the line */
			const bool much = 16 * q.trace[j].lopsided > line[j].n && round >= COARSER;
			t->vain[of[j]] = good ? 0 : trial || !much ? 1 : 2;
		}
		dptrace_free(&q);
	}
	weir_free_all(line, of);
}

void
trace_run(struct trace *t)
{
	const struct dptrace_options *o = &t->p.o;

	if (!(t->vain = weir_calloc(t->p.nline + 1, sizeof *t->vain)))
		raw_die(t->in, "no memory for %zu lines", t->p.nline);
	run(t, &t->p);
	for (int round = o->polarity ? COARSER : BRIGHT; round < (o->sigma > 0 ? COARSER : ROUNDS);
	     round++) {
		trace_again(t, round, true);
		trace_again(t, round, false);
	}
}

void
trace_free(struct trace *t)
{
	for (size_t i = 0; t->again && i < t->p.nline; i++)
		weir_free(t->again[i]);
	weir_free_all(t->again, t->vain);
	dptrace_free(&t->p);
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
	if (dptrace_given(given.v, given.n, given.d, &lines->line[0], &o,
			  gpu_now(a->gpu) ? &gpu : NULL, &t, &why))
		die("%s: %s%s", a->scores,
		    *why.text ? why.text : "-g: ", *why.text ? "" : gpu_why(a->gpu));
	stats_charge(st, STATS_COMPUTE);
	report_begin(r);
	report_line(r, a->scores, &t, 0, 0);
	weir_free(t.v);
	img_free(&given.x);
	st->items++;
}
