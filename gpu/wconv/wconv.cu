/*
 * wconv's steps on the device: rows of the item to a ring of samples, results from there, by direct sums (direct.cu) or
 * by transforms (fft.cu), as the plan has chosen. What depends on the picture goes to the device once, what depends
 * on the step with it (tables.cu).
 *
 *	feed	thread = sample
 *
 * Each device makes a share of a step's rows, or tile rows, from a ring of its own that takes all rows. A share is worked on in
 * parts: while one is computed, the results of the part before it come down and the rows that the next one needs go up.
 *
 * Bound: each sample once over the bus each way.
 */
#include "gpu/wconv/pixel.h"

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

/* --- shares and parts ---------------------------------------------------------------------------------------------- */

enum { PARTS = 4, LEAST = 16 }; /* parts of a share; rows of one at least, or a tile row */

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

size_t
parts_of(const struct wconv_plan *p, const rows_of &share)
{
	const size_t most = p->direct ? share.n / LEAST : share.tile1 - share.tile0;

	return most < 1 ? 1 : most < PARTS ? most : (size_t)PARTS;
}

/* How far the item must have come for those results, as a row of it within the step's. */
size_t
fed_for(const struct wconv_plan *p, const rows_of &r)
{
	const struct wconv_band *b = &p->band[p->now];
	size_t high = b->fed0;

	for (size_t i = 0; r.n && i < r.n + p->q.kh - 1; i++) {
		const ptrdiff_t from = wc_place(&p->y, r.first - p->y.before + (ptrdiff_t)i);
		if (from >= (ptrdiff_t)high)
			high = (size_t)from + 1;
	}
	return high < b->fed1 ? high : b->fed1;
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

/* A step on one device. */
struct flow {
	struct gpu *g;
	struct wconv_plan *p;
	const char *in;
	char *out;		    /* of the share */
	char *raw, *made;	    /* on the device: the step's rows, the share's results */
	size_t in_row, out_row;	    /* bytes */
	size_t up, fed;		    /* rows of the item that are there, and in the ring */
	size_t down, done, up_next; /* results that are here, those computed, what goes up */
};

/* Beside a part's kernels: results of the parts before it, rows for the next one. */
int
copy_beside(void *with)
{
	flow *const f = static_cast<flow *>(with);
	const size_t first = f->p->band[f->p->now].fed0, down = f->down * f->out_row,
		     up = (f->up - first) * f->in_row;
	int err = 0;

	if (f->done > f->down)
		err =
		    gpu_down(f->g, f->out + down, f->made + down, (f->done - f->down) * f->out_row);
	if (!err && f->up_next > f->up)
		err = gpu_up(f->g, f->raw + up, f->in + up, (f->up_next - f->up) * f->in_row);
	f->down = f->done;
	f->up = f->up_next > f->up ? f->up_next : f->up;
	return err;
}

/* Rows that have come, up to `to`, to the ring. */
template <class T>
int
take_rows(flow *f, T *ring, size_t to)
{
	const struct wconv_plan *p = f->p;
	const size_t row = p->q.w * p->q.planes, n = to > f->fed ? (to - f->fed) * row : 0;
	const size_t at = (f->fed - p->band[p->now].fed0) * f->in_row;
	int err;

	if (!n)
		return 0;
	if ((err = gpu_begin(f->g)))
		return err;
	GPU_LAUNCH(f->g, feed<T>, (unsigned)((n + 255) / 256), 256, 0, ring, f->raw + at, p->q.in,
		   row, n, f->fed, p->depth);
	f->fed = to;
	return gpu_end(f->g);
}

/* The parts of a share one after the other; w: but for what a part changes. */
template <class T>
int
run_parts(flow *f, wc_work<T> w, T *ring, const rows_of &share, wc_span fresh, unsigned segments)
{
	const struct wconv_plan *p = f->p;
	const size_t parts = parts_of(p, share), end = p->band[p->now].fed1;
	int err;

	f->up_next = parts > 1 ? fed_for(p, cut(p, share, 0, parts)) : end;
	err = copy_beside(f);
	for (size_t k = 0; k < parts && !err; k++) {
		const rows_of part = cut(p, share, k, parts);
		if ((err = take_rows<T>(f, ring, f->up)))
			break;
		f->up_next = k + 2 < parts ? fed_for(p, cut(p, share, k + 1, parts)) : end;
		w.rows = (unsigned)part.n;
		w.out = f->made + f->done * f->out_row;
		if (part.n && (err = wc_send_step<T>(f->g, p, part.first, part.n, &w)))
			break;
		gpu_meanwhile(f->g, copy_beside, f);
		if (!part.n)
			err = copy_beside(f);
		else if (p->direct)
			err = wc_sum<T>(f->g, w, segments);
		else
			err = wc_transform<T>(f->g, p, w, {part.tile0, part.tile1}, fresh);
		gpu_meanwhile(f->g, NULL, NULL);
		fresh.to = 0;
		f->done += part.n;
	}
	if (!err && !(err = take_rows<T>(f, ring, end)))
		err = copy_beside(f);
	return err;
}

struct step {
	struct wconv_plan *p;
	const void *in;
	void *out;
	size_t n; /* devices */
};

template <class T>
int
run_share(struct gpu *g, size_t i, void *with)
{
	const step *const s = static_cast<step *>(with);
	struct wconv_plan *const p = s->p;
	const rows_of all = step_rows(p, p->now), share = cut(p, all, i, s->n),
		      before = p->now ? cut(p, step_rows(p, p->now - 1), i, s->n) : rows_of{};
	const struct wconv_band *b = &p->band[p->now];
	wc_work<T> w = wc_work_of<T>(p, share.n);
	flow f = {};
	unsigned segments = 0;
	void *ring, *raw, *made;
	int err;

	f.g = g;
	f.p = p;
	f.in_row = p->q.w * p->q.planes * img_type_size(p->q.in);
	f.out_row = (size_t)w.width * w.planes * img_type_size(w.type);
	f.in = static_cast<const char *>(s->in);
	f.out = static_cast<char *>(s->out) + (size_t)(share.first - all.first) * f.out_row;
	f.up = f.fed = b->fed0;
	if ((err = gpu_hold(g, WC_RING, p->depth * w.ring_row * sizeof(T), &ring)) ||
	    (p->now == 0 && (err = wc_send_kernels<T>(g, p))) ||
	    (err = wc_send_tables<T>(g, p, &w, &segments)) ||
	    (err = gpu_hold(g, WC_RAW, (b->fed1 - b->fed0 + 1) * f.in_row, &raw)) ||
	    (err = gpu_hold(g, WC_OUT, (share.n + 1) * f.out_row, &made)))
		return err;
	f.raw = static_cast<char *>(raw);
	f.made = static_cast<char *>(made);
	w.ring = static_cast<T *>(ring);
	w.kernel = static_cast<const T *>(g->held[WC_KERNELS]);
	return run_parts<T>(&f, w, static_cast<T *>(ring), share, new_functions(p, share, before),
			    segments);
}

} // namespace

int
gpu_wconv_run(struct gpu *g, struct wconv_plan *p, const void *in, void *out)
{
	step s = {p, in, out, gpu_count(g)};
	const int err = gpu_each(g, p->q.in_double ? run_share<double> : run_share<float>, &s);

	p->now = (p->now + 1) % p->bands;
	return err;
}
