/*
 * wconv beside the scheme of its paper, on the paper's problems (Table 2): M x M pixels, N_K x N_K kernels of 100 x 100,
 * nodes from corner to corner. Each contender starts from pixels and kernels: plans and kernel transforms count.
 *
 *	paper	for each kernel, the pixels of the 2x2 cells around it, padded by N; three transforms by FFTW; weighted
 *		and added up. Threads take kernels as they come. Padded to 512, and to what FFTW does fastest.
 *	bound	nothing but the transforms of wconv's own scheme, by FFTW, blocks of 16 rows or columns in the cache
 */
#include <complex.h>
#include <fftw3.h>

#include "t/bench/bench.h"
#include "wconv/wconv.h"

const char *const weir_prog = "wconv bench";

struct job {
	size_t m, nk, n, threads;
	size_t padded; /* of the paper's scheme */
	float *image, *kernels, *result;
	double *node;
};

/* --- the problem --------------------------------------------------------------------------------------------------- */

/* Kernels like a star's image that widens and leans towards the edges. */
static void
draw_kernel(float *k, size_t n, double a, double b)
{
	double sum = 0;

	for (size_t y = 0; y < n; y++)
		for (size_t x = 0; x < n; x++) {
			const double dx = (double)x - (double)(n / 2),
				     dy = (double)y - (double)(n / 2);
			const double u = dx / (.06 * (double)n * (1 + fabs(a))),
				     v = dy / (.06 * (double)n * (1 + .7 * b));
			const double r = 1 + u * u + v * v + b * u * v;
			k[y * n + x] = (float)(1 / (r * r));
			sum += 1 / (r * r);
		}
	for (size_t i = 0; i < n * n; i++)
		k[i] = (float)(k[i] / sum);
}

static struct job
pose(size_t m, size_t nk, size_t n, size_t threads)
{
	struct job j = {m,
			nk,
			n,
			threads,
			512,
			weir_xalloc(m * m, 4),
			weir_xalloc(nk * nk * n * n, 4),
			weir_xalloc(m * m, 4),
			weir_xalloc(nk, 8)};
	uint32_t r = 1;

	for (size_t i = 0; i < m * m; i++)
		j.image[i] = (float)((r = r * 1664525 + 1013904223) >> 8) / 16777216;
	for (size_t i = 0; i < nk; i++)
		j.node[i] = (double)i * (double)(m - 1) / (double)(nk - 1);
	for (size_t k = 0; k < nk * nk; k++)
		draw_kernel(j.kernels + k * n * n, n, (double)(k / nk) / (double)nk - .5,
			    (double)(k % nk) / (double)nk - .5);
	return j;
}

static void
drop(struct job *j)
{
	weir_free_all(j->image, j->kernels, j->result, j->node);
}

/* --- the contenders ------------------------------------------------------------------------------------------------ */

static struct wconv_problem
describe(const struct job *j)
{
	const size_t n = j->n, nk = j->nk, m = j->m;

	return (struct wconv_problem){.w = m,
				      .h = m,
				      .planes = 1,
				      .in = IMG_F32,
				      .out = IMG_F32,
				      .W = m,
				      .H = m,
				      .kw = n,
				      .kh = n,
				      .gx = nk,
				      .gy = nk,
				      .kernels = j->kernels,
				      .step_row = n,
				      .step_x = n * n,
				      .step_y = n * n * nk,
				      .node_x = j->node,
				      .node_y = j->node,
				      .degree = -1,
				      .cx = n / 2,
				      .cy = n / 2,
				      .threads = (int)j->threads};
}

static void
run_wconv(void *job)
{
	const struct job *j = job;
	const struct wconv_problem q = describe(j);
	struct why why;
	struct wconv_plan *p;
	size_t in = 0, out = 0;

	if (wconv_plan(&p, &q, &why)) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	for (size_t i = 0; i < wconv_count(p); i++) {
		wconv_run(p, j->image + in * j->m, j->result + out * j->m);
		in += wconv_steps(p, i).rows_in;
		out += wconv_steps(p, i).rows_out;
	}
	wconv_free(p);
}

