#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "radon/inverse/levinson.h"
#include "radon/inverse/toeplitz.h"

enum { LANES = LEVINSON_LANES, PAIRS = 2 * LANES };

/*
 * Levinson's recursion loses about as many digits as the condition number has, and t[0] / E is a lower bound of the condition
 * number. When the E of a lane falls to this part of t[0], conjugate gradients solve the lane.
 */
static const double safe = 1e-10;

/*
 * Conjugate gradients stop at this relative residual. The right-hand side is rounded to float, so that a part of 1e-7 of it
 * can lie outside the range of a singular T. Steps towards that part would only make the solution grow without bound.
 */
static const double cg_tol = 1e-6;
enum { CG_STEPS = 200 };

struct toeplitz {
	size_t n, len, blocks; /* len: of the FFTs, >= 2n */
	fftw_plan forward, backward;
	double *turn;	/* len complex: exp(-2 pi i m n / len) */
	double *fa;	/* per block: the FFT of a, len rows of LANES complex */
	double *e, *t0; /* per block: LANES */
	bool *unsafe;	/* per block: LANES */
	double **ft;	/* per block: the FFT of T's circulant if a lane needs it, else NULL */
};

struct toeplitz_work {
	size_t n;
	double *a;	       /* n rows of LANES re, LANES im */
	double *steps;	       /* n rows of LANES: E of the recursion */
	double *x, *y, *u, *v; /* len rows of LANES complex; one block, x owned */
	double *r, *p, *cg;    /* n rows of LANES complex; one block, r owned */
};

/* --- products in the frequencies of the FFTs ----------------------------------------------------------------------- */

/* v = conj(B) u, then u = conj(A) u, where B = turn conj(A - 1). A is fa, the FFT of a. */
WEIR_CLONES(times_adjoints,
	    (const double *restrict fa, const double *restrict turn, size_t len, double *u,
	     double *v),
	    (fa, turn, len, u, v))
{
	for (size_t m = 0; m < len; m++) {
		const double tr = turn[2 * m], ti = turn[2 * m + 1];
		for (size_t i = m * PAIRS; i < (m + 1) * PAIRS; i += 2) {
			const double ar = fa[i], ai = fa[i + 1], yr = u[i], yi = u[i + 1];
			const double br = tr * (ar - 1) + ti * ai, bi = ti * (ar - 1) - tr * ai;
			u[i] = ar * yr + ai * yi;
			u[i + 1] = ar * yi - ai * yr;
			v[i] = br * yr + bi * yi;
			v[i + 1] = br * yi - bi * yr;
		}
	}
}

/* u = A u - B v, with the same A and B. */
WEIR_CLONES(times_factors,
	    (const double *restrict fa, const double *restrict turn, size_t len, double *restrict u,
	     const double *restrict v),
	    (fa, turn, len, u, v))
{
	for (size_t m = 0; m < len; m++) {
		const double tr = turn[2 * m], ti = turn[2 * m + 1];
		for (size_t i = m * PAIRS; i < (m + 1) * PAIRS; i += 2) {
			const double ar = fa[i], ai = fa[i + 1], ur = u[i], ui = u[i + 1];
			const double br = tr * (ar - 1) + ti * ai, bi = ti * (ar - 1) - tr * ai;
			u[i] = ar * ur - ai * ui - (br * v[i] - bi * v[i + 1]);
			u[i + 1] = ar * ui + ai * ur - (br * v[i + 1] + bi * v[i]);
		}
	}
}

/* The FFT is out of place: for length 360 and 8 lanes FFTW's estimated plan takes 5.7 us there, and 10.1 us in place. */
static void
transform(fftw_plan plan, double *from, double *to)
{
	fftw_execute_dft(plan, (fftw_complex *)from, (fftw_complex *)to);
}

static void
cut(const struct toeplitz *s, double *x)
{
	memset(x + s->n * PAIRS, 0, (s->len - s->n) * PAIRS * sizeof *x);
}

/* w->x = T^-1 E len^2 w->x. On entry w->x holds n rows and then zeros. */
static void
apply_inverse(const struct toeplitz *s, struct toeplitz_work *w, const double *fa)
{
	transform(s->forward, w->x, w->u);
	times_adjoints(fa, s->turn, s->len, w->u, w->v);
	transform(s->backward, w->u, w->x);
	transform(s->backward, w->v, w->y);
	cut(s, w->x);
	cut(s, w->y);
	transform(s->forward, w->x, w->u);
	transform(s->forward, w->y, w->v);
	times_factors(fa, s->turn, s->len, w->u, w->v);
	transform(s->backward, w->u, w->x);
}

/* --- conjugate gradients ------------------------------------------------------------------------------------------- */

/* w->u = T x: the first n rows of w->u, which holds a circular convolution. */
static void
apply_matrix(const struct toeplitz *s, struct toeplitz_work *w, const double *ft, const double *x)
{
	const double scale = 1 / (double)s->len;

	memcpy(w->y, x, s->n * PAIRS * sizeof *x);
	cut(s, w->y);
	transform(s->forward, w->y, w->v);
	for (size_t i = 0; i < s->len * PAIRS; i += 2) {
		const double re = w->v[i], im = w->v[i + 1];
		w->v[i] = (re * ft[i] - im * ft[i + 1]) * scale;
		w->v[i + 1] = (re * ft[i + 1] + im * ft[i]) * scale;
	}
	transform(s->backward, w->v, w->u);
}

