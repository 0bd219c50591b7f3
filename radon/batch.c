#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "gpu/radon/radon.h"
#include "radon/batch.h"

enum { LARGE = 32 << 20 }; /* bytes of a batch's input after which no more gathers are added */
enum { GPU_GATHERS = 32 };

struct batch {
	struct gather *g; /* room of them */
	size_t n;
};

struct line {
	const struct gathers_options *o;
	int threads;
	size_t room;
	struct gathers *in;
	struct raw_out *out;
	struct batch batch[2], *other; /* other: the one that is written and then read anew */
	struct gather pending;	       /* read, but of the batch after */
	bool waits, ended;	       /* pending holds a gather; no more to read */

	struct gather like; /* what the plan is for: shapes, g and live are its own */
	struct radon_plan *plan;
	struct radon_work **work; /* one a thread, for whole gathers */
	struct radon_work *shared;
	bool warned;

	size_t items, gathers, traces, plans;
	size_t fallbacks, steps;
};

/* --- input and output ---------------------------------------------------------------------------------------------- */

static void
swap_gathers(struct gather *a, struct gather *b)
{
	const struct gather t = *a;

	*a = *b;
	*b = t;
}

static void
read_batch(struct line *line, struct batch *b)
{
	size_t bytes = 0;

	for (b->n = 0; b->n < line->room && bytes < LARGE && !line->ended;) {
		struct gather *g = &b->g[b->n];
		if (line->waits)
			swap_gathers(g, &line->pending);
		else if (!gathers_next(line->in, g)) {
			line->ended = true;
			return;
		}
		line->waits = b->n > 0 && !gather_like(g, &b->g[0]);
		if (line->waits) {
			swap_gathers(g, &line->pending);
			return;
		}
		b->n++;
		bytes += g->room_in * sizeof *g->in;
	}
}

static void
say(const struct line *line, const struct gather *g)
{
	const struct radon_report *r = &g->report;

	if (!line->o->radon.report || g->o.mode == RADON_ADJOINT || g->o.mode == RADON_MODEL)
		return;
	fprintf(stderr, "%s: item %zu: gather %zu: misfit %.3g", weir_prog, g->item, g->plane + 1,
		r->misfit);
	if (g->o.mode == RADON_LSQ)
		fprintf(stderr, ", condition at least %.3g, %zu frequencies by conjugate gradients",
			r->condition, r->fallbacks);
	fprintf(stderr, ", %zu steps\n", r->steps);
}

static void
write_batch(struct line *line, struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct gather *g = &b->g[i];
		gather_put(line->o, line->out, g);
		say(line, g);
		line->items += g->plane == 0;
		line->gathers++;
		line->traces += g->o.nx;
		line->fallbacks += g->report.fallbacks;
		line->steps += g->report.steps;
	}
	b->n = 0;
}

static void *
write_and_read(void *line_)
{
	struct line *line = line_;

	write_batch(line, line->other);
	read_batch(line, line->other);
	return NULL;
}

/* --- work ---------------------------------------------------------------------------------------------------------- */

static void
drop_plan(struct line *line)
{
	for (int i = 0; i < line->threads; i++) {
		radon_work_free(line->work[i]);
		line->work[i] = NULL;
	}
	radon_work_free(line->shared);
	line->shared = NULL;
	radon_free(line->plan);
	line->plan = NULL;
}

static void
warn_alias(struct line *line, const struct gather *g)
{
	const double nyquist = .5 / g->o.dt, alias = radon_alias(&g->o),
		     top = g->o.fmax > 0 ? g->o.fmax : nyquist;

	if (line->warned || !(alias < top * (1 - 1e-9)))
		return;
	line->warned = true;
	warn("curves %g s apart alias above %.4g Hz at the farthest trace: more curves, or --fmax",
	     g->o.dq, alias);
}

/* The plan for a batch: the one we have, if it is for such gathers. */
static void
plan_batch(struct line *line, const struct batch *b)
{
	const struct gather *g = &b->g[0];
	struct radon_options o = g->o;
	int err;

	if (line->plan && gather_like(&line->like, g))
		return;
	drop_plan(line);
	warn_alias(line, g);
	o.threads = line->threads;
	o.unfactored = line->o->gpu != NULL;
	err = radon_plan(&line->plan, &o);
	if (err)
		die("item %zu: gather %zu: no plan for %zu samples, %zu traces, %zu curves: %s",
		    g->item, g->plane + 1, o.nt, o.nx, o.nq, strerror(-err));
	weir_free(line->like.g);
	weir_free(line->like.live);
	line->like = (struct gather){.o = o, .ntau = g->ntau, .lead = g->lead};
	line->like.g = weir_xalloc(o.nx, sizeof *line->like.g);
	line->like.live = weir_xalloc(o.nx, sizeof *line->like.live);
	memcpy(line->like.g, g->g, o.nx * sizeof *line->like.g);
	memcpy(line->like.live, g->live, o.nx * sizeof *line->like.live);
	line->plans++;
}

