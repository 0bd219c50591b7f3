#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/core.h"

/* ---- systems ---- */

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
	double *fa;	/* per block: the FFT of a, len rows of USFFT_LINE complex */
	double *e, *t0; /* per block: USFFT_LINE */
	bool *unsafe;	/* per block: USFFT_LINE */
	double **ft;	/* per block: the FFT of T's circulant if a lane needs it, else NULL */
};

struct toeplitz_work {
	double *a;	       /* n rows of PAIRS */
	double *steps;	       /* n rows of USFFT_LINE: E of the recursion */
	double *x, *y, *u, *v; /* len rows of USFFT_LINE complex; one block, x owned */
	double *r, *p, *cg;    /* n rows of USFFT_LINE complex; one block, r owned */
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
dot(const double *x, const double *y, size_t n, double sum[USFFT_LINE])
{
	for (int l = 0; l < USFFT_LINE; l++)
		sum[l] = 0;
	for (size_t i = 0; i < n; i++)
		for (int l = 0; l < PAIRS; l++)
			sum[l / 2] += x[i * PAIRS + (size_t)l] * y[i * PAIRS + (size_t)l];
}

/* Solves every lane of the block for the right-hand side in w->r into w->cg, which begins at 0. Returns the steps. */
static size_t
conjugate_gradients(const struct toeplitz *s, struct toeplitz_work *w, const double *ft)
{
	const size_t count = s->n * PAIRS;
	double rr[USFFT_LINE], target[USFFT_LINE], pq[USFFT_LINE], next[USFFT_LINE];
	size_t step;

	memset(w->cg, 0, count * sizeof *w->cg);
	memcpy(w->p, w->r, count * sizeof *w->p);
	dot(w->r, w->r, s->n, rr);
	for (int l = 0; l < USFFT_LINE; l++)
		target[l] = cg_tol * cg_tol * rr[l];
	for (step = 0; step < CG_STEPS; step++) {
		bool busy = false;
		for (int l = 0; l < USFFT_LINE; l++)
			busy |= rr[l] > target[l];
		if (!busy)
			break;
		apply_matrix(s, w, ft, w->p);
		dot(w->p, w->u, s->n, pq);
		for (size_t i = 0; i < count; i++) {
			const size_t l = i % PAIRS / 2;
			const double alpha = rr[l] > target[l] && pq[l] > 0 ? rr[l] / pq[l] : 0;
			w->cg[i] += alpha * w->p[i];
			w->r[i] -= alpha * w->u[i];
		}
		dot(w->r, w->r, s->n, next);
		for (size_t i = 0; i < count; i++) {
			const size_t l = i % PAIRS / 2;
			w->p[i] = w->r[i] + (rr[l] > 0 ? next[l] / rr[l] : 0) * w->p[i];
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
		for (size_t l = 0; l < USFFT_LINE; l++) {
			double *to = f + i * PAIRS + 2 * l,
			       *back = f + (s->len - i) * PAIRS + 2 * l;
			to[0] = t[i * PAIRS + l];
			to[1] = t[i * PAIRS + USFFT_LINE + l];
			if (i) {
				back[0] = to[0];
				back[1] = -to[1];
			}
		}
	if (ft)
		transform(s->forward, f, ft);
	return ft;
}

/*
 * Factors block b. t is n rows of USFFT_LINE re and USFFT_LINE im; t[0] includes the damping. Returns 0 or -ENOMEM. Threads may factor
 * and solve different blocks at once.
 */
static int
toeplitz_factor(struct toeplitz *s, struct toeplitz_work *w, size_t b, const double *t)
{
	double *fa = s->fa + b * s->len * PAIRS, *e = s->e + b * USFFT_LINE;
	double alive[USFFT_LINE];
	bool need = false;

	radon_loops()->levinson(t, s->n, safe, w->a, e, alive, w->steps);
	memcpy(s->t0 + b * USFFT_LINE, t, USFFT_LINE * sizeof *t);
	for (size_t l = 0; l < USFFT_LINE; l++) {
		s->unsafe[b * USFFT_LINE + l] = alive[l] == 0;
		need |= alive[l] == 0;
	}
	for (size_t i = 0; i < s->n; i++)
		for (size_t l = 0; l < USFFT_LINE; l++) {
			w->x[i * PAIRS + 2 * l] = w->a[i * PAIRS + l];
			w->x[i * PAIRS + 2 * l + 1] = w->a[i * PAIRS + USFFT_LINE + l];
		}
	cut(s, w->x);
	transform(s->forward, w->x, fa);
	weir_free(s->ft[b]);
	s->ft[b] = need ? circulant(s, w, t) : NULL;
	return need && !s->ft[b] ? -ENOMEM : 0;
}

/*
 * Solves block b. x is n rows of USFFT_LINE complex floats: it holds the right-hand side, and then the solution. Returns the number
 * of steps of conjugate gradients.
 */
static size_t
toeplitz_solve(const struct toeplitz *s, struct toeplitz_work *w, size_t b, float *x)
{
	double scale[USFFT_LINE];
	size_t steps = 0;
	float any = 0;

	for (size_t i = 0; i < s->n * PAIRS; i++) {
		w->x[i] = (double)x[i];
		any += fabsf(x[i]);
	}
	if (!(any > 0)) /* the solution is 0 too */
		return 0;
	if (s->ft[b]) {
		memcpy(w->r, w->x, s->n * PAIRS * sizeof *w->r);
		steps = conjugate_gradients(s, w, s->ft[b]);
	}
	cut(s, w->x);
	apply_inverse(s, w, s->fa + b * s->len * PAIRS);
	for (size_t l = 0; l < USFFT_LINE; l++)
		scale[l] = 1 / (s->e[b * USFFT_LINE + l] * (double)s->len * (double)s->len);
	for (size_t i = 0; i < s->n; i++)
		for (size_t l = 0; l < PAIRS; l++) {
			const size_t at = i * PAIRS + l;
			x[at] =
			    (float)(s->unsafe[b * USFFT_LINE + l / 2] ? w->cg[at]
								      : w->x[at] * scale[l / 2]);
		}
	return steps;
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

static bool
plan_ffts(struct toeplitz *s)
{
	const int len = (int)s->len;
	double *x = weir_alloc(2 * s->len, PAIRS * sizeof *x);
	fftw_complex *c = (fftw_complex *)x, *d = c ? c + s->len * USFFT_LINE : NULL;

	if (!x)
		return false;
	s->forward = fftw_plan_many_dft(1, &len, USFFT_LINE, c, NULL, USFFT_LINE, 1, d, NULL,
					USFFT_LINE, 1, FFTW_FORWARD, FFTW_ESTIMATE);
	s->backward = fftw_plan_many_dft(1, &len, USFFT_LINE, c, NULL, USFFT_LINE, 1, d, NULL,
					 USFFT_LINE, 1, FFTW_BACKWARD, FFTW_ESTIMATE);
	weir_free(x);
	return s->forward && s->backward;
}

void
toeplitz_free(struct toeplitz *s)
{
	if (!s)
		return;
	for (size_t b = 0; s->ft && b < s->blocks; b++)
		weir_free(s->ft[b]);
	weir_free_all(s->ft, s->turn, s->fa, s->e, s->unsafe);
	if (s->forward)
		fftw_destroy_plan(s->forward);
	if (s->backward)
		fftw_destroy_plan(s->backward);
	weir_free(s);
}

/*
 * Allocates `blocks` blocks of USFFT_LINE systems of n unknowns. Returns NULL when there is no memory. The function is not
 * thread-safe, since FFTW's planner is not.
 */
static struct toeplitz *
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
	s->e = weir_alloc(blocks, 2 * USFFT_LINE * sizeof *s->e);
	s->unsafe = weir_alloc(blocks, USFFT_LINE * sizeof *s->unsafe);
	s->ft = weir_calloc(blocks, sizeof *s->ft);
	if (!s->turn || !s->fa || !s->e || !s->unsafe || !s->ft || !plan_ffts(s))
		goto fail;
	s->t0 = s->e + blocks * USFFT_LINE;
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

static void
toeplitz_work_free(struct toeplitz_work *w)
{
	if (w)
		weir_free_all(w->a, w->steps, w->x, w->r, w);
}

/* Allocates the work of one thread. Returns NULL when there is no memory. */
static struct toeplitz_work *
toeplitz_work(const struct toeplitz *s)
{
	const size_t row = PAIRS * sizeof(double);
	struct toeplitz_work *w = weir_calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->a = weir_alloc(s->n, row);
	w->steps = weir_alloc(s->n, USFFT_LINE * sizeof *w->steps);
	w->x = weir_alloc(4 * s->len, row);
	w->r = weir_alloc(3 * s->n, row);
	if (!w->a || !w->steps || !w->x || !w->r) {
		toeplitz_work_free(w);
		return NULL;
	}
	w->y = w->x + s->len * PAIRS;
	w->u = w->y + s->len * PAIRS;
	w->v = w->u + s->len * PAIRS;
	w->p = w->r + s->n * PAIRS;
	w->cg = w->p + s->n * PAIRS;
	return w;
}

bool
radon_lsq_take(struct radon_room *w, const struct toeplitz *s)
{
	bool ok = (w->solve = weir_calloc((size_t)w->threads, sizeof *w->solve));

	for (int i = 0; ok && i < w->threads; i++)
		ok = (w->solve[i] = toeplitz_work(s));
	return ok;
}

void
radon_lsq_give(struct radon_room *w)
{
	for (int i = 0; w->solve && i < w->threads; i++)
		toeplitz_work_free(w->solve[i]);
	weir_free(w->solve);
	w->solve = NULL;
}

/* ---- evidence ---- */

enum { EVERY = 16, NUS = 6 };
static const double nus[NUS] = {.001, .003, .01, .03, .1, .3};

/* A frequency counts when its energy is above this part of the energy of the strongest in the band. */
static const double faint = 1e-3;

/*
 * The problem at every 16th frequency. Frequency i of `d` is frequency EVERY * i of the gather, and the core's a and c are
 * EVERY times as large.
 */
struct radon_evidence {
	struct radon_core core;
	struct radon_room room;
	size_t n, ld; /* frequencies, and their number padded to whole blocks */
	float *d;     /* [nx][ld] complex */
	/* Owned, with j and logdet. [ld]: the weight of a frequency in J; 0: it is too weak, or outside the band. */
	double *rank;
	double *j; /* [blocks][NUS]: parts of J; before that, energies of the n frequencies */
	/* The factors of each block with each NU, and the logarithms of their determinants: [blocks][NUS][USFFT_LINE]. */
	struct toeplitz *solver;
	double *logdet;
	bool *
	    factored; /* [blocks]: by the first run that needs it; the samples of a gather do not matter */
	float *m; /* [threads]: nq rows of USFFT_LINE complex, a solution */
};

static double
square(const float *v)
{
	return (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1];
}

/* Takes every 16th frequency out of the spectra of the gather, and finds their weights. */
static void
choose(struct radon_evidence *e)
{
	const struct radon_core *p = &e->core;
	double peak = 0;

	for (size_t i = 0; i < e->n; i++) {
		double sum = 0;
		for (size_t j = 0; j < p->o.nx; j++) {
			float *to = e->d + 2 * (j * e->ld + i);
			memcpy(to, e->room.d + 2 * (j * p->ld + EVERY * i), 2 * sizeof *to);
			sum += square(to);
		}
		e->j[i] = EVERY * i >= p->kmin && EVERY * i <= p->kmax ? sum : 0;
		peak = fmax(peak, e->j[i]);
	}
	for (size_t i = 0; i < e->n; i++)
		e->rank[i] = e->j[i] > faint * peak ? sqrt(sqrt(e->j[i] / peak)) : 0;
}

/* Factors the block at frequency i with each NU. Returns 0 or -ENOMEM. */
static int
factor_block(struct radon_evidence *e, int thread, size_t i)
{
	const double nq = (double)e->core.o.nq;
	struct toeplitz_work *solve = e->room.solve[thread];
	double t0[USFFT_LINE], *t = e->room.worker[thread].sum;

	recurrence_column(&e->core, &e->room.worker[thread], i, t);
	memcpy(t0, t, sizeof t0);
	for (size_t c = 0; c < NUS; c++) {
		for (size_t l = 0; l < USFFT_LINE; l++)
			t[l] = t0[l] + nus[c] * nq;
		if (toeplitz_factor(e->solver, solve, i / USFFT_LINE * NUS + c, t))
			return -ENOMEM;
		for (size_t l = 0; l < USFFT_LINE; l++) {
			double *sum = &e->logdet[i * NUS + c * USFFT_LINE + l];
			*sum = 0;
			for (size_t m = 0; m < e->solver->n; m++)
				*sum += log(solve->steps[m * USFFT_LINE + l]);
		}
	}
	return 0;
}

/* sum = the part of J that the block at frequency i has for each NU. b is A^H d. */
static void
add_block(const struct radon_evidence *e, int thread, size_t i, const float *b, double sum[NUS])
{
	const struct radon_core *p = &e->core;
	const double nx = (double)p->nlive, nq = (double)p->o.nq;
	float *x = e->m + 2 * (size_t)thread * p->o.nq * USFFT_LINE;

	for (size_t c = 0; c < NUS; c++) {
		const double mu = nus[c] * nq, *logdet = e->logdet + i * NUS + c * USFFT_LINE;
		memcpy(x, b, 2 * p->o.nq * USFFT_LINE * sizeof *x);
		toeplitz_solve(e->solver, e->room.solve[thread], i / USFFT_LINE * NUS + c, x);
		sum[c] = 0;
		for (size_t l = 0; l < USFFT_LINE; l++) {
			double q = 0;
			if (e->rank[i + l] == 0)
				continue;
			for (size_t j = 0; j < p->o.nx; j++)
				q += square(e->d + 2 * (j * e->ld + i + l));
			for (size_t k = 0; k < p->o.nq; k++) {
				const float *y = b + 2 * (k * USFFT_LINE + l),
					    *m = x + 2 * (k * USFFT_LINE + l);
				q -= (double)y[0] * (double)m[0] + (double)y[1] * (double)m[1];
			}
			sum[c] += e->rank[i + l] * (nx * log(fmax(q, 1e-300) / mu) +
						    (nx - nq) * log(mu) + logdet[l]);
		}
	}
}

static int
add_blocks(struct radon_evidence *e)
{
	const struct radon_core *p = &e->core;
	int err = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(e->room.threads) reduction(min : err)
	for (size_t i = 0; i < e->ld; i += USFFT_LINE) {
		const int thread = omp_get_thread_num();
		struct radon_worker *w = &e->room.worker[thread];
		bool any = false;
		for (size_t l = 0; l < USFFT_LINE; l++)
			any |= e->rank[i + l] > 0;
		if (!any)
			continue;
		if (!e->factored[i / USFFT_LINE] && factor_block(e, thread, i)) {
			err = -ENOMEM;
			continue;
		}
		e->factored[i / USFFT_LINE] = true;
		recurrence_adjoint(p, w, i, e->d + 2 * i, e->ld, w->m, USFFT_LINE);
		add_block(e, thread, i, w->m, e->j + i / USFFT_LINE * NUS);
	}
	return err;
}

static bool
take_room(struct radon_evidence *e, int threads)
{
	const struct radon_core *p = &e->core;
	const bool room = radon_room_take(&e->room, p, threads);

	e->n = (p->nw + EVERY - 1) / EVERY;
	e->ld = (e->n + USFFT_LINE - 1) / USFFT_LINE * USFFT_LINE;
	e->d = weir_calloc(p->o.nx * e->ld, 2 * sizeof *e->d);
	e->rank = weir_calloc(e->ld, (1 + 2 * NUS) * sizeof *e->rank);
	e->j = e->rank ? e->rank + e->ld : NULL;
	e->logdet = e->rank ? e->j + NUS * e->ld : NULL;
	e->factored = weir_calloc(e->ld, sizeof *e->factored);
	e->solver = toeplitz_new(p->o.nq, e->ld / USFFT_LINE * NUS);
	e->m = weir_alloc((size_t)threads * p->o.nq, USFFT_LINE * 2 * sizeof *e->m);
	return room && e->d && e->rank && e->factored && e->solver && e->m &&
	       radon_lsq_take(&e->room, e->solver);
}

static double
least(const struct radon_evidence *e)
{
	double best = INFINITY, at = nus[NUS - 1];

	for (int c = 0; c < NUS; c++) {
		double sum = 0;
		for (size_t i = 0; i < e->ld / USFFT_LINE; i++)
			sum += e->j[i * NUS + (size_t)c];
		if (sum < best) {
			best = sum;
			at = nus[c];
		}
	}
	return at;
}

void
radon_evidence_free(struct radon_evidence *e)
{
	if (!e)
		return;
	radon_lsq_give(&e->room);
	toeplitz_free(e->solver);
	weir_free_all(e->m, e->d, e->rank, e->factored);
	radon_room_free(&e->room);
	radon_core_free(&e->core);
	weir_free(e);
}

int
radon_evidence(struct radon_evidence **to, const struct radon_options *o, int threads)
{
	struct radon_evidence *e = weir_calloc(1, sizeof *e);
	struct radon_options plain = *o;
	int err = -ENOMEM;

	plain.mode = RADON_ADJOINT;
	plain.method = RADON_RECURRENCE;
	plain.adapt = (struct radon_adapt_options){0};
	if (e && !(err = radon_core_plan(&e->core, &plain)) && !take_room(e, threads))
		err = -ENOMEM;
	if (err) {
		radon_evidence_free(e);
		e = NULL;
	}
	for (size_t j = 0; e && j < o->nx; j++) {
		e->core.a[j] *= EVERY;
		e->core.c[j] *= EVERY;
	}
	*to = e;
	return err;
}

int
radon_evidence_run(struct radon_evidence *e, const float *gather, double *nu)
{
	const struct radon_core *p = &e->core;
	int err = 0;

	*nu = nus[NUS - 1];
	if (!p->nlive)
		return 0;
	radon_forward(p, &e->room, gather, p->o.nx, p->o.nt, p->lead, e->room.d);
	choose(e);
	memset(e->j, 0, e->ld * NUS * sizeof *e->j);
	if (!(err = add_blocks(e)))
		*nu = least(e);
	return err;
}

int
radon_noise(const struct radon_options *o, const float *gather, double *nu)
{
	struct radon_evidence *e;
	int err = radon_evidence(&e, o, o->threads > 0 ? o->threads : 1);

	*nu = nus[NUS - 1];
	if (!err)
		err = radon_evidence_run(e, gather, nu);
	radon_evidence_free(e);
	return err;
}

/* ---- least squares ---- */

/* --- plans and work ------------------------------------------------------------------------------------------------ */

static int
factor_blocks(const struct radon_core *p, struct toeplitz *s, struct radon_room *w)
{
	int err = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads) reduction(min : err)
	for (size_t b = p->first; b < p->last; b++) {
		const int thread = omp_get_thread_num();
		double *t = w->worker[thread].sum;
		recurrence_column(p, &w->worker[thread], b * USFFT_LINE, t);
		for (size_t i = 0; i < USFFT_LINE; i++)
			t[i] += radon_damping(p);
		const int e = toeplitz_factor(s, w->solve[thread], b - p->first, t);
		err = e < err ? e : err;
	}
	return err;
}

int
radon_lsq_factor(struct toeplitz **to, const struct radon_core *p)
{
	const int threads = p->o.threads > 0 ? p->o.threads : 1;
	struct toeplitz *s = toeplitz_new(p->o.nq, p->last - p->first);
	struct radon_room w = {0};
	int err = -ENOMEM;

	if (s && radon_room_take(&w, p, threads) && radon_lsq_take(&w, s))
		err = factor_blocks(p, s, &w);
	radon_lsq_give(&w);
	radon_room_free(&w);
	if (err) {
		toeplitz_free(s);
		s = NULL;
	}
	*to = s;
	return err;
}

/* --- runs ---------------------------------------------------------------------------------------------------------- */

/* sum = |d|^2 and |d - model|^2 of the block at k, over the band and the live traces. */
static void
add_misfit(const struct radon_core *p, struct radon_worker *w, size_t k, const float *d,
	   double sum[2])
{
	radon_block_model(p, w, k, w->m, USFFT_LINE, w->d, USFFT_LINE);
	sum[0] = sum[1] = 0;
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t l = 0; l < 2 * USFFT_LINE; l++) {
			const size_t f = k + l / 2;
			const double both = f == 0 || f == p->nfft / 2 ? 1 : 2;
			const double x = (double)d[2 * j * p->ld + l],
				     y = x - (double)w->d[2 * j * USFFT_LINE + l];
			if (!p->live[j] || f < p->kmin || f > p->kmax)
				continue;
			sum[0] += both * x * x;
			sum[1] += both * y * y;
		}
}

/* sum = the energy of the first two curves of the block at k, of the last two, and of all. */
static void
add_edges(const struct radon_core *p, size_t k, const float *m, double sum[3])
{
	sum[0] = sum[1] = sum[2] = 0;
	for (size_t i = 0; i < p->o.nq; i++) {
		float row = 0;
		for (size_t l = 0; l < 2 * USFFT_LINE; l++)
			if (k + l / 2 >= p->kmin && k + l / 2 <= p->kmax)
				row += m[2 * i * USFFT_LINE + l] * m[2 * i * USFFT_LINE + l];
		sum[0] += i < 2 ? (double)row : 0;
		sum[1] += i + 2 >= p->o.nq ? (double)row : 0;
		sum[2] += (double)row;
	}
}

/*
 * Finds the right-hand side and the solution of each block. With `model` it also models the muted solution at once, so that the
 * panel in memory is never more than a block of each thread.
 */
static void
solve_blocks(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w, bool model,
	     struct radon_report *r)
{
	size_t steps = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads) reduction(+ : steps)
	for (size_t b = p->first; b < p->last; b++) {
		const int thread = omp_get_thread_num();
		struct radon_worker *l = &w->worker[thread];
		float *d = w->d + 2 * b * USFFT_LINE, *m = w->m + 2 * b * USFFT_LINE;
		if (p->exact_rhs)
			recurrence_adjoint(p, l, b * USFFT_LINE, d, p->ld, l->m, USFFT_LINE);
		else
			radon_block_adjoint(p, l, b * USFFT_LINE, d, p->ld, l->m, USFFT_LINE);
		steps += toeplitz_solve(s, w->solve[thread], b - p->first, l->m);
		/* The sample at Nyquist is real, as it is in the spectrum of a real panel. */
		for (size_t i = 0; p->nfft / 2 / USFFT_LINE == b && i < p->o.nq; i++)
			l->m[2 * (i * USFFT_LINE + p->nfft / 2 % USFFT_LINE) + 1] = 0;
		if (p->o.report)
			add_misfit(p, l, b * USFFT_LINE, d, w->part[b]);
		add_edges(p, b * USFFT_LINE, l->m, w->part[b] + 2);
		if (model) {
			radon_weigh_rows(p, l->m, l->m, USFFT_LINE);
			radon_block_model(p, l, b * USFFT_LINE, l->m, USFFT_LINE, d, p->ld);
		} else {
			radon_weigh_rows(p, l->m, m, p->ld);
		}
	}
	r->steps = steps;
}

static void
sum_figures(const struct radon_core *p, const struct toeplitz *s, const struct radon_room *w,
	    struct radon_report *r)
{
	double all = 0, left = 0, edges[3] = {0};

	for (size_t b = p->first; p->o.report && b < p->last; b++) {
		all += w->part[b][0];
		left += w->part[b][1];
	}
	for (size_t b = p->first; b < p->last; b++)
		for (int i = 0; i < 3; i++)
			edges[i] += w->part[b][2 + i];
	radon_edges(p, edges, r->edge);
	r->misfit = !p->o.report ? NAN : all > 0 ? left / all : 0;
	for (size_t k = p->kmin; k <= p->kmax; k++) {
		const size_t lane = k - p->first * USFFT_LINE;
		r->fallbacks += s->unsafe[lane];
		r->condition = fmax(r->condition, s->t0[lane] / s->e[lane]);
	}
}

void
radon_lsq_run(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
	      const float *in, float *out, struct radon_report *r)
{
	const bool at_once = p->o.subtract && p->q_mute;

	radon_forward(p, w, in, p->o.nx, p->o.nt, p->lead, w->d);
	solve_blocks(p, s, w, at_once, r);
	sum_figures(p, s, w, r);
	if (p->o.subtract && !at_once) {
		radon_mute_panel(p, w);
		radon_model_all(p, w);
	}
	if (p->o.subtract)
		radon_gather_out(p, w, in, out);
	else
		radon_panel_out(p, w, out);
}
