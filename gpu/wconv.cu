/*
 * wconv's steps on the device: rows of the item to a ring of samples, results from there, by direct sums (wconv_direct.cu) or
 * by transforms (wconv_fft.cu), as the plan has chosen. What depends on the picture goes to the device once, what depends
 * on the step with it (wconv_tables.cu).
 *
 *	feed	thread = sample
 *
 * Bound: each sample once over the bus each way.
 */
#include "gpu/wconv_pixel.h"

namespace
{

/* Rows of the item to the ring: thread = sample. */
template <class T>
__global__ void
feed(T *ring, const void *in, enum img_type type, size_t row_samples, size_t samples, size_t first,
     size_t depth)
{
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < samples)
		ring[(first + i / row_samples) % depth * row_samples + i % row_samples] =
		    load_sample<T>(in, type, i);
}

template <class T>
wc_work<T>
work_of(const struct wconv_plan *p, size_t rows)
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
	w.outside = q->edge == WCONV_CONSTANT ? q->constant : 0;
	w.top = q->top;
	return w;
}

/* The step's rows of the item to the ring. */
template <class T>
int
take_rows(struct gpu *g, const struct wconv_plan *p, const struct wconv_band *b, const void *in,
	  T *ring)
{
	const size_t row = p->q.w * p->q.planes, n = (b->fed1 - b->fed0) * row;
	const size_t bytes = n * img_type_size(p->q.in);
	void *raw;
	int err;

	if (!n)
		return 0;
	if ((err = gpu_hold(g, WC_RAW, bytes, &raw)) || (err = gpu_up(g, raw, in, bytes)) ||
	    (err = gpu_begin(g)))
		return err;
	GPU_LAUNCH(g, feed<T>, (unsigned)((n + 255) / 256), 256, 0, ring, raw, p->q.in, row, n,
		   b->fed0, p->depth);
	return gpu_end(g);
}

template <class T>
int
run(struct gpu *g, struct wconv_plan *p, const void *in, void *out)
{
	const struct wconv_band *b = &p->band[p->now];
	const ptrdiff_t first = p->y.tile[b->tile0].a;
	const size_t rows = wconv_steps(p, p->now).rows_out;
	wc_work<T> w = work_of<T>(p, rows);
	const size_t bytes = rows * w.width * w.planes * img_type_size(w.type);
	unsigned segments = 0;
	void *ring;
	int err;

	if ((err = gpu_hold(g, WC_RING, p->depth * w.ring_row * sizeof(T), &ring)) ||
	    (p->now == 0 && (err = wc_send_kernels<T>(g, p))) ||
	    (err = wc_send_tables<T>(g, p, &w, &segments)) ||
	    (err = wc_send_step<T>(g, p, first, rows, &w)) ||
	    (err = gpu_hold(g, WC_OUT, bytes, &w.out)) ||
	    (err = take_rows<T>(g, p, b, in, static_cast<T *>(ring))))
		return err;
	w.ring = static_cast<T *>(ring);
	w.kernel = static_cast<const T *>(g->held[WC_KERNELS]);
	err = p->direct ? wc_sum<T>(g, w, segments) : wc_transform<T>(g, p, w);
	if (err)
		return err;
	return gpu_down(g, out, w.out, bytes);
}

} // namespace

int
gpu_wconv_run(struct gpu *g, struct wconv_plan *p, const void *in, void *out)
{
	const int err = p->q.in_double ? run<double>(g, p, in, out) : run<float>(g, p, in, out);

	p->now = (p->now + 1) % p->bands;
	return err;
}
