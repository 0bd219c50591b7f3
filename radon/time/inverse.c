#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "radon/inverse/weights.h"
#include "radon/spectra.h"
#include "radon/time/hyperbola.h"
#include "radon/time/inverse.h"

struct radon_time_inverse {
	float *u, *weight, *dir, *grad; /* [nq][ntau] */
	float *res, *step;		/* [nx][nt]: residual, A W dir */
	double *part;			/* the sums of rows, which are added in order */
	struct radon_span *span;	/* [nx]: the data of each trace */
};

struct radon_time_inverse *
radon_time_inverse(const struct radon_core *p)
{
	struct radon_time_inverse *s = weir_calloc(1, sizeof *s);
	const size_t row = p->ntau * sizeof(float), trace = p->o.nt * sizeof(float);

	if (!s)
		return NULL;
	s->u = weir_alloc(p->o.nq, row);
	s->weight = weir_alloc(p->o.nq, row);
	s->dir = weir_alloc(p->o.nq, row);
	s->grad = weir_alloc(p->o.nq, row);
	s->res = weir_alloc(p->o.nx, trace);
	s->step = weir_alloc(p->o.nx, trace);
	s->part = weir_alloc(p->o.nq > p->o.nx ? p->o.nq : p->o.nx, sizeof *s->part);
	s->span = weir_alloc(p->o.nx, sizeof *s->span);
	if (s->u && s->weight && s->dir && s->grad && s->res && s->step && s->part && s->span)
		return s;
	radon_time_inverse_free(s);
	return NULL;
}

void
radon_time_inverse_free(struct radon_time_inverse *s)
{
	if (!s)
		return;
	weir_free(s->u);
	weir_free(s->weight);
	weir_free(s->dir);
	weir_free(s->grad);
	weir_free(s->res);
	weir_free(s->step);
	weir_free(s->part);
	weir_free(s->span);
	weir_free(s);
}

static double
add_up(const double *part, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += part[i];
	return sum;
}

WEIR_CLONES_OF(double, energy_of_row, (const float *v, size_t n), (v, n))
{
	double sum[8] = {0}, all = 0;

	for (size_t i = 0; i + 8 <= n; i += 8)
		for (size_t c = 0; c < 8; c++)
			sum[c] += (double)v[i + c] * (double)v[i + c];
	for (size_t i = n / 8 * 8; i < n; i++)
		sum[0] += (double)v[i] * (double)v[i];
	for (size_t c = 0; c < 8; c++)
		all += sum[c];
	return all;
}

static double
energy(struct radon_time_inverse *s, const float *x, size_t rows, size_t n, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < rows; i++)
		s->part[i] = energy_of_row(x + i * n, n);
	return add_up(s->part, rows);
}

/* Zeroes the samples that are in no equation. Returns the energy of the rest. */
static double
keep_equations(const struct radon_core *p, struct radon_time_inverse *s, float *x, int threads)
{
	for (size_t j = 0; j < p->o.nx; j++) {
		const struct radon_span v =
		    p->live[j] ? s->span[j] : (struct radon_span){p->o.nt, p->o.nt};
		float *row = x + j * p->o.nt;
		memset(row, 0, v.first * sizeof *row);
		memset(row + v.end, 0, (p->o.nt - v.end) * sizeof *row);
	}
	return energy(s, x, p->o.nx, p->o.nt, threads);
}

WEIR_CLONES(multiply,
	    (float *restrict to, const float *restrict a, const float *restrict b, size_t n),
	    (to, a, b, n))
{
	for (size_t i = 0; i < n; i++)
		to[i] = a[i] * b[i];
}

/* s->grad = W x */
static void
weigh(const struct radon_core *p, struct radon_time_inverse *s, const float *x, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++)
		multiply(s->grad + i * p->ntau, x + i * p->ntau, s->weight + i * p->ntau, p->ntau);
}

/* s->step = A W x; returns its energy. */
static double
apply(const struct radon_core *p, struct radon_time_inverse *s, const float *x, int threads)
{
	weigh(p, s, x, threads);
	hyperbola_model(p, s->grad, s->step, threads);
	return keep_equations(p, s, s->step, threads);
}

WEIR_CLONES(finish_gradient,
	    (float *restrict grad, const float *restrict weight, const float *restrict u, size_t n,
	     float damping),
	    (grad, weight, u, n, damping))
{
	for (size_t i = 0; i < n; i++)
		grad[i] = weight[i] * grad[i] - damping * u[i];
}

