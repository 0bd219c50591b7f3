/* Finds NU from the evidence of the gather; see radon_noise() in radon.h. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/inverse/toeplitz.h"
#include "radon/recurrence.h"
#include "radon/spectra.h"

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
	/* [ld]: the weight of a frequency in J; 0: it is too weak, or outside the band. */
	double *rank;
	double *j; /* [blocks][NUS]: parts of J; before that, energies of the n frequencies */
	/* The factors of each block with each NU, and the logarithms of their determinants: [blocks][NUS][LANES]. */
	struct toeplitz *solver;
	double *logdet;
	bool *
	    factored; /* [blocks]: by the first run that needs it; the samples of a gather do not matter */
	struct evidence_worker {
		struct toeplitz_work *solve;
		float *m;	/* nq rows of LANES complex: a solution */
		double *column; /* the same: the first column of A^H A */
	} * worker;		/* one a thread */
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
	struct toeplitz_work *solve = e->worker[thread].solve;
	double t0[LANES], *t = e->worker[thread].column;

	recurrence_column(&e->core, &e->room.worker[thread], i, t);
	memcpy(t0, t, sizeof t0);
	for (size_t c = 0; c < NUS; c++) {
		for (size_t l = 0; l < LANES; l++)
			t[l] = t0[l] + nus[c] * nq;
		if (toeplitz_factor(e->solver, solve, i / LANES * NUS + c, t))
			return -ENOMEM;
		for (size_t l = 0; l < LANES; l++)
			e->logdet[i * NUS + c * LANES + l] = toeplitz_logdet(solve, l);
	}
	return 0;
}

/* sum = the part of J that the block at frequency i has for each NU. b is A^H d. */
static void
add_block(const struct radon_evidence *e, int thread, size_t i, const float *b, double sum[NUS])
{
	const struct radon_core *p = &e->core;
	const double nx = (double)p->nlive, nq = (double)p->o.nq;
	float *x = e->worker[thread].m;

	for (size_t c = 0; c < NUS; c++) {
		const double mu = nus[c] * nq, *logdet = e->logdet + i * NUS + c * LANES;
		memcpy(x, b, 2 * p->o.nq * LANES * sizeof *x);
		toeplitz_solve(e->solver, e->worker[thread].solve, i / LANES * NUS + c, x);
		sum[c] = 0;
		for (size_t l = 0; l < LANES; l++) {
			double q = 0;
			if (e->rank[i + l] == 0)
				continue;
			for (size_t j = 0; j < p->o.nx; j++)
				q += square(e->d + 2 * (j * e->ld + i + l));
			for (size_t k = 0; k < p->o.nq; k++) {
				const float *y = b + 2 * (k * LANES + l),
					    *m = x + 2 * (k * LANES + l);
				q -= (double)y[0] * (double)m[0] + (double)y[1] * (double)m[1];
			}
			sum[c] += e->rank[i + l] * (nx * log(fmax(q, 1e-300) / mu) +
						    (nx - nq) * log(mu) + logdet[l]);
		}
	}
}

/* Does a frequency of the block at frequency i count? */
static bool
counts(const struct radon_evidence *e, size_t i)
{
	bool any = false;

	for (size_t l = 0; l < LANES; l++)
		any |= e->rank[i + l] > 0;
	return any;
}

static int
add_blocks(struct radon_evidence *e)
{
	const struct radon_core *p = &e->core;
	int err = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(e->room.threads) reduction(min : err)
	for (size_t i = 0; i < e->ld; i += LANES) {
		const int thread = omp_get_thread_num();
		struct radon_worker *w = &e->room.worker[thread];
		if (!counts(e, i))
			continue;
		if (!e->factored[i / LANES] && factor_block(e, thread, i)) {
			err = -ENOMEM;
			continue;
		}
		e->factored[i / LANES] = true;
		recurrence_adjoint(p, w, i, e->d + 2 * i, e->ld, w->m, LANES);
		add_block(e, thread, i, w->m, e->j + i / LANES * NUS);
	}
	return err;
}

static bool
take_room(struct radon_evidence *e, int threads)
{
	const struct radon_core *p = &e->core;
	bool ok = radon_room_take(&e->room, p, threads);

	e->n = (p->nw + EVERY - 1) / EVERY;
	e->ld = (e->n + LANES - 1) / LANES * LANES;
	e->d = weir_calloc(p->o.nx * e->ld, 2 * sizeof *e->d);
	e->rank = weir_calloc(e->ld, sizeof *e->rank);
	e->j = weir_calloc(e->ld, NUS * sizeof *e->j);
	e->logdet = weir_alloc(e->ld, NUS * sizeof *e->logdet);
	e->factored = weir_calloc(e->ld, sizeof *e->factored);
	e->solver = toeplitz_new(p->o.nq, e->ld / LANES * NUS);
	e->worker = weir_calloc((size_t)threads, sizeof *e->worker);
	ok = ok && e->d && e->rank && e->j && e->logdet && e->factored && e->solver && e->worker;
	for (int i = 0; ok && i < threads; i++) {
		struct evidence_worker *l = &e->worker[i];
		l->solve = toeplitz_work(e->solver);
		l->m = weir_alloc(p->o.nq * LANES, 2 * sizeof *l->m);
		l->column = weir_alloc(p->o.nq * LANES, 2 * sizeof *l->column);
		ok = l->solve && l->m && l->column;
	}
	return ok;
}

static double
least(const struct radon_evidence *e)
{
	double best = INFINITY, at = nus[NUS - 1];

	for (int c = 0; c < NUS; c++) {
		double sum = 0;
		for (size_t i = 0; i < e->ld / LANES; i++)
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
	for (int i = 0; e->worker && i < e->room.threads; i++) {
		toeplitz_work_free(e->worker[i].solve);
		weir_free(e->worker[i].m);
		weir_free(e->worker[i].column);
	}
	weir_free(e->worker);
	toeplitz_free(e->solver);
	weir_free(e->d);
	weir_free(e->rank);
	weir_free(e->j);
	weir_free(e->logdet);
	weir_free(e->factored);
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
