/*
 * Type 3 as usfft/type3.c does it, whose boxes and plans these are: the points are spread on the outer grid; the Fourier sum of
 * its cells at the targets is a type 2 transform on the inner grid, which oversamples it.
 *
 *	turn	(points.cu) thread = point: its value by the phase of the targets' middle
 *	divide	thread = target: the window of the outer grid divided out, and the phase of the points' middle
 *
 * Phases and the window's transform are worked out in double, from coordinates as they came: some 200 operations a point and
 * as many a target. Bytes: those of spreading on the outer grid and of a type 2 whose modes are the outer grid's cells.
 */
#include "gpu/usfft/work.h"

extern "C" {
#include "gpu/usfft/usfft.h"
#include "usfft/plan.h"
}

namespace
{

/* The outer windows: usfft/window.c. hat(f) = hat0 shape(f) / shape(0). */
struct hats {
	bool gauss;
	double beta[3], reach[3], hat0[3]; /* reach: pi W */
};

__device__ double
hat(const hats &h, int axis, double f)
{
	const double b = h.beta[axis], p = h.reach[axis] * f;

	return h.hat0[axis] * (h.gauss ? exp(-p * p / (4 * b))
				       : window_sinhc(b * b - p * p) / window_sinhc(b * b));
}

template <class T>
__device__ void
divide(unsigned j, const given<T> &to, const hats &h, int dim, T *out)
{
	double s[3], factor = 1;

#pragma unroll
	for (int a = 0; a < 3; a++)
		if (a < dim) {
			s[a] = raw_coordinate(to, a, j);
			factor /= hat(h, a, (s[a] - to.mid[a]) * to.scale[a]);
		}
	turn_value(out + 2 * (size_t)j, turns_of(dim, to.turn, s), factor);
}

hats
hats_of(const struct usfft_plan *outer)
{
	hats h = {};

	h.gauss = outer->win[0].gauss;
	for (int a = 0; a < outer->o.dim; a++) {
		h.beta[a] = outer->win[a].beta;
		h.reach[a] = M_PI * outer->win[a].w;
		h.hat0[a] = window_hat(&outer->win[a], 0);
	}
	return h;
}

/* The points' values on the outer grid, in memory of its own. */
template <class T>
int
spread_outer(struct gpu *g, const struct usfft_3 *t, const struct usfft_points *pt, const T *c,
	     int sign, cplx<T> **grid, size_t *bad)
{
	given<T> in = {};
	work<T> k = {};

	in.turned = true;
	for (int a = 0; a < t->o.dim; a++) {
		in.mid[a] = t->box.mid[a];
		in.scale[a] = 1 / t->period[a];
		in.turn[a] = sign * t->target_box.mid[a];
	}
	GPU_DO(usfft_take(g, t->outer, pt, c, 2, &in, bad));
	GPU_DO(usfft_work(g, t->outer, &k));
	GPU_DO(gpu_array(g, HOLD_OUTER, count_cells(k), grid));
	k.grid = *grid;
	GPU_DO(gpu_begin(g));
	GPU_DO(usfft_spread(g, k, t->o.dim));
	return gpu_end(g);
}

/* After it, type 2 of the outer grid's cells, at the targets. */
template <class T>
int
transform(struct gpu *g, const struct usfft_3 *t, const struct usfft_points *pt, const void *c,
	  const struct usfft_points *to, int sign, void *out, size_t *bad)
{
	const int dim = t->o.dim;
	given<T> in = {};
	work<T> k = {};
	cplx<T> *grid, *at;

	GPU_DO(spread_outer(g, t, pt, static_cast<const T *>(c), sign, &grid, bad));
	for (int a = 0; a < dim; a++) {
		in.mid[a] = t->target_box.mid[a];
		in.scale[a] = t->period[a] / (double)t->outer->grid.n[a];
		in.turn[a] = sign * t->box.mid[a];
	}
	GPU_DO(usfft_take<T>(g, t->inner, to, NULL, 0, &in, bad));
	GPU_DO(usfft_grid(g, t->inner, &k));
	GPU_DO(gpu_array(g, HOLD_VALUES, to->m + 1, &at));
	GPU_DO(gpu_begin(g));
	GPU_DO(usfft_put_modes(g, k, dim, sign, grid));
	GPU_DO(usfft_interp(g, k, dim, at));
	GPU_EACH(g, divide<T>, k.m, in, hats_of(t->outer), dim, &at->re);
	GPU_DO(gpu_end(g));
	return gpu_down(g, out, at, to->m * sizeof *at);
}

} // namespace

int
gpu_usfft_type3(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
		const void *c, const struct usfft_points *targets, int sign, void *out, size_t *bad)
{
	struct usfft_3 t = {};
	const gpu_at_end done{[&] { type3_free(&t); }};

	if (pt->m > USFFT_MAXPOINTS || targets->m > USFFT_MAXPOINTS)
		return -EOVERFLOW;
	t.o = *o;
	GPU_DO(type3_plan(&t, pt, targets, bad));
	return o->single ? transform<float>(g, &t, pt, c, targets, sign, out, bad)
			 : transform<double>(g, &t, pt, c, targets, sign, out, bad);
}
