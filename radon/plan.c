#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "radon/plan.h"

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

static bool
check_adapt(const struct radon_options *o)
{
	const struct radon_adapt_options *a = &o->adapt;

	return a->filter == 0 || (o->subtract && a->window >= 0 && a->filter > 0 &&
				  a->filter / o->dt < RADON_MAXFILTER);
}

static bool
is_inverse(const struct radon_options *o)
{
	return o->mode == RADON_LSQ || o->mode == RADON_SPARSE;
}

static int
check(const struct radon_options *o)
{
	if (!o->nt || !o->nx || !o->nq || !(o->dt > 0) ||
	    (o->nq > (o->nr ? o->nr : 1) && !(o->dq > 0)) || !(o->nu >= 0) || !(o->fmin >= 0) ||
	    o->mute.n > RADON_MAXMUTE || !check_second_axis(o))
		return -EDOM;
	if (o->hyperbolic &&
	    (o->method != RADON_TIME || !(o->q0 >= 0) || o->nt < 2 || o->nt > 1 << 28))
		return -EDOM;
	if (is_inverse(o) &&
	    (o->method == RADON_USFFT2D || (o->method == RADON_TIME && !o->hyperbolic)))
		return -EDOM;
	for (size_t j = 0; j < o->nx; j++)
		if (!isfinite(o->g[j]))
			return -EDOM;
	if (o->find_nu && (o->mode != RADON_SPARSE || o->hyperbolic || o->nr))
		return -EDOM;
	return check_adapt(o) ? 0 : -EDOM;
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
	radon_2d_free(p->two);
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
	    (!p->solver || (w->lsq = radon_lsq_work(p->solver, threads))) &&
	    (!radon_iterates(&p->core.o) ||
	     (w->irls =
		  p->core.o.hyperbolic ? radon_time_inverse(&p->core) : radon_sparse(&p->core))) &&
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
	radon_lsq_work_free(w->lsq);
	radon_irls_free(w->irls);
	radon_adapter_free(w->adapt);
	radon_evidence_free(w->evidence);
	radon_room_free(&w->room);
	weir_free(w);
}
