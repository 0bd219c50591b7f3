#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "gpu/radon/radon.h"
#include "radon/stream/runner.h"

struct runner {
	const struct gathers_options *o;
	struct stats *st;
	int threads;
	struct gather like; /* what the plan is for: shapes, and copies of g, h and live */
	struct radon_plan *plan;
	struct radon_work **work; /* one a thread, for whole gathers */
	struct radon_work *shared;
	struct radon_evidence
	    *evidence;	   /* of the plan's gathers, whatever their NU; NULL: there is none yet */
	bool aliased, far; /* the warning of warn_alias() and of warn_far() has been given */
	size_t plans;
};

struct runner *
runner_open(const struct gathers_options *o, struct stats *st)
{
	struct runner *r = weir_xalloc(1, sizeof *r);
	const size_t threads = (size_t)o->radon.threads;

	*r = (struct runner){.o = o, .st = st, .threads = o->radon.threads};
	r->work = weir_xalloc(threads, sizeof *r->work);
	memset(r->work, 0, threads * sizeof *r->work);
	return r;
}

static void
drop_plan(struct runner *r)
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
warn_alias(struct runner *r, const struct gather *g)
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
warn_far(struct runner *r, const struct gather *g)
{
	const double most = radon_moveout(&g->o), length = (double)g->o.nt * g->o.dt;

	if (g->o.mode == RADON_MODEL || r->o->curve == RADON_LINEAR || g->o.hyperbolic ||
	    most <= length)
		return false;
	if (!r->far)
		warn("item %zu: gather %zu: moveouts of up to %.4g s on traces of %.4g s: is -X, "
		     "%g, the farthest offset?",
		     g->item, g->plane + 1, most, length, r->o->reference);
	r->far = true;
	return true;
}

static void
new_plan(struct runner *r, const struct gather *g)
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
	r->like.g = weir_xalloc(o.nx, sizeof *r->like.g);
	r->like.h = weir_xalloc(o.nx, sizeof *r->like.h);
	r->like.live = weir_xalloc(o.nx, sizeof *r->like.live);
	memcpy(r->like.g, g->g, o.nx * sizeof *r->like.g);
	memcpy(r->like.h, g->h, o.nx * sizeof *r->like.h);
	memcpy(r->like.live, g->live, o.nx * sizeof *r->like.live);
	r->plans++;
}

/* Finds the NU of a gather for lsq, whose factors depend on it. Gathers that differ only by NU share what finds it. */
static void
choose_noise(struct runner *r, struct gather *g)
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

void
runner_plan(struct runner *r, struct batch *b)
{
	const double start = clock_now();

	if (r->o->auto_nu && !r->o->radon.find_nu)
		choose_noise(r, &b->g[0]);
	for (size_t i = 0; i < b->n && !warn_far(r, &b->g[0]); i++)
		warn_alias(r, &b->g[i]);
	if (!r->plan || !gather_like(&r->like, &b->g[0]))
		new_plan(r, &b->g[0]);
	r->st->seconds[STATS_PLAN] += clock_now() - start;
}

static struct radon_work *
new_work(const struct runner *r, int threads)
{
	struct radon_work *w = radon_work(r->plan, threads);

	if (!w)
		die("no memory to transform a gather");
	return w;
}

/*
 * Finds alpha, and how many places the traces have when a mute divides the curves. Traces at one place say nothing about curves,
 * so that the gather is left as it is.
 */
static void
judge(struct gather *g)
{
	const bool divided = g->o.nq > 1 && (g->o.mute.n || g->o.mute.npolygon);

	g->different = g->o.subtract && divided ? radon_different(&g->o, FEW) : SIZE_MAX;
	if (g->different < 2) {
		memcpy(g->out, g->in, g->o.nx * g->o.nt * sizeof *g->out);
		g->report.adapt = INFINITY;
	}
	g->alpha = g->o.subtract ? radon_alpha(&g->o, g->in, g->out) : 1;
}

static void
run_on_gpu(const struct runner *r, struct batch *b)
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
run_one(const struct runner *r, struct radon_work *w, struct gather *g)
{
	radon_run(r->plan, w, g->in, g->out, &g->report);
	if (!isnan(g->report.nu))
		judge(g);
}

/* All threads transform one gather, then the next. */
static void
run_shared(struct runner *r, struct batch *b)
{
	if (!r->shared)
		r->shared = new_work(r, r->threads);
	for (size_t i = 0; i < b->n; i++)
		run_one(r, r->shared, &b->g[i]);
}

/* Each thread transforms whole gathers. */
static void
run_whole(struct runner *r, struct batch *b)
{
	for (int t = 0; t < r->threads; t++)
		if (!r->work[t])
			r->work[t] = new_work(r, 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->threads)
	for (size_t i = 0; i < b->n; i++)
		run_one(r, r->work[omp_get_thread_num()], &b->g[i]);
}

void
runner_run(struct runner *r, struct batch *b)
{
	const double start = clock_now();

	if (r->o->gpu)
		run_on_gpu(r, b);
	else if (r->threads > 1 && b->n >= (size_t)r->threads &&
		 r->o->radon.method != RADON_USFFT2D)
		run_whole(r, b);
	else
		run_shared(r, b);
	for (size_t i = 0; i < b->n; i++)
		if (isnan(b->g[i].report.nu))
			die("item %zu: gather %zu: no memory to find NU", b->g[i].item,
			    b->g[i].plane + 1);
	r->st->seconds[STATS_COMPUTE] += clock_now() - start;
}

void
runner_close(struct runner *r)
{
	stats_add(r->st, "plans", "%zu", r->plans);
	drop_plan(r);
	radon_evidence_free(r->evidence);
	gather_free(&r->like);
	weir_free(r->work);
	weir_free(r);
}