/* The pixels [at, at+n) of a line that the node k weighs, and the weights. */
static size_t
weigh(const struct job *j, size_t k, size_t *at, float *w)
{
	const double x = j->node[k], lo = k ? j->node[k - 1] : x - 1,
		     hi = k + 1 < j->nk ? j->node[k + 1] : x + 1;
	size_t n = 0;

	for (size_t i = 0; i < j->m; i++) {
		const double u =
		    (double)i < x ? ((double)i - lo) / (x - lo) : (hi - (double)i) / (hi - x);
		if (u <= 0)
			continue;
		if (n == 0)
			*at = i;
		w[n++] = (float)u;
	}
	return n;
}

struct paper {
	fftwf_plan forward, inverse;
	size_t p, pitch; /* transform size; floats from a row to the next */
	omp_lock_t *row;
};

/* One kernel: three transforms, then its weighted part of the result. */
static void
add_kernel(const struct job *j, const struct paper *s, size_t k, float *a, float *b, float *wx,
	   float *wy)
{
	const size_t n = j->n, c = n / 2, bytes = s->p * s->pitch * sizeof(float);
	const float scale = 1 / ((float)s->p * (float)s->p);
	size_t x0 = 0, y0 = 0;
	const size_t w = weigh(j, k % j->nk, &x0, wx), h = weigh(j, k / j->nk, &y0, wy);

	memset(a, 0, bytes);
	memset(b, 0, bytes);
	for (size_t y = 0; y < h + n - 1; y++)
		for (size_t x = 0; x < w + n - 1; x++) {
			const size_t iy = y0 + y + c + 1 - n,
				     ix = x0 + x + c + 1 - n; /* huge when negative */
			if (iy < j->m && ix < j->m)
				a[y * s->pitch + x] = j->image[iy * j->m + ix];
		}
	for (size_t y = 0; y < n; y++)
		memcpy(b + y * s->pitch, j->kernels + (k * n + y) * n, n * sizeof *b);
	fftwf_execute_dft_r2c(s->forward, a, (fftwf_complex *)a);
	fftwf_execute_dft_r2c(s->forward, b, (fftwf_complex *)b);
	for (size_t i = 0; i < s->p * s->pitch; i += 2) {
		const float r = a[i] * b[i] - a[i + 1] * b[i + 1],
			    m = a[i] * b[i + 1] + a[i + 1] * b[i];
		a[i] = r * scale;
		a[i + 1] = m * scale;
	}
	fftwf_execute_dft_c2r(s->inverse, (fftwf_complex *)a, a);
	for (size_t y = 0; y < h; y++) {
		const float *from = a + (y + n - 1) * s->pitch + n - 1;
		float *to = j->result + (y0 + y) * j->m + x0;
		omp_set_lock(&s->row[y0 + y]);
		for (size_t x = 0; x < w; x++)
			to[x] += wy[y] * wx[x] * from[x];
		omp_unset_lock(&s->row[y0 + y]);
	}
}

static void
run_paper(void *job)
{
	const struct job *j = job;
	struct paper s = {.p = j->padded, .pitch = j->padded + 2};
	float *work = fftwf_malloc(s.p * s.pitch * sizeof(float));

	s.row = weir_xalloc(j->m, sizeof *s.row);
	for (size_t y = 0; y < j->m; y++)
		omp_init_lock(&s.row[y]);
	s.forward =
	    fftwf_plan_dft_r2c_2d((int)s.p, (int)s.p, work, (fftwf_complex *)work, FFTW_ESTIMATE);
	s.inverse =
	    fftwf_plan_dft_c2r_2d((int)s.p, (int)s.p, (fftwf_complex *)work, work, FFTW_ESTIMATE);
	memset(j->result, 0, j->m * j->m * sizeof(float));
#pragma omp parallel num_threads((int)j->threads)
	{
		float *a = fftwf_malloc(s.p * s.pitch * sizeof(float)),
		      *b = fftwf_malloc(s.p * s.pitch * sizeof(float));
		float *wx = fftwf_malloc(j->m * sizeof(float)),
		      *wy = fftwf_malloc(j->m * sizeof(float));
#pragma omp for schedule(dynamic)
		for (size_t k = 0; k < j->nk * j->nk; k++)
			add_kernel(j, &s, k, a, b, wx, wy);
		fftwf_free(a);
		fftwf_free(b);
		fftwf_free(wx);
		fftwf_free(wy);
	}
	fftwf_destroy_plan(s.forward);
	fftwf_destroy_plan(s.inverse);
	fftwf_free(work);
	weir_free(s.row);
}

