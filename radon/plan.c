#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/fft.h"
#include "common/mem.h"
#include "common/par.h"
#include "radon/plan.h"
#include "radon/sparse.h"
#include "radon/toeplitz.h"
#include "radon/usfft2d.h"

/* Fewer terms than this in a sum, and the recurrence beats the window and the FFT of a transform. */
enum { SHORT_SUM = 12 };

bool
radon_curve(enum radon_curve curve, double x, double reference, double depth, double *g)
{
	if (curve == RADON_PARABOLIC)
		*g = x / reference * (x / reference);
	else if (curve == RADON_LINEAR)
		*g = x / reference;
	else /* (sqrt(z^2 + x^2) - z) without its cancellation */
		*g = x * x / (hypot(depth, x) + depth) /
		     (reference * reference / (hypot(depth, reference) + depth));
	return isfinite(*g);
}

double
radon_mute_weight(const struct radon_mute *m, double tau, double q)
{
	size_t i = 0;
	double cut;

	while (i < m->n && m->t[i] <= tau)
		i++;
	if (m->n == 0)
		return 1;
	if (i == 0 || i == m->n)
		cut = m->q[i ? m->n - 1 : 0];
	else
		cut = m->q[i - 1] +
		      (m->q[i] - m->q[i - 1]) * (tau - m->t[i - 1]) / (m->t[i] - m->t[i - 1]);
	if (q <= cut)
		return 0;
	if (q >= cut + m->taper)
		return 1;
	return .5 * (1 - cos(M_PI * (q - cut) / m->taper));
}

/* The least and the greatest of q g over all curves and traces, s. */
static void
moveouts(const struct radon_options *o, double *lo, double *hi)
{
	const double q[2] = {o->q0, o->q0 + (double)(o->nq - 1) * o->dq};

	double glo = fmin(o->glo, 0), ghi = fmax(o->ghi, 0);

	for (size_t j = 0; j < o->nx; j++) {
		glo = fmin(glo, o->g[j]);
		ghi = fmax(ghi, o->g[j]);
	}
	*lo = fmin(0, fmin(fmin(q[0] * glo, q[0] * ghi), fmin(q[1] * glo, q[1] * ghi)));
	*hi = fmax(0, fmax(fmax(q[0] * glo, q[0] * ghi), fmax(q[1] * glo, q[1] * ghi)));
}

bool
radon_fits(const struct radon_options *o, size_t *ntau, size_t *lead)
{
	double lo, hi;

	moveouts(o, &lo, &hi);
	lo = ceil(-lo / o->dt - 1e-9);
	hi = ceil(hi / o->dt - 1e-9);
	if (!(lo + hi + (double)o->nt < 1 << 28))
		return false;
	*lead = (size_t)hi;
	*ntau = fft_size(o->nt + (size_t)lo + (size_t)hi);
	return true;
}

double
radon_alias(const struct radon_options *o)
{
	double g = 0;

	for (size_t j = 0; j < o->nx; j++)
		g = fmax(g, fabs(o->g[j]));
	return o->nq > 1 && g > 0 ? .5 / (o->dq * g) : INFINITY;
}

static int
check(const struct radon_options *o)
{
	if (!o->nt || !o->nx || !o->nq || !(o->dt > 0) || (o->nq > 1 && !(o->dq > 0)) ||
	    !(o->eps >= 0) || !(o->fmin >= 0) || o->mute.n > RADON_MAXMUTE)
		return -EDOM;
	if ((o->mode == RADON_LSQ || o->mode == RADON_SPARSE) &&
	    (o->method == RADON_TIME || o->method == RADON_USFFT2D))
		return -EDOM;
	for (size_t j = 0; j < o->nx; j++)
		if (!isfinite(o->g[j]))
			return -EDOM;
	return 0;
}

