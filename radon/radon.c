#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/core.h"
#include "usfft/usfft.h"

/* ---- the transform in two dimensions ---- */

/*
 * RADON_USFFT2D, the method of Matveev et al. (radon.h): one 2-D transform of nonequispaced points in single precision
 * takes the points (k, k c_j) of all frequencies to the regular (tau, q). It spreads along k too, although k is regular. It
 * serves comparison and reproduction.
 */

struct radon_2d {
	struct usfft_plan *usfft;
	size_t nk;    /* frequencies of the band */
	float *value; /* [nx][nk] complex: values at the points */
	float *turn;  /* the same: exp(2 pi i k (a_j + c_j nq/2)), which puts mode -nq/2 at q0 */
	float *rows;  /* [threads][nfft] complex: a row of modes each */
};

static int
set_points_2d(struct radon_2d *two, const struct radon_core *p)
{
	const size_t m = p->o.nx * two->nk, half = p->o.nq / 2;
	double *x = weir_alloc(m, 2 * sizeof *x), *y = x ? x + m : NULL;
	size_t bad;

	if (!x)
		return -ENOMEM;
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t k = 0; k < two->nk; k++) {
			const size_t i = j * two->nk + k;
			const double f = (double)(p->kmin + k);
			const double t = f * (p->a[j] + (double)half * p->c[j]);
			x[i] = f / (double)p->nfft;
			y[i] = f * p->c[j];
			two->turn[2 * i] = (float)cos(2 * M_PI * (t - rint(t)));
			two->turn[2 * i + 1] = (float)sin(2 * M_PI * (t - rint(t)));
		}
	const struct usfft_points points = {.m = m, .stride = 1, .x = {x, y}};
	int err = usfft_points(two->usfft, &points, NULL, 0, &bad);
	weir_free(x);
	return err;
}

/* Returns 0 or -errno. */
static int
radon_2d_plan(struct radon_2d **to, const struct radon_core *p)
{
	struct radon_2d *two = *to = weir_calloc(1, sizeof *two);
	const int threads = p->o.threads > 0 ? p->o.threads : 1;
	const struct usfft_options o = {.dim = 2,
					.n = {p->nfft, p->o.nq},
					.tol = USFFT_FLOOR_SINGLE,
					.single = true,
					.fft_order = true,
					.threads = threads,
					.expect = p->o.nx * p->nw};

	if (!two)
		return -ENOMEM;
	two->nk = p->first == p->last ? 0 : p->kmax + 1 - p->kmin;
	two->value = weir_alloc(p->o.nx * two->nk, 2 * sizeof *two->value);
	two->turn = weir_alloc(p->o.nx * two->nk, 2 * sizeof *two->turn);
	two->rows = weir_alloc((size_t)threads * p->nfft, 2 * sizeof *two->rows);
	if (!two->value || !two->turn || !two->rows)
		return -ENOMEM;
	int err = usfft_plan(&two->usfft, &o);
	return err ? err : set_points_2d(two, p);
}

/* Sets the values to the spectra, turned and weighted so that the real part of the sum is the inverse transform to time. */
static void
load_values(struct radon_2d *two, const struct radon_core *p, const float *d)
{
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t i = 0; i < two->nk; i++) {
			const size_t k = p->kmin + i, at = 2 * (j * two->nk + i);
			const float *x = d + 2 * (j * p->ld + k), *t = two->turn + at;
			const float both = (k == 0 || 2 * k == p->nfft ? 1 : 2) / (float)p->nfft;
			two->value[at] = both * (x[0] * t[0] - x[1] * t[1]);
			two->value[at + 1] = both * (x[0] * t[1] + x[1] * t[0]);
		}
}

/* Returns the row of curve i. Curve i is mode i - nq/2, and in FFT order row r is mode r or r - nq. */
static size_t
row_of(const struct radon_core *p, size_t i)
{
	const size_t half = p->o.nq / 2;

	return i < half ? i + p->o.nq - half : i - half;
}

/* The adjoint takes w->d to the panel; modelling takes the panel to w->d. */
static void
radon_2d_adjoint(struct radon_2d *two, const struct radon_core *p, struct radon_room *w,
		 float *panel)
{
	load_values(two, p, w->d);
	usfft_gather(two->usfft, 1, two->value);
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = two->rows + (size_t)omp_get_thread_num() * 2 * p->nfft;
		usfft_get_row(two->usfft, 1, row_of(p, i), row);
		for (size_t t = 0; t < p->ntau; t++)
			panel[i * p->ntau + t] =
			    row[2 * t] * (p->q_mute ? p->q_weight[i] : p->weight[i * p->ntau + t]);
	}
}

