/*
 * Solvers for the normal equations: conjugate gradients, and with total variation the alternating direction method of
 * multipliers (ADMM; Boyd et al., Found. Trends Mach. Learn. 3, 2011). ADMM minimises
 *
 *	f* M f / 2 - Re r* f + lambda sum_k |z_k|	where z = D f
 *
 * D f_k holds the differences of f_k from its next neighbour along each axis, and 0 at the last one. A round takes some
 * steps of conjugate gradients for (M + rho D* D) f = r + rho D* (z - u), shrinks z, and adds D f - z to u. Then rho u is
 * lambda times a subgradient of sum |z_k|. So f is the solution where both r - M f - rho D* u and D f - z vanish.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "usfft/inverse.h"

/* ---- conjugate gradients ---- */

/* Iterates. p: the direction, and q: room for its product. */
static int
iterate(cg_matrix *matrix, void *who, size_t n, const struct usfft_inverse *v, double *f, double *r,
	double *p, double *q, struct usfft_outcome *got)
{
	const double first = real_dot(r, r, n);
	double rho = first;
	int err = 0;

	if (!(first > 0))
		return 0;
	memcpy(p, r, n * sizeof *p);
	got->residual = 1;
	while (!err && got->iterations < v->iter && got->residual > v->rtol) {
		err = matrix(who, p, q);
		const double curve = real_dot(p, q, n);
		if (!err && !isfinite(curve))
			return -ERANGE;
		if (err || curve <= 0)
			return err;
		const double alpha = rho / curve;
		for (size_t i = 0; i < n; i++) {
			f[i] += alpha * p[i];
			r[i] -= alpha * q[i];
		}
		const double next = real_dot(r, r, n), beta = next / rho;
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

/* ---- total variation ---- */

/*
 * Steps of conjugate gradients in a round; the least rho in the unit of M; by how much z and u over-relax. Of 3 to 6 steps, .1 to
 * .5 and 1 to 1.6, these came nearest to the solution in 50 and 100 products, on two phantoms of 32 and 24 noisy spokes.
 * A shrunk length loses lambda / rho. Where that is more than any length, z is 0, and u alone makes f flat, in more rounds the
 * smaller rho is. So rho grows with nu, from nu = .1 to 1; beyond, 5 steps would not do. Of .1 to 100, these values took few
 * products for all of 28 sets of 2 to 512 random points and 20 to 256 modes.
 */
enum { STEPS = 5 };
#define RHO   .3
#define RELAX 1.6

struct rounds {
	cg_matrix *matrix;
	void *who;
	int dim;
	const size_t *n;
	size_t reals; /* of f: twice the modes */
	double lambda, rho;
	double *z, *u, *d; /* [dim][reals] each; d: scratch */
	double *p, *q;	   /* reals each, for the steps */
};

/* d = D f */
static void
differences(const struct rounds *t, const double *f, double *d)
{
	size_t step = 2;

	for (int a = 0; a < t->dim; a++, d += t->reals) {
		const size_t last = (t->n[a] - 1) * step;
		for (size_t at = 0; at < t->reals; at += last + step) {
			for (size_t i = at; i < at + last; i++)
				d[i] = f[i + step] - f[i];
			memset(d + at + last, 0, step * sizeof *d);
		}
		step *= t->n[a];
	}
}

/* f += factor D* d */
static void
add_differences(const struct rounds *t, double factor, const double *d, double *f)
{
	size_t step = 2;

	for (int a = 0; a < t->dim; a++, d += t->reals) {
		const size_t last = (t->n[a] - 1) * step;
		for (size_t at = 0; at < t->reals; at += last + step)
			for (size_t i = at; i < at + last; i++) {
				f[i] -= factor * d[i];
				f[i + step] += factor * d[i];
			}
		step *= t->n[a];
	}
}

/* out = (M + rho D* D) in: a cg_matrix. */
static int
apply_round(void *who, const double *in, double *out)
{
	const struct rounds *t = who;
	const int err = t->matrix(t->who, in, out);

	differences(t, in, t->d);
	add_differences(t, t->rho, t->d, out);
	return err;
}

/* D f - ((1 - RELAX) of what it was apart from z) + u at k, where d = z - u - D f. */
static double
relaxed(const struct rounds *t, size_t k)
{
	return t->z[k] - RELAX * t->d[k] + (1 - RELAX) * t->u[k];
}

/* Updates z and u, where d = z - u - D f, and sets d = z - D f. Returns |d|. */
static double
shrink(const struct rounds *t)
{
	const size_t all = (size_t)t->dim * t->reals;
	const double least = t->lambda / t->rho;
	double apart = 0;

	for (size_t i = 0; i < t->reals; i += 2) {
		double square = 0;
		for (size_t at = i; at < all; at += t->reals)
			square += pow(relaxed(t, at), 2) + pow(relaxed(t, at + 1), 2);
		const double keep = square > least * least ? 1 - least / sqrt(square) : 0;
		for (size_t at = i; at < all; at += t->reals)
			for (size_t k = at; k < at + 2; k++) {
				const double v = relaxed(t, k), df = t->z[k] - t->u[k] - t->d[k];
				t->z[k] = keep * v;
				t->u[k] = v - t->z[k];
				t->d[k] = t->z[k] - df;
				apart += t->d[k] * t->d[k];
			}
	}
	return sqrt(apart);
}

/* Between rounds, r is what (M + rho D* D) f lacks. Products with M are counted. */
static int
run_rounds(struct rounds *t, const struct usfft_inverse *v, double *f, double *r,
	   struct usfft_outcome *got)
{
	const double first = real_dot(r, r, t->reals);
	int err = 0, took = 1;

	got->residual = first > 0;
	while (!err && took && got->iterations < v->iter && got->residual > v->rtol) {
		const int left = v->iter - got->iterations;
		const struct usfft_inverse some = {.iter = left < STEPS ? left : STEPS};
		struct usfft_outcome steps = {0};
		err = iterate(apply_round, t, t->reals, &some, f, r, t->p, t->q, &steps);
		differences(t, f, t->d);
		for (size_t i = 0; i < (size_t)t->dim * t->reals; i++)
			t->d[i] = t->z[i] - t->u[i] - t->d[i];
		add_differences(t, -t->rho, t->d, r); /* M f lacks this */
		const double apart = shrink(t), norm = sqrt(real_dot(f, f, t->reals));
		add_differences(t, -t->rho, t->u, r); /* and with the subgradient this */
		got->residual =
		    fmax(norm > 0 ? apart / norm : 0, sqrt(real_dot(r, r, t->reals) / first));
		add_differences(t, t->rho, t->d, r);
		took = steps.iterations;
		got->iterations += took;
		if (v->step)
			v->step(v->who, got);
	}
	return err;
}

/* ---- both ---- */

/* Returns the power of two next to the largest of n numbers, or 0 where one is not finite. */
static double
scale_of(const double *r, size_t n)
{
	struct sample_stats s;

	sample_stats_start(&s);
	sample_stats_add(&s, r, n);
	const double most = fmax(-s.lo, s.hi);
	return s.nan || s.inf ? 0 : most > 0 ? ldexp(1, most < 0x1p-1000 ? -1000 : ilogb(most)) : 1;
}

int
usfft_solve(cg_matrix *matrix, void *who, const struct usfft_options *o, size_t n, double unit,
	    const struct usfft_inverse *v, double *f, double *r, struct usfft_outcome *got)
{
	const double rho = RHO * fmin(fmax(1, 10 * v->tv), 10) * unit;
	struct rounds t = {
	    .matrix = matrix, .who = who, .dim = o->dim, .n = o->n, .reals = n, .rho = rho};
	const size_t all = v->tv > 0 ? n * (size_t)o->dim : 0;
	const double scale = scale_of(r, n); /* so that no square overflows or vanishes */
	double *work, most = 0;
	int err;

	*got = (struct usfft_outcome){0};
	if (scale == 0)
		return -ERANGE;
	if (!(work = weir_calloc(n, (3 * all / n + 2) * sizeof *work)))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		r[i] /= scale;
	memset(f, 0, n * sizeof *f);
	if (all) {
		for (size_t i = 0; i < n; i += 2)
			most = fmax(most, hypot(r[i], r[i + 1]));
		t.lambda = v->tv * most / 2;
		t.z = work + 2 * n;
		t.u = t.z + all;
		t.d = t.u + all;
		t.p = work;
		t.q = work + n;
		err = run_rounds(&t, v, f, r, got);
	} else {
		err = iterate(matrix, who, n, v, f, r, work, work + n, got);
	}
	for (size_t i = 0; i < n && !err; i++)
		f[i] *= scale;
	weir_free(work);
	return err;
}
