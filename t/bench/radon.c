/* The four methods against each other, least squares and sparse, in process. */
#include "t/bench/bench.h"
#include "radon/radon.h"
#include "t/rng.h"

const char *const weir_prog = "bench-radon";

struct job {
	struct radon_plan *plan;
	struct radon_work *work;
	const float *in;
	float *out;
};

static void
run(void *job)
{
	struct job *j = job;

	radon_run(j->plan, j->work, j->in, j->out, NULL);
}

static void
prepare(struct job *job, const struct radon_options *o, const float *in)
{
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	if (radon_plan(&job->plan, o) || !(job->work = radon_work(job->plan, o->threads)))
		die("no plan for %zux%zux%zu", o->nt, o->nx, o->nq);
	job->in = in;
	job->out = weir_xalloc(o->subtract ? o->nx * o->nt : o->nq * ntau, sizeof *job->out);
	memset(job->out, 0, (o->subtract ? o->nx * o->nt : o->nq * ntau) * sizeof *job->out);
}

static void
end(struct job *job)
{
	radon_work_free(job->work);
	radon_free(job->plan);
	weir_free(job->out);
	*job = (struct job){0};
}

/* nx traces with jittered offsets, nq curves of -.3 s to .6 s. */
static struct radon_options
options(size_t nt, size_t nx, size_t nq, int threads)
{
	struct radon_options o = {.nt = nt,
				  .nx = nx,
				  .nq = nq,
				  .dt = .004,
				  .q0 = -.3,
				  .dq = .9 / (double)(nq > 1 ? nq - 1 : 1),
				  .nu = .05,
				  .inner = 20,
				  .threads = threads};
	struct check_rng rng = {1};
	double *g = weir_xalloc(nx, sizeof *g);

	for (size_t j = 0; j < nx; j++) {
		const double x = ((double)j + .3 * rng_unit(&rng)) / (double)nx;
		g[j] = x * x;
	}
	o.g = g;
	return o;
}

static float *
noise(size_t n)
{
	struct check_rng rng = {2};
	float *x = weir_xalloc(n, sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = (float)(rng_unit(&rng) - .5);
	return x;
}

static void
adjoint(size_t nt, size_t nx, size_t nq, int threads, size_t rounds)
{
	static const struct {
		const char *name;
		enum radon_method method;
	} methods[] = {{"1-D NUFFT per frequency", RADON_NUFFT},
		       {"recurrence per frequency", RADON_RECURRENCE},
		       {"2-D USFFT (the paper's)", RADON_USFFT2D},
		       {"sum in time, linear", RADON_TIME}};
	struct radon_options o = options(nt, nx, nq, threads);
	float *d = noise(nt * nx);
	struct job job[4];
	struct bench_entry e[4];
	char title[80];

	for (size_t i = 0; i < 4; i++) {
		o.method = methods[i].method;
		prepare(&job[i], &o, d);
		e[i] = (struct bench_entry){methods[i].name, run, &job[i]};
	}
	snprintf(title, sizeof title, "adjoint %zux%zux%zu, threads %d", nt, nx, nq, threads);
	bench_compare(title, e, 4, rounds);
	for (size_t i = 0; i < 4; i++)
		end(&job[i]);
	weir_free_all((void *)o.g, d);
}

static void
inverse(size_t nt, size_t nx, size_t nq, int threads, size_t rounds)
{
	struct radon_options o = options(nt, nx, nq, threads);
	float *d = noise(nt * nx);
	struct job job[2];
	struct bench_entry e[2] = {{"multiples removed, lsq", run, &job[0]},
				   {"multiples removed, sparse", run, &job[1]}};
	char title[80];

	o.subtract = true;
	o.mute = (struct radon_mute){.n = 1, .q = {.05}, .taper = .02};
	o.mode = RADON_LSQ;
	double t = clock_now();
	prepare(&job[0], &o, d);
	t = clock_now() - t;
	o.mode = RADON_SPARSE;
	prepare(&job[1], &o, d);
	snprintf(title, sizeof title, "gather %zux%zux%zu, threads %d", nt, nx, nq, threads);
	bench_compare(title, e, 2, rounds);
	printf("  lsq: plan with its factors, once for equal offsets  %.2f ms; %.0f gathers/s\n",
	       1e3 * t, 1 / e[0].median);
	end(&job[0]);
	end(&job[1]);
	weir_free_all((void *)o.g, d);
}

/* bench-radon [large]: 2048 and 4096 cubed as well, which take minutes. */
int
main(int argc, char **argv)
{
	const int threads = par_threads(0);

	(void)argv;
	for (int t = 1; t <= threads; t += threads > 1 ? threads - 1 : 1) {
		adjoint(512, 16, 32, t, 21);
		adjoint(512, 64, 128, t, 21);
		adjoint(1751, 92, 180, t, 9);
		adjoint(512, 512, 512, t, 5);
		inverse(1751, 92, 180, t, 5);
	}
	for (size_t n = 2048; argc > 1 && n <= 4096; n *= 2)
		adjoint(n, n, n, threads, 1);
	return 0;
}
