/* Weights, places and kernels of a picture and of a step: made by the host, sent to the device. */
#include "gpu/wconv/job.h"

#include <algorithm>

namespace
{

/* Returns how many weights a position has: one for each of two neighbouring functions, or one for each power. */
unsigned
wc_weights(const struct wconv_axis *a)
{
	return a->degree >= 0 ? (unsigned)a->nfun : 2;
}

/* The first function that position x needs. */
unsigned
first_function(const struct wconv_axis *a, ptrdiff_t x)
{
	if (a->degree >= 0)
		return 0;
	/* the last with left <= x */
	return (unsigned)(std::upper_bound(a->left + 1, a->left + a->nfun, (double)x) - a->left) -
	       1;
}

/* Cuts a row to runs of at most WC_SPAN results with the same functions. Returns how many; *longest: the most results of one. */
unsigned
cut_segments(const struct wconv_axis *a, wc_segment *seg, unsigned *longest)
{
	const unsigned width = (unsigned)(a->hi - a->lo), most = wc_weights(a);
	unsigned n = 0;

	for (unsigned x = 0; x < width; x++) {
		const unsigned f = first_function(a, a->lo + (ptrdiff_t)x);
		if (n == 0 || seg[n - 1].f != f || seg[n - 1].n == WC_SPAN)
			seg[n++] = {x, 0, f, most};
		seg[n - 1].n++;
		*longest = seg[n - 1].n > *longest ? seg[n - 1].n : *longest;
	}
	return n;
}

/* The first function that each of n positions from `first` on needs, and the weights of those from it on. */
template <class T>
void
fill_weights(const struct wconv_axis *a, ptrdiff_t first, size_t n, unsigned *function, T *weight)
{
	for (size_t i = 0; i < n; i++) {
		const ptrdiff_t at = first + (ptrdiff_t)i;
		const unsigned f = function[i] = first_function(a, at);
		for (size_t k = 0; k < wc_weights(a); k++)
			weight[k * n + i] = f + k < a->nfun ? (T)wconv_weight(a, f + k, at) : 0;
	}
}

/* The kernels as convolve() wants them. */
template <class T>
void
turn_kernels(T *to, const struct wconv_plan *p)
{
	const struct wconv_problem *q = &p->q;

	for (size_t k = 0; k < q->gx * q->gy; k++)
		for (size_t j = 0; j < q->kh; j++)
			for (size_t i = 0; i < q->kw; i++) {
				const size_t a = q->correlate ? i : q->kw - 1 - i;
				const size_t b = q->correlate ? j : q->kh - 1 - j;
				const size_t at = k % q->gx * q->step_x + k / q->gx * q->step_y +
						  b * q->step_row + a;
				const double v = q->in_double
						     ? static_cast<const double *>(q->kernels)[at]
						     : static_cast<const float *>(q->kernels)[at];
				*to++ = (T)(v * p->scale[k]);
			}
}

} // namespace

ptrdiff_t
wc_place(const struct wconv_axis *a, ptrdiff_t x)
{
	const ptrdiff_t from = wconv_edge(a->edge, x, a->n);

	return from < 0 ? -1 : from - a->have0;
}

template <class T>
wc_work<T>
wc_work_of(const struct wconv_plan *p, size_t rows)
{
	const struct wconv_problem *q = &p->q;
	wc_work<T> w = {};

	w.width = (unsigned)(p->x.hi - p->x.lo);
	w.rows = (unsigned)rows;
	w.planes = (unsigned)q->planes;
	w.kw = (unsigned)q->kw;
	w.kh = (unsigned)q->kh;
	w.nwx = wc_weights(&p->x);
	w.nwy = wc_weights(&p->y);
	w.nfx = (unsigned)p->x.nfun;
	w.nfy = (unsigned)p->y.nfun;
	w.ring_row = q->w * q->planes;
	w.type = q->out;
	w.nan = q->nan;
	w.renormalise = q->edge == WCONV_RENORMALISE;
	w.top = q->top;
	return w;
}

template <class T>
int
wc_send_kernels(struct gpu *g, const struct wconv_plan *p)
{
	const size_t n = p->q.gx * p->q.gy * p->q.kw * p->q.kh;
	T *to;

	return gpu_place_filled(
	    g, WC_KERNELS, [&](gpu_block *b) { to = gpu_take<T>(b, n); },
	    [&] { turn_kernels<T>(to, p); });
}

template <class T>
int
wc_send_tables(struct gpu *g, const struct wconv_plan *p, wc_work<T> *w)
{
	const struct wconv_axis *a = &p->x;
	const size_t kernels = p->q.gx * p->q.gy, functions = (size_t)w->nfx * w->nfy;

	const auto lay = [=](gpu_block *b) {
		w->wx = gpu_take<T>(b, (size_t)w->nwx * w->width);
		w->fx = gpu_take<unsigned>(b, w->width);
		w->column = gpu_take<int>(b, w->width + w->kw - 1);
		w->seg = gpu_take<wc_segment>(b, w->width);
		w->number = gpu_take<unsigned>(b, functions);
		w->sum = wconv_divides(&p->q) ? gpu_take<double>(b, kernels) : NULL;
	};
	return gpu_place_filled(g, WC_TABLES, lay, [=] {
		fill_weights(a, a->lo, w->width, w->fx, w->wx);
		for (size_t i = 0; i < w->width + w->kw - 1; i++)
			w->column[i] = (int)wc_place(a, a->lo - a->before + (ptrdiff_t)i);
		for (size_t f = 0; f < functions; f++) {
			const size_t k = wconv_kernel(p, f % w->nfx, f / w->nfx);
			w->number[f] = k == SIZE_MAX ? WC_NONE : (unsigned)k;
		}
		if (w->sum)
			memcpy(w->sum, p->sum, kernels * sizeof *w->sum);
		w->segments = cut_segments(a, w->seg, &w->longest);
	});
}

template <class T>
int
wc_send_step(struct gpu *g, const struct wconv_plan *p, size_t depth, ptrdiff_t first, size_t rows,
	     wc_work<T> *w)
{
	const struct wconv_axis *a = &p->y;
	const size_t window = rows + w->kh - 1;

	return gpu_place_filled(
	    g, WC_STEP,
	    [=](gpu_block *b) {
		    w->wy = gpu_take<T>(b, w->nwy * rows);
		    w->fy = gpu_take<unsigned>(b, rows);
		    w->row = gpu_take<int>(b, window);
	    },
	    [=] {
		    fill_weights(a, first, rows, w->fy, w->wy);
		    for (size_t i = 0; i < window; i++) {
			    const ptrdiff_t from = wc_place(a, first - a->before + (ptrdiff_t)i);
			    w->row[i] = from < 0 ? -1 : (int)((size_t)from % depth);
		    }
	    });
}

#define INSTANCES(T)                                                                          \
	template wc_work<T> wc_work_of(const struct wconv_plan *, size_t);                    \
	template int wc_send_kernels<T>(struct gpu *, const struct wconv_plan *);             \
	template int wc_send_tables(struct gpu *, const struct wconv_plan *, wc_work<T> *);   \
	template int wc_send_step(struct gpu *, const struct wconv_plan *, size_t, ptrdiff_t, \
				  size_t, wc_work<T> *);
INSTANCES(float)
INSTANCES(double)
