/* Weights, places and kernels of a picture and of a step: made by the host, sent to the device. */
#include "gpu/wconv/whole.h"

namespace
{

/* The first function that position x needs. */
unsigned
first_function(const struct wconv_axis *a, ptrdiff_t x)
{
	unsigned f = 0;

	if (a->degree >= 0)
		return 0;
	for (size_t lo = 1, hi = a->nfun; lo < hi;) { /* the last with left <= x */
		const size_t mid = lo + (hi - lo) / 2;
		if (a->left[mid] <= (double)x) {
			f = (unsigned)mid;
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return f;
}

double
weight_of(const struct wconv_axis *a, size_t f, ptrdiff_t x)
{
	return f < a->nfun ? wconv_weight(a, f, x) : 0;
}

template <class T> struct tables {
	T *wx;
	unsigned *fx;
	int *column;
	wc_segment *seg;
	unsigned *number;
	double *sum;
};

template <class T>
tables<T>
lay_tables(gpu_block *b, const struct wconv_plan *p)
{
	const size_t width = (size_t)(p->x.hi - p->x.lo);
	tables<T> t;

	t.wx = gpu_take<T>(b, wc_weights(&p->x) * width);
	t.fx = gpu_take<unsigned>(b, width);
	t.column = gpu_take<int>(b, width + p->q.kw - 1);
	t.seg = gpu_take<wc_segment>(b, width);
	t.number = gpu_take<unsigned>(b, p->x.nfun * p->y.nfun);
	t.sum = gpu_take<double>(b, wconv_divides(&p->q) ? p->q.gx * p->q.gy : 0);
	return t;
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

template <class T>
void
fill_tables(const tables<T> &t, const struct wconv_plan *p)
{
	const struct wconv_axis *a = &p->x;
	const size_t width = (size_t)(a->hi - a->lo);

	for (size_t x = 0; x < width; x++) {
		const ptrdiff_t at = a->lo + (ptrdiff_t)x;
		const unsigned f = t.fx[x] = first_function(a, at);
		for (size_t k = 0; k < wc_weights(a); k++)
			t.wx[k * width + x] = (T)weight_of(a, f + k, at);
	}
	for (size_t i = 0; i < width + p->q.kw - 1; i++)
		t.column[i] = (int)wc_place(a, a->lo - a->before + (ptrdiff_t)i);
	for (size_t f = 0; f < p->x.nfun * p->y.nfun; f++) {
		const size_t k = wconv_kernel(p, f % p->x.nfun, f / p->x.nfun);
		t.number[f] = k == SIZE_MAX ? WC_NONE : (unsigned)k;
	}
	for (size_t k = 0; wconv_divides(&p->q) && k < p->q.gx * p->q.gy; k++)
		t.sum[k] = p->sum[k];
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

template <class T> struct step_tables {
	T *wy;
	unsigned *fy;
	int *row;
};

template <class T>
step_tables<T>
lay_step(gpu_block *b, const struct wconv_plan *p, size_t rows)
{
	step_tables<T> t;

	t.wy = gpu_take<T>(b, wc_weights(&p->y) * rows);
	t.fy = gpu_take<unsigned>(b, rows);
	t.row = gpu_take<int>(b, rows + p->q.kh - 1);
	return t;
}

template <class T>
void
fill_step(const step_tables<T> &t, const struct wconv_plan *p, size_t depth, ptrdiff_t first,
	  size_t rows)
{
	const struct wconv_axis *a = &p->y;

	for (size_t r = 0; r < rows; r++) {
		const ptrdiff_t at = first + (ptrdiff_t)r;
		t.fy[r] = first_function(a, at);
		for (size_t k = 0; k < wc_weights(a); k++)
			t.wy[k * rows + r] = (T)weight_of(a, t.fy[r] + k, at);
	}
	for (size_t i = 0; i < rows + p->q.kh - 1; i++) {
		const ptrdiff_t from = wc_place(a, first - a->before + (ptrdiff_t)i);
		t.row[i] = from < 0 ? -1 : (int)((size_t)from % depth);
	}
}

} // namespace

unsigned
wc_weights(const struct wconv_axis *a)
{
	return a->degree >= 0 ? (unsigned)a->nfun : 2;
}

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
	tables<T> t;
	const int err = gpu_place_filled(
	    g, WC_TABLES, [&](gpu_block *b) { t = lay_tables<T>(b, p); },
	    [&] {
		    fill_tables<T>(t, p);
		    w->segments = cut_segments(&p->x, t.seg, &w->longest);
	    });

	w->wx = t.wx;
	w->fx = t.fx;
	w->column = t.column;
	w->seg = t.seg;
	w->number = t.number;
	w->sum = wconv_divides(&p->q) ? t.sum : NULL;
	return err;
}

template <class T>
int
wc_send_step(struct gpu *g, const struct wconv_plan *p, size_t depth, ptrdiff_t first, size_t rows,
	     wc_work<T> *w)
{
	step_tables<T> t;
	const int err = gpu_place_filled(
	    g, WC_STEP, [&](gpu_block *b) { t = lay_step<T>(b, p, rows); },
	    [&] { fill_step<T>(t, p, depth, first, rows); });

	w->wy = t.wy;
	w->fy = t.fy;
	w->row = t.row;
	return err;
}

#define INSTANCES(T)                                                                          \
	template wc_work<T> wc_work_of(const struct wconv_plan *, size_t);                    \
	template int wc_send_kernels<T>(struct gpu *, const struct wconv_plan *);             \
	template int wc_send_tables(struct gpu *, const struct wconv_plan *, wc_work<T> *);   \
	template int wc_send_step(struct gpu *, const struct wconv_plan *, size_t, ptrdiff_t, \
				  size_t, wc_work<T> *);
INSTANCES(float)
INSTANCES(double)
