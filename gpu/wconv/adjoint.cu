/*
 * The adjoint of wconv, of a whole item on one device.
 *
 *	weigh	results times their factors: 1 / the sum of the local kernel, or that sum / its part on known pixels	thread = result
 *		each scatters along its kernel to the item with its edges	scatter.cu by sums, scatter_fft.cu by transforms
 *	fold	what lies beyond the edges is added to the pixels that it copies	thread = pixel
 *
 * No sum depends on the order of threads.
 *
 * Bound: each sample once over the bus each way; weigh and fold read and write each sample once.
 */
#include "gpu/wconv/pixel.h"
#include "gpu/wconv/taps.h"
#include "gpu/wconv/whole.h"

namespace
{

/* Returns (sum of the local kernel) / (its sum over known pixels), or 0 where less than WCONV_KNOWN of its weight is known. */
template <class T>
__device__ double
known_gain(const wc_work<T> &w, const wc_segment &g, unsigned r, unsigned x)
{
	double all = 0, known = 0, weight = 0;

	for (unsigned n = 0; n < w.nwy * g.nf; n++) {
		double by;
		const T *k = weighed_kernel<T>(w, g, r, x, n, &by);
		for (unsigned i = 0; k && i < w.kw * w.kh; i++) {
			const double v = by * (double)k[i];
			all += v;
			weight += fabs(v);
			if (w.row[r + i / w.kw] >= 0 && w.column[x + i % w.kw] >= 0)
				known += v;
		}
	}
	return fabs(known) > WCONV_KNOWN * weight ? all / known : 0;
}

template <class T>
__global__ void
weigh(const wc_work<T> w, const T *from, T *to)
{
	const size_t at = wc_element();
	size_t rest = at;
	const unsigned x = take_index(&rest, w.width), r = (unsigned)rest;

	if (rest >= w.rows)
		return;
	/* a window that reaches beyond an edge has its first or its last row or column there */
	const bool beyond = w.row[r] < 0 || w.row[r + w.kh - 1] < 0 || w.column[x] < 0 ||
			    w.column[x + w.kw - 1] < 0;
	const wc_segment g = {0, 0, w.fx[x], w.nwx};
	double v = (double)from[at];
	if (w.renormalise && beyond)
		v *= known_gain<T>(w, g, r, x);
	if (w.sum)
		v /= local_sum<T>(w, g, r, x);
	to[at] = (T)v;
}

template <class T>
__global__ void
fold(const wc_adjoint<T> a)
{
	const size_t at = wc_element();
	size_t rest = at;
	const unsigned x = take_index(&rest, a.item_w), y = (unsigned)rest;
	T sum = 0, lost = 0;

	if (rest >= a.item_h)
		return;
	for (unsigned i = a.row0[y]; i < a.row0[y + 1]; i++)
		for (unsigned k = a.column0[x]; k < a.column0[x + 1]; k++)
			add_compensated(sum, lost,
					a.padded[(size_t)a.row[i] * a.wide + a.column[k]]);
	a.out[at] = sum;
}

/* --- the host's part ----------------------------------------------------------------------------------------------- */

/* For one direction: the lists of wc_adjoint. */
struct folds {
	unsigned *first, *place, *tile;
};

folds
lay_folds(gpu_block *b, const struct wconv_axis *a, size_t padded)
{
	folds f;

	f.first = gpu_take<unsigned>(b, (size_t)(a->have1 - a->have0) + 1);
	f.place = gpu_take<unsigned>(b, padded);
	f.tile = gpu_take<unsigned>(b, 2 * padded);
	return f;
}

/* Sorts the padded places by the pixel that they are copies of. */
void
list_copies(const folds &f, const struct wconv_axis *a, size_t padded)
{
	const size_t n = (size_t)(a->have1 - a->have0);
	const ptrdiff_t origin = a->lo - a->before;

	memset(f.first, 0, (n + 1) * sizeof *f.first);
	for (size_t i = 0; i < padded; i++) {
		const ptrdiff_t x = wc_place(a, origin + (ptrdiff_t)i);
		if (x >= 0)
			f.first[x + 1]++;
	}
	for (size_t x = 0; x < n; x++)
		f.first[x + 1] += f.first[x];
	for (size_t i = 0; i < padded; i++) {
		const ptrdiff_t x = wc_place(a, origin + (ptrdiff_t)i);
		if (x >= 0)
			f.place[f.first[x]++] = (unsigned)i;
	}
	memmove(f.first + 1, f.first, n * sizeof *f.first);
	f.first[0] = 0;
}

/* Finds the tiles whose windows have each padded place. */
void
list_tiles_of(const folds &f, const struct wconv_axis *a, size_t padded, size_t kernel)
{
	for (size_t i = 0, from = 0, to = 0; i < padded; i++) {
		while (to < a->ntile && (size_t)(a->tile[to].a - a->lo) <= i)
			to++;
		while (from < to && (size_t)(a->tile[from].b - a->lo) + kernel - 1 <= i)
			from++;
		f.tile[2 * i] = (unsigned)from;
		f.tile[2 * i + 1] = (unsigned)to;
	}
}

template <class T>
int
send_folds(struct gpu *g, const struct wconv_plan *p, wc_adjoint<T> *a)
{
	folds x, y;
	const int err = gpu_place_filled(
	    g, WC_FOLD,
	    [&](gpu_block *b) {
		    x = lay_folds(b, &p->x, a->wide);
		    y = lay_folds(b, &p->y, a->high);
	    },
	    [&] {
		    list_copies(x, &p->x, a->wide);
		    list_copies(y, &p->y, a->high);
		    list_tiles_of(x, &p->x, a->wide, p->q.kw);
		    list_tiles_of(y, &p->y, a->high, p->q.kh);
	    });

	a->column0 = x.first;
	a->column = x.place;
	a->tile_x = x.tile;
	a->row0 = y.first;
	a->row = y.place;
	a->tile_y = y.tile;
	return err;
}

} // namespace

