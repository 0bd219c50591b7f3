/*
 * wconv's steps on the device: rows of the item to a ring of samples, results from there, by direct sums (direct.cu) or
 * by transforms (fft.cu), as the plan has chosen. What depends on the picture goes to the device once, what depends
 * on the step with it (tables.cu).
 *
 *	feed	thread = sample
 *
 * Each device makes a share of a step's rows, or tile rows, from a ring of its own that takes all rows. While a step is
 * computed, the rows of the next one go up (gpu_ahead()), and the results of the one before come down (gpu_later()).
 *
 * Bound: each sample once over the bus each way.
 */
#include "gpu/wconv/pixel.h"

namespace
{

/* Rows of the item to the ring: thread = sample. */
template <class T>
__device__ void
feed(size_t i, T *ring, const void *in, enum img_type type, size_t row_samples, size_t first,
     size_t depth)
{
	ring[(first + i / row_samples) % depth * row_samples + i % row_samples] =
	    load_sample<T>(in, type, i);
}

/* --- shares -------------------------------------------------------------------------------------------------------- */

/* Rows of results: the first in the whole image; of transforms by their tile rows. */
struct rows_of {
	ptrdiff_t first;
	size_t n, tile0, tile1;
};

/* Number i of n shares of those rows. */
rows_of
cut(const struct wconv_plan *p, const rows_of &all, size_t i, size_t n)
{
	const size_t tiles = all.tile1 - all.tile0, from = all.n * i / n, to = all.n * (i + 1) / n;
	const size_t t0 = all.tile0 + tiles * i / n, t1 = all.tile0 + tiles * (i + 1) / n;

	if (p->direct)
		return {all.first + (ptrdiff_t)from, to - from, all.tile0, all.tile1};
	if (t0 == t1)
		return {all.first, 0, t0, t1};
	const ptrdiff_t first = p->y.tile[t0].a;
	return {first, (size_t)(p->y.tile[t1 - 1].b - first), t0, t1};
}

rows_of
step_rows(const struct wconv_plan *p, size_t step)
{
	const struct wconv_band *b = &p->band[step];

	return {p->y.tile[b->tile0].a, wconv_steps(p, step).rows_out, b->tile0, b->tile1};
}

/* The functions of y that the tile rows need and those of `before` did not: what is new in the ring of kernels. */
wc_span
new_functions(const struct wconv_plan *p, const rows_of &now, const rows_of &before)
{
	wc_span f = {SIZE_MAX, 0};

	for (size_t t = now.tile0; t < now.tile1; t++) {
		const struct wconv_tile *y = &p->y.tile[t];
		f.from = y->f0 < f.from ? y->f0 : f.from;
		f.to = y->f0 + y->nf > f.to ? y->f0 + y->nf : f.to;
	}
	for (size_t t = before.tile0; t < before.tile1; t++) {
		const size_t end = p->y.tile[t].f0 + p->y.tile[t].nf;
		f.from = end > f.from ? end : f.from;
	}
	return f;
}

/* Share i of n of a step. */
template <class T>
int
run_share(struct gpu *g, size_t i, size_t n, const struct wconv_plan *p, const void *in, void *out)
{
	const rows_of all = step_rows(p, p->now), share = cut(p, all, i, n),
		      before = p->now ? cut(p, step_rows(p, p->now - 1), i, n) : rows_of{};
	wc_work<T> w = wc_work_of<T>(p, share.n);
	const size_t out_row = (size_t)w.width * w.planes * img_type_size(w.type);
	const struct wconv_band *b = &p->band[p->now];
	const size_t fed = (b->fed1 - b->fed0) * w.ring_row, bytes = fed * img_type_size(p->q.in);
	char *raw;
	T *ring;

	GPU_DO(gpu_array(g, WC_RING, p->depth * w.ring_row, &ring));
	if (p->now == 0)
		GPU_DO(wc_send_kernels<T>(g, p));
	GPU_DO(wc_send_tables<T>(g, p, &w));
	GPU_DO(gpu_send(g, WC_RAW, static_cast<const char *>(in), bytes, &raw));
	GPU_DO(gpu_begin(g));
	GPU_EACH(g, feed<T>, fed, ring, raw, p->q.in, w.ring_row, b->fed0, p->depth);
	GPU_DO(gpu_end(g));
	if (!share.n)
		return 0;
	GPU_DO(gpu_hold(g, WC_OUT, share.n * out_row, &w.out));
	w.ring = ring;
	w.kernel = static_cast<const T *>(g->held[WC_KERNELS]);
	GPU_DO(wc_send_step<T>(g, p, p->depth, share.first, share.n, &w));
	if (p->direct) {
		GPU_DO(gpu_begin(g));
		GPU_DO(wc_sum<T>(g, w));
		GPU_DO(gpu_end(g));
	} else {
		GPU_DO(wc_transform<T>(g, p, w, {share.tile0, share.tile1},
				       new_functions(p, share, before)));
	}
	const gpu_result made = {static_cast<char *>(out) +
				     (size_t)(share.first - all.first) * out_row,
				 w.out, share.n * out_row};
	return gpu_later(g, &made, 1);
}

} // namespace

int
gpu_wconv_run(struct gpu *g, struct wconv_plan *p, const void *in, void *out)
{
	const size_t n = gpu_count(g);
	const int err = gpu_each(g, [=](struct gpu *device, size_t i) {
		return p->q.in_double ? run_share<double>(device, i, n, p, in, out)
				      : run_share<float>(device, i, n, p, in, out);
	});

	p->now = (p->now + 1) % p->bands;
	return err;
}
