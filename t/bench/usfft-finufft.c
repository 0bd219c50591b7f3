/* pkg-config: finufft */
/*
 * One call, plan, sorting and transform, against FINUFFT's on the same points, in double precision at 1e-6: small and large
 * transforms, many vectors on the same points, one thread and two. WEIR_CPU=avx2 shows what CPUs without AVX-512 get; the
 * peer has then to be built for them too. An argument, 1-D, 2-D or 3-D, chooses the cases.
 */
#include <finufft.h>

#include "t/bench/bench.h"
#include "t/rng.h"
#include "usfft/usfft.h"

const char *const weir_prog = "bench/usfft-finufft";

struct job {
	struct usfft_options o;
	struct usfft_points pt;
	double *x, *radians;	 /* [m][dim], [dim][m] */
	double *s;		 /* [dim][m] targets of type 3 */
	double *c, *f;		 /* [batch] values and modes */
	void **values, **arrays; /* [batch] the same, one by one */
	size_t modes, batch;
	int type;
};

static void
run_usfft(void *job)
{
	struct job *j = job;
	const bool carried = j->type == 1 && j->batch == 1;
	struct usfft_plan *p;
	size_t bad;

	if (j->type == 3) {
		struct usfft_points targets = {.m = j->pt.m, .stride = 1};
		for (int a = 0; a < j->o.dim; a++)
			targets.x[a] = j->s + (size_t)a * j->pt.m;
		if (usfft_type3(&j->o, &j->pt, j->c, &targets, -1, j->f, &bad))
			die("no transform");
		return;
	}
	if (usfft_plan(&p, &j->o) || usfft_points(p, &j->pt, carried ? j->c : NULL, 2, &bad))
		die("no plan");
	if (carried)
		usfft_type1(p, -1, NULL, j->f);
	else if (j->type == 1)
		usfft_many(p, 1, -1, j->batch, (const void *const *)j->values, j->arrays);
	else
		usfft_many(p, 2, -1, j->batch, (const void *const *)j->arrays, j->values);
	usfft_free(p);
}

static void
run_finufft(void *job)
{
	struct job *j = job;
	const int64_t n[3] = {(int64_t)j->o.n[0], (int64_t)j->o.n[1], (int64_t)j->o.n[2]};
	double *r = j->radians, *s = j->s;
	const size_t m = j->pt.m, targets = j->type == 3 ? m : 0;
	finufft_opts opts;
	finufft_plan p;

	finufft_default_opts(&opts);
	opts.nthreads = j->o.threads;
	if (finufft_makeplan(j->type, j->o.dim, n, -1, (int)j->batch, j->o.tol, &p, &opts) ||
	    finufft_setpts(p, (int64_t)m, r, r + m * (j->o.dim > 1), r + 2 * m * (j->o.dim > 2),
			   (int64_t)targets, s, s + targets * (j->o.dim > 1),
			   s + 2 * targets * (j->o.dim > 2)) ||
	    finufft_execute(p, (void *)j->c, (void *)j->f))
		die("no peer");
	finufft_destroy(p);
}

/* clustered: nine points of ten lie in the middle eighth of each axis. reach: the largest target of type 3. */
static void
make_data(struct job *j, bool clustered, double reach)
{
	const size_t dim = (size_t)j->o.dim, m = j->pt.m;
	struct check_rng r = {1};

	j->x = weir_xalloc(m * dim, sizeof *j->x);
	j->radians = weir_xalloc(m * 3, sizeof *j->radians);
	j->s = weir_xalloc(m * 3, sizeof *j->s);
	j->c = weir_xalloc(m * j->batch, 2 * sizeof *j->c);
	j->f = weir_xalloc(j->modes * j->batch, 2 * sizeof *j->f);
	j->values = weir_xalloc(j->batch, sizeof *j->values);
	j->arrays = weir_xalloc(j->batch, sizeof *j->arrays);
	for (size_t b = 0; b < j->batch; b++) {
		j->values[b] = j->c + 2 * b * m;
		j->arrays[b] = j->f + 2 * b * j->modes;
	}
	for (size_t i = 0; i < m * dim; i++) {
		j->x[i] = (rng_unit(&r) - 0.5) / (clustered && i / dim % 10 ? 8 : 1);
		j->radians[i % dim * m + i / dim] = 2 * M_PI * j->x[i];
		j->pt.x[i % dim] = j->x + i % dim;
	}
	for (size_t i = 0; i < m * dim; i++)
		j->s[i] = 2 * reach * (rng_unit(&r) - 0.5);
	for (size_t i = 0; i < 2 * m * j->batch; i++)
		j->c[i] = rng_unit(&r) - 0.5;
	for (size_t i = 0; i < 2 * j->modes * j->batch; i++)
		j->f[i] = rng_unit(&r) - 0.5;
}

