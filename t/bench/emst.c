/* emst on colours and points of many kinds: one thread against two. */
#include <math.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "emst/vertices.h"
#include "t/bench/bench.h"

const char *const weir_prog = "emst-bench";

struct job {
	const void *data;
	enum img_type type;
	size_t n, k;
	int threads;
	double total;
};

static uint64_t state = 1;

static double
unit(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double
normal(void)
{
	double u = 1 - unit();

	return sqrt(-2 * log(u)) * cos(2 * M_PI * unit());
}

static uint8_t
level(double x)
{
	return (uint8_t)fmin(fmax(x + .5, 0), 255);
}

enum kind { NOISY, CLOUDS, RANDOM, POSTER, SPARSE, SHEETS };

static void
fill_colour(uint8_t *px, enum kind kind, size_t i)
{
	double x = 255 * unit(), y = 255 * unit(), z = 255 * unit();
	double c = floor(12 * unit());

	if (kind == NOISY) {
		x = 255 * pow((double)(i % 1000) / 1000, 2) + 6 * normal();
		y = .8 * x + 12 * normal();
		z = .6 * y + 12 * normal();
	} else if (kind == CLOUDS) {
		x = fmod(c * 97, 215) + 20 + 12 * normal();
		y = fmod(c * 61, 215) + 20 + 12 * normal();
		z = fmod(c * 41, 215) + 20 + 12 * normal();
	} else if (kind == POSTER) {
		x = round((double)(i >> 12 & 63) * 255 / 63);
		y = round((double)(i >> 6 & 63) * 255 / 63);
		z = round((double)(i & 63) * 255 / 63);
	} else if (kind == SHEETS) {
		z = 25 + 40 * floor(c / 2) + 8 * sin(x / 30) + 8 * cos(y / 25);
	}
	px[0] = level(x);
	px[1] = level(y);
	px[2] = level(z);
}

static void
run(void *p)
{
	struct job *job = p;
	struct vertices v;
	struct emst_tree t;
	size_t at;

	if (vertices_make(&v, job->data, job->type, job->n, job->k, job->type == IMG_F32,
			  job->threads, &at) ||
	    emst_run(&v.set, job->threads, &t))
		die("a run failed");
	job->total = emst_total(&t);
	emst_tree_free(&t);
	vertices_free(&v);
}

static void
compare(const char *name, const void *data, enum img_type type, size_t n, size_t k)
{
	struct job two = {data, type, n, k, 2, 0}, one = {data, type, n, k, 1, 0};
	struct bench_entry e[] = {{.name = "2 threads", .run = run, .job = &two},
				  {.name = "1 thread", .run = run, .job = &one}};

	bench_compare(name, e, 2, 5);
}

static void
colours(const char *name, enum kind kind, size_t n)
{
	uint8_t *px = weir_xalloc(n, 3);

	for (size_t i = 0; i < n; i++)
		fill_colour(px + 3 * i, kind, i);
	compare(name, px, IMG_U8, n, 3);
	weir_free(px);
}

static void
points(const char *name, size_t k, size_t n)
{
	float *x = weir_xalloc(n * k, sizeof *x);

	for (size_t i = 0; i < n * k; i++)
		x[i] = (float)unit();
	compare(name, x, IMG_F32, n, k);
	weir_free(x);
}

int
main(void)
{
	par_threads(0); /* sets how threads wait */
	colours("noisy ramp, 3,700,000 pixels", NOISY, 3700000);
	colours("12 clouds, 4,000,000 pixels", CLOUDS, 4000000);
	colours("random RGB, 1,000,000 pixels", RANDOM, 1000000);
	colours("posterised, 64 levels", POSTER, 1 << 18);
	colours("sparse, 4,096 colours", SPARSE, 4096);
	colours("six sheets, 1,500,000 pixels", SHEETS, 1500000);
	points("uniform, 2 dimensions, 1,000,000 points", 2, 1000000);
	points("uniform, 3 dimensions, 1,000,000 points", 3, 1000000);
	points("uniform, 5 dimensions, 100,000 points", 5, 100000);
	points("uniform, 8 dimensions, 100,000 points", 8, 100000);
	return 0;
}
