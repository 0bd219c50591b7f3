#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "wconv/plan.h"
#include "wconv/restore/restore.h"
#include "wconv/volume/volume.h"

/* Returns the nodes of one direction, moved by `by`; the caller frees them. NULL: no memory. */
static double *
move_nodes(const double *node, size_t n, double by)
{
	double *moved = weir_alloc(n, sizeof *moved);

	for (size_t i = 0; moved && i < n; i++)
		moved[i] = node[i] + by;
	return moved;
}

/* Does for a volume along z what pose() does along x and y. */
static void
pose_depth(struct wconv_restore *r, const struct wconv_problem *q, struct wconv_problem *p)
{
	const bool unknown = q->edge == WCONV_RENORMALISE;
	const size_t before = q->correlate ? q->cz : q->kd - 1 - q->cz;
	const size_t deep = q->d + (unknown ? q->kd - 1 : 0);

	r->oz = !unknown ? 0 : r->o.scatters ? q->kd - 1 - before : before;
	r->h *= q->d;
	r->eh *= deep;
	p->d = unknown && !r->o.scatters ? deep : q->d;
}

/*
 * Poses the problem *p of the convolution that is A, or with scatters A'. Its origin is the corner of the item.
 * Where the edge renormalises, the estimate extends beyond the data as far as the kernel reaches. Then the convolution of
 * the estimate has the data as its valid results; with scatters, that of the data has the estimate as its full results.
 */
static int
pose(struct wconv_restore *r, const struct wconv_problem *q, struct wconv_problem *p,
     struct why *why)
{
	const bool unknown = q->edge == WCONV_RENORMALISE;
	const size_t bx = q->correlate ? q->cx : q->kw - 1 - q->cx, ax = q->kw - 1 - bx;
	const size_t by = q->correlate ? q->cy : q->kh - 1 - q->cy, ay = q->kh - 1 - by;
	const bool wider = unknown && !r->o.scatters;

	*p = *q;
	r->w = q->w;
	r->h = q->h;
	r->ew = q->w + (unknown ? q->kw - 1 : 0);
	r->eh = q->h + (unknown ? q->kh - 1 : 0);
	r->ox = !unknown ? 0 : r->o.scatters ? ax : bx;
	r->oy = !unknown ? 0 : r->o.scatters ? ay : by;
	r->rows = r->h;
	r->erows = r->eh;
	p->w = p->W = wider ? r->ew : q->w;
	p->h = p->H = wider ? r->eh : q->h;
	p->x0 = p->y0 = 0;
	p->edge = unknown ? WCONV_ZERO : q->edge;
	p->output = !unknown ? WCONV_SAME : r->o.scatters ? WCONV_FULL : WCONV_VALID;
	p->nan = WCONV_NAN_ZERO;
	p->repeat = true;
	const double dx = (wider ? (double)bx : 0) - (double)q->x0,
		     dy = (wider ? (double)by : 0) - (double)q->y0;
	p->zero_x += dx;
	p->zero_y += dy;
	if (q->kd)
		pose_depth(r, q, p);
	if (q->degree >= 0)
		return 0;
	p->node_x = r->node_x = move_nodes(q->node_x, q->gx, dx);
	p->node_y = r->node_y = move_nodes(q->node_y, q->gy, dy);
	return r->node_x && r->node_y ? 0 : why_set(why, "no memory");
}

static int
make_room(struct wconv_restore *r, struct why *why)
{
	const size_t size = r->in_double ? sizeof(double) : sizeof(float);

	r->x = weir_alloc_large(r->ew * size, r->eh);
	r->p = weir_alloc_large(r->ew * size, r->eh);
	r->s = weir_alloc_large(r->ew * size, r->eh);
	r->f = weir_alloc_large(2 * r->w * size, r->h); /* the second half: if data are lifted */
	r->r = weir_alloc_large(r->w * size, r->h);
	r->row = weir_alloc(r->eh, sizeof *r->row);
	if (r->o.accelerate) {
		r->last = weir_alloc_large(r->ew * size, r->eh);
		r->gain = weir_alloc_large(r->ew * size, r->eh);
		r->along = weir_alloc(r->eh, sizeof *r->along);
		r->before = weir_alloc(r->eh, sizeof *r->before);
		if (!r->last || !r->gain || !r->along || !r->before)
			return why_set(why, "no memory");
	}
	return r->x && r->p && r->s && r->f && r->r && r->row ? 0 : why_set(why, "no memory");
}

int
wconv_restore_plan(struct wconv_restore **to, const struct wconv_problem *q,
		   const struct wconv_restore_options *o, struct why *why)
{
	struct wconv_problem p;
	struct wconv_restore *r;

	*to = NULL;
	if ((q->w != q->W || q->h != q->H) && q->edge != WCONV_RENORMALISE)
		return why_set(why,
			       "a part of a picture is deconvolved with --edge=renormalise only");
	r = weir_calloc(1, sizeof *r);
	if (!r)
		return why_set(why, "no memory");
	r->o = *o;
	r->threads = q->threads;
	r->in_double = q->in_double;
	if (pose(r, q, &p, why) || (!o->on_device && make_room(r, why)) ||
	    (q->kd ? wconv_volume_plan(&r->volume, &p, why)
		   : wconv_plan(&r->plan, &p, why) ||
			 (!o->on_device && wconv_adjoint_plan(&r->adjoint, r->plan, why)))) {
		wconv_restore_free(r);
		return -1;
	}
	*to = r;
	return 0;
}

int
wconv_restore_run(struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
		  struct why *why)
{
	const struct wconv_restore_steps *s =
	    r->in_double ? &wconv_restore_f64 : &wconv_restore_f32;
	const size_t size = r->in_double ? sizeof(double) : sizeof(float), row = r->w * size;

	if (r->o.least_squares ? s->least_squares(r, y, done, why) : s->lucy(r, y, done, why))
		return -1;
	/* the part of the estimate that lies where the data do */
	for (size_t i = 0; i < r->h; i++) {
		const size_t k = (i / r->rows + r->oz) * r->erows + i % r->rows + r->oy;
		memcpy((char *)x + i * row, (const char *)r->x + (k * r->ew + r->ox) * size, row);
	}
	return 0;
}

const struct wconv_plan *
wconv_restore_by(const struct wconv_restore *r)
{
	return r->plan;
}

void
wconv_restore_free(struct wconv_restore *r)
{
	if (!r)
		return;
	wconv_volume_free(r->volume);
	wconv_adjoint_free(r->adjoint);
	wconv_free(r->plan);
	weir_free_all(r->x, r->p, r->s, r->f, r->r, r->row, r->last, r->gain, r->along, r->before,
		      r->node_x, r->node_y, r);
}