/* Band, row lengths and blocks. The rows' stride is no multiple of 4096 bytes, so that a column does not fill one cache set. */
static void
set_shape(struct radon_plan *p)
{
	const double per_hz = (double)p->nfft * p->o.dt;
	double top;

	p->nw = p->nfft / 2 + 1;
	p->ld = (p->nw + LANES - 1) / LANES * LANES;
	if (p->ld % 512 == 0)
		p->ld += LANES;
	top = p->o.fmax > 0 ? floor(p->o.fmax * per_hz * (1 + 1e-12)) : (double)p->nw;
	p->kmin = (size_t)fmin(ceil(p->o.fmin * per_hz * (1 - 1e-12)), (double)p->nw);
	p->kmax = top < (double)p->nw ? (size_t)top : p->nw - 1;
	p->first = p->kmin / LANES;
	p->last = p->kmin > p->kmax ? p->first : p->kmax / LANES + 1;
}

static void
set_points(struct radon_plan *p)
{
	const double per = 1 / ((double)p->nfft * p->o.dt);

	for (size_t j = 0; j < p->o.nx; j++) {
		p->a[j] = p->o.q0 * p->g[j] * per;
		p->c[j] = p->o.nq > 1 ? p->o.dq * p->g[j] * per : 0;
		p->live[j] = !p->o.live || p->o.live[j];
		p->nlive += p->live[j];
	}
	p->q_mute = p->o.mute.n <= 1;
	for (size_t i = 0; i < p->o.nq; i++)
		p->q_weight[i] =
		    (float)radon_mute_weight(&p->o.mute, 0, p->o.q0 + (double)i * p->o.dq);
}

static int
plan_rows(struct radon_plan *p)
{
	const int n = (int)p->nfft;
	float *row = weir_alloc(p->nfft + 2, sizeof *row);
	fftwf_complex *s = weir_alloc(p->ld, sizeof *s);

	if (row && s) {
		p->forward = fftwf_plan_dft_r2c_1d(n, row, s, FFTW_ESTIMATE);
		p->backward = fftwf_plan_dft_c2r_1d(n, s, row, FFTW_ESTIMATE);
	}
	weir_free(row);
	weir_free(s);
	return p->forward && p->backward ? 0 : -ENOMEM;
}

/* Factors A^H A + eps nx of all blocks of the band. */
static int
factor(struct radon_plan *p)
{
	const int threads = p->o.threads > 0 ? p->o.threads : 1;
	struct radon_work *w;
	int err = 0;

	if (p->first == p->last)
		return 0;
	p->solver = toeplitz_new(p->o.nq, p->last - p->first);
	w = p->solver ? radon_work(p, threads) : NULL;
	if (!w)
		return -ENOMEM;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(min : err)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_lane_work *l = &w->lane[omp_get_thread_num()];
		recurrence_column(p, l, b * LANES, l->sum);
		for (size_t i = 0; i < LANES; i++)
			l->sum[i] += p->o.eps * (double)p->nlive;
		int e = toeplitz_factor(p->solver, l->solve, b - p->first, l->sum);
		err = e < err ? e : err;
	}
	radon_work_free(w);
	return err;
}

static int
build(struct radon_plan *p, const struct radon_options *o)
{
	int err;

	if (!radon_fits(o, &p->ntau, &p->lead))
		return -EOVERFLOW;
	p->nfft = p->ntau;
	p->a = weir_alloc(o->nx, sizeof *p->a);
	p->c = weir_alloc(o->nx, sizeof *p->c);
	p->g = weir_alloc(o->nx, sizeof *p->g);
	p->live = weir_alloc(o->nx, sizeof *p->live);
	p->q_weight = weir_alloc(o->nq, sizeof *p->q_weight);
	if (!p->a || !p->c || !p->g || !p->live || !p->q_weight)
		return -ENOMEM;
	memcpy(p->g, o->g, o->nx * sizeof *p->g);
	set_shape(p);
	set_points(p);
	p->o.g = p->g;
	p->o.live = p->live;
	p->nufft = o->method == RADON_NUFFT ||
		   (o->method == RADON_AUTO && o->nx > SHORT_SUM && o->nq > SHORT_SUM);
	p->exact_rhs = o->method == RADON_AUTO;
	if (p->o.method == RADON_TIME)
		return 0;
	if ((err = plan_rows(p)) || (p->nufft && (err = usfft_line_plan(&p->line, o->nx, o->nq))))
		return err;
	if (p->nufft)
		usfft_line_points(&p->line, p->a, p->c);
	if (o->method == RADON_USFFT2D)
		return radon_2d_plan(&p->two, p);
	return o->mode == RADON_LSQ && p->nlive && !o->unfactored ? factor(p) : 0;
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
	(*p)->o = *o;
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
	weir_free(p->a);
	weir_free(p->c);
	weir_free(p->g);
	weir_free(p->live);
	weir_free(p->q_weight);
	if (p->forward)
		fftwf_destroy_plan(p->forward);
	if (p->backward)
		fftwf_destroy_plan(p->backward);
	usfft_line_free(&p->line);
	toeplitz_free(p->solver);
	radon_2d_free(p->two);
	weir_free(p);
}