/* sum = Re x^H y of every lane. */
static void
dot(const double *x, const double *y, size_t n, double sum[LANES])
{
	for (int l = 0; l < LANES; l++)
		sum[l] = 0;
	for (size_t i = 0; i < n; i++)
		for (int l = 0; l < PAIRS; l++)
			sum[l / 2] += x[i * PAIRS + (size_t)l] * y[i * PAIRS + (size_t)l];
}

static double
ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

/* Solves every lane of the block for the right-hand side in w->r into w->cg, which begins at 0. Returns the steps. */
static size_t
conjugate_gradients(const struct toeplitz *s, struct toeplitz_work *w, const double *ft)
{
	const size_t count = s->n * PAIRS;
	double rr[LANES], target[LANES], pq[LANES], next[LANES];
	size_t step;

	memset(w->cg, 0, count * sizeof *w->cg);
	memcpy(w->p, w->r, count * sizeof *w->p);
	dot(w->r, w->r, s->n, rr);
	for (int l = 0; l < LANES; l++)
		target[l] = cg_tol * cg_tol * rr[l];
	for (step = 0; step < CG_STEPS; step++) {
		bool busy = false;
		for (int l = 0; l < LANES; l++)
			busy |= rr[l] > target[l];
		if (!busy)
			break;
		apply_matrix(s, w, ft, w->p);
		dot(w->p, w->u, s->n, pq);
		for (size_t i = 0; i < count; i++) {
			const size_t l = i % PAIRS / 2;
			const double alpha = rr[l] > target[l] ? ratio(rr[l], pq[l]) : 0;
			w->cg[i] += alpha * w->p[i];
			w->r[i] -= alpha * w->u[i];
		}
		dot(w->r, w->r, s->n, next);
		for (size_t i = 0; i < count; i++) {
			const size_t l = i % PAIRS / 2;
			w->p[i] = w->r[i] + ratio(next[l], rr[l]) * w->p[i];
		}
		memcpy(rr, next, sizeof rr);
	}
	return step;
}

/* --- blocks -------------------------------------------------------------------------------------------------------- */

/* The FFT of the first column of the circulant that contains T: t, zeros, conj t backwards; len rows. NULL: no memory. */
static double *
circulant(const struct toeplitz *s, struct toeplitz_work *w, const double *t)
{
	double *ft = weir_alloc(s->len, PAIRS * sizeof *ft), *f = w->x;

	memset(f, 0, s->len * PAIRS * sizeof *f);
	for (size_t i = 0; i < s->n; i++)
		for (size_t l = 0; l < LANES; l++) {
			double *to = f + i * PAIRS + 2 * l,
			       *back = f + (s->len - i) * PAIRS + 2 * l;
			to[0] = t[i * PAIRS + l];
			to[1] = t[i * PAIRS + LANES + l];
			if (i) {
				back[0] = to[0];
				back[1] = -to[1];
			}
		}
	if (ft)
		transform(s->forward, f, ft);
	return ft;
}

int
toeplitz_factor(struct toeplitz *s, struct toeplitz_work *w, size_t b, const double *t)
{
	double *fa = s->fa + b * s->len * PAIRS, *e = s->e + b * LANES;
	double alive[LANES];
	bool need = false;

	levinson(t, s->n, safe, w->a, e, alive, w->steps);
	memcpy(s->t0 + b * LANES, t, LANES * sizeof *t);
	for (size_t l = 0; l < LANES; l++) {
		s->unsafe[b * LANES + l] = alive[l] == 0;
		need |= alive[l] == 0;
	}
	for (size_t i = 0; i < s->n; i++)
		for (size_t l = 0; l < LANES; l++) {
			w->x[i * PAIRS + 2 * l] = w->a[i * PAIRS + l];
			w->x[i * PAIRS + 2 * l + 1] = w->a[i * PAIRS + LANES + l];
		}
	cut(s, w->x);
	transform(s->forward, w->x, fa);
	weir_free(s->ft[b]);
	s->ft[b] = need ? circulant(s, w, t) : NULL;
	return need && !s->ft[b] ? -ENOMEM : 0;
}

/* Copies the right-hand side as doubles. Returns false when it is 0 in all lanes; the solution is then 0 too. */
static bool
load(double *to, const float *from, size_t n)
{
	float any = 0;

	for (size_t i = 0; i < n * PAIRS; i++) {
		to[i] = (double)from[i];
		any += fabsf(from[i]);
	}
	return any > 0;
}