static void
compare(int dim, size_t n, size_t m, size_t batch, int threads, bool clustered, size_t rounds)
{
	struct job j = {
	    .o = {.dim = dim, .tol = 1e-6, .threads = threads, .expect = m, .many = batch > 1},
	    .pt = {.m = m, .stride = (size_t)dim},
	    .modes = 1,
	    .batch = batch};
	struct bench_entry e[] = {{.name = "usfft", .run = run_usfft, .job = &j},
				  {.name = "FINUFFT", .run = run_finufft, .job = &j}};
	char title[120];

	for (int a = 0; a < 3; a++) {
		j.o.n[a] = a < dim ? n : 1;
		j.modes *= j.o.n[a];
	}
	make_data(&j, clustered, 0);
	for (j.type = 1; j.type <= 2; j.type++) {
		j.o.type = j.type;
		snprintf(title, sizeof title,
			 "%d-D n %zu, %zu%s points, batch %zu, threads %d, type %d", dim, n, m,
			 clustered ? " clustered" : "", batch, threads, j.type);
		bench_compare(title, e, 2, rounds);
	}
	weir_free_all(j.x, j.radians, j.s, j.c, j.f, j.values, j.arrays);
}

static void
compare_type3(int dim, double reach, int threads)
{
	struct job j = {.o = {.dim = dim, .tol = 1e-6, .threads = threads},
			.pt = {.m = 1 << 18, .stride = (size_t)dim},
			.modes = 1 << 18,
			.batch = 1,
			.type = 3};
	struct bench_entry e[] = {{.name = "usfft", .run = run_usfft, .job = &j},
				  {.name = "FINUFFT", .run = run_finufft, .job = &j}};
	char title[120];

	make_data(&j, false, reach);
	snprintf(title, sizeof title,
		 "%d-D, 2^18 points, as many targets to %g, threads %d, type 3", dim, reach,
		 threads);
	bench_compare(title, e, 2, 9);
	weir_free_all(j.x, j.radians, j.s, j.c, j.f, j.values, j.arrays);
}

int
main(int argc, char **argv)
{
	static const struct {
		int dim;
		size_t n, m, batch, rounds;
	} c[] = {{1, 1000, 1000, 1, 101},  {1, 4096, 4096, 1, 101},	{1, 1000, 1000, 1000, 5},
		 {1, 4096, 4096, 1000, 3}, {1, 1 << 20, 1 << 20, 1, 5}, {2, 64, 1000, 1, 101},
		 {2, 64, 1000, 1000, 5},   {2, 1024, 1 << 20, 1, 7},	{3, 128, 1 << 21, 1, 3}};

	/* Both keep their memory, as the program usfft does; otherwise their times depend on what ran before. */
	weir_keep_heap(0);
	printf("usfft: %s\n", cpu_name(weir_cpu));
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		if (argc > 1 && argv[1][0] != '0' + c[i].dim)
			continue;
		compare(c[i].dim, c[i].n, c[i].m, c[i].batch, 1, false, c[i].rounds);
		for (int clustered = 0; clustered < 2 && c[i].m > 1 << 19; clustered++)
			compare(c[i].dim, c[i].n, c[i].m, 1, 2, clustered, c[i].rounds);
	}
	for (int dim = 1; dim <= 3; dim++)
		for (int threads = 1; threads <= 2 && (argc == 1 || argv[1][0] == '0' + dim);
		     threads++)
			compare_type3(dim, (double[]){65536, 256, 32}[dim - 1], threads);
	return 0;
}
