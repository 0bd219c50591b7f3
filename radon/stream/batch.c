/*
 * Reads and writes gathers in batches: see common/stream/pipeline.h. The gathers of one batch share a plan, which serves the next
 * batch too when the gathers are alike. Two batches are in memory. Each has up to 2 gathers a thread, or up to BATCH_GPU gathers
 * for the GPU. Large gathers make smaller batches. The first batch is at most half as long, so that computing begins early. With
 * one thread on the CPU, and when lsq has a NU for each gather, a batch is one gather. When the writer of a pipe pauses, a batch
 * ends, and results are written. When a batch has at least as many gathers as there are threads, each thread takes whole gathers.
 * Otherwise all threads share the frequencies of each gather.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/stream/pipeline.h"
#include "gpu/gpu.h"
#include "gpu/radon/radon.h"
#include "radon/stream/gathers.h"

enum { BATCH_GPU = 32 }; /* gathers of a batch for the GPU */

enum {
	LARGE = 32 << 20, /* a batch is full when its input has this many bytes */
	FIRST = 8 << 20,  /* and the first batch, for which the threads wait, with these */
	PATIENCE = 5	  /* ms without input after which the next batch is waited for no longer */
};

struct batch {
	struct gather *g; /* owned */
	size_t n;	  /* >= 1 */
};

/* What the stages share. */
struct run {
	const struct gathers_options *o;
	struct raw_in *raw;
	struct gathers *in;
	struct raw_out *out;
	struct stats *st;
	size_t room; /* gathers of a batch */

	struct batch batch[2];		/* batch k is batch[k % 2] */
	size_t read, computed, written; /* batches that were */
	struct gather pending;		/* read already; begins the next batch, if `waits` */
	bool waits, ended, threaded;	/* ended: there are no more gathers */

	int threads;
	struct gather like; /* what the plan is for: shapes, and copies of g, h and live */
	struct radon_plan *plan;
	struct radon_work **work; /* one a thread, for whole gathers */
	struct radon_work *shared;
	/* Of the plan's gathers, whatever their NU; NULL: there is none yet. */
	struct radon_evidence *evidence;
	bool aliased, far; /* the warning of warn_alias() and of warn_far() has been given */

	size_t plans, gathers, traces, fallbacks, steps;
	size_t adapted;
	size_t strong, beyond, few, loud, balanced; /* gathers with a warning */
};

/* ---- reading ---- */

static void
swap_gathers(struct gather *a, struct gather *b)
{
	const struct gather t = *a;

	*a = *b;
	*b = t;
}

/*
 * Whether the n gathers that are here shall be computed without more: the writer of the pipe pauses, and nothing else is being
 * computed.
 */
static bool
pauses(const struct run *s, size_t n)
{
	while (s->threaded && n && raw_idle(s->raw, PATIENCE))
		if (pipeline_starves())
			return true;
	return false;
}

static size_t
samples_in(const struct gather *g)
{
	return g->o.mode == RADON_MODEL ? g->o.nq * g->ntau : g->o.nx * g->o.nt;
}

/* Fills a batch. It stays empty when the input has ended. */
static void
fill(struct run *s, struct batch *b)
{
	const size_t room = s->read ? s->room : (s->room + 1) / 2, most = s->read ? LARGE : FIRST;
	size_t bytes = 0;

	for (b->n = 0; b->n < room && bytes < most && !s->ended;) {
		struct gather *g = &b->g[b->n];
		if (s->waits)
			swap_gathers(g, &s->pending);
		else if (pauses(s, b->n))
			return;
		else if (!gathers_next(s->in, g)) {
			s->ended = true;
			return;
		}
		s->waits = b->n > 0 && !gather_like(g, &b->g[0]);
		if (s->waits) {
			swap_gathers(g, &s->pending);
			return;
		}
		b->n++;
		bytes += samples_in(g) * sizeof *g->in;
	}
}