static struct radon_work *
new_work(const struct line *line, int threads)
{
	struct radon_work *w = radon_work(line->plan, threads);

	if (!w)
		die("no memory to transform a gather");
	return w;
}

static void
run_on_gpu(const struct line *line, struct batch *b)
{
	struct radon_report report[GPU_GATHERS];
	const float *in[GPU_GATHERS];
	float *out[GPU_GATHERS];

	for (size_t i = 0; i < b->n; i++) {
		in[i] = b->g[i].in;
		out[i] = b->g[i].out;
	}
	const int err = gpu_radon_run(line->o->gpu, line->plan, b->n, in, out, report);
	if (err)
		die("-g: %s", err == -EIO ? gpu_why(line->o->gpu) : strerror(-err));
	for (size_t i = 0; i < b->n; i++)
		b->g[i].report = report[i];
}

static void
run_batch(struct line *line, struct batch *b)
{
	const bool whole = line->threads > 1 && b->n >= (size_t)line->threads &&
			   line->o->radon.method != RADON_USFFT2D;

	plan_batch(line, b);
	if (line->o->gpu) {
		run_on_gpu(line, b);
		return;
	}
	if (!whole) {
		if (!line->shared)
			line->shared = new_work(line, line->threads);
		for (size_t i = 0; i < b->n; i++)
			radon_run(line->plan, line->shared, b->g[i].in, b->g[i].out,
				  &b->g[i].report);
		return;
	}
	for (int t = 0; t < line->threads; t++)
		if (!line->work[t])
			line->work[t] = new_work(line, 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(line->threads)
	for (size_t i = 0; i < b->n; i++)
		radon_run(line->plan, line->work[omp_get_thread_num()], b->g[i].in, b->g[i].out,
			  &b->g[i].report);
}

/* One batch's work beside the other's output and input; a single thread does them in turn. */
static void
run_beside(struct line *line, struct batch *b)
{
	pthread_t io;

	if (line->threads == 1 || pthread_create(&io, NULL, write_and_read, line)) {
		run_batch(line, b);
		write_and_read(line);
		return;
	}
	run_batch(line, b);
	pthread_join(io, NULL);
}

static void
open_line(struct line *line, const struct gathers_options *o, struct raw_in *in,
	  struct raw_out *out)
{
	*line = (struct line){.o = o, .threads = o->radon.threads, .out = out};
	line->room = o->gpu ? GPU_GATHERS : line->threads > 1 ? 2 * (size_t)line->threads : 1;
	line->in = gathers_open(in, o);
	line->work = weir_xalloc((size_t)line->threads, sizeof *line->work);
	memset(line->work, 0, (size_t)line->threads * sizeof *line->work);
	for (int i = 0; i < 2; i++) {
		line->batch[i].g = weir_xalloc(line->room, sizeof *line->batch[i].g);
		memset(line->batch[i].g, 0, line->room * sizeof *line->batch[i].g);
	}
}

static void
close_line(struct line *line)
{
	drop_plan(line);
	gathers_close(line->in);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < line->room; k++)
			gather_free(&line->batch[i].g[k]);
		weir_free(line->batch[i].g);
	}
	gather_free(&line->pending);
	weir_free(line->like.g);
	weir_free(line->like.live);
	weir_free(line->work);
}

void
batch_all(const struct gathers_options *o, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct line line;
	struct batch *b;

	open_line(&line, o, in, out);
	b = &line.batch[0];
	read_batch(&line, b);
	stats_lap(st, STATS_READ);
	while (b->n) {
		line.other = &line.batch[b == &line.batch[0]];
		run_beside(&line, b);
		if (!line.other->n)
			write_batch(&line, b);
		b = line.other;
	}
	stats_lap(st, STATS_COMPUTE);
	st->items = line.items;
	stats_add(st, "gathers", "%zu", line.gathers);
	stats_add(st, "traces", "%zu", line.traces);
	stats_add(st, "plans", "%zu", line.plans);
	if (o->radon.mode == RADON_LSQ || o->radon.mode == RADON_SPARSE) {
		stats_add(st, "fallbacks", "%zu", line.fallbacks);
		stats_add(st, "steps", "%zu", line.steps);
	}
	close_line(&line);
}
