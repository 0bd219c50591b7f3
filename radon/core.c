#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/core.h"

/* In a sum of at most this many terms the recurrence is faster than the window and the FFT of a transform. */
enum { SHORT_SUM = 12 };

bool
radon_iterates(const struct radon_options *o)
{
	return o->mode == RADON_SPARSE || (o->mode == RADON_LSQ && (o->hyperbolic || o->nr > 0));
}

double
radon_damping(const struct radon_core *p)
{
	return p->o.nu * (double)p->o.nq;
}

/*
 * Sets the band, the lengths of rows and the blocks. The stride of the rows is kept off multiples of 4096 bytes, so that the
 * elements of a column lie in different cache sets.
 */
static void
set_shape(struct radon_core *p)
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
set_points(struct radon_core *p)
{
	const double per = 1 / ((double)p->nfft * p->o.dt);

	for (size_t j = 0; j < p->o.nx; j++) {
		p->a[j] = p->o.q0 * p->g[j] * per;
		p->c[j] = p->nq > 1 ? p->o.dq * p->g[j] * per : 0;
		if (p->h) {
			p->b[j] = p->o.r0 * p->h[j] * per;
			p->e[j] = p->o.nr > 1 ? p->o.dr * p->h[j] * per : 0;
		}
		p->live[j] = !p->o.live || p->o.live[j];
		p->nlive += p->live[j];
	}
	p->q_mute = p->o.mute.n <= 1 && !p->o.mute.npolygon;
	for (size_t i = 0; i < p->o.nq; i++)
		p->q_weight[i] = (float)radon_mute_weight(&p->o.mute, 0, radon_mute_q(&p->o, i));
}

/* Fills the weights of a mute that depends on time. Returns 0 or -ENOMEM. */
static int
weigh(struct radon_core *p)
{
	const int threads = p->o.threads > 0 ? p->o.threads : 1;

	if (p->q_mute)
		return 0;
	p->weight = weir_alloc(p->o.nq, p->ntau * sizeof *p->weight);
	if (!p->weight)
		return -ENOMEM;
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t t = 0; t < p->ntau; t++)
			p->weight[i * p->ntau + t] = (float)radon_mute_weight(
			    &p->o.mute, p->o.t0 + ((double)t - (double)p->lead) * p->o.dt,
			    radon_mute_q(&p->o, i));
	return 0;
}

/* Allocates the arrays of a second axis of curves. */
static bool
take_second_axis(struct radon_core *p)
{
	const size_t n = p->o.nx;

	p->h = weir_alloc(n, sizeof *p->h);
	p->b = weir_alloc(n, sizeof *p->b);
	p->e = weir_alloc(n, sizeof *p->e);
	if (!p->h || !p->b || !p->e)
		return false;
	memcpy(p->h, p->o.h, n * sizeof *p->h);
	return true;
}

int
radon_core_plan(struct radon_core *p, const struct radon_options *o)
{
	int err;

	p->o = *o;
	p->loops = radon_loops();
	if (!radon_fits(o, &p->ntau, &p->lead))
		return -EOVERFLOW;
	p->nfft = p->ntau;
	p->nq = o->nr ? o->nq / o->nr : o->nq;
	p->a = weir_alloc(o->nx, sizeof *p->a);
	p->c = weir_alloc(o->nx, sizeof *p->c);
	p->g = weir_alloc(o->nx, sizeof *p->g);
	p->live = weir_alloc(o->nx, sizeof *p->live);
	p->q_weight = weir_alloc(o->nq, sizeof *p->q_weight);
	if (!p->a || !p->c || !p->g || !p->live || !p->q_weight)
		return -ENOMEM;
	if (o->nr && !take_second_axis(p))
		return -ENOMEM;
	memcpy(p->g, o->g, o->nx * sizeof *p->g);
	set_shape(p);
	set_points(p);
	p->o.g = p->g;
	p->o.h = p->h;
	p->o.live = p->live;
	p->nufft = o->method == RADON_NUFFT ||
		   (o->method == RADON_AUTO && o->nx > SHORT_SUM && p->nq > SHORT_SUM);
	p->exact_rhs = o->method == RADON_AUTO;
	if ((err = weigh(p)) || o->method == RADON_TIME)
		return err;
	if ((err = radon_fft_plan(&p->fft, p->nfft)) ||
	    (p->nufft && (err = usfft_line_plan(&p->line, o->nx, p->nq))))
		return err;
	if (p->nufft)
		usfft_line_points(&p->line, p->a, p->c);
	return 0;
}

void
radon_core_free(struct radon_core *p)
{
	weir_free(p->a);
	weir_free(p->c);
	weir_free(p->g);
	weir_free(p->h);
	weir_free(p->b);
	weir_free(p->e);
	weir_free(p->live);
	weir_free(p->q_weight);
	weir_free(p->weight);
	radon_fft_free(&p->fft);
	usfft_line_free(&p->line);
}

/* --- the work of a gather ------------------------------------------------------------------------------------------ */

static bool
take_turns(struct radon_worker *l, size_t nx)
{
	l->turn = weir_alloc(nx * LANES, 2 * sizeof *l->turn);
	l->by = weir_alloc(nx * LANES, 2 * sizeof *l->by);
	l->turned = weir_alloc(nx * LANES, 2 * sizeof *l->turned);
	return l->turn && l->by && l->turned;
}

static bool
take_worker(const struct radon_core *p, struct radon_worker *l)
{
	const size_t row = 2 * LANES * sizeof(double);
	const bool sums = !p->nufft || (p->o.mode == RADON_LSQ && !p->h);

	l->row = weir_alloc(p->nfft + 2, sizeof *l->row);
	l->m = weir_calloc(p->o.nq * LANES, 2 * sizeof *l->m);
	l->d = weir_calloc(p->o.nx * LANES, 2 * sizeof *l->d);
	if (!l->row || !l->m || !l->d || (p->nufft && usfft_line_work(&l->line, &p->line)))
		return false;
	if (p->h && !take_turns(l, p->o.nx))
		return false;
	if (!sums || p->o.method == RADON_USFFT2D)
		return true;
	l->z = weir_alloc(p->o.nx, row);
	l->e = weir_alloc(p->o.nx, row);
	l->sum = weir_alloc(p->nq, row);
	return l->z && l->e && l->sum;
}

bool
radon_room_take(struct radon_room *r, const struct radon_core *p, int threads)
{
	const size_t rows = p->o.nq > p->o.nx ? p->o.nq : p->o.nx;
	bool ok;

	r->threads = threads;
	if (p->o.method == RADON_TIME)
		return true;
	r->worker = weir_calloc((size_t)threads, sizeof *r->worker);
	r->d = weir_calloc_large(rows, p->ld * 2 * sizeof *r->d);
	r->m = r->d;
	r->part = weir_alloc(p->last + 1, sizeof *r->part);
	ok = r->worker && r->d && r->part;
	for (int i = 0; ok && i < threads; i++)
		ok = take_worker(p, &r->worker[i]);
	return ok;
}

void
radon_room_free(struct radon_room *r)
{
	for (int i = 0; r->worker && i < r->threads; i++) {
		struct radon_worker *l = &r->worker[i];
		weir_free(l->row);
		weir_free(l->m);
		weir_free(l->d);
		weir_free(l->z);
		weir_free(l->e);
		weir_free(l->sum);
		weir_free(l->turn);
		weir_free(l->by);
		weir_free(l->turned);
		usfft_line_work_free(&l->line);
	}
	weir_free(r->worker);
	weir_free(r->d);
	weir_free(r->part);
}