static void
radon_2d_model(struct radon_2d *two, const struct radon_core *p, const float *panel,
	       struct radon_room *w)
{
	usfft_clear(two->usfft);
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = two->rows + (size_t)omp_get_thread_num() * 2 * p->nfft;
		memset(row, 0, p->nfft * 2 * sizeof *row);
		for (size_t t = 0; t < p->ntau; t++)
			row[2 * t] = panel[i * p->ntau + t];
		usfft_put_row(two->usfft, -1, row_of(p, i), row);
	}
	usfft_scatter(two->usfft, -1, two->value);
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t i = 0; i < two->nk; i++) {
			const float *v = two->value + 2 * (j * two->nk + i),
				    *t = two->turn + 2 * (j * two->nk + i);
			float *x = w->d + 2 * (j * p->ld + p->kmin + i);
			x[0] = v[0] * t[0] + v[1] * t[1];
			x[1] = v[1] * t[0] - v[0] * t[1];
		}
}

/* ---- plans ---- */

/* Is the second axis of curves all right, when there is one? */
static bool
check_second_axis(const struct radon_options *o)
{
	if (!o->nr)
		return true;
	if (o->nq % o->nr || (o->nr > 1 && !(o->dr > 0)) || o->hyperbolic ||
	    o->method == RADON_TIME || o->method == RADON_USFFT2D)
		return false;
	for (size_t j = 0; j < o->nx; j++)
		if (!isfinite(o->h[j]))
			return false;
	return true;
}

static int
check(const struct radon_options *o)
{
	const struct radon_adapt_options *a = &o->adapt;

	if (!o->nt || !o->nx || !o->nq || !(o->dt > 0) ||
	    (o->nq > (o->nr ? o->nr : 1) && !(o->dq > 0)) || !(o->nu >= 0) || !(o->fmin >= 0) ||
	    o->mute.n > RADON_MAXMUTE || !check_second_axis(o))
		return -EDOM;
	if (o->hyperbolic &&
	    (o->method != RADON_TIME || !(o->q0 >= 0) || o->nt < 2 || o->nt > 1 << 28))
		return -EDOM;
	if ((o->mode == RADON_LSQ || o->mode == RADON_SPARSE) &&
	    (o->method == RADON_USFFT2D || (o->method == RADON_TIME && !o->hyperbolic)))
		return -EDOM;
	for (size_t j = 0; j < o->nx; j++)
		if (!isfinite(o->g[j]))
			return -EDOM;
	if ((o->find_nu || o->mute.find) && (o->mode != RADON_SPARSE || o->hyperbolic || o->nr))
		return -EDOM;
	return a->filter == 0 || (o->subtract && a->window >= 0 && a->filter > 0 &&
				  a->filter / o->dt < RADON_MAXFILTER)
		   ? 0
		   : -EDOM;
}

static int
build(struct radon_plan *p, const struct radon_options *o)
{
	const int err = radon_core_plan(&p->core, o);

	if (err)
		return err;
	if (o->method == RADON_TIME)
		return 0;
	if (o->method == RADON_USFFT2D)
		return radon_2d_plan(&p->two, &p->core);
	if (o->mode == RADON_LSQ && !o->nr && !o->unfactored && p->core.nlive &&
	    p->core.first < p->core.last)
		return radon_lsq_factor(&p->solver, &p->core);
	return 0;
}

int
radon_plan(struct radon_plan **p, const struct radon_options *o)
{
	int err = check(o);

	*p = NULL;
	if (err)
		return err;
	if (!(*p = weir_calloc(1, sizeof **p)))
		return -ENOMEM;
	if ((err = build(*p, o))) {
		radon_free(*p);
		*p = NULL;
	}
	return err;
}

void
radon_free(struct radon_plan *p)
{
	if (!p)
		return;
	toeplitz_free(p->solver);
	if (p->two) {
		usfft_free(p->two->usfft);
		weir_free_all(p->two->value, p->two->turn, p->two->rows, p->two);
	}
	radon_core_free(&p->core);
	weir_free(p);
}

