/*
 * Richardson and Lucy's steps on the device.
 *
 *	divide		block = 2048 samples: y / (A x + sky), and a sum of squares
 *	add_up		one block adds the sums, in an order that depends on their number alone
 *	multiply	thread = sample: the next x
 *
 * The sum is made and read back only where it decides whether the steps end.
 *
 * Bound, besides A and A': 7 samples read or written a pixel and step.
 */
#include "gpu/wconv/restore.h"

namespace
{

template <class T>
__global__ void
fill(T *x, T v, size_t n)
{
	const size_t i = wc_element();

	if (i < n)
		x[i] = v;
}

/*
 * With v = f + sky: r = max(y, 0) / max(v, least), or 0 where y is unknown. part: sums of the squares of y - v over known
 * samples.
 */
template <class T>
__global__ void
divide(const T *y, const T *f, T sky, T least, size_t n, T *r, double *part)
{
	size_t end;
	double sum = 0;

	for (size_t i = first_of_block(n, &end); i < end; i += WC_THREADS) {
		const T v = f[i] + sky, d = y[i] - v;
		const bool known = y[i] - y[i] == 0;
		r[i] = y[i] > 0 && known ? y[i] / (v > least ? v : least) : 0;
		sum += known ? (double)d * (double)d : 0;
	}
	put_sum(sum, part);
}

/* x *= t / s, or x = 0 where that is negative or s is not above `dark`. */
template <class T>
__global__ void
multiply(T *x, const T *t, const T *s, T dark, size_t n)
{
	const size_t i = wc_element();

	if (i < n) {
		const T v = x[i] * t[i] / s[i];
		x[i] = s[i] > dark && v > 0 ? v : 0;
	}
}

__global__ void
add_up(const double *part, unsigned n, double *to)
{
	const double sum = sum_parts(part, n);

	if (threadIdx.x == 0)
		*to = sum;
}

template <class T>
int
start_lucy(wc_pictures<T> *v, const struct wconv_known *k, struct why *why)
{
	struct gpu *const g = v->g;
	double level;
	wc_extent s;
	int e;

	if ((e = gpu_begin(g)) || (e = wc_apply<T>(v, true, v->r, v->s)) ||
	    (e = wc_measure<T>(v, v->s, v->m, &s)))
		return e;
	if (wconv_restore_start(v->d, k, s.most, s.sum, &level, why))
		return WC_REFUSED;
	GPU_LAUNCH(g, fill<T>, wc_blocks(v->m), WC_THREADS, 0, v->x, (T)level, v->m);
	return gpu_end(g);
}

/* Makes r = y / (A x + sky), and asks for the sum of the misfit's squares where it decides something. */
template <class T>
int
compare(wc_pictures<T> *v, bool ask, double *squares)
{
	struct gpu *const g = v->g;
	const struct wconv_restore *d = v->d;
	const int err = wc_apply<T>(v, false, v->x, v->f);

	if (err)
		return err;
	GPU_LAUNCH(g, divide<T>, wc_parts(v->n), WC_THREADS, 0, v->y, v->f, (T)d->o.sky,
		   (T)d->least, v->n, v->r, v->part);
	if (!ask)
		return 0;
	GPU_LAUNCH(g, add_up, 1, WC_THREADS, 0, v->part, wc_parts(v->n), &v->total->rr);
	return gpu_down(g, squares, &v->total->rr, sizeof *squares);
}

/* Does one step, unless the steps end before it: *ends. */
template <class T>
int
step_lucy(wc_pictures<T> *v, size_t known, struct wconv_restored *done, bool *ends)
{
	struct gpu *const g = v->g;
	const struct wconv_restore *d = v->d;
	const bool ask = d->o.noise > 0 || done->steps == d->o.steps;
	double squares = INFINITY;
	int err;

	if ((err = gpu_begin(g)) || (err = compare<T>(v, ask, &squares)))
		return err;
	*ends = wconv_restore_ends(d, done, squares, known);
	if (!*ends) {
		if ((err = wc_apply<T>(v, true, v->r, v->p)))
			return err;
		GPU_LAUNCH(g, multiply<T>, wc_blocks(v->m), WC_THREADS, 0, v->x, v->p, v->s,
			   (T)d->dark, v->m);
		wc_tell(d, ++done->steps);
	}
	return gpu_end(g);
}

} // namespace

template <class T>
int
wc_lucy(wc_pictures<T> *v, const struct wconv_known *k, struct wconv_restored *done,
	struct why *why)
{
	bool ends = false;
	int e = start_lucy<T>(v, k, why);

	while (!e && !ends)
		e = step_lucy<T>(v, k->n, done, &ends);
	return e;
}

template int wc_lucy<float>(wc_pictures<float> *v, const struct wconv_known *k,
			    struct wconv_restored *done, struct why *why);
template int wc_lucy<double>(wc_pictures<double> *v, const struct wconv_known *k,
			     struct wconv_restored *done, struct why *why);
