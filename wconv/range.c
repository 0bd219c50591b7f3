/* Refuses samples that a float cannot hold, or that transforms would turn into infinities. */
#include <float.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/par.h"
#include "wconv/job.h"

enum { PARTS = 16, CHUNK = 1 << 14 };

/* Returns the largest absolute value of the finite samples of x[n], n <= CHUNK. */
WEIR_CLONES_OF(float, largest_finite_float, (const float *x, size_t n), (x, n))
{
	float part[PARTS] = {0}, most = 0;
	size_t i = 0;

	for (; i + PARTS <= n; i += PARTS)
#pragma omp simd
		for (size_t k = 0; k < PARTS; k++) {
			const float v = fabsf(x[i + k]);
			part[k] = v > part[k] && v <= FLT_MAX ? v : part[k];
		}
	for (size_t k = 0; i < n; i++, k++)
		part[k] = fmaxf(part[k], isfinite(x[i]) ? fabsf(x[i]) : 0);
	for (size_t k = 0; k < PARTS; k++)
		most = fmaxf(most, part[k]);
	return most;
}

static double
largest_finite_double(const double *x, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, isfinite(x[i]) ? fabs(x[i]) : 0);
	return most;
}

static double
largest_finite(const void *samples, enum img_type type, size_t n, int threads)
{
	double most = 0;

#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : most)
	for (size_t i = 0; i < n; i += CHUNK) {
		const size_t k = n - i < CHUNK ? n - i : CHUNK;
		const double v = type == IMG_F64
				     ? largest_finite_double((const double *)samples + i, k)
				     : (double)largest_finite_float((const float *)samples + i, k);
		most = v > most ? v : most;
	}
	return most;
}

void
job_check_range(const struct job *j, const void *samples, enum img_type type, size_t n)
{
	const double limit = wconv_largest(job_plan_of(j));
	double most = j->q.edge == WCONV_CONSTANT ? fabs(j->q.constant) : 0;

	if (img_is_float(type) && limit < (type == IMG_F64 ? DBL_MAX : (double)FLT_MAX))
		most = fmax(most, largest_finite(samples, type, n,
						 n > CHUNK ? j->args->common.threads : 1));
	if (most > limit)
		raw_die(j->in,
			"a sample of absolute value %.6g is too large, and sums would overflow: "
			"set it to NaN if it stands for none%s, or divide the picture",
			most, j->q.in_double ? "" : ", take --double");
}
