/* Deconvolution on the device: what the methods share. restore.cu, lucy.cu, least_squares.cu. */
#ifndef WEIR_GPU_WCONV_RESTORE_H
#define WEIR_GPU_WCONV_RESTORE_H

#include "gpu/reduce.h"
#include "gpu/wconv/tiles.h"
#include "gpu/wconv/whole.h"

extern "C" {
#include "wconv/restore/restore.h"
}

constexpr unsigned WC_PER_BLOCK = 8 * WC_THREADS; /* samples that a block sums up */

/*
 * Sums of squares: rr of the misfit, ss of the gradient, pp of the direction. Conjugate gradients make factors of them:
 * combine() computes factor[0] to + factor[1] from.
 */
enum wc_factors { WC_ADVANCE, WC_RETREAT, WC_SHRINK, WC_TURN, WC_COPY, WC_FACTORS };
struct wc_scalars {
	double rr, ss, pp, damp, factor[WC_FACTORS][2];
};

/* What a deconvolution has on the device. */
template <class T> struct wc_pictures {
	struct gpu *g;
	struct wconv_restore *d;
	wc_whole<T> a;
	/* the data, and two arrays of their size; the estimate, and two arrays of its size */
	T *y, *f, *r, *x, *p, *s;
	double *part; /* [parts][3]: what each block finds */
	wc_scalars *total;
	size_t n, m; /* samples of the data, of the estimate */
};

static inline unsigned
wc_parts(size_t n)
{
	return (unsigned)((n + WC_PER_BLOCK - 1) / WC_PER_BLOCK);
}

/* to = A from; with transpose, to = A' from. */
template <class T>
int
wc_apply(wc_pictures<T> *v, bool transpose, const T *from, T *to)
{
	return transpose == v->d->o.scatters ? wc_convolve<T>(v->g, &v->a, from, to)
					     : wc_scatter_back<T>(v->g, &v->a, from, to);
}

/* What a run returns when the data cannot be deconvolved: why says it. */
enum { WC_REFUSED = -1 };

/* The sum, the largest of the samples and 0, and minus the smallest of them and 0. */
struct wc_extent {
	double sum, most, least;
};

/* Measures n samples. */
template <class T> int wc_measure(wc_pictures<T> *v, const T *samples, size_t n, wc_extent *all);

/* The methods: v->y holds the data, v->r 1 where they are known, else 0. They make v->x. Return 0, WC_REFUSED or an error. */
template <class T>
int wc_lucy(wc_pictures<T> *v, const struct wconv_known *k, struct wconv_restored *done,
	    struct why *why);
template <class T>
int wc_least_squares(wc_pictures<T> *v, const struct wconv_known *k, struct wconv_restored *done,
		     struct why *why);

/* Says that so many steps are done. */
static inline void
wc_tell(const struct wconv_restore *d, size_t steps)
{
	if (d->o.tell)
		d->o.tell(d->o.with, steps);
}

namespace
{

/* Samples of a block: *end is their end. Returns the first one of this thread. */
__device__ size_t
first_of_block(size_t n, size_t *end)
{
	const size_t first = (size_t)blockIdx.x * WC_PER_BLOCK;

	*end = n - first < WC_PER_BLOCK ? n : first + WC_PER_BLOCK;
	return first + threadIdx.x;
}

/* Stores the sum of the block's v in part[block]. */
__device__ void
put_sum(double v, double *part)
{
	v = block_sum<WC_THREADS>(v);
	if (threadIdx.x == 0)
		part[blockIdx.x] = v;
}

/* The sum of n numbers, to thread 0. */
__device__ double
sum_parts(const double *part, unsigned n)
{
	double sum = 0;

	for (unsigned i = threadIdx.x; i < n; i += WC_THREADS)
		sum += part[i];
	return block_sum<WC_THREADS>(sum);
}

} // namespace

#endif