template <class T>
int
wc_adjoint_open(struct gpu *g, wc_whole<T> *o)
{
	const wc_work<T> &w = o->w;
	wc_adjoint<T> *const a = &o->a;
	void *weighed = NULL, *padded;
	int err;

	a->wide = w.width + w.kw - 1;
	a->high = w.rows + w.kh - 1;
	a->item_w = (unsigned)o->p->q.w;
	a->item_h = (unsigned)o->p->q.h;
	if ((err = gpu_hold(g, WC_RING, (size_t)a->high * a->wide * sizeof(T), &padded)) ||
	    ((w.renormalise || w.sum) &&
	     (err = gpu_hold(g, WC_WEIGHED, (size_t)w.rows * w.width * sizeof(T), &weighed))))
		return err;
	a->padded = static_cast<T *>(padded);
	a->weighed = static_cast<T *>(weighed);
	return send_folds<T>(g, o->p, a);
}

template <class T>
int
wc_scatter_back(struct gpu *g, wc_whole<T> *o, const T *y, T *x)
{
	const size_t n = (size_t)o->w.rows * o->w.width;
	int err;

	o->a.in = o->a.weighed ? o->a.weighed : y;
	o->a.out = x;
	if (o->a.weighed)
		GPU_LAUNCH(g, weigh<T>, wc_blocks(n), WC_THREADS, 0, o->w, y, o->a.weighed);
	if ((err = o->p->direct ? wc_scatter<T>(g, *o) : wc_scatter_tiles<T>(g, o)))
		return err;
	GPU_LAUNCH(g, fold<T>, wc_blocks(o->p->q.w * o->p->q.h), WC_THREADS, 0, o->a);
	return 0;
}

template int wc_adjoint_open<float>(struct gpu *g, wc_whole<float> *o);
template int wc_adjoint_open<double>(struct gpu *g, wc_whole<double> *o);
template int wc_scatter_back<float>(struct gpu *g, wc_whole<float> *o, const float *y, float *x);
template int
wc_scatter_back<double>(struct gpu *g, wc_whole<double> *o, const double *y, double *x);
