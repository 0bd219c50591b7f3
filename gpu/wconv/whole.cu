/*
 * The convolution and the adjoint of whole items. What depends on the shape goes to the device once; a deconvolution then
 * applies both many times. All rows of results are one step: its ring has all rows of the item.
 */
#include "gpu/wconv/whole.h"

namespace
{

/* Lists all tiles, and lays out the memory for as many as there is room for. */
template <class T>
int
open_tiles(struct gpu *g, wc_whole<T> *o)
{
	const struct wconv_plan *p = o->p;
	const size_t n = p->x.ntile * p->y.ntile, bytes = n * sizeof(wc_tile);
	void *device;
	int err;

	o->list = static_cast<wc_tile *>(weir_alloc(n, sizeof *o->list));
	if (!o->list)
		return -ENOMEM;
	wc_list_tiles(p, {0, p->y.ntile}, p->y.lo, o->list);
	if ((err = gpu_hold(g, WC_LIST, bytes, &device)) ||
	    (err = gpu_up(g, device, o->list, bytes)))
		return err;
	o->tiles.list = static_cast<const wc_tile *>(device);
	return wc_lay_out<T>(g, p, n, &o->tiles, &o->most);
}

template <class T>
int
transform(struct gpu *g, wc_whole<T> *o)
{
	const int err = wc_sum_kernels<T>(g, o->p, o->w, !o->summed, &o->tiles);

	o->summed = !err;
	return err ? err : wc_each_tiles<T>(g, o, [&](const wc_tiles<T> &b, size_t first) {
		return wc_run_tiles<T>(g, o->p, o->w, b, o->list + first);
	});
}

/* Moves an item, or its adjoint's results, to the device and back. */
template <class T>
int
run_adjoint(struct gpu *g, wc_whole<T> *o, const void *in, void *out)
{
	const size_t results = (size_t)o->w.rows * o->w.width * sizeof(T),
		     pixels = o->p->q.w * o->p->q.h * sizeof(T);
	void *y, *x;
	int err;

	if ((err = gpu_hold(g, WC_RAW, results, &y)) || (err = gpu_hold(g, WC_OUT, pixels, &x)) ||
	    (err = gpu_up(g, y, in, results)) || (err = gpu_begin(g)) ||
	    (err = wc_scatter_back<T>(g, o, static_cast<const T *>(y), static_cast<T *>(x))) ||
	    (err = gpu_end(g)))
		return err;
	return gpu_down(g, out, x, pixels);
}

template <class T>
int
open_and_run(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	wc_whole<T> o = {};
	int err = wc_whole_open<T>(g, p, &o);

	if (!err)
		err = run_adjoint<T>(g, &o, in, out);
	wc_whole_close<T>(&o);
	return err;
}

} // namespace

template <class T>
int
wc_whole_open(struct gpu *g, const struct wconv_plan *p, wc_whole<T> *o)
{
	int err;

	o->p = p;
	o->w = wc_work_of<T>(p, (size_t)(p->y.hi - p->y.lo));
	if ((err = wc_send_kernels<T>(g, p)) || (err = wc_send_tables<T>(g, p, &o->w)) ||
	    (err = wc_send_step<T>(g, p, p->q.h, p->y.lo, o->w.rows, &o->w)))
		return err;
	o->w.kernel = static_cast<const T *>(g->held[WC_KERNELS]);
	if ((err = wc_adjoint_open<T>(g, o)))
		return err;
	return p->direct ? 0 : open_tiles<T>(g, o);
}

template <class T>
void
wc_whole_close(wc_whole<T> *o)
{
	weir_free(o->list);
	*o = {};
}

template <class T>
int
wc_convolve(struct gpu *g, wc_whole<T> *o, const T *x, T *y)
{
	o->w.ring = x;
	o->w.out = y;
	return o->p->direct ? wc_sum<T>(g, o->w) : transform<T>(g, o);
}

int
gpu_wconv_adjoint(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	return p->q.in_double ? open_and_run<double>(g, p, in, out)
			      : open_and_run<float>(g, p, in, out);
}

template int wc_whole_open<float>(struct gpu *g, const struct wconv_plan *p, wc_whole<float> *o);
template int wc_whole_open<double>(struct gpu *g, const struct wconv_plan *p, wc_whole<double> *o);
template void wc_whole_close<float>(wc_whole<float> *o);
template void wc_whole_close<double>(wc_whole<double> *o);
template int wc_convolve<float>(struct gpu *g, wc_whole<float> *o, const float *x, float *y);
template int wc_convolve<double>(struct gpu *g, wc_whole<double> *o, const double *x, double *y);