/* The transforms of (nk-1)^2 tiles of p x p and of nk^2 kernels, none of the data. */
static void
run_bound(void *job)
{
	const struct job *j = job;
	const int p = 240, block = 16; /* the size that suits these cells */
	const size_t n = (size_t)p, some = (size_t)block, tile = j->m / (j->nk - 1) + 1;
	const size_t tiles = (j->nk - 1) * (j->nk - 1), kernels = j->nk * j->nk,
		     columns = (n / 2 + some) / some;
	const size_t rows = 3 * ((tile + some - 1) / some), krows = (j->n + some - 1) / some;
	fftwf_complex *work = fftwf_alloc_complex(n * some);
	fftwf_plan row = fftwf_plan_many_dft_r2c(1, &p, block, (float *)work, NULL, 1, p + 2, work,
						 NULL, 1, p / 2 + 1, FFTW_ESTIMATE);
	fftwf_plan column = fftwf_plan_many_dft(1, &p, block, work, NULL, 1, p, work, NULL, 1, p,
						FFTW_FORWARD, FFTW_ESTIMATE);

#pragma omp parallel num_threads((int)j->threads)
	{
		fftwf_complex *x = fftwf_alloc_complex(n * some);
		memset(x, 0, n * some * sizeof *x);
#pragma omp for schedule(dynamic)
		for (size_t t = 0; t < tiles + kernels; t++) {
			for (size_t i = 0; i < (t < tiles ? rows : krows); i++)
				fftwf_execute_dft_r2c(row, (float *)x, x);
			for (size_t i = 0; i < columns * (t < tiles ? 5 : 1); i++)
				fftwf_execute_dft(column, x, x);
		}
		fftwf_free(x);
	}
	fftwf_destroy_plan(row);
	fftwf_destroy_plan(column);
	fftwf_free(work);
}

/* --- the tables ---------------------------------------------------------------------------------------------------- */

/* The largest difference between the schemes' results, as part of the largest result. */
static double
compare(struct job *j)
{
	float *ours = weir_xalloc(j->m * j->m, sizeof *ours);
	double worst = 0, peak = 0;

	run_wconv(j);
	memcpy(ours, j->result, j->m * j->m * sizeof *ours);
	run_paper(j);
	for (size_t i = 0; i < j->m * j->m; i++) {
		worst = fmax(worst, fabs((double)ours[i] - (double)j->result[i]));
		peak = fmax(peak, fabs((double)ours[i]));
	}
	weir_free(ours);
	return worst / peak;
}

static void
bench_paper(size_t m, size_t nk, size_t rounds)
{
	struct job j = pose(m, nk, 100, (size_t)par_threads(0)), best = j, one = j;
	char title[96];

	best.padded = 400;
	one.threads = 1;
	struct bench_entry e[] = {{"wconv", run_wconv, &j},
				  {"wconv, one thread", run_wconv, &one},
				  {"paper's scheme, padded to 512", run_paper, &j},
				  {"paper's scheme, padded to 400", run_paper, &best},
				  {"bound: its transforms by FFTW", run_bound, &j}};
	const double difference = compare(&j);
	snprintf(title, sizeof title, "M = %zu, N_K = %zu, N = 100, %zu threads", m, nk, j.threads);
	bench_compare(title, e, sizeof e / sizeof *e, rounds);
	printf("  efficiency of %zu threads %.0f %%, difference between the schemes %.1e\n",
	       j.threads, 100 * e[1].median / e[0].median / (double)j.threads, difference);
	drop(&j);
}

int
main(void)
{
	bench_paper(1024, 8, 15);
	bench_paper(2048, 16, 9);
	bench_paper(4096, 32, 5);
	return 0;
}
