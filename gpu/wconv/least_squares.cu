/*
 * Conjugate gradients on the device: wconv/restore/steps_simd.c has the same steps on the CPU.
 *
 *	mask, combine	block = 2048 samples, and a sum of squares
 *	add_scalar	one block adds the sums, and makes the factors of the next combine()
 *
 * The scalars stay on the device. A step reads them back once, to see whether it is the last.
 *
 * Bound, besides A and A': 15 samples read or written a pixel and step.
 */
#include "gpu/wconv/restore.h"

namespace
{

enum total { NOTHING, MISFIT, PROJECTION, GRADIENT, DIRECTION }; /* NOTHING: the sum is of no use */

/* r = y - sky, or 0 where y is unknown. part: sums of its squares. */
template <class T>
__global__ void
start_misfit(const T *y, T sky, size_t n, T *r, double *part)
{
	size_t end;
	double sum = 0;

	for (size_t i = first_of_block(n, &end); i < end; i += WC_THREADS) {
		r[i] = y[i] - y[i] == 0 ? y[i] - sky : 0;
		sum += (double)r[i] * (double)r[i];
	}
	put_sum(sum, part);
}

/* Zeroes f where y is unknown. part: sums of squares of the rest. */
template <class T>
__global__ void
mask(const T *y, T *f, size_t n, double *part)
{
	size_t end;
	double sum = 0;

	for (size_t i = first_of_block(n, &end); i < end; i += WC_THREADS) {
		const T v = y[i] - y[i] == 0 ? f[i] : 0;
		f[i] = v;
		sum += (double)v * (double)v;
	}
	put_sum(sum, part);
}

/* to = factor[0] to + factor[1] from. part: sums of squares of the new `to`. */
template <class T>
__global__ void
combine(T *to, const T *from, const double *factor, size_t n, double *part)
{
	const double a = factor[0], b = factor[1];
	size_t end;
	double sum = 0;

	for (size_t i = first_of_block(n, &end); i < end; i += WC_THREADS) {
		const T v = (T)(a * (double)to[i] + b * (double)from[i]);
		to[i] = v;
		sum += (double)v * (double)v;
	}
	put_sum(sum, part);
}

/* Sets the total `which` of s, and the factors that follow from it. */
__global__ void
add_scalar(const double *part, unsigned n, enum total which, wc_scalars *s)
{
	const double sum = sum_parts(part, n), before = s->ss;

	__syncthreads(); /* all threads have read s */
	if (threadIdx.x)
		return;
	switch (which) {
	case MISFIT:
		s->rr = sum;
		break;
	case PROJECTION:
		s->factor[WC_ADVANCE][1] = s->ss / (sum + s->damp * s->pp);
		s->factor[WC_RETREAT][1] = -s->factor[WC_ADVANCE][1];
		break;
	case GRADIENT:
		s->ss = sum;
		s->factor[WC_TURN][0] = before > 0 ? sum / before : 0;
		break;
	default:
		s->pp = sum;
	}
}

/* to = factor[0] to + factor[1] from. The sum of squares of the result becomes the total `which`. */
template <class T>
int
combine_all(wc_pictures<T> *v, T *to, const T *from, size_t n, enum wc_factors factor,
	    enum total which)
{
	struct gpu *const g = v->g;

	GPU_LAUNCH(g, combine<T>, wc_parts(n), WC_THREADS, 0, to, from, v->total->factor[factor], n,
		   v->part);
	if (which != NOTHING)
		GPU_LAUNCH(g, add_scalar, 1, WC_THREADS, 0, v->part, wc_parts(n), which, v->total);
	return 0;
}

/* x = p = 0, r = y - sky, s = A' r, p = s. */
template <class T>
int
start_squares(wc_pictures<T> *v)
{
	struct gpu *const g = v->g;
	const struct wconv_restore *d = v->d;
	wc_scalars z = {};
	int err;

	z.damp = d->o.damp * d->o.damp;
	z.factor[WC_ADVANCE][0] = z.factor[WC_RETREAT][0] = z.factor[WC_SHRINK][0] = 1;
	z.factor[WC_SHRINK][1] = -z.damp;
	z.factor[WC_TURN][1] = z.factor[WC_COPY][1] = 1;
	if ((err = gpu_up(g, v->total, &z, sizeof z)) || (err = gpu_begin(g)))
		return err;
	GPU_TRY(g, cudaMemsetAsync(v->x, 0, v->m * sizeof(T), g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(v->p, 0, v->m * sizeof(T), g->stream[0]));
	GPU_LAUNCH(g, start_misfit<T>, wc_parts(v->n), WC_THREADS, 0, v->y, (T)d->o.sky, v->n, v->r,
		   v->part);
	GPU_LAUNCH(g, add_scalar, 1, WC_THREADS, 0, v->part, wc_parts(v->n), MISFIT, v->total);
	if ((err = wc_apply<T>(v, true, v->r, v->s)) ||
	    (err = combine_all<T>(v, v->p, v->s, v->m, WC_COPY, GRADIENT)))
		return err;
	GPU_LAUNCH(g, add_scalar, 1, WC_THREADS, 0, v->part, wc_parts(v->m), DIRECTION, v->total);
	return gpu_end(g);
}

template <class T>
int
step_squares(wc_pictures<T> *v)
{
	struct gpu *const g = v->g;
	int err;

	if ((err = gpu_begin(g)) || (err = wc_apply<T>(v, false, v->p, v->f)))
		return err;
	GPU_LAUNCH(g, mask<T>, wc_parts(v->n), WC_THREADS, 0, v->y, v->f, v->n, v->part);
	GPU_LAUNCH(g, add_scalar, 1, WC_THREADS, 0, v->part, wc_parts(v->n), PROJECTION, v->total);
	if ((err = combine_all<T>(v, v->x, v->p, v->m, WC_ADVANCE, NOTHING)) ||
	    (err = combine_all<T>(v, v->r, v->f, v->n, WC_RETREAT, MISFIT)) ||
	    (err = wc_apply<T>(v, true, v->r, v->s)) ||
	    (err = combine_all<T>(v, v->s, v->x, v->m, WC_SHRINK, GRADIENT)) ||
	    (err = combine_all<T>(v, v->p, v->s, v->m, WC_TURN, DIRECTION)))
		return err;
	return gpu_end(g);
}

} // namespace

template <class T>
int
wc_least_squares(wc_pictures<T> *v, const struct wconv_known *k, struct wconv_restored *done,
		 struct why *why)
{
	wc_scalars z;
	double first = 0;
	int e;

	if (!k->n) {
		wconv_restore_unknown(why);
		return WC_REFUSED;
	}
	if ((e = start_squares<T>(v)))
		return e;
	for (;; wc_tell(v->d, ++done->steps)) {
		if ((e = gpu_down(v->g, &z, v->total, sizeof z)))
			return e;
		if (wconv_restore_check(z.rr, z.ss, why))
			return WC_REFUSED;
		first = done->steps ? first : z.ss;
		if (wconv_restore_ends(v->d, done, z.rr, k->n) ||
		    !(z.ss > wconv_restore_tiny(v->d) * first))
			return 0;
		if ((e = step_squares<T>(v)))
			return e;
	}
}

template int wc_least_squares<float>(wc_pictures<float> *v, const struct wconv_known *k,
				     struct wconv_restored *done, struct why *why);
template int wc_least_squares<double>(wc_pictures<double> *v, const struct wconv_known *k,
				      struct wconv_restored *done, struct why *why);
