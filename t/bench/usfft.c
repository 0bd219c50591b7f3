/*
 * usfft against its own bounds: what its stages would take if nothing else were to be done. Copying stands for the
 * memory, FFTW's own two-dimensional plan for the FFTs. No NUFFT library is among Debian's packages; see usfft(1) for
 * the figures of those that are not.
 */
#include <fftw3.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "t/bench/bench.h"
#include "t/rng.h"
#include "usfft/usfft.h"

const char *const weir_prog = "bench/usfft";

enum { N = 1024, M = N * N };

struct job {
	struct usfft_options o;
	struct usfft_points pt;
	double *x, *c, *f;
	size_t cells;
	fftw_complex *grid;
	fftw_plan fft;
	int type;
};

static void
run_usfft(void *job)
{
	struct job *j = job;
	struct usfft_plan *p;
	size_t bad;

	if (usfft_plan(&p, &j->o) || usfft_points(p, &j->pt, j->type == 1 ? j->c : NULL, 2, &bad))
		die("no plan");
	if (j->type == 1)
		usfft_type1(p, -1, NULL, j->f);
	else
		usfft_type2(p, -1, j->f, j->c);
	usfft_free(p);
}

static void
run_fft(void *job)
{
	fftw_execute(((struct job *)job)->fft);
}

/* Points and values read, records written, the grid written, modes written. */
static void
run_copy(void *job)
{
	struct job *j = job;

	memcpy(j->grid, j->x, 2 * M * sizeof *j->x);
	memcpy(j->grid, j->c, 2 * M * sizeof *j->c);
	memset(j->grid, 0, j->cells * j->cells * sizeof *j->grid);
	memcpy(j->f, j->grid, 2 * M * sizeof *j->f);
}

static void
compare(struct job *j, int type, int threads)
{
	char title[80];
	struct bench_entry e[] = {
	    {.name = "usfft", .run = run_usfft, .job = j},
	    {.name = "bound: FFTW, one thread, whole grid", .run = run_fft, .job = j},
	    {.name = "bound: memory", .run = run_copy, .job = j}};

	j->type = j->o.type = type;
	j->o.threads = threads;
	snprintf(title, sizeof title, "type %d, 1024x1024 modes, as many points, 1e-6, %d threads",
		 type, threads);
	bench_compare(title, e, sizeof e / sizeof *e, 5);
}

int
main(void)
{
	struct job j = {.o = {.dim = 2, .n = {N, N}, .tol = 1e-6, .threads = 1}};
	struct check_rng r = {1};
	struct usfft_plan *p;

	j.x = weir_xalloc(2 * M, sizeof *j.x);
	j.c = weir_xalloc(2 * M, sizeof *j.c);
	j.f = weir_xalloc(2 * M, sizeof *j.f);
	for (size_t i = 0; i < 2 * M; i++) {
		j.x[i] = rng_unit(&r) - 0.5;
		j.c[i] = rng_unit(&r) - 0.5;
	}
	j.pt = (struct usfft_points){.m = M, .stride = 2, .x = {j.x, j.x + 1}};
	if (usfft_plan(&p, &j.o))
		die("no plan");
	j.cells = usfft_cells(p, 0);
	usfft_free(p);
	j.grid = weir_xalloc(j.cells * j.cells, sizeof *j.grid);
	j.fft = fftw_plan_dft_2d((int)j.cells, (int)j.cells, j.grid, j.grid, FFTW_FORWARD,
				 FFTW_ESTIMATE);
	for (int threads = 1; threads <= 2; threads++)
		for (int type = 1; type <= 2; type++)
			compare(&j, type, threads);
	fftw_destroy_plan(j.fft);
	weir_free(j.grid);
	weir_free(j.x);
	weir_free(j.c);
	weir_free(j.f);
	return 0;
}