size_t
radon_ntau(const struct radon_plan *p)
{
	return p->ntau;
}

size_t
radon_lead(const struct radon_plan *p)
{
	return p->lead;
}

/* --- room for a gather -------------------------------------------------------------------------------------------- */

static bool
lane_room(const struct radon_plan *p, struct radon_lane_work *l)
{
	const size_t row = 2 * LANES * sizeof(double);

	l->row = weir_alloc(p->nfft + 2, sizeof *l->row);
	l->m = weir_calloc(p->o.nq * LANES, 2 * sizeof *l->m);
	l->d = weir_calloc(p->o.nx * LANES, 2 * sizeof *l->d);
	if (!l->row || !l->m || !l->d || (p->nufft && usfft_line_work(&l->line, &p->line)))
		return false;
	if (p->solver && !(l->solve = toeplitz_work(p->solver)))
		return false;
	if ((p->nufft || p->two) && !p->solver)
		return true;
	l->z = weir_alloc(p->o.nx, row);
	l->e = weir_alloc(p->o.nx, row);
	l->sum = weir_alloc(p->o.nq, row);
	return l->z && l->e && l->sum;
}

struct radon_work *
radon_work(const struct radon_plan *p, int threads)
{
	struct radon_work *w = weir_calloc(1, sizeof *w);
	const size_t rows = p->o.nq > p->o.nx ? p->o.nq : p->o.nx;
	bool ok;

	if (!w)
		return NULL;
	w->threads = threads;
	if (p->o.method == RADON_TIME)
		return w;
	w->lane = weir_calloc((size_t)threads, sizeof *w->lane);
	w->d = weir_calloc(rows, p->ld * 2 * sizeof *w->d);
	w->m = p->o.mode == RADON_SPARSE ? weir_calloc(rows, p->ld * 2 * sizeof *w->m) : w->d;
	w->part = weir_alloc((rows > p->last ? rows : p->last) + 1, 2 * sizeof *w->part);
	ok = w->lane && w->d && w->m && w->part;
	for (int i = 0; ok && i < threads; i++)
		ok = lane_room(p, &w->lane[i]);
	if (ok && p->o.mode == RADON_SPARSE)
		ok = (w->sparse = radon_sparse_room(p)) != NULL;
	if (ok)
		return w;
	radon_work_free(w);
	return NULL;
}

void
radon_work_free(struct radon_work *w)
{
	if (!w)
		return;
	for (int i = 0; w->lane && i < w->threads; i++) {
		struct radon_lane_work *l = &w->lane[i];
		weir_free(l->row);
		weir_free(l->m);
		weir_free(l->d);
		weir_free(l->z);
		weir_free(l->e);
		weir_free(l->sum);
		usfft_line_work_free(&l->line);
		toeplitz_work_free(l->solve);
	}
	weir_free(w->lane);
	if (w->m != w->d)
		weir_free(w->m);
	weir_free(w->d);
	weir_free(w->part);
	radon_sparse_free(w->sparse);
	weir_free(w);
}
