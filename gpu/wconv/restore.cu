/*
 * Deconvolution on the device: wconv/restore/restore.h states the methods, and wconv/restore/steps_simd.c has the same steps on
 * the CPU. The data go up once, and the estimate comes down once. In between, all pictures stay on the device.
 *
 *	find_known, cut		thread = sample
 *	measure			block = 2048 samples: their sum and extremes
 *	join_extents		one block, in an order that depends on the number of samples alone
 *	steps			lucy.cu, least_squares.cu; A and A' are whole.cu and adjoint.cu
 *
 * Bound: each sample once over the bus each way, and the bounds of the steps.
 */
#include "gpu/wconv/restore.h"

namespace
{

/* r = 1 where y is known, else 0; f = y there, else 0. */
template <class T>
__global__ void
find_known(const T *y, size_t n, T *r, T *f)
{
	const size_t i = wc_element();

	if (i < n) {
		const bool known = y[i] - y[i] == 0;
		r[i] = known;
		f[i] = known ? y[i] : 0;
	}
}

template <class T>
__global__ void
measure(const T *v, size_t n, wc_extent *part)
{
	size_t end;
	wc_extent e = {0, 0, 0};

	for (size_t i = first_of_block(n, &end); i < end; i += WC_THREADS) {
		const double d = (double)v[i];
		e.sum += d;
		e.most = d > e.most ? d : e.most;
		e.least = -d > e.least ? -d : e.least;
	}
	e = {block_sum<WC_THREADS>(e.sum), block_largest<WC_THREADS>(e.most),
	     block_largest<WC_THREADS>(e.least)};
	if (threadIdx.x == 0)
		part[blockIdx.x] = e;
}

/* Copies the part of the estimate, of ew samples a row, that begins at `from`. With s: NaN where s is not above `dark`. */
template <class T>
__global__ void
cut(const T *x, const T *s, T dark, size_t from, size_t ew, unsigned w, size_t n, T *to)
{
	const size_t i = wc_element();
	size_t row = i;
	const unsigned column = take_index(&row, w);
	const size_t at = from + row * ew + column;

	if (i < n)
		to[i] = s && !(s[at] > dark) ? (T)NAN : x[at];
}

/* Joins n extents to the first. */
__global__ void
join_extents(wc_extent *part, unsigned n)
{
	wc_extent e = {0, 0, 0};

	for (unsigned i = threadIdx.x; i < n; i += WC_THREADS) {
		e.sum += part[i].sum;
		e.most = part[i].most > e.most ? part[i].most : e.most;
		e.least = part[i].least > e.least ? part[i].least : e.least;
	}
	e = {block_sum<WC_THREADS>(e.sum), block_largest<WC_THREADS>(e.most),
	     block_largest<WC_THREADS>(e.least)};
	if (threadIdx.x == 0)
		part[0] = e;
}

/* --- the host's part ----------------------------------------------------------------------------------------------- */

template <class T>
void
lay_out(gpu_block *b, wc_pictures<T> *v)
{
	v->y = gpu_take<T>(b, v->n);
	v->f = gpu_take<T>(b, v->n);
	v->r = gpu_take<T>(b, v->n);
	v->x = gpu_take<T>(b, v->m);
	v->p = gpu_take<T>(b, v->m);
	v->s = gpu_take<T>(b, v->m);
}

template <class T>
int
open_pictures(wc_pictures<T> *v)
{
	struct gpu *const g = v->g;
	const unsigned parts = wc_parts(v->m > v->n ? v->m : v->n);
	int err;

	if ((err = gpu_place(g, WC_PICTURES, [&](gpu_block *b) { lay_out<T>(b, v); })) ||
	    (err = gpu_place(g, WC_TOTALS, [&](gpu_block *b) {
		     v->part = reinterpret_cast<double *>(gpu_take<wc_extent>(b, parts));
		     v->total = gpu_take<wc_scalars>(b, 1);
	     })))
		return err;
	return wc_whole_open<T>(g, wconv_restore_by(v->d), &v->a);
}

} // namespace

template <class T>
int
wc_measure(wc_pictures<T> *v, const T *samples, size_t n, wc_extent *all)
{
	struct gpu *const g = v->g;
	wc_extent *const part = reinterpret_cast<wc_extent *>(v->part);

	GPU_LAUNCH(g, measure<T>, wc_parts(n), WC_THREADS, 0, samples, n, part);
	GPU_LAUNCH(g, join_extents, 1, WC_THREADS, 0, part, wc_parts(n));
	return gpu_down(g, all, part, sizeof *all);
}

namespace
{

/* Sends y, finds the known samples, and sets v->r to 1 there, else to 0. */
template <class T>
int
take_data(wc_pictures<T> *v, const void *y, struct wconv_known *k)
{
	struct gpu *const g = v->g;
	wc_extent count, known;
	int err;

	if ((err = gpu_up(g, v->y, y, v->n * sizeof(T))))
		return err;
	GPU_LAUNCH(g, find_known<T>, wc_blocks(v->n), WC_THREADS, 0, v->y, v->n, v->r, v->f);
	if ((err = wc_measure<T>(v, v->r, v->n, &count)) ||
	    (err = wc_measure<T>(v, v->f, v->n, &known)))
		return err;
	*k = {(size_t)count.sum, known.sum, known.most > known.least ? known.most : known.least};
	return 0;
}

/* Sends the part of the estimate that lies where the data do. s: NULL, or what decides where it is known. */
template <class T>
int
give_estimate(wc_pictures<T> *v, const T *s, void *to)
{
	struct gpu *const g = v->g;
	const struct wconv_restore *d = v->d;

	GPU_LAUNCH(g, cut<T>, wc_blocks(v->n), WC_THREADS, 0, v->x, s, (T)d->dark,
		   d->oy * d->ew + d->ox, d->ew, (unsigned)d->w, v->n, v->f);
	return gpu_down(g, to, v->f, v->n * sizeof(T));
}

template <class T>
int
restore(wc_pictures<T> *v, const void *y, void *x, struct wconv_restored *done, struct why *why)
{
	const bool squares = v->d->o.least_squares;
	struct wconv_known k;
	int e;

	done->steps = 0;
	if ((e = open_pictures<T>(v)) || (e = take_data<T>(v, y, &k)) ||
	    (e = squares ? wc_least_squares<T>(v, &k, done, why) : wc_lucy<T>(v, &k, done, why)))
		return e;
	return give_estimate<T>(v, squares ? NULL : v->s, x);
}

template <class T>
int
run(struct gpu *g, struct wconv_restore *d, const void *y, void *x, struct wconv_restored *done,
    struct why *why)
{
	wc_pictures<T> v = {};

	v.g = g;
	v.d = d;
	v.n = d->w * d->h;
	v.m = d->ew * d->eh;
	const int e = restore<T>(&v, y, x, done, why);
	wc_whole_close<T>(&v.a);
	return e;
}

} // namespace

int
gpu_wconv_restore(struct gpu *g, struct wconv_restore *d, const void *y, void *x,
		  struct wconv_restored *done, struct why *why)
{
	return d->in_double ? run<double>(g, d, y, x, done, why)
			    : run<float>(g, d, y, x, done, why);
}

template int
wc_measure<float>(wc_pictures<float> *v, const float *samples, size_t n, wc_extent *all);
template int
wc_measure<double>(wc_pictures<double> *v, const double *samples, size_t n, wc_extent *all);