/* Tells the GPU which gathers it will get next. */
static void
tell_gpu(const struct run *s, const struct batch *b)
{
	struct gpu_span span[BATCH_GPU];

	for (size_t i = 0; i < b->n; i++) {
		const struct gather *g = &b->g[i];
		span[i] = (struct gpu_span){g->in, samples_in(g) * sizeof *g->in};
	}
	gpu_ahead(s->o->gpu, span, b->n);
}

static bool
read_batch(void *run)
{
	struct run *s = run;
	struct batch *b = &s->batch[s->read % 2];

	if (!s->threaded)
		raw_flush_when_idle(s->raw);
	fill(s, b);
	if (s->o->gpu && b->n)
		tell_gpu(s, b);
	s->read++;
	stats_charge(s->st, STATS_READ);
	return b->n > 0;
}

/* Where the next gather of a batch is bad, the gathers before it are a batch. */
static bool
rescue_batch(void *run)
{
	const struct run *s = run;

	return s->batch[s->read % 2].n > 0;
}

/* ---- writing ---- */

static void
say(const struct gathers_options *o, const struct gather *g)
{
	const struct radon_report *r = &g->report;

	if (!o->radon.report || g->o.mode == RADON_ADJOINT || g->o.mode == RADON_MODEL)
		return;
	if (g->different < 2) {
		fprintf(stderr, "%s: item %zu: gather %zu: not solved\n", weir_prog, g->item,
			g->plane + 1);
		return;
	}
	fprintf(stderr, "%s: item %zu: gather %zu: misfit %.3g", weir_prog, g->item, g->plane + 1,
		r->misfit);
	if (g->o.mode == RADON_LSQ && !g->o.hyperbolic && !g->o.nr)
		fprintf(stderr, ", condition at least %.3g, %zu frequencies by conjugate gradients",
			r->condition, r->fallbacks);
	if (o->auto_nu || o->radon.raise_nu)
		fprintf(stderr, ", NU %.3g", r->nu);
	fprintf(stderr, ", %zu steps", r->steps);
	if (g->o.mute.find)
		fprintf(stderr, ", cut %.3g, taper %.3g", r->mute.q[0], r->mute.taper);
	if (g->o.subtract)
		fprintf(stderr, ", alpha %.3f", g->alpha);
	if (g->o.adapt.filter > 0 && isfinite(r->adapt))
		fprintf(stderr, ", adapted with L %g", r->adapt);
	else if (g->o.adapt.filter > 0)
		fprintf(stderr, ", not adapted");
	fputc('\n', stderr);
}

/*
 * Prints each kind of warning once; --stats counts the gathers. The edges of a report are .1 to 1 on clean gathers and 3.5 to
 * 13 on gathers with events beyond the curves.
 */
static void
warn_result(struct run *s, const struct gather *g)
{
	const bool balanced = g->whole && s->o->balance == BALANCE_AUTO && g->different > 1;
	const bool loud = g->loud_trace != SIZE_MAX && g->different > 1;
	const bool low = g->report.edge[0] > 3 && !loud, high = g->report.edge[1] > 3 && !loud;

	if (loud && !s->loud++)
		warn("item %zu: gather %zu: trace %zu has %.3g times the energy of those beside "
		     "it, and %s: see --balance",
		     g->item, g->plane + 1, g->loud_trace + 1, g->times,
		     balanced ? "all are made equally strong" : "spoils the others");
	if (balanced && !s->balanced++ && !loud)
		warn("item %zu: gather %zu: some traces are far stronger than most, and all are "
		     "made equally strong: see --balance",
		     g->item, g->plane + 1);
	if (g->alpha < .8 && !s->strong++)
		warn("item %zu: gather %zu: what is subtracted is too strong (alpha %.2f; below "
		     "0.5 it adds energy): a larger NU, or other curves",
		     g->item, g->plane + 1, g->alpha);
	if (g->different < FEW && g->different && !s->few++)
		warn("item %zu: gather %zu: %s", g->item, g->plane + 1,
		     g->different > 1
			 ? "fewer than 6 offsets: primaries are subtracted with the multiples"
		     : g->o.nx > 1
			 ? "one offset does not tell curves apart: nothing is subtracted"
			 : "one offset does not tell curves apart: nothing is subtracted; -k of "
			   "sutoraw and segytoraw says what the traces of a gather share");
	if ((low || high) && !s->beyond++)
		warn("item %zu: gather %zu: events lie beyond %s of the curves: widen -q", g->item,
		     g->plane + 1,
		     low && high ? "both ends"
		     : low	 ? "the low end"
				 : "the high end");
}