/* s->grad = W A^T res - damping u; returns its energy. */
static double
gradient(const struct radon_core *p, struct radon_time_inverse *s, double damping, int threads)
{
	hyperbola_adjoint(p, s->res, s->grad, threads);
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		const size_t at = i * p->ntau;
		finish_gradient(s->grad + at, s->weight + at, s->u + at, p->ntau, (float)damping);
	}
	return energy(s, s->grad, p->o.nq, p->ntau, threads);
}

/* y = a x + b y */
WEIR_CLONES(combine, (float *restrict y, const float *restrict x, size_t n, float a, float b),
	    (y, x, n, a, b))
{
	for (size_t i = 0; i < n; i++)
		y[i] = a * x[i] + b * y[i];
}

/* y = a x + b y for `rows` rows of n. */
static void
combine_rows(float *y, const float *x, size_t rows, size_t n, double a, double b, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t r = 0; r < rows; r++)
		combine(y + r * n, x + r * n, n, (float)a, (float)b);
}

/* Finds s->u for the current weights, from 0. s->res holds the gather, then the residual. Returns the number of steps. */
static size_t
conjugate_gradients(const struct radon_core *p, struct radon_time_inverse *s, int threads)
{
	const size_t rows = p->o.nq, n = p->ntau;
	const double damping = radon_damping(p);
	double g, next;
	int step;

	memset(s->u, 0, rows * n * sizeof *s->u);
	g = gradient(p, s, damping, threads);
	memcpy(s->dir, s->grad, rows * n * sizeof *s->dir);
	const double enough = 1e-10 * g;
	for (step = 0; step < p->o.inner && g > enough; step++) {
		const double all =
		    apply(p, s, s->dir, threads) + damping * energy(s, s->dir, rows, n, threads);
		combine_rows(s->u, s->dir, rows, n, g / all, 1, threads);
		combine_rows(s->res, s->step, p->o.nx, p->o.nt, -g / all, 1, threads);
		next = gradient(p, s, damping, threads);
		combine_rows(s->dir, s->grad, rows, n, 1, next / g, threads);
		g = next;
	}
	return (size_t)step;
}

static void
reweigh(const struct radon_core *p, struct radon_time_inverse *s, int threads)
{
	float top = 0;

	weigh(p, s, s->u, threads);
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : top)
	for (size_t i = 0; i < p->o.nq; i++)
		top = fmaxf(top,
			    radon_amplitudes(s->grad + i * p->ntau, s->dir + i * p->ntau, p->ntau));
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++)
		radon_weights(s->dir + i * p->ntau, top, s->weight + i * p->ntau, p->ntau);
}

static void
find_edges(const struct radon_core *p, struct radon_time_inverse *s, double edge[2], int threads)
{
	const size_t nq = p->o.nq;
	const double all = energy(s, s->grad, nq, p->ntau, threads);
	const double sum[3] = {s->part[0] + s->part[nq > 1],
			       s->part[nq - 1] + s->part[nq > 1 ? nq - 2 : 0], all};

	radon_edges(p, sum, edge);
	if (!(p->o.q0 > 0)) /* no hyperbola lies beyond q = 0 */
		edge[0] = NAN;
}

void
radon_time_inverse_run(const struct radon_core *p, struct radon_time_inverse *s, int threads,
		       const float *in, float *out, struct radon_report *r)
{
	const int sets = p->o.mode == RADON_SPARSE ? p->o.outer : 1;
	double all = 0;

	for (size_t i = 0; i < p->o.nq * p->ntau; i++)
		s->weight[i] = 1;
	for (size_t j = 0; j < p->o.nx; j++)
		s->span[j] = radon_span(in + j * p->o.nt, p->o.nt);
	for (int i = 0; i < sets; i++) {
		if (i)
			reweigh(p, s, threads);
		memcpy(s->res, in, p->o.nx * p->o.nt * sizeof *s->res);
		all = keep_equations(p, s, s->res, threads);
		r->steps += conjugate_gradients(p, s, threads);
	}
	r->misfit = all > 0 ? keep_equations(p, s, s->res, threads) / all : 0;
	weigh(p, s, s->u, threads);
	find_edges(p, s, r->edge, threads);
	radon_mute_rows(p, s->grad, threads);
	if (!p->o.subtract) {
		memcpy(out, s->grad, p->o.nq * p->ntau * sizeof *out);
		return;
	}
	hyperbola_model(p, s->grad, s->step, threads);
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t i = j * p->o.nt; i < (j + 1) * p->o.nt; i++)
			out[i] = p->live[j] ? in[i] - s->step[i] : in[i];
}
