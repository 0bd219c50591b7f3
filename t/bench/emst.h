/* What the benches of emst share, in C and in C++: points, and a run from samples in memory to the tree. */
#ifndef WEIR_BENCH_EMST_H
#define WEIR_BENCH_EMST_H

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "emst/vertices.h"
#include "t/rng.h"

struct emst_job {
	const void *data;
	enum img_type type; /* IMG_F32, IMG_F64: points; IMG_U8: pixels */
	size_t n, k;
	int threads;
	size_t vertices; /* the last two are filled by emst_job_run */
	double total;
};

static struct check_rng emst_random = {1};

static inline double
emst_unit(void)
{
	return rng_unit(&emst_random);
}

/* x[n][k], uniform in the unit cube. */
static inline void
emst_uniform(float *x, size_t n, size_t k)
{
	for (size_t i = 0; i < n * k; i++)
		x[i] = (float)emst_unit();
}

/* Fixes of walks along streets: x[n][2] in degrees with six decimals. A walk stops at times, and then repeats its fix. */
static inline void
emst_tracks(double *x, size_t n)
{
	double at[2] = {0}, step[2] = {0};

	for (size_t i = 0; i < n; i++) {
		const size_t street = i % 100 ? 1 : (size_t)(2 * emst_unit());
		if (i % 2000 == 0) {
			at[0] = 116 + .01 * floor(80 * emst_unit());
			at[1] = 39 + .01 * floor(80 * emst_unit());
		}
		if (i % 100 == 0) {
			const double speed = emst_unit() < .1 ? 0 : emst_unit() < .5 ? 1e-4 : 1e-5;
			step[street] = emst_unit() < .5 ? speed : -speed;
			step[1 - street] = 0;
		}
		for (size_t a = 0; a < 2; a++) {
			const double error =
			    step[0] != 0 || step[1] != 0 ? 2e-5 * (emst_unit() - .5) : 0;
			at[a] += step[a] * (.5 + emst_unit());
			x[2 * i + a] = round((at[a] + error) * 1e6) / 1e6;
		}
	}
}

/* x[n][2]: whole numbers, such that a place holds several points. */
static inline void
emst_repeated(double *x, size_t n)
{
	const double side = floor(sqrt((double)n / 4));

	for (size_t i = 0; i < 2 * n; i++)
		x[i] = floor(side * emst_unit());
}

static inline void
emst_job_run(void *p)
{
	struct emst_job *job = (struct emst_job *)p;
	struct vertices v;
	struct emst_tree t, full = {0};
	size_t at;

	int err = vertices_make(&v, job->data, job->type, job->n, job->k,
				job->type == IMG_U8 ? VERTICES_COLOURS : VERTICES_POINTS,
				job->threads, &at);
	if (!err)
		err = emst_run(&v.set, job->threads, &t);
	if (err == -EEXIST) {
		err = vertices_distinct(&v);
		if (!err)
			err = emst_run(&v.set, job->threads, &t);
		if (!err)
			err = vertices_expand(&v, &t, &full);
	}
	if (err)
		abort();
	job->vertices = t.n;
	job->total = emst_total(&t);
	emst_tree_free(&full);
	emst_tree_free(&t);
	vertices_free(&v);
}

#endif
