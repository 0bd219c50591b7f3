#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/sample.h"
#include "usfft/cg.h"

static double
dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Iterates. p: the direction, and q: room for its product. first: the square of the norm of the right side. */
static int
iterate(cg_matrix *matrix, void *who, size_t n, const struct usfft_inverse *v, double first,
	double *f, double *r, double *p, double *q, struct usfft_outcome *got)
{
	double rho = dot(r, r, n);
	int err = 0;

	memcpy(p, r, n * sizeof *p);
	*got = (struct usfft_outcome){.residual = sqrt(rho / first)};
	while (!err && got->iterations < v->iter && got->residual > v->rtol) {
		err = matrix(who, p, q);
		const double curve = dot(p, q, n);
		if (!err && !isfinite(curve))
			return -ERANGE;
		if (err || curve <= 0)
			return err;
		const double alpha = rho / curve;
		for (size_t i = 0; i < n; i++) {
			f[i] += alpha * p[i];
			r[i] -= alpha * q[i];
		}
		const double next = dot(r, r, n), beta = next / rho;
		for (size_t i = 0; i < n; i++)
			p[i] = r[i] + beta * p[i];
		rho = next;
		got->iterations++;
		got->residual = sqrt(rho / first);
		if (v->step)
			v->step(v->who, got);
	}
	return err;
}

/* Finds the power of two next to the largest |r[i]|, at which no square overflows or vanishes. Returns 0 or -ERANGE. */
static int
find_scale(const double *r, size_t n, double *scale)
{
	struct sample_stats s;

	sample_stats_start(&s);
	sample_stats_add(&s, r, n);
	const double most = fmax(-s.lo, s.hi);
	*scale = most > 0 ? ldexp(1, most < 0x1p-1000 ? -1000 : ilogb(most)) : 1;
	return s.nan || s.inf ? -ERANGE : 0;
}

static void
divide(double *x, size_t n, double by)
{
	for (size_t i = 0; i < n; i++)
		x[i] /= by;
}

int
usfft_cg(cg_matrix *matrix, void *who, size_t n, const struct usfft_inverse *v, double *f,
	 double *r, struct usfft_outcome *got)
{
	double scale, *work = weir_alloc(n, 2 * sizeof *work);
	int err = work ? find_scale(r, n, &scale) : -ENOMEM;

	if (err) {
		weir_free(work);
		return err;
	}
	divide(r, n, scale);
	divide(f, n, scale);
	const double first = dot(r, r, n);
	*got = (struct usfft_outcome){0};
	if (!(first > 0)) { /* f = 0 is a solution, wherever f starts */
		memset(f, 0, n * sizeof *f);
		weir_free(work);
		return 0;
	}
	if (v->start) {
		err = matrix(who, f, work);
		for (size_t i = 0; !err && i < n; i++)
			r[i] -= work[i];
	}
	if (!err)
		err = iterate(matrix, who, n, v, first, f, r, work, work + n, got);
	divide(f, n, 1 / scale);
	weir_free(work);
	return err;
}
