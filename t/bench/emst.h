/* What the benches of emst share, in C and in C++: points, and a run from samples in memory to the tree. */
#ifndef WEIR_BENCH_EMST_H
#define WEIR_BENCH_EMST_H

#include <stdint.h>
#include <stdlib.h>

#include "emst/vertices.h"

struct emst_job {
	const void *data;
	enum img_type type; /* IMG_F32: points; IMG_U8: pixels */
	size_t n, k;
	int threads;
	size_t vertices; /* the last two are filled by emst_job_run */
	double total;
};

static inline double
emst_unit(void)
{
	static uint64_t state = 1;
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* x[n][k], uniform in the unit cube. */
static inline void
emst_uniform(float *x, size_t n, size_t k)
{
	for (size_t i = 0; i < n * k; i++)
		x[i] = (float)emst_unit();
}

static inline void
emst_job_run(void *p)
{
	struct emst_job *job = (struct emst_job *)p;
	struct vertices v;
	struct emst_tree t;
	size_t at;

	if (vertices_make(&v, job->data, job->type, job->n, job->k, job->type == IMG_F32,
			  job->threads, &at) ||
	    emst_run(&v.set, job->threads, &t))
		abort();
	job->vertices = t.n;
	job->total = emst_total(&t);
	emst_tree_free(&t);
	vertices_free(&v);
}

#endif