static void
put(struct run *s, struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct gather *g = &b->g[i];
		if (g->whole)
			gather_restore(g);
		gather_put(s->o, s->out, g);
		say(s->o, g);
		warn_result(s, g);
		s->st->items += g->plane == 0;
		s->gathers++;
		s->traces += g->o.nx;
		s->fallbacks += g->report.fallbacks;
		s->steps += g->report.steps;
		s->adapted += g->o.adapt.filter > 0 && isfinite(g->report.adapt);
	}
}

static void
write_batch(void *run)
{
	struct run *s = run;
	struct batch *b = &s->batch[s->written++ % 2];

	for (size_t i = 0; s->o->gpu && i < b->n; i++)
		if (gpu_settle(s->o->gpu, b->g[i].out, 1))
			die("-g: %s", gpu_why(s->o->gpu));
	put(s, b);
	pipeline_flush(s->out);
	stats_charge(s->st, STATS_WRITE);
}

/* ---- computing ---- */

static void
drop_plan(struct run *r)
{
	for (int i = 0; i < r->threads; i++) {
		radon_work_free(r->work[i]);
		r->work[i] = NULL;
	}
	radon_work_free(r->shared);
	r->shared = NULL;
	radon_free(r->plan);
	r->plan = NULL;
}

/*
 * Warns once, at the first gather that has energy at frequencies where neighbouring curves move a whole period apart. Each
 * gather is looked at, since gathers of one plan differ in their frequencies.
 */
static void
warn_alias(struct run *r, const struct gather *g)
{
	double apart;
	const double nyquist = .5 / g->o.dt, alias = radon_alias(&g->o, &apart);
	double top = g->o.fmax > 0 ? g->o.fmax : nyquist;

	if (r->aliased || g->o.mode == RADON_MODEL || !(alias < top))
		return;
	top = fmin(top, radon_top_frequency(&g->o, g->in));
	if (!(alias < top))
		return;
	r->aliased = true;
	warn("item %zu: gather %zu: curves %.4g s apart alias above %.4g Hz, and 99 %% of the "
	     "energy reaches to %.4g Hz: more curves, or --fmax",
	     g->item, g->plane + 1, apart, alias, top);
}

/*
 * Returns whether the moveouts of a gather are longer than its traces, and warns of the first such gather. The curves are then
 * far apart at the farthest trace and alias too, but more of them do not help. The moveouts of slow waves along lines and
 * hyperbolas are that long on good practice.
 */
static bool
warn_far(struct run *r, const struct gather *g)
{
	const double most = radon_moveout(&g->o), length = (double)g->o.nt * g->o.dt;

	if (g->o.mode == RADON_MODEL || r->o->curve == RADON_LINEAR || g->o.hyperbolic ||
	    most <= length)
		return false;
	if (!r->far && g->odd_trace != SIZE_MAX)
		warn("item %zu: gather %zu: trace %zu: " GATHERS_ODD, g->item, g->plane + 1,
		     g->odd_trace + 1, g->odd, most, length);
	else if (!r->far)
		warn("item %zu: gather %zu: moveouts of up to %.4g s on traces of %.4g s: is -X, "
		     "%g, the farthest offset?",
		     g->item, g->plane + 1, most, length, r->o->reference);
	r->far = true;
	return true;
}

static void
new_plan(struct run *r, const struct gather *g)
{
	struct radon_options o = g->o;
	int err;

	drop_plan(r);
	o.threads = r->threads;
	o.unfactored = r->o->gpu != NULL;
	err = radon_plan(&r->plan, &o);
	if (err)
		die("item %zu: gather %zu: no plan for %zu samples, %zu traces, %zu curves: %s",
		    g->item, g->plane + 1, o.nt, o.nx, o.nq, strerror(-err));
	gather_free(&r->like);
	r->like = (struct gather){.o = o, .ntau = g->ntau, .lead = g->lead};
	gather_room(&r->like, o.nx);
	memcpy(r->like.g, g->g, o.nx * sizeof *r->like.g);
	memcpy(r->like.h, g->h, o.nx * sizeof *r->like.h);
	memcpy(r->like.live, g->live, o.nx * sizeof *r->like.live);
	r->plans++;
}