size_t
toeplitz_solve(const struct toeplitz *s, struct toeplitz_work *w, size_t b, float *x)
{
	double scale[LANES];
	size_t steps = 0;

	if (!load(w->x, x, s->n))
		return 0;
	if (s->ft[b]) {
		memcpy(w->r, w->x, s->n * PAIRS * sizeof *w->r);
		steps = conjugate_gradients(s, w, s->ft[b]);
	}
	cut(s, w->x);
	apply_inverse(s, w, s->fa + b * s->len * PAIRS);
	for (size_t l = 0; l < LANES; l++)
		scale[l] = 1 / (s->e[b * LANES + l] * (double)s->len * (double)s->len);
	for (size_t i = 0; i < s->n; i++)
		for (size_t l = 0; l < PAIRS; l++) {
			const size_t at = i * PAIRS + l;
			x[at] = (float)(s->unsafe[b * LANES + l / 2] ? w->cg[at]
								     : w->x[at] * scale[l / 2]);
		}
	return steps;
}

int
toeplitz_unsafe(const struct toeplitz *s, size_t b, size_t l)
{
	return s->unsafe[b * LANES + l];
}

double
toeplitz_condition(const struct toeplitz *s, size_t b, size_t l)
{
	return s->t0[b * LANES + l] / s->e[b * LANES + l];
}

double
toeplitz_logdet(const struct toeplitz_work *w, size_t l)
{
	double sum = 0;

	for (size_t m = 0; m < w->n; m++)
		sum += log(w->steps[m * LANES + l]);
	return sum;
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

static bool
plan_ffts(struct toeplitz *s)
{
	const int len = (int)s->len;
	double *x = weir_alloc(2 * s->len, PAIRS * sizeof *x);
	fftw_complex *c = (fftw_complex *)x, *d = c ? c + s->len * LANES : NULL;

	if (!x)
		return false;
	s->forward = fftw_plan_many_dft(1, &len, LANES, c, NULL, LANES, 1, d, NULL, LANES, 1,
					FFTW_FORWARD, FFTW_ESTIMATE);
	s->backward = fftw_plan_many_dft(1, &len, LANES, c, NULL, LANES, 1, d, NULL, LANES, 1,
					 FFTW_BACKWARD, FFTW_ESTIMATE);
	weir_free(x);
	return s->forward && s->backward;
}

struct toeplitz *
toeplitz_new(size_t n, size_t blocks)
{
	struct toeplitz *s = weir_calloc(1, sizeof *s);
	size_t rows;

	if (!s || n > 1 << 28)
		goto fail;
	*s = (struct toeplitz){.n = n, .len = fft_size(2 * n), .blocks = blocks};
	if (!weir_mul(s->len, blocks, &rows) || !weir_mul(rows, PAIRS * sizeof(double), NULL))
		goto fail;
	s->turn = weir_alloc(s->len, 2 * sizeof *s->turn);
	s->fa = weir_alloc_large(rows, PAIRS * sizeof *s->fa);
	s->e = weir_alloc(blocks, LANES * sizeof *s->e);
	s->t0 = weir_alloc(blocks, LANES * sizeof *s->t0);
	s->unsafe = weir_alloc(blocks, LANES * sizeof *s->unsafe);
	s->ft = weir_calloc(blocks, sizeof *s->ft);
	if (!s->turn || !s->fa || !s->e || !s->t0 || !s->unsafe || !s->ft || !plan_ffts(s))
		goto fail;
	for (size_t m = 0; m < s->len; m++) {
		const double phase = -2 * M_PI * (double)(m * n % s->len) / (double)s->len;
		s->turn[2 * m] = cos(phase);
		s->turn[2 * m + 1] = sin(phase);
	}
	return s;
fail:
	toeplitz_free(s);
	return NULL;
}

void
toeplitz_free(struct toeplitz *s)
{
	if (!s)
		return;
	for (size_t b = 0; s->ft && b < s->blocks; b++)
		weir_free(s->ft[b]);
	weir_free(s->ft);
	weir_free(s->turn);
	weir_free(s->fa);
	weir_free(s->e);
	weir_free(s->t0);
	weir_free(s->unsafe);
	if (s->forward)
		fftw_destroy_plan(s->forward);
	if (s->backward)
		fftw_destroy_plan(s->backward);
	weir_free(s);
}

struct toeplitz_work *
toeplitz_work(const struct toeplitz *s)
{
	const size_t row = PAIRS * sizeof(double);
	struct toeplitz_work *w = weir_calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->n = s->n;
	w->a = weir_alloc(s->n, row);
	w->steps = weir_alloc(s->n, LANES * sizeof *w->steps);
	w->x = weir_alloc(4 * s->len, row);
	w->r = weir_alloc(3 * s->n, row);
	if (w->a && w->steps && w->x && w->r) {
		w->y = w->x + s->len * PAIRS;
		w->u = w->y + s->len * PAIRS;
		w->v = w->u + s->len * PAIRS;
		w->p = w->r + s->n * PAIRS;
		w->cg = w->p + s->n * PAIRS;
		return w;
	}
	toeplitz_work_free(w);
	return NULL;
}

void
toeplitz_work_free(struct toeplitz_work *w)
{
	if (!w)
		return;
	weir_free(w->a);
	weir_free(w->steps);
	weir_free(w->x);
	weir_free(w->r);
	weir_free(w);
}