struct radon_work *
radon_work(const struct radon_plan *p, int threads)
{
	struct radon_work *w = weir_calloc(1, sizeof *w);

	if (!w)
		return NULL;
	if (radon_room_take(&w->room, &p->core, threads) &&
	    (!p->solver || radon_lsq_take(&w->room, p->solver)) &&
	    (!radon_iterates(&p->core.o) || (w->irls = radon_irls(&p->core))) &&
	    (!p->core.o.find_nu || !radon_evidence(&w->evidence, &p->core.o, threads)) &&
	    (!(p->core.o.adapt.filter > 0) || (w->adapt = radon_adapter(&p->core.o, threads))))
		return w;
	radon_work_free(w);
	return NULL;
}

void
radon_work_free(struct radon_work *w)
{
	if (!w)
		return;
	radon_lsq_give(&w->room);
	radon_irls_free(w->irls);
	radon_adapter_free(w->adapt);
	radon_evidence_free(w->evidence);
	radon_room_free(&w->room);
	weir_free(w);
}

/* ---- the transforms ---- */

/* lsq and sparse without live traces or without frequencies: the panel is zeros, and nothing is subtracted. */
static void
run_dead(const struct radon_core *p, const float *in, float *out)
{
	if (p->o.subtract)
		memcpy(out, in, p->o.nx * p->o.nt * sizeof *out);
	else
		memset(out, 0, p->o.nq * p->ntau * sizeof *out);
}

static void
run_adjoint(const struct radon_plan *p, struct radon_room *w, const float *in, float *out)
{
	const struct radon_core *c = &p->core;

	radon_forward(c, w, in, c->o.nx, c->o.nt, c->lead, w->d);
	if (p->two) {
		radon_2d_adjoint(p->two, c, w, out);
		return;
	}
	radon_adjoint_all(c, w);
	radon_panel_out(c, w, out);
}

static void
run_model(const struct radon_plan *p, struct radon_room *w, const float *in, float *out)
{
	const struct radon_core *c = &p->core;

	if (p->two) {
		radon_2d_model(p->two, c, in, w);
	} else {
		radon_forward(c, w, in, c->o.nq, c->ntau, 0, w->m);
		radon_model_all(c, w);
	}
	radon_gather_out(c, w, NULL, out);
}

static void
run_in_time(const struct radon_core *c, struct radon_work *w, const float *in, float *out,
	    struct radon_report *r)
{
	const int threads = w->room.threads;

	if (c->o.mode == RADON_MODEL) {
		radon_time_model(c, in, out, threads);
	} else if (c->o.mode == RADON_ADJOINT) {
		radon_time_adjoint(c, in, out, threads);
		radon_mute_rows(c, out, threads);
	} else if (c->nlive) {
		radon_sparse_run(w->irls, &w->room, in, out, r);
	} else {
		run_dead(c, in, out);
	}
}

void
radon_explain(struct radon_work *w, float *explained)
{
	w->explained = explained;
}

void
radon_run(const struct radon_plan *p, struct radon_work *w, const float *in, float *out,
	  struct radon_report *report)
{
	const struct radon_core *c = &p->core;
	struct radon_report own, *r = report ? report : &own;

	*r = (struct radon_report){
	    .edge = {NAN, NAN}, .nu = c->o.nu, .adapt = INFINITY, .explained = w->explained};
	if (w->evidence && radon_evidence_run(w->evidence, in, &r->nu)) {
		r->nu = NAN;
		return;
	}
	r->nu *= w->evidence ? .1 : 1;
	if (c->o.method == RADON_TIME)
		run_in_time(c, w, in, out, r);
	else if (c->o.mode == RADON_ADJOINT)
		run_adjoint(p, &w->room, in, out);
	else if (c->o.mode == RADON_MODEL)
		run_model(p, &w->room, in, out);
	else if (!c->nlive || c->first == c->last)
		run_dead(c, in, out);
	else if (w->irls)
		radon_sparse_run(w->irls, &w->room, in, out, r);
	else
		radon_lsq_run(c, p->solver, &w->room, in, out, r);
	if (c->o.subtract)
		radon_keep_muted(&c->o, in, out);
	if (w->adapt)
		r->adapt = radon_adapt(w->adapt, in, out);
}