/* Finds the NU of a gather for lsq, whose factors depend on it. Gathers that differ only by NU share what finds it. */
static void
choose_noise(struct run *r, struct gather *g)
{
	int err = 0;

	if (r->plan)
		g->o.nu = r->like.o.nu;
	if (!r->plan || !gather_like(&r->like, g)) {
		struct radon_options o = g->o;
		o.threads = r->threads;
		radon_evidence_free(r->evidence);
		err = radon_evidence(&r->evidence, &o, r->threads);
	}
	if (err || radon_evidence_run(r->evidence, g->in, &g->o.nu))
		die("item %zu: gather %zu: no memory to find NU", g->item, g->plane + 1);
}

static void
plan_batch(struct run *r, struct batch *b)
{
	/*
	 * How many places the traces have, when a mute divides the curves: the same for all gathers of a batch. Traces at one place
	 * say nothing about curves, so that the gather is left as it is.
	 */
	const struct radon_options *o = &b->g[0].o;
	const bool divided = o->subtract && o->nq > 1 && (o->mute.n || o->mute.npolygon);
	const size_t different = divided ? radon_different(o, FEW) : SIZE_MAX;

	for (size_t i = 0; i < b->n; i++)
		b->g[i].different = different;
	if (different < 2)
		return;
	if (r->o->auto_nu && !r->o->radon.find_nu)
		choose_noise(r, &b->g[0]);
	for (size_t i = 0; i < b->n && !warn_far(r, &b->g[0]); i++)
		warn_alias(r, &b->g[i]);
	if (!r->plan || !gather_like(&r->like, &b->g[0]))
		new_plan(r, &b->g[0]);
	stats_charge(r->st, STATS_PLAN);
}

static struct radon_work *
new_work(const struct run *r, int threads)
{
	struct radon_work *w = radon_work(r->plan, threads);

	if (!w)
		die("no memory to transform a gather");
	return w;
}

static void
judge(struct gather *g)
{
	g->alpha = g->o.subtract ? radon_alpha(&g->o, g->in, g->out) : 1;
}

/* The results of a batch whose gathers say nothing about curves. */
static void
leave_alone(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct gather *g = &b->g[i];
		memcpy(g->out, g->in, g->o.nx * g->o.nt * sizeof *g->out);
		g->report = (struct radon_report){.adapt = INFINITY};
		g->alpha = 1;
	}
}

static void
run_on_gpu(const struct run *r, struct batch *b)
{
	struct radon_report report[BATCH_GPU];
	const float *in[BATCH_GPU];
	float *out[BATCH_GPU];

	for (size_t i = 0; i < b->n; i++) {
		in[i] = b->g[i].in;
		out[i] = b->g[i].out;
	}
	const int err = gpu_radon_run(r->o->gpu, r->plan, b->n, in, out, report);
	if (err)
		die("-g: %s", err == -EIO ? gpu_why(r->o->gpu) : strerror(-err));
	for (size_t i = 0; i < b->n; i++) {
		b->g[i].report = report[i];
		b->g[i].report.nu = b->g[i].o.nu;
		judge(&b->g[i]);
	}
}

static void
run_one(const struct run *r, struct radon_work *w, struct gather *g)
{
	const bool ask = g->whole && r->o->balance == BALANCE_AUTO && g->o.mode == RADON_SPARSE;

	radon_explain(w, ask ? g->balanced + g->o.nx * (g->o.nt + 1) : NULL);
	radon_run(r->plan, w, g->in, g->out, &g->report);
	if (ask && !gather_suits_balance(g)) {
		g->in = g->whole;
		g->whole = NULL;
		radon_explain(w, NULL);
		radon_run(r->plan, w, g->in, g->out, &g->report);
	}
	if (!isnan(g->report.nu))
		judge(g);
}

/* Each thread transforms whole gathers. */
static void
run_whole(struct run *r, struct batch *b)
{
	for (int t = 0; t < r->threads; t++)
		if (!r->work[t])
			r->work[t] = new_work(r, 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->threads)
	for (size_t i = 0; i < b->n; i++)
		run_one(r, r->work[omp_get_thread_num()], &b->g[i]);
}

static void
compute_batch(void *run)
{
	struct run *r = run;
	struct batch *b = &r->batch[r->computed++ % 2];

	plan_batch(r, b);
	if (b->g[0].different < 2)
		leave_alone(b);
	else if (r->o->gpu)
		run_on_gpu(r, b);
	else if (r->threads > 1 && b->n >= (size_t)r->threads &&
		 r->o->radon.method != RADON_USFFT2D)
		run_whole(r, b);
	else { /* all threads transform one gather, then the next */
		if (!r->shared)
			r->shared = new_work(r, r->threads);
		for (size_t i = 0; i < b->n; i++)
			run_one(r, r->shared, &b->g[i]);
	}
	for (size_t i = 0; i < b->n; i++)
		if (isnan(b->g[i].report.nu))
			die("item %zu: gather %zu: no memory to find NU", b->g[i].item,
			    b->g[i].plane + 1);
	stats_charge(r->st, STATS_COMPUTE);
}

/* ---- the run ---- */

static void
open_run(struct run *s)
{
	const size_t threads = (size_t)s->threads;

	s->threaded = threads > 1 || s->o->gpu;
	s->room = s->o->auto_nu && !s->o->radon.find_nu ? 1
		  : s->o->gpu				? BATCH_GPU
		  : threads > 1				? 2 * threads
							: 1;
	s->in = gathers_open(s->raw, s->o);
	for (int i = 0; i < 2; i++) {
		s->batch[i].g = weir_xalloc(s->room, sizeof *s->batch[i].g);
		memset(s->batch[i].g, 0, s->room * sizeof *s->batch[i].g);
	}
	s->work = weir_xalloc(threads, sizeof *s->work);
	memset(s->work, 0, threads * sizeof *s->work);
}

static void
close_run(struct run *s)
{
	const enum radon_mode mode = s->o->radon.mode;

	stats_add(s->st, "plans", "%zu", s->plans);
	stats_add(s->st, "gathers", "%zu", s->gathers);
	stats_add(s->st, "traces", "%zu", s->traces);
	if (mode == RADON_LSQ || mode == RADON_SPARSE) {
		stats_add(s->st, "fallbacks", "%zu", s->fallbacks);
		stats_add(s->st, "steps", "%zu", s->steps);
		stats_add(s->st, "adapted", "%zu", s->adapted);
		stats_add(s->st, "too_strong", "%zu", s->strong);
		stats_add(s->st, "few_offsets", "%zu", s->few);
		stats_add(s->st, "beyond_curves", "%zu", s->beyond);
		stats_add(s->st, "loud_traces", "%zu", s->loud);
		stats_add(s->st, "balanced", "%zu", s->balanced);
	}
	drop_plan(s);
	radon_evidence_free(s->evidence);
	gather_free(&s->like);
	gathers_close(s->in);
	for (size_t k = 0; k < 2 * s->room; k++)
		gather_free(&s->batch[k % 2].g[k / 2]);
	gather_free(&s->pending);
	weir_free_all(s->batch[0].g, s->batch[1].g, s->work);
}

void
gathers_run(const struct gathers_options *o, struct raw_in *in, struct raw_out *out,
	    struct stats *st)
{
	struct run s = {.o = o, .raw = in, .out = out, .st = st, .threads = o->radon.threads};

	open_run(&s);
	pipeline_run(&(struct pipeline_work){.read = read_batch,
					     .compute = compute_batch,
					     .write = write_batch,
					     .rescue = rescue_batch,
					     .with = &s,
					     .slots = 2},
		     s.threaded);
	close_run(&s);
}
